"""How much the curves tell of the model: the share of the variance of its predictions.

The smoothed variance of what the curves do not say compares each observation with the curves of its
own time. Those of a model that learns lag behind it, and what is missing then is no interaction.
Such a model is therefore asked again about some past observations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.observations import arranged
from ipdp.core.typing import Array, FeatureName, FloatArray, Observation
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.records import IceRecord, Kept, Record
from ipdp.explainers.state.spread import Spread
from ipdp.grid.base import LARGEST
from ipdp.models import Engine, Probe

# Of about how many past observations the share is computed, at most, and from how many on it is
# compared with that of then.
_PREDICTED, _FEW = 144, 30
# What is left of a constant prediction is rounding: so much of its square.
_ROUNDING = 1e-18


def smoothed_share(spread: Spread) -> FloatArray:
    """The share of the variance of what the model said that its curves told, (n_outputs,).

    NaN for an output that does not vary.
    """
    return _share(*spread.variances)


def share_now(
    memory: CurveMemory, engine: Engine, curves: FloatArray, positions: FloatArray
) -> FloatArray:
    """The share of the variance of what the model says now that curves tell, (n_outputs,).

    One prediction for each of some of the pool. Of these it is also known what the model said when
    they came, and what the curves of that time left of it, which is what the smoothed share is
    about: that one, which knows of all observations, changes as theirs does. NaN for an output that
    does not vary.

    Parameters
    ----------
    memory
        What an explainer remembers.
    engine
        Its model.
    curves
        The curves as they are now, (n_outputs, n_columns); the columns are those of the layout.
    positions
        Where their points are.
    """
    kept, weights, known = _chosen(memory)
    records = [one.record for one in kept]
    own = [memory.admit(record.x) for record in records]
    names, n_targets = list(memory.grids), len(memory.targets)
    before = memory.pool.remembered(
        records, lambda k: Then.of(records[k], dict(zip(names, own[k], strict=True)), n_targets)
    )
    steps = np.array([then.steps for then in before])
    said = predictions(memory, engine, [record.x for record in records])
    rests = said.copy()
    for number, place, curve in effects(memory.spreads.own, curves, positions):
        rests -= curve.at([each[place] for each in own], steps[:, number])
    now, then = Share.of(said, rests, weights), None
    if known:
        said_then = _padded([one.said or [] for one in before], said.shape[1])
        rests_then = _padded([one.rest for one in kept], said.shape[1])
        then = Share.of(said_then, rests_then, weights)
    return corrected(smoothed_share(memory.spreads.own), now, then)


def _chosen(memory: CurveMemory) -> tuple[list[Kept], FloatArray, bool]:
    """Whom to ask about, their weights, and whether it is known of all what curves left of them."""
    kept, weights = memory.pool.kept, memory.pool.weights(memory.t or 0.0)
    step = max(1, round(len(kept) / _PREDICTED))
    # The same ones each time, as long as they are kept.
    chosen = [k for k, one in enumerate(kept) if one.record.n % step == 0]
    known = [k for k in chosen if kept[k].rest]
    is_known = len(known) >= _FEW
    if is_known:
        chosen = known
    return [kept[k] for k in chosen], weights[chosen] / weights[chosen].sum(), is_known


def _padded(rows: Sequence[Sequence[float]], n_outputs: int) -> FloatArray:
    """Rows of numbers by output, (n, n_outputs); those of classes that had not been met are 0."""
    if {*map(len, rows)} == {n_outputs}:
        return np.array(rows, dtype=float)
    padded = np.zeros((len(rows), n_outputs))
    for own, row in zip(padded, rows, strict=True):
        own[: len(row)] = row
    return padded


def predictions(memory: CurveMemory, engine: Engine, rows: Sequence[Observation]) -> FloatArray:
    """What the model says of past observations as they are, (n, n_outputs).

    A number is replaced by itself if there is one that all of them have: engines answer such
    questions much faster than they predict.
    """
    asked = [arranged(x, memory.columns) for x in rows] if engine.ordered else rows
    means = memory.means
    for name in memory.grids:
        kinds = {type(x.get(name)) for x in rows}
        if kinds in ({int}, {float}) and all(abs(x[name]) < LARGEST for x in rows):
            probe = Probe((name,), 0, 1, (kinds == {int},), (None,))
            values = np.array([x[name] for x in rows], dtype=float)[:, None, None]
            answer = engine.ice_again(asked, (probe,), values)
            break
    else:
        answer = engine.predict(asked)
    return means.aligned(answer)[1][:, : len(means.outputs), 0]


class Share(NamedTuple):
    """A share, (n_outputs,), and how much each observation moves it, (n, n_outputs)."""

    value: FloatArray
    moved: FloatArray

    @classmethod
    def of(cls, said: FloatArray, rest: FloatArray, weights: FloatArray) -> Share:
        """That of predictions, and of what curves leave of them, (n, n_outputs) both."""
        squares, squares_left = ((v - weights @ v) ** 2 for v in (said, rest))
        whole, left = weights @ squares, weights @ squares_left
        value = _share(weights @ said, whole, left)
        known = ~np.isnan(value)
        whole = np.where(known, whole, 1.0)
        moved = (left / whole * (squares - whole) - (squares_left - left)) / whole
        return cls(value, weights[:, None] * np.where(known, moved, 0.0))


def corrected(smoothed: FloatArray, now: Share, then: Share | None) -> FloatArray:
    """The share of the model now: that of all that was said, and by how much it has changed.

    The change is that of some observations since they came, or, where it is less certain than their
    share now alone, from the smoothed share to that one: so it is if `then` is not known, and of a
    model that has become another one. It counts by its square as a share of that and its variance.
    """
    change, variance = now.value - smoothed, (now.moved**2).sum(axis=0)
    if then is not None:
        of_both = ((now.moved - then.moved) ** 2).sum(axis=0)
        is_better = (of_both < variance) & ~np.isnan(then.value)
        change = np.where(is_better, now.value - then.value, change)
        variance = np.where(is_better, of_both, variance)
    square = change**2
    found = smoothed + change * square / np.where(square > 0, square + variance, 1.0)
    return np.where(np.isnan(found), now.value, found)


class Then(NamedTuple):
    """What the model said of an observation when it came, as its ICE curves tell."""

    said: list[float] | None  # the outputs; None if they are not known
    # For each target the two points between which the value is, and how far on its way from the one
    # to the other the prediction has come: (n_targets, 3), NaN where that is not known.
    steps: FloatArray

    @classmethod
    def of(cls, record: Record, own: Mapping[FeatureName, Any], n_targets: int) -> Then:
        """Read it off a record; `own` are the values of its features."""
        ice = IceRecord(record.layout, record.positions, record.values)
        said, steps = read_off(ice, own), np.full((n_targets, 3), np.nan)
        if said is not None:
            for number, step in _steps(ice, own, said):
                steps[number] = step
        return cls(said, steps)


def _steps(
    record: IceRecord, own: Mapping[FeatureName, Any], said: list[float]
) -> Iterator[tuple[int, tuple[float, float, float]]]:
    """Where values are between two points of a curve, as far as the answers tell, by target.

    Between two points the model need not be a line, as in `kernels/spread.py`: how far the
    prediction has come from the one to the other says where the observation is.
    """
    places, outputs = record.positions[0].tolist(), record.values.tolist()
    for number, probe in zip(record.layout.targets, record.layout.probes, strict=True):
        value = own.get(probe.names[0])
        if len(probe.names) > 1 or probe.categories[0] is not None or value is None:
            continue
        right = bisect_right(places, value, probe.start, probe.stop - probe.missing)
        if not probe.start < right < probe.stop - probe.missing:
            continue
        rises = [(abs(y[right] - y[right - 1]), o) for o, y in enumerate(outputs)]
        most, o = max(rises, key=lambda rise: rise[0], default=(0.0, 0))
        low, high = outputs[o][right - 1 : right + 1] if rises else (0.0, 0.0)
        if most > 1e-9 * abs(low):
            share = min(max((said[o] - low) / (high - low), 0.0), 1.0)
            yield number, (places[right - 1], places[right], share)


def read_off(record: IceRecord, own: Mapping[FeatureName, Any]) -> list[float] | None:
    """The outputs for an observation, off the curve that is flattest where it is; None: unknown."""
    best, least, best_value = None, np.inf, 0.0
    places, outputs = record.positions[0].tolist(), record.values.tolist()
    for probe, keys in zip(record.layout.probes, record.layout.keys, strict=True):
        value = own.get(probe.names[0])
        if len(probe.names) > 1 or value is None:
            continue
        start, stop = probe.start, probe.stop - probe.missing
        if probe.categories[0] is not None:
            if (value,) in keys:
                return [y[start + keys.index((value,))] for y in outputs]
            continue
        left = max(min(bisect_right(places, value, start, stop) - 1, stop - 2), start)
        right = min(left + 1, stop - 1)
        rise = max((abs(y[right] - y[left]) for y in outputs), default=0.0)
        doubt = rise if places[start] <= value <= places[stop - 1] else 1e100 * (1 + rise)
        if doubt < least:
            best, least, best_value = slice(start, stop), doubt, float(value)
    if best is None:
        return None
    at, values = record.positions[0, best], record.values[:, best]
    return list(_on_lines(at, values, np.array([best_value]))[0].tolist())


def _share(mean: FloatArray, whole: FloatArray, rest: FloatArray) -> FloatArray:
    known = whole > _ROUNDING * (1.0 + mean**2)
    return np.where(known, 1 - rest / np.where(known, whole, 1.0), np.nan)


def effects(
    spread: Spread, mean: FloatArray, positions: FloatArray
) -> Iterator[tuple[int, int, Curves]]:
    """For each curve its target, which value of an observation is its feature's, and the curve."""
    for group in spread.groups():
        known = group.known
        column = {c: k for k, c in enumerate(known.tolist())}
        categories = {v: column[c] for v, c in (group.lookup or {}).items() if c in column}
        at = positions[known] if group.lookup is None else None
        missing = None if group.missing is None else mean[:, group.missing]
        yield group.number, group.place, Curves(mean[:, known], at, categories, missing)


class Curves:
    """One curve, all outputs, to be read off at the values of observations.

    Parameters
    ----------
    values
        Of shape (n_outputs, n_points).
    positions
        Of the points, ascending; None for categories.
    categories
        The number of each category's point.
    missing
        The outputs for a missing value; None if they are not known.
    """

    def __init__(
        self,
        values: FloatArray,
        positions: FloatArray | None,
        categories: Mapping[Any, int],
        missing: FloatArray | None,
    ) -> None:
        self.values = values
        self.positions = positions
        self.categories = categories
        self.missing = missing

    def at(self, own: Sequence[Any], steps: FloatArray | None = None) -> FloatArray:
        """The curve at some values, (n, n_outputs); where it says nothing, the mean of the rest.

        `steps`, (n, 3), are points between which a value is, and how far it is on its way from the
        one to the other, where that is known.
        """
        if self.positions is not None:
            x = np.array(own, dtype=float)  # NaN for None
            found = _on_lines(self.positions, self.values, x, steps)
            is_missing = np.isnan(x)
        else:
            found = np.full((len(own), len(self.values)), np.nan)
            known = [k for k, v in enumerate(own) if v in self.categories]
            found[known] = self.values[:, [self.categories[own[k]] for k in known]].T
            is_missing = np.array([v is None for v in own], dtype=bool)
        found[is_missing] = np.nan if self.missing is None else self.missing
        unknown = np.isnan(found).any(axis=1)
        if unknown.any():
            found[unknown] = found[~unknown].mean(axis=0) if not unknown.all() else 0.0
        return found


def _on_lines(
    at: FloatArray, values: FloatArray, x: Array, steps: FloatArray | None = None
) -> FloatArray:
    """Values between the points, and as far beyond them as the kernel goes, (n, n_outputs)."""
    if not len(at):
        return np.full((len(x), len(values)), np.nan)
    if len(at) < 2:
        return np.repeat(values.T, len(x), axis=0)
    right = np.clip(np.searchsorted(at, x, side="right"), 1, len(at) - 1)
    left = right - 1
    width = at[right] - at[left]
    share = np.where(width > 0, (x - at[left]) / np.where(width > 0, width, 1.0), 0.0)
    if steps is not None:
        is_there = (steps[:, 0] == at[left]) & (steps[:, 1] == at[right])
        share = np.where(is_there, steps[:, 2], share)
    share = share.clip(-1.0, 2.0)[:, None]
    return values.T[left] + share * (values.T[right] - values.T[left])
