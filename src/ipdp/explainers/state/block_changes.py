"""What the blocks of a stream would be had the model always been as it is now.

Past observations tell, each of the block that it came in: the control variate of the curves
themselves (`correction.py`), one block after the other. So the memory of the data can be read from
the blocks of a model that learns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ipdp.core.blocks import Blocks
from ipdp.core.dependence import of_neighbours
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.correction import Changes
from ipdp.explainers.state.groups import Groups

# So many times the noise is left out of what blocks vary by: it is an estimate, too.
_NOISE = 2.5
_NEGLIGIBLE = 1e-12
# How many differences before and after an observation say how far apart it is from others.
_AROUND = 8


class BlockChanges(NamedTuple):
    """By how much the mean of each block would be another one, and how well that is known.

    Attributes
    ----------
    mean
        Of shape (n_blocks, n_outputs, n_columns).
    known
        Whether anything is known of a column, (n_columns,).
    noise
        Variance of the mean, averaged over the points of a curve: (n_blocks, n_outputs, n_groups).
    """

    mean: FloatArray
    known: Array
    noise: FloatArray

    @classmethod
    def of(cls, blocks: Blocks, changes: Changes, groups: Groups) -> BlockChanges:
        """What past observations tell of blocks.

        One without any has the change of the one before it, or of the first that has some.
        """
        own = np.floor(changes.times / blocks.size)
        at = np.minimum(np.searchsorted(blocks.numbers, own), len(blocks.numbers) - 1)
        is_inside = blocks.numbers[at] == own
        # Most often all are: then there is nothing to be copied.
        inside = slice(None) if is_inside.all() else is_inside
        at, difference = at[inside], changes.difference[inside]
        n = np.zeros((len(blocks.numbers), difference.shape[2]))
        mean = np.zeros((len(n), *difference.shape[1:]))
        noise = np.zeros((*mean.shape[:2], len(groups.starts)))
        if len(at):
            starts, sizes = np.unique(at, return_index=True, return_counts=True)[1:]
            n[at[starts]] = np.add.reduceat(changes.known[inside], starts, axis=0, dtype=float)
            mean[at[starts]] = np.add.reduceat(difference, starts, axis=0)
            # The variance of each in that of the mean of its block; none if all of it is there.
            ages = changes.t - (blocks.numbers + 1) * blocks.size
            whole = np.maximum(blocks.weight.max(axis=1) * blocks.decay**ages, _NEGLIGIBLE)
            seen = np.add.reduceat(changes.weights[inside], starts) / whole[at[starts]]
            part = np.repeat(np.clip(1 - seen, 0.0, 1.0) / sizes**2, sizes)
            single = part[:, None, None] * _of_one(difference, groups)
            noise[at[starts]] = np.add.reduceat(single, starts, axis=0)
            # Of those that were not asked about it is not known what the model says by now.
            old = np.add.reduceat((~changes.is_asked[inside]).astype(float), starts) / sizes
            last = groups.total((changes.since**2).mean(axis=0)) / groups.sizes
            noise[at[starts]] += old[:, None, None] * last
        mean /= np.maximum(n, 1.0)[:, None]
        near = _nearest(groups.total(n) > 0)
        noise = np.take_along_axis(noise, near[:, None], axis=0)
        near = _nearest(n > 0)
        return cls(np.take_along_axis(mean, near[:, None], axis=0), n.sum(axis=0) > 0, noise)

    def applied(self, x: FloatArray, valid: Array, groups: Groups) -> tuple[FloatArray, FloatArray]:
        """The means of blocks as they would be, nearer to their mean the less is known of each.

        A block of which nothing is known says nothing of the memory of the data. How much blocks
        vary is what they differ by from one to the next, or all of them together, where that is
        far more than the noise. The second array, (n_outputs, n_columns), is how much of their
        variance is left.
        """
        usual = groups.mean(of_neighbours(x, valid), np.ones(x.shape[2], dtype=bool))
        there = valid & self.known
        weight = np.maximum(_part(usual, self.noise), _NEGLIGIBLE)
        weight *= (groups.total(there) > 0)[:, None]
        own = np.take(weight, groups.owner, axis=-1) * there[:, None]
        x = x + self.mean
        mean = (own * x).sum(axis=0) / np.maximum(own.sum(axis=0), _NEGLIGIBLE)
        away = np.where(there[:, None], x - mean, 0.0)
        squares = groups.total(away * away) / groups.sizes
        total = np.maximum(weight.sum(axis=0), _NEGLIGIBLE)
        whole = ((squares - _NOISE * self.noise) * weight).sum(axis=0) / total
        share = np.take(_part(np.maximum(usual, whole), self.noise), groups.owner, axis=-1)
        share = share * there[:, None]
        left = (share * share).sum(axis=0) / np.maximum(valid.sum(axis=0), 1)
        return mean + share * away, left


def _nearest(there: Array) -> Array:
    """For each row of a column that one before it which is there, or the first."""
    last = np.maximum.accumulate(np.where(there, np.arange(len(there))[:, None], -1), axis=0)
    return np.asarray(np.where(last < 0, there.argmax(axis=0), last))


def _part(variance: FloatArray, noise: FloatArray) -> FloatArray:
    """How much of what is seen is no noise."""
    return np.asarray(np.where(noise > 0, variance / np.where(noise > 0, variance + noise, 1), 1.0))


def _of_one(values: FloatArray, groups: Groups) -> FloatArray:
    """Half of the squared difference of values that follow each other, by curve.

    That of one is the larger one of those with its neighbours, and at least the mean of some around
    it: two values may happen to be alike.
    """
    steps = np.diff(values, axis=0, prepend=values[:1], append=values[-1:])
    squares = groups.total(steps * steps) / groups.sizes / 2
    n = len(values)
    sums = np.concatenate([np.zeros((1, *squares.shape[1:])), np.cumsum(squares, axis=0)])
    first = np.clip(np.arange(n) - _AROUND, 1, n)
    last = np.clip(np.arange(n) + _AROUND + 2, 1, n)
    around = (sums[last] - sums[first]) / np.maximum(last - first, 1)[:, None, None]
    return np.asarray(np.maximum(np.maximum(squares[1:], squares[:-1]), around))
