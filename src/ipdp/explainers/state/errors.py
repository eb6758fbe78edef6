"""How far the curves of a memory may be from the partial dependence: from blocks to bands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.blocks import Blocks
from ipdp.core.dependence import FEWEST, QUANTILE, BlockWeights, Changed, mean_errors
from ipdp.core.smoothing import Smoothing
from ipdp.core.student_t import student_quantile
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.block_changes import BlockChanges
from ipdp.explainers.state.correction import Correction
from ipdp.explainers.state.groups import Groups
from ipdp.explainers.state.means import Means

# So often the smoothing has to forget before a band is trusted; and so many blocks, and independent
# stretches of time, have to be behind it.
_REACHES, _BLOCKS, _STRETCHES = 6.0, 30, 8.0
# Averages of points and moves of blocks are found in so many rounds.
_ROUNDS = 4


@dataclass(frozen=True)
class AtBlock:
    """What is known of all curves when a block is over; it holds until the next one is."""

    blocks: Blocks
    groups: Groups
    n_effective: FloatArray  # number of blocks that each mean is worth, of shape (n_columns,)
    known: Array  # which columns have enough blocks
    std_error: FloatArray  # (n_outputs, n_columns), for the degrees of freedom of the curve
    centred: FloatArray  # the same of the curve minus its mean over the points
    degrees: FloatArray  # (n_outputs, n_groups)
    path: FloatArray
    centred_path: FloatArray
    provisional: Array  # (n_groups,)


def at_block(means: Means, blocks: Blocks, found: Correction | None = None) -> AtBlock:
    """What blocks that are over say of the errors, those of corrected means if there are any."""
    groups = Groups(means.layout)
    end = float(blocks.numbers[-1] + 1) * blocks.size
    weights = BlockWeights(blocks, end)
    x, deviations, changed = _with_deviations(
        _at_fixed_positions(blocks.mean, means.n_axes, weights, groups),
        blocks,
        groups,
        weights,
        found,
    )
    n_outputs = x.shape[1]
    both = np.concatenate([x, deviations], axis=1)
    errors = mean_errors(blocks, weights, both, changed=changed)
    known = weights.n >= FEWEST
    own, centred = np.split(errors.std_error * student_quantile(QUANTILE, errors.degrees), 2)
    of_points = errors.degrees[:n_outputs]
    degrees = 1 / np.maximum(groups.mean(1 / of_points, known), 1e-9)
    quantile = student_quantile(QUANTILE, degrees)[:, groups.owner]
    # Those of the average variance, of the output that has the fewest.
    inverse = groups.mean(1 / errors.stretches[:n_outputs], known).max(axis=0, initial=0.0)
    n = groups.mean(weights.n, weights.n > 0)
    is_short = (
        n < _BLOCKS
        if blocks.alpha is None
        else (n + 2) * blocks.size < math.floor(_REACHES / blocks.alpha)
    )
    return AtBlock(
        blocks=blocks,
        groups=groups,
        n_effective=weights.n_effective,
        known=known,
        std_error=own / quantile,
        centred=centred / quantile,
        degrees=degrees,
        path=_path(x, weights.valid, groups),
        centred_path=_path(deviations, weights.valid, groups),
        provisional=is_short | (n < FEWEST) | (inverse > 1 / _STRETCHES),
    )


def _with_deviations(
    x: FloatArray,
    blocks: Blocks,
    groups: Groups,
    weights: BlockWeights,
    found: Correction | None,
) -> tuple[FloatArray, FloatArray, Changed | None]:
    """Block means as they would be by the model as it is now, the same centred, and as they were.

    Of a model that stays they are as they were.
    """
    if found is None:
        return x, _centred(x, weights, groups), None
    changes = BlockChanges.of(blocks, found.changes, groups)
    now, left = changes.applied(x, weights.valid, groups)
    then, deviations = np.split(
        _centred(np.concatenate([x, now], axis=1), weights, groups), 2, axis=1
    )
    both = (np.concatenate([v, v]) for v in (found.spread, left))
    return now, deviations, Changed(np.concatenate([x, then], axis=1), *both)


def _centred(x: FloatArray, weights: BlockWeights, groups: Groups) -> FloatArray:
    """Block means minus their mean over the points of the curve.

    Where points come and go, the mean is over others each time. What is left of the points' own
    averages is centred instead, so that a point which joins does not look like a move of the rest.
    """
    where = weights.valid[:, None]
    if weights.valid.all():
        return x - groups.mean(x, where)[..., groups.owner]
    moves = np.zeros((*x.shape[:2], 1))
    for _ in range(_ROUNDS):  # the averages are over times with other moves, in turn
        own = np.where(where, x - moves, 0.0).sum(axis=0) / np.maximum(weights.n, 1.0)
        moves = groups.mean(x - own, where)[..., groups.owner]
    return x - moves


def _at_fixed_positions(
    mean: FloatArray, n_axes: int, weights: BlockWeights, groups: Groups
) -> FloatArray:
    """Block means of the outputs as if the points had not moved.

    A point that moves along the curve changes its value without being wrong. Its value where it is
    on average follows from the slope of the curve there.
    """
    valid, n = weights.valid[:, None], np.maximum(weights.n, 1.0)
    average = np.where(valid, mean, 0.0).sum(axis=0) / n
    moved = np.where(valid, mean[:, :n_axes] - average[:n_axes], 0.0)
    x = mean[:, n_axes:]
    for axis in range(n_axes):
        if not moved[:, axis].any():
            continue
        before, after = groups.neighbours(axis)
        run = average[axis, after] - average[axis, before]
        rise = average[n_axes:, after] - average[n_axes:, before]
        slope = rise / np.where(run > 0, run, np.inf)
        x = x - slope * moved[:, axis, None]
    return x


def _path(x: FloatArray, valid: Array, groups: Groups) -> FloatArray:
    """The angles between the errors of neighbouring points, summed over each group."""
    both = (valid[:, 1:] & valid[:, :-1])[:, None]
    n = np.maximum(both.sum(axis=0), 1)
    left, right = np.where(both, x[:, :, :-1], 0.0), np.where(both, x[:, :, 1:], 0.0)
    left = np.where(both, left - left.sum(axis=0) / n, 0.0)
    right = np.where(both, right - right.sum(axis=0) / n, 0.0)
    # Of roots: the products of squares of values of 1e-100, and of 1e100, are no numbers.
    sizes = np.sqrt(np.einsum("nrc,nrc->rc", left, left))
    sizes *= np.sqrt(np.einsum("nrc,nrc->rc", right, right))
    product = np.einsum("nrc,nrc->rc", left, right)
    # A point that does not vary needs no room of its own; one that is new is apart.
    correlation = np.where(sizes > 0, product / np.where(sizes > 0, sizes, 1.0), 1.0)
    correlation = np.where(n < FEWEST, 0.0, correlation.clip(-1.0, 1.0))
    angles = np.zeros((x.shape[1], x.shape[2]))
    angles[:, 1:] = np.where(np.diff(groups.owner) == 0, np.arccos(correlation), 0.0)
    return groups.total(angles)


class CurveErrors:
    """The errors of all smoothed answers now, with the dependence between observations.

    Parameters
    ----------
    means
        What the errors are of.
    found
        What was added to the means, for the curves of the model as it is now.

    Attributes
    ----------
    n_effective
        Effective number of observations of each column, were they independent.
    """

    def __init__(self, means: Means, found: Correction | None = None) -> None:
        smoothing = means.smoothing
        plain = smoothing.std_error[means.n_axes :]
        self.n_effective = smoothing.n_effective
        self._inflation = np.ones_like(plain)
        self._at_block = _latest(means, found)
        self._std_error = plain
        # What a correction adds to the variance of the centred curve.
        self._added = np.zeros_like(plain)
        if self._at_block is not None:
            self._know_dependence(self._at_block, smoothing, plain)
        if found is not None:
            self._correct(found, plain)

    def _know_dependence(self, at: AtBlock, smoothing: Smoothing, plain: FloatArray) -> None:
        groups = at.groups
        now = BlockWeights(at.blocks, smoothing.t or 0.0, smoothing.weight)
        # The mean of a stream that has just begun still gets better.
        self._scale = np.sqrt(at.n_effective / np.maximum(now.n_effective, 1.0))
        known = at.known & (plain > 0)
        ratio = (at.std_error * self._scale / np.where(known, plain, 1.0)) ** 2
        # A point that is too new to tell has what its curve has on average.
        some = groups.total(known) > 0
        common = np.maximum(np.where(some, groups.mean(ratio, known), 1.0), 1.0)[:, groups.owner]
        self._inflation = np.where(known, ratio, common)
        self._std_error = plain * np.sqrt(self._inflation)

    def _correct(self, found: Correction, plain: FloatArray) -> None:
        """Take the errors of curves that were corrected to the model as it is now.

        Its outputs vary otherwise than those of the past, and that the correction itself is an
        estimate comes on top of it.
        """
        # That the level moved with the model is in `plain`, and is no error of today. Blocks of a
        # time when the model said the same of all observations tell nothing of today either.
        alone = found.of_one / np.maximum(self.n_effective, 1.0)
        of_data = alone
        if self._at_block is not None:
            of_data = np.maximum(alone, plain**2 * self._inflation)
        variance = of_data + found.variance
        self._added = found.variance
        self._std_error = np.sqrt(variance)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(variance > 0, of_data / variance, 1.0).min(axis=0, initial=1.0)
        # What one observation varies by: with that, the error says how many they are worth.
        single = self.n_effective * plain**2 * found.spread
        n_asked = np.minimum(found.n_effective, self.n_effective)
        self.n_effective = np.maximum(self.n_effective * share, n_asked)
        some = single > 0
        worth = np.where(some, self.n_effective * variance / np.where(some, single, 1.0), 1.0)
        self._inflation = np.where(variance > 0, worth, 1.0)

    def of_points(self, columns: Any) -> FloatArray:
        """Standard errors, of shape (n_outputs, n)."""
        return self._std_error[:, columns]

    def of_curve(self, columns: Any, rows: Any) -> dict[str, Any]:
        """What a `Curve` says of its errors, but for its shape.

        Parameters
        ----------
        columns
            Its points, in their order, as arrays are indexed.
        rows
            Its outputs, in their order.
        """
        at = self._at_block
        error = np.array(self._std_error[rows][:, columns])
        if at is None or not (known := at.known[columns]).any():
            return {"std_error": error, "provisional": True}
        group = at.groups.owner[columns][0]
        scaled = at.centred[rows][:, columns] * self._scale[columns]
        centred = np.sqrt(scaled**2 + self._added[rows][:, columns])
        return {
            "std_error": error,
            "inflation": np.maximum(self._inflation[rows][:, columns].mean(axis=1), 1.0),
            "degrees": np.array(at.degrees[rows, group]),
            "path_length": np.array(at.path[rows, group]),
            "centred_path_length": np.array(at.centred_path[rows, group]),
            "centred_std_error": np.where(known, centred, error),
            "provisional": bool(at.provisional[group]),
        }


def _latest(means: Means, found: Correction | None) -> AtBlock | None:
    """What the blocks say; the same object until there is a new one, if the model stays."""
    closed = means.blocks.closed(means.smoothing.t or 0.0)
    if len(closed.numbers) < FEWEST or not means.outputs:
        return None
    if found is not None:
        return at_block(means, closed, found)
    last: AtBlock | None = means.errors
    if (
        last is None
        or last.blocks.mean.base is not means.blocks.mean
        or len(last.blocks.numbers) != len(closed.numbers)
    ):
        last = means.errors = at_block(means, closed)
    return last
