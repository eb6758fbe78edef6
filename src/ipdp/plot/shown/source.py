"""Where curves over time come from: a log, or curves that were kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.importance import Result
from ipdp.core.typing import Feature, FloatArray
from ipdp.core.validation import listed, must_be_dict, must_be_like
from ipdp.log.headline import most_moved
from ipdp.monitor.change import Change
from ipdp.plot.shown.clock import on_clock
from ipdp.plot.shown.style import KINDS


@runtime_checkable
class Logged(Protocol):
    """What the figures read of a log; `ipdp.LogReader` has it."""

    @property
    def explainers(self) -> Sequence[str]: ...
    def at(self, n: int, explainer: str) -> Mapping[Feature, Result]: ...
    def snapshots(self) -> Sequence[Any]: ...
    def history(self, feature: Feature, *, explainer: str) -> Iterator[tuple[Any, Result]]: ...
    def importances(self, *, explainer: str) -> Mapping[Feature, tuple[Any, Any]]: ...
    def changes(self) -> Sequence[Any]: ...
    def metrics(self) -> Mapping[str, tuple[Any, Any]]: ...


Curves: TypeAlias = Mapping[Feature, Curve] | Iterable[Curve]
"""Curves of several features at one time, as `IncrementalPDP.curves` gives them."""

Snapshots: TypeAlias = Iterable[Result | Mapping[Feature, Result]]
"""Curves at several times: of one feature, or of all of them."""


class Mark(NamedTuple):
    """A change on the axis of time."""

    time: float
    change: Change

    @property
    def dash(self) -> str:
        return KINDS[self.change.kind][0]


class Series(NamedTuple):
    """Something that has a value at each of some times."""

    times: FloatArray
    values: FloatArray


def curves_at(source: Curves | Logged, n: int | None) -> list[Curve]:
    """The curves of one time; of a log the last ones at or before n, by default the newest."""
    if isinstance(source, Logged):
        n = _newest(source) if n is None else n
        return _only_curves(source.at(n, _explainer(source, n)).values())
    if n is not None:
        raise ValueError("a time can be chosen from a log only; these are curves of one time")
    given: Iterable[Any] = source.values() if isinstance(source, Mapping) else source
    return _only_curves(map(_checked, listed("curves", given)))


def history_of(
    source: Snapshots | Logged, feature: Feature | None
) -> tuple[FloatArray, list[Curve]]:
    """The curves of one feature over time, in order, and their times."""
    if isinstance(source, Logged):
        if feature is None:
            raise ValueError("say which feature of the log: feature=...")
        history = source.history(feature, explainer=_explainer(source, _newest(source)))
        pairs = [(info.n, curve) for info, curve in history if isinstance(curve, Curve)]
        times = on_clock(source, [n for n, _ in pairs]).tolist()
        dated = [(t, curve) for t, (_, curve) in zip(times, pairs, strict=True)]
    else:
        dated = [
            (time_of(curve), curve)
            for curve in _flat(source)
            if isinstance(curve, Curve) and feature in (None, curve.feature)
        ]
        names = list(dict.fromkeys(curve.feature for _, curve in dated))
        if len(names) > 1:
            raise ValueError(f"say which feature: feature=... is one of {names}")
    if not dated:
        about = "" if feature is None else f" of {feature!r}"
        raise NotEnoughSamples(f"there is no curve{about} yet")
    # Of two curves at one time the later one counts.
    by_time = dict(sorted(dated, key=lambda pair: pair[0]))
    return np.array(list(by_time)), list(by_time.values())


def importances_of(source: Snapshots | Logged) -> dict[Feature, Series]:
    """The importance of each feature over time: the largest over the outputs."""
    if isinstance(source, Logged):
        logged = source.importances(explainer=_explainer(source, _newest(source)))
        found_at = {name: (on_clock(source, n), v) for name, (n, v) in logged.items() if len(n)}
        return {name: _series(*pair) for name, pair in found_at.items()}
    found: dict[Feature, dict[float, float]] = {}
    for result in _flat(source):
        found.setdefault(result.feature, {})[time_of(result)] = result.overall_importance
    ordered = {name: sorted(values.items()) for name, values in found.items()}
    return {name: _series(*zip(*pairs, strict=True)) for name, pairs in ordered.items()}


def marks_of(source: object, changes: Iterable[Change] | None) -> list[Mark]:
    """The changes that were given, else those of the log, by time."""
    if changes is not None:
        for change in listed("changes", changes):
            must_be_like("each of changes", change, "t", "a Change")
        marks = [Mark(float(change.t), change) for change in changes]
    else:
        logged = source.changes() if isinstance(source, Logged) else ()
        times = on_clock(source, [item.n for item in logged]).tolist()
        marks = [Mark(t, item.change) for t, item in zip(times, logged, strict=True)]
    return sorted(marks, key=lambda mark: mark.time)


def metrics_of(source: object, metrics: Mapping[str, tuple[Any, Any]] | None) -> dict[str, Series]:
    """The metrics that were given, else those of the log."""
    if metrics is None:
        logged = {**source.metrics(), **_score_of(source)} if isinstance(source, Logged) else {}
        metrics = {name: (on_clock(source, n), values) for name, (n, values) in logged.items()}
    must_be_dict("metrics", metrics)
    for name, pair in metrics.items():
        if not np.iterable(pair) or len(pair) != 2 or np.shape(pair[0]) != np.shape(pair[1]):
            raise ValueError(f"metric {name!r} must be two sequences of one length: times, values")
    return {name: _series(*pair) for name, pair in metrics.items()}


def _score_of(log: Any) -> dict[str, tuple[Any, Any]]:
    """The mean prediction over time, of the output that moved most, if the log has it."""
    scores = log.scores() if hasattr(log, "scores") else {}
    if not scores:
        return {}
    name = most_moved(scores)
    return {name: scores[name]}


def time_of(result: Result) -> float:
    """When a curve was taken: on its own clock, or by the number of observations."""
    return float(result.n_samples if result.t is None else result.t)


def _newest(log: Logged) -> int:
    """The number of observations at the log's last snapshot."""
    taken = log.snapshots()
    if not taken:
        raise NotEnoughSamples("the log has no snapshot yet")
    return int(taken[-1].n)


def _explainer(log: Logged, n: int) -> str:
    """The first explainer that gives curves, else the first that gives anything."""
    found = {name: log.at(n, name) for name in log.explainers}
    with_curves = [name for name, results in found.items() if _only_curves(results.values())]
    return (with_curves or [name for name, results in found.items() if results])[0]


def _flat(source: Snapshots) -> Iterator[Result]:
    for item in listed("curves", source):
        yield from map(_checked, item.values() if isinstance(item, Mapping) else [item])


def _checked(item: Any) -> Result:
    if not isinstance(item, Result):
        raise TypeError(
            f"expected curves, as `IncrementalPDP.curves` has them, or a log; got {item!r:.60}"
        )
    return item


def _only_curves(results: Iterable[Result]) -> list[Curve]:
    return [result for result in results if isinstance(result, Curve)]


def _series(times: Any, values: Any) -> Series:
    return Series(np.asarray(times, dtype=float), np.asarray(values, dtype=float))
