"""`run`: one call for a run, and the summary of what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from ipdp.comparison import Comparison
from ipdp.core.curve import feature_text
from ipdp.core.jsonable import readable
from ipdp.core.link import Link
from ipdp.core.typing import State
from ipdp.explainers import IncrementalPDP
from ipdp.explainers.segments.labels import By
from ipdp.runs.challengers import compared, with_challengers
from ipdp.runs.events import AnyEvent
from ipdp.runs.loop import Explainers, Run
from ipdp.runs.prometheus import MetricsServer
from ipdp.runs.step import Results
from ipdp.runs.terminal import ProgressBar, stop_on_signals

Listener = Callable[[AnyEvent], object]
"""Anything that takes an event."""


@dataclass(frozen=True)
class Summary:
    """What came of a run.

    Attributes
    ----------
    n
        Number of observations, those before a resume included.
    state
        "ended", or "stopped" if it was asked to stop.
    results
        What the explainers had to tell at the end, by their names, then by feature.
    scores
        The metrics at the end, by name.
    n_changes
        Number of changes found, since the start or resume.
    seconds, explain_seconds
        How long it took, and how much of it went into explaining, since the start or resume.
    every
        Every k-th observation was explained at the end; this is k.
    n_skipped
        Number of records that the source left out.
    checkpoint
        Where to resume from; None if no checkpoint was kept.
    challengers
        By name, how a challenger differs from the model on the same rows: an `ipdp.Comparison`.

    Examples
    --------
    >>> import ipdp
    >>> def model(x):
    ...     return x["a"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"])
    >>> stream = [{"a": k % 7} for k in range(100)]
    >>> summary = ipdp.run(stream, model, pdp, learn=False)
    >>> summary.n, summary.state, list(summary.results["pdp"])
    (100, 'ended', ['a'])
    """

    n: int
    state: Literal["ended", "stopped"]
    results: Results
    scores: dict[str, float]
    n_changes: int
    seconds: float
    explain_seconds: float
    every: int
    n_skipped: int
    checkpoint: Path | None
    challengers: dict[str, Comparison] = field(default_factory=dict)

    def to_dict(self) -> State:
        """A JSON-safe dict, with the importance of each feature for the results."""
        importances = {
            name: {feature_text(f): result.overall_importance for f, result in by_feature.items()}
            for name, by_feature in self.results.items()
        }
        compared = {name: found.to_dict() for name, found in self.challengers.items()}
        values = {**vars(self), "results": importances, "challengers": compared}
        result: State = readable(values)
        return result


def run(
    stream: Any,
    model: Any,
    explainers: Explainers | None = None,
    *,
    challengers: Mapping[str, Any] | None = None,
    by: By | None = None,
    link: Link | None = None,
    progress: bool = False,
    prometheus: int | MetricsServer | None = None,
    listeners: Sequence[Listener] = (),
    **options: Any,
) -> Summary:
    """Predict, score, explain, learn until the stream ends.

    Ctrl-C and SIGTERM end it after the observation in hand, with a checkpoint if one is kept; a
    second Ctrl-C ends it at once.

    Parameters
    ----------
    stream, model, explainers, options
        As for `Run`.
    challengers
        Other models by name, asked about the same rows as the model; `Summary.challengers` says
        how they differ from it. They do not learn.
    by, link
        Without explainers: those of the `ipdp.IncrementalPDP` that follows the model.
    progress
        Whether to show a progress bar.
    prometheus
        A port at which to serve metrics to this machine, or a server of them.
    listeners
        Functions that take every event.

    Examples
    --------
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: 2 * x["a"], ["a"])
    >>> summary = ipdp.run(({"a": k / 7} for k in range(100)), pdp.model, pdp, learn=False)
    >>> summary.state, summary.n
    ('ended', 100)
    """
    started = perf_counter()
    if by is not None or link is not None:
        if explainers is not None or options.get("pdp") is not None:
            raise TypeError("give by and link to the explainer: ipdp.IncrementalPDP(model, by=...)")
        explainers = IncrementalPDP(model, by=by, link=link)
    if challengers:
        explainers = with_challengers(explainers, challengers)
    loop = Run(stream, model, explainers, **options)
    with ExitStack() as stack:
        called = list(listeners)
        if isinstance(prometheus, int):
            prometheus = stack.enter_context(MetricsServer(prometheus))
        if prometheus is not None:
            called.append(prometheus.metrics)
        if progress:
            called.append(stack.enter_context(ProgressBar()))
        stack.enter_context(stop_on_signals(loop))
        for event in stack.enter_context(closing(loop.events())):
            for listener in called:
                listener(event)
    return summary(loop, perf_counter() - started)


def summary(loop: Run, seconds: float) -> Summary:
    """What came of a run that is over."""
    assert loop.state in ("ended", "stopped")
    own = {"seconds", "challengers"}
    names = [item.name for item in fields(Summary) if item.name not in own]
    values = {name: getattr(loop, name) for name in names}
    return Summary(seconds=seconds, challengers=compared(loop.results), **values)
