"""The loop of the streaming experiments: predict, explain, learn, and keep what was seen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import ipdp
from ipdp.core.curve import Curve
from ipdp.core.typing import Feature
from ipdp.paper.experiment import Say
from ipdp.paper.progress import counted

Look = Callable[[int, dict[str, Any]], None]
"""Called with the number of observations so far and the newest one."""

STEP = 50
"""How many observations there are from one entry of a `Recording` to the next."""


@dataclass
class Recording:
    """What was seen along a stream.

    Attributes
    ----------
    t
        Every `STEP`-th time.
    accuracy
        Share of right predictions among the last `window`, at these times.
    importance
        By explainer and feature: importance of the curve, at these times from its first curve on.
    pfi
        By feature: permutation importance, at these times.
    curves
        By explainer: all curves at the moments that were asked for.
    history
        By explainer: all curves every `between` observations.
    n, n_right
        Number of observations, and of those that were predicted right before they were learned.
    """

    t: list[int] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    importance: dict[str, dict[Feature, list[float]]] = field(default_factory=dict)
    pfi: dict[Feature, list[float]] = field(default_factory=dict)
    curves: dict[str, dict[int, dict[Feature, Curve]]] = field(default_factory=dict)
    history: dict[str, dict[int, dict[Feature, Curve]]] = field(default_factory=dict)
    n: int = 0
    n_right: int = 0

    @property
    def prequential_accuracy(self) -> float:
        """Share of all observations that were predicted right before they were learned."""
        return self.n_right / self.n

    def past(self, name: str, feature: Feature, t: float, n: int = 8) -> list[Curve]:
        """The last curves of a feature before a time, oldest first."""
        kept = [curves[feature] for at, curves in self.history[name].items() if at < t]
        return kept[-n:]


def follow(
    stream: Iterable[tuple[dict[str, Any], Any]],
    model: Any,
    explainers: Mapping[str, ipdp.IncrementalPDP],
    *,
    n: int,
    say: Say,
    moments: Collection[int] = (),
    pfi: ipdp.IncrementalPFI | None = None,
    look: Look | None = None,
    between: int = 1000,
    window: int = 1000,
) -> Recording:
    """Go along a stream: predict, explain, learn.

    Parameters
    ----------
    stream, model
        The stream and the model.
    explainers
        They explain the model, by name.
    n
        Number of observations.
    say
        Takes the lines about progress.
    moments
        When to keep the curves.
    pfi
        Permutation importance, if it is wanted.
    look
        Called after each explanation, before the model learns.
    between
        Number of observations between the curves of the history.
    window
        Number of observations that the rolling accuracy looks back on.
    """
    recording = Recording(
        curves={name: {} for name in explainers}, history={name: {} for name in explainers}
    )
    recording.importance = {name: {} for name in explainers}
    hits: deque[bool] = deque(maxlen=window)
    for t, (x, y) in counted(stream, n, say):
        hits.append(model.predict_one(x) == y)
        recording.n, recording.n_right = t, recording.n_right + hits[-1]
        for pdp in explainers.values():
            pdp.explain_one(x)
        if pfi is not None:
            pfi.explain_one(x, y)
        if look is not None:
            look(t, x)
        for name, pdp in explainers.items():
            if t in moments:
                recording.curves[name][t] = pdp.curves
            if t % between == 0:
                recording.history[name][t] = pdp.curves
        if t % STEP == 0:
            _enter(recording, t, explainers, pfi, sum(hits) / len(hits))
        model.learn_one(x, y)
    return recording


def _enter(
    recording: Recording,
    t: int,
    explainers: Mapping[str, ipdp.IncrementalPDP],
    pfi: ipdp.IncrementalPFI | None,
    accuracy: float,
) -> None:
    recording.t.append(t)
    recording.accuracy.append(accuracy)
    for name, pdp in explainers.items():
        for feature, curve in pdp.curves.items():
            trace = recording.importance[name].setdefault(feature, [])
            trace.append(float(curve.equal_importance.max()) if curve.outputs else 0.0)
    for feature, value in (pfi.importance if pfi is not None else {}).items():
        recording.pfi.setdefault(feature, []).append(value)
