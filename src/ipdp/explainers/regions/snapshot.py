"""From what an explainer of regions remembers to its splits, and their curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.parts import feature_where
from ipdp.core.typing import Feature, FloatArray
from ipdp.explainers.regions.memory import RegionsMemory
from ipdp.explainers.regions.split import Split
from ipdp.explainers.regions.splits import Part, Search, is_first, sides_in_words
from ipdp.explainers.regions.sums import RegionSums
from ipdp.explainers.state.shares import Curves, effects
from ipdp.explainers.state.snapshot import Snapshot
from ipdp.models import Engine

# A split that leaves more than this share of what was left before it tells the same as another.
_LEFT = 0.98


class _Side(NamedTuple):
    """One side of a split: its axis, in words, its rows, and its share of the observations."""

    axis: int
    condition: str
    rows: Any
    share: float


class RegionsSnapshot:
    """Curves, splits and what they tell together, at one time; with an engine of the model now."""

    def __init__(
        self, memory: RegionsMemory, engine: Engine | None, *, with_ice: bool = False
    ) -> None:
        self._memory = memory
        snapshot = Snapshot(memory, engine)
        self.curves: dict[Feature, Curve] = {
            target.feature: snapshot.curve(k, with_ice=with_ice)
            for k, target in enumerate(memory.targets)
            if target.n
        }
        self._sums = memory.sums.own.flushed()
        self._parts = self._search()
        self.explained = self._explained()
        self.splits: dict[Feature, Split] = {
            memory.targets[k].feature: self._split(k, part) for k, part in self._parts.items()
        }

    def show(self, on_scale: Callable[[Curve], Curve]) -> None:
        """Have all curves on the scale on which they are shown."""
        self.curves = {feature: on_scale(curve) for feature, curve in self.curves.items()}
        for feature, split in self.splits.items():
            one, other = map(on_scale, split.curves)
            self.splits[feature] = replace(split, whole=on_scale(split.whole), curves=(one, other))

    def _search(self) -> dict[int, Part]:
        sums, targets = self._sums, self._memory.targets
        known = {c.target for c in sums.columns if targets[c.target].feature in self.curves}
        if not sums.n or len(known) < len({c.target for c in sums.columns}):
            return {}
        shares = np.zeros(len(sums.columns))
        for number in known:
            curve = self.curves[targets[number].feature]
            np.add.at(shares, _columns_of(sums, number, curve), curve.weights)
        scale = np.ones(sums.n_outputs)
        if not next(iter(self.curves.values())).are_probabilities and sums.n_outputs > 1:
            # Outputs of different units count alike.
            size = np.nan_to_num(sums.centred.variance) + sums.centred.mean**2
            scale = np.sqrt(size.mean(axis=1))
            scale[scale == 0] = 1.0
        names = {number: targets[number].names[0] for number in known}
        return Search(sums, shares, scale, names).found()

    # The curve of each side.

    def _split(self, number: int, part: Part) -> Split:
        feature = self._memory.targets[number].names[0]
        axis, whole = self._sums.axes[part.axis], self.curves[feature]
        if self.explained is not None:
            whole = replace(whole, explained=self.explained)
        words = sides_in_words(axis, part)
        weight = self._sums.weight[part.axis].max(axis=1)
        first = np.isin(np.arange(len(weight)), list(part.first))
        share = float(weight[first].sum() / weight.sum())
        one, other = (
            self._side(number, whole, _Side(part.axis, condition, np.flatnonzero(rows), size))
            for condition, rows, size in zip(
                words, (first, ~first), (share, 1 - share), strict=True
            )
        )
        return Split(feature, axis.name, words, part.gain, part.bound, share, whole, (one, other))

    def _side(self, number: int, whole: Curve, side: _Side) -> Curve:
        """The curve of one side; it moves with the curve of all from the past to the model now."""
        sums, n_outputs = self._sums, self._sums.n_outputs
        columns = _columns_of(sums, number, whole)
        known = self._memory.means.outputs
        order = [known.index(label) for label in whole.outputs]
        mean, variance, n = _joined(sums, side.axis, side.rows, columns)
        smoothed = whole.average if whole.smoothed is None else whole.smoothed
        # A point that is new has seen other observations than the rest: its level is that of the
        # anchors, and its own is the shape.
        anchors = [k for k in _own_columns(sums, number) if sums.anchors[k]]
        levels = _joined(sums, side.axis, side.rows, anchors)[0][:n_outputs]
        own = levels.mean(axis=1, keepdims=True) + mean[n_outputs:]
        average = np.where(n > 0, own[order], smoothed)
        inflation = np.ones(len(order)) if whole.inflation is None else whole.inflation
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.sqrt(variance / n * np.tile(_by_row(inflation, order), 2)[:, None])
        error, centred = (errors[k:][:n_outputs][order] for k in (0, n_outputs))
        now = average + (whole.average - smoothed)
        return replace(
            whole,
            feature=feature_where(whole.feature, side.condition),
            where=side.condition,
            average=now.clip(0.0, 1.0) if whole.are_probabilities else now,
            smoothed=None if whole.smoothed is None else average,
            std_error=error,
            centred_std_error=None if whole.centred_std_error is None else centred,
            ice_spread=np.sqrt(variance[n_outputs:][order]),
            n_samples=round(whole.n_samples * side.share),
            n_effective_points=n,
            ice=None,
            ice_grid_values=None,
            missing=None,
            missing_std_error=None,
        )

    # What curves and splits tell together.

    def _explained(self) -> FloatArray | None:
        """The share of the predictions' variance that curves tell, each where it holds."""
        memory = self._memory
        single = [c for c in self.curves.values() if len(c.grid_values) == 1]
        plain = single[0].explained if single else None
        if plain is None or not self._parts:
            return plain
        spread, means = memory.spreads.own, memory.means
        kept = memory.predictions.own.kept
        if len(kept) < 2:
            return plain
        own, left = [one.own for one in kept], np.zeros((len(kept), len(means.outputs)))
        for row, one in zip(left, kept, strict=True):
            row[: len(one.said)] = one.said
        for _, place, curve in effects(spread, means.shown[means.n_axes :], means.shown[0]):
            left -= curve.at([one[place] for one in own])
        before = np.maximum(left.var(axis=0), 1e-300)
        # Two features with one interaction may both be split: it counts once.
        strongest = sorted(self._parts, key=lambda k: -self._parts[k].gain)
        for number in strongest:
            after = left - self._differences(number, own)
            if (after.var(axis=0) / before).sum() < _LEFT * (left.var(axis=0) / before).sum():
                left = after
        order = [means.outputs.index(label) for label in single[0].outputs]
        ratio = (left.var(axis=0) / before)[order]
        return np.asarray(1 - (1 - plain) * np.minimum(ratio, 1.0))

    def _differences(self, number: int, own: list[list[Any]]) -> FloatArray:
        """What a split says of observations beyond the curve of all, (n, n_outputs)."""
        sums, part = self._sums, self._parts[number]
        columns = np.array(_own_columns(sums, number))
        keys = [sums.columns[k].key for k in columns]
        is_category = isinstance(keys[0], tuple)
        categories = {key[0]: k for k, key in enumerate(keys) if isinstance(key, tuple)}
        at = None if is_category else sums.positions[columns]
        names = [axis.name for axis in sums.axes]
        place = names.index(self._memory.targets[number].names[0])
        values = [one[place] for one in own]
        first = is_first(sums.axes[part.axis], part, [one[part.axis] for one in own])
        found = np.zeros((len(own), sums.n_outputs))
        every_row = np.arange(sums.weight.shape[1])
        whole = _joined(sums, part.axis, every_row, columns)[0][sums.n_outputs :]
        for side in (first, ~first):
            chosen = np.isin(every_row, list(part.first)) == (side is first)
            mean = _joined(sums, part.axis, every_row[chosen], columns)[0][sums.n_outputs :]
            if side.any():
                curve = Curves(mean - whole, at, categories, None)
                said = curve.at([v for v, is_there in zip(values, side, strict=True) if is_there])
                found[side] = said - said.mean(axis=0)
        return found


def _own_columns(sums: RegionSums, number: int) -> list[int]:
    """All columns of a target."""
    return [k for k, column in enumerate(sums.columns) if column.target == number]


def _columns_of(sums: RegionSums, number: int, curve: Curve) -> Any:
    """The columns of the points of a curve, in their order."""
    columns = _own_columns(sums, number)
    if curve.categorical[0]:
        keys = {sums.columns[k].key: k for k in columns}
        return np.array([keys[(value,)] for value in curve.grid_values[0]], dtype=int)
    off = np.abs(np.subtract.outer(curve.grid_values[0].astype(float), sums.positions[columns]))
    return np.array(columns)[off.argmin(axis=1)]


def _joined(
    sums: RegionSums, axis: int, rows: Any, columns: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means and variances of some rows together, (2 n_outputs, n), and how many they are, (n,)."""
    at = np.ix_(rows, columns)
    weight, squares = sums.weight[axis][at], sums.squares[axis][at].sum(axis=0)
    mean, spread = (
        array[axis][rows][..., columns].swapaxes(0, 1) for array in (sums.mean, sums.spread)
    )
    total = weight.sum(axis=0)
    some = np.where(total > 0, total, 1.0)
    joint = (weight * mean).sum(axis=1) / some
    variance = (spread + weight * (mean - joint[:, None]) ** 2).sum(axis=1) / some
    n = np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1.0), 0.0)
    unbiased = variance * np.where(n > 1, n / np.where(n > 1, n - 1, 1.0), np.nan)
    return joint, unbiased, n


def _by_row(values: FloatArray, order: list[int]) -> FloatArray:
    """Numbers of outputs in the order in which they are shown, as they are in the rows."""
    found = np.empty(len(order))
    found[order] = values
    return found
