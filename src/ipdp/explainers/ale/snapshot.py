"""From what is remembered of local effects to curves with bands.

A value is a sum of mean effects, and its error is the mean of how each observation moves it (its
influence): by its distance from the mean effect of its bin, the more the fewer share the bin, and
by where it is on the curve, which is centred. Means of the influence over blocks of time follow
from those of the effects, so that bands know dependence as those of partial dependence do, by the
same estimate (`core/dependence.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.blocks import Blocks
from ipdp.core.counts import in_order
from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.ale.memory import AleMemory
from ipdp.explainers.ale.reading import Reading, read
from ipdp.explainers.state.errors import CurveErrors
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.points import Layout

# A point at an end is shown when so many observations are in the bin next to it.
_FEWEST = 10


@dataclass(frozen=True)
class _Values:
    """The values of one target at its points."""

    reading: Reading
    average: FloatArray  # (n_outputs, n_points)
    std_error: FloatArray  # the same of independent observations
    n_effective: FloatArray  # of all observations, one number
    near: FloatArray  # how many observations are in the bins at each point, (n_points,)
    weight: float
    influence: FloatArray  # means over blocks, (n_blocks, n_outputs, n_points)
    block_weight: FloatArray  # (n_blocks,)


class AleSnapshot:
    """The curves of a memory at one time; what they share is computed once."""

    def __init__(self, memory: AleMemory) -> None:
        self._memory = memory
        means = memory.means
        self._everything = means.everything
        self._outputs = in_order(means.outputs)
        self._rows = [means.outputs.index(label) for label in self._outputs]
        blocks = means.blocks.closed(means.smoothing.t or 0.0)
        self._found: dict[int, _Values] = {}
        for number, target in enumerate(memory.targets):
            reading = read(means, number) if target.n else None
            if reading is not None and len(reading.columns):
                self._found[number] = _values(reading, self._everything, blocks)
        self._starts: dict[int, int] = {}
        self._errors = self._joint_errors(blocks)

    @property
    def numbers(self) -> list[int]:
        """The targets that have a curve."""
        return list(self._found)

    def _joint_errors(self, blocks: Blocks) -> CurveErrors | None:
        """The errors of all curves, as those of partial dependence are: by smoothing and blocks."""
        if not self._found or not self._outputs:
            return None
        means = self._memory.means
        keys, n = [], 0
        for number, found in self._found.items():
            self._starts[number] = n
            keys.append(_point_keys(found.reading))
            n += len(keys[-1])
        alike = Means(0, alpha=means.smoothing.alpha)
        whole = [(False,) * len(found.reading.lines) for found in self._found.values()]
        alike.layout = Layout.of(self._memory.targets, list(self._found), keys, whole)
        alike.outputs = means.outputs
        alike.smoothing = self._as_smoothing(n)
        alike.blocks = self._as_blocks(blocks)
        return CurveErrors(alike)

    def _as_smoothing(self, n: int) -> Smoothing:
        """A smoothing whose means are the values."""
        means, found = self._memory.means, self._found.values()
        smoothing = Smoothing(alpha=means.smoothing.alpha, n_rows=len(means.outputs), n_columns=n)
        smoothing.n, smoothing.t = means.smoothing.n, means.smoothing.t
        smoothing.mean = np.hstack([each.average for each in found])
        sizes = [each.average.shape[1] for each in found]
        weight = np.repeat([each.weight for each in found], sizes)
        n_effective = np.repeat([each.n_effective for each in found], sizes)
        error = np.hstack([each.std_error for each in found])
        smoothing._weight = weight
        smoothing._squares = weight**2 / n_effective
        smoothing.spread = error**2 * n_effective * weight * np.maximum(1 - 1 / n_effective, 0.0)
        return smoothing

    def _as_blocks(self, blocks: Blocks) -> Blocks:
        found = list(self._found.values())
        weight = np.concatenate(
            [
                np.repeat(each.block_weight[:, None], each.average.shape[1], axis=1)
                for each in found
            ],
            axis=1,
        )
        return blocks.with_values(
            weight, np.concatenate([each.influence for each in found], axis=2)
        )

    def curve(self, number: int) -> Curve:
        """The curve of one target, given by its number."""
        target = self._memory.targets[number]
        if number not in self._found:
            why = "it has had one value only, or nothing was explained since its warm-up"
            why = why if target.ready else target.why_no_curve
            raise NotEnoughSamples(f"no curve for {target.feature!r} yet: {why}")
        found = self._found[number]
        reading = found.reading
        shown = self._shown(number, found)
        axes = [line.points for line in reading.lines]
        if len(axes) == 1:
            axes = [axes[0][shown]]
        shape = tuple(len(axis) for axis in axes)

        def cut(values: FloatArray) -> FloatArray:
            return values[np.ix_(self._rows, shown)].reshape(len(self._rows), *shape)

        return Curve(
            feature=target.feature,
            outputs=self._outputs,
            grid_values=axes,
            average=cut(found.average),
            n_samples=target.n,
            n_effective_points=found.near[shown].reshape(shape),
            categorical=tuple(line.categorical for line in reading.lines),
            t=self._memory.t,
            rug=self._rugs(number),
            kind="ale",
            times=target.times,
            **self._errors_of(number, shown, shape),
        )

    def _errors_of(self, number: int, shown: list[int], shape: tuple[int, ...]) -> dict[str, Any]:
        if self._errors is None:
            return {"std_error": np.zeros((0, *shape)), "provisional": True}
        start = self._starts[number]
        errors = self._errors.of_curve([start + k for k in shown], self._rows)
        for name in ("std_error", "centred_std_error"):
            if name in errors:
                errors[name] = errors[name].reshape(len(self._rows), *shape)
        return errors

    def _shown(self, number: int, found: _Values) -> list[int]:
        """The points that are shown: where they come and go, at the ends only those with data."""
        lines, n = found.reading.lines, found.average.shape[1]
        limits = self._memory.targets[number].grids[0].limits
        if len(lines) > 1 or lines[0].categorical or limits is None:
            return list(range(n))
        points, near = lines[0].points, found.near
        enough = near >= min(_FEWEST, near.max(initial=0.0) / 3)
        within = enough & (points >= limits[0]) & (points <= limits[1])
        there = np.flatnonzero(within if within.sum() > 1 else enough)
        return list(range(int(there[0]), int(there[-1]) + 1)) if len(there) > 1 else list(range(n))

    def _rugs(self, number: int) -> list[Array]:
        """Recent values of each feature; of a pair those of one observation at the same place."""
        memory, target = self._memory, self._memory.targets[number]
        if not target.is_pair:
            return [grid.rug for grid in target.grids]
        places = [memory.columns.index(name) for name in target.names]
        rows = [[row[k] for k in places] for row in memory.rows]
        columns = list(zip(*[row for row in rows if None not in row], strict=True)) or [(), ()]
        rugs = []
        for line, column in zip(self._found[number].reading.lines, columns, strict=True):
            rug = np.empty(len(column), dtype=object)
            rug[:] = column
            rugs.append(rug if line.categorical else rug.astype(float))
        return rugs


def _point_keys(reading: Reading) -> tuple[Any, ...]:
    """Keys of the points: the same as those of a partial dependence there."""
    axes = [
        [(point,) if line.categorical else point for point in line.points.tolist()]
        for line in reading.lines
    ]
    if len(axes) == 1:
        return tuple(axes[0])
    return tuple((a, b) for a in axes[0] for b in axes[1])


def _values(reading: Reading, everything: Smoothing, blocks: Blocks) -> _Values:
    columns = reading.columns
    own = everything.take(columns)
    average = own.mean @ reading.map.T
    centres = average @ reading.averaging.T  # (n_outputs, n_masses)
    weight, squares = everything.weight[columns].sum(), everything.squares[columns].sum()
    n_effective = max(weight**2 / squares, 1.0)
    spread = centres**2 @ reading.masses  # they are centred
    of_slots = _filled_in(own) / own.n_effective
    variance = of_slots @ (reading.map**2).T + spread[:, None] / n_effective
    near = (reading.near * own.n_effective).sum(axis=1)
    influence, block_weight = _influence(blocks, reading, own, centres)
    return _Values(
        reading,
        average,
        np.sqrt(variance),
        np.asarray(n_effective),
        near,
        float(weight),
        influence,
        block_weight,
    )


def _filled_in(own: Smoothing) -> FloatArray:
    """The variances of the effects of each slot; of slots with one value the largest of others."""
    variance = own.variance
    unknown = np.isnan(variance)
    if unknown.any():
        largest = np.max(np.where(unknown, 0.0, variance), axis=1, initial=0.0)
        variance = np.where(unknown, largest[:, None], variance)
    return variance


def _influence(
    blocks: Blocks, reading: Reading, own: Smoothing, centres: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The mean influence in each block, (n_blocks, n_outputs, n_points), and the blocks' weights.

    `own` is the smoothing of the reading's slots, `centres` the values of what is counted.
    """
    share = own.weight / own.weight.sum()
    weight = blocks.weight[:, reading.columns]
    total = weight.sum(axis=1)
    within = weight / np.where(total > 0, total, 1.0)[:, None]
    within = within * _for_age(blocks, weight, total)
    moved = (blocks.mean[:, :, reading.columns] - own.mean) * (within / share)[:, None, :]
    moved = np.where(weight[:, None, :] > 0, moved, 0.0)
    influence = moved @ reading.map.T
    counted = blocks.weight[:, reading.counted] @ reading.counting.T
    n = counted.sum(axis=1, keepdims=True)
    level = (counted / np.where(n > 0, n, 1.0)) @ centres.T  # (n_blocks, n_outputs)
    return influence - level[:, :, None], total


def _for_age(blocks: Blocks, weight: FloatArray, total: FloatArray) -> FloatArray:
    """By what to multiply the influence in slots that have data in some of the blocks, (n_slots,).

    The variance of a mean is taken from all blocks alike; but a slot that was added lately moves
    the newest ones alone, which weigh more, and one that was left long ago the oldest.
    """
    if not len(total):
        return np.ones(weight.shape[1])
    ends = (blocks.numbers + 1) * blocks.size
    squares = (total * blocks.decay ** (ends[-1] - ends)) ** 2
    reached = np.maximum.accumulate(weight > 0, axis=0)
    left = ~np.maximum.accumulate(weight[::-1] > 0, axis=0)[::-1]
    within = reached & ~left & (total > 0)[:, None]
    n = np.maximum((total > 0).sum(), 1)
    of_weight = squares @ within / max(squares.sum(), 1e-300)
    of_blocks = within.sum(axis=0) / n
    return np.sqrt(np.where(of_blocks > 0, of_weight / np.where(of_blocks > 0, of_blocks, 1), 1.0))
