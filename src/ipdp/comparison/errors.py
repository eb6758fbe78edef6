"""How far a curve, its shape and its level may be from the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipdp.core.blocks import N_BLOCKS, Blocks
from ipdp.core.curve import Curve
from ipdp.core.dependence import FEWEST, BlockWeights, mean_errors
from ipdp.core.typing import FloatArray

# A block of rows has at least so many of them.
_SHORTEST = 8
# Of the mean variance of the points, at least this is that of the level: a difference of two
# estimates may come out as nothing.
_LEAST_OF_LEVEL = 0.25


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of a curve's points, shape and level, for each output.

    Attributes
    ----------
    shape
        Standard errors of the curve minus its mean over the points, of shape (n_outputs, n_points).
    level
        That of the mean over the points, of shape (n_outputs,).
    degrees
        Degrees of freedom, of shape (n_outputs,).
    path
        Path of the errors of the shape (see `Curve.path_length`), of shape (n_outputs,); NaN where
        it is not known.
    """

    shape: FloatArray
    level: FloatArray
    degrees: FloatArray
    path: FloatArray

    @classmethod
    def of(cls, curve: Curve) -> Errors:
        """The errors that a curve tells of; from its ICE curves where it has those of all rows."""
        if _has_all_rows(curve):
            return cls._of_rows(curve)
        n_outputs = len(curve.outputs)
        points = curve.std_error.reshape(n_outputs, -1)
        behind = curve.n_effective_points.ravel()
        shape = _shape_errors(curve).reshape(n_outputs, -1)
        # A point that joined late is the mean of other observations than the rest of its curve.
        late = 1 - behind / max(float(behind.max(initial=0.0)), 1.0)
        shape = np.sqrt(shape**2 + late * points**2)
        n = np.median(behind) if behind.size else 0.0
        degrees = np.full(n_outputs, max(n - 1, 1.0))
        if curve.degrees is not None:
            degrees = np.minimum(degrees, curve.degrees)
        path = curve.centred_path_length
        return cls(
            shape=shape,
            level=_level_errors(points, shape),
            degrees=degrees,
            path=np.full(n_outputs, np.nan) if path is None else path,
        )

    @classmethod
    def _of_rows(cls, curve: Curve) -> Errors:
        """From the means of blocks of rows: rows in the order of time depend on each other."""
        assert curve.ice is not None
        n_outputs, n = curve.ice.shape[:2]
        rows = curve.ice.reshape(n_outputs, n, -1).transpose(1, 0, 2)
        size = max(-(-n // N_BLOCKS), _SHORTEST)
        means = np.array([rows[k : k + size].mean(axis=0) for k in range(0, n - size + 1, size)])
        return cls.of_blocks(means, np.full(len(means), float(size)))

    @classmethod
    def of_blocks(cls, means: FloatArray, lengths: FloatArray) -> Errors:
        """From the means of consecutive stretches of time.

        Parameters
        ----------
        means
            Shape (n_blocks, n_outputs, n_points).
        lengths
            How long each is.
        """
        level = means.mean(axis=2, keepdims=True)
        blocks = Blocks(alpha=None, n_rows=means.shape[1], n_columns=means.shape[2] + 1)
        blocks.size = 1
        blocks.put(
            np.arange(len(means), dtype=float),
            np.repeat(lengths[:, None], means.shape[2] + 1, axis=1),
            np.concatenate([means - level, level], axis=2),
        )
        weights = BlockWeights(blocks, float(len(means)))
        found = mean_errors(blocks, weights, blocks.mean)
        return cls(
            shape=found.std_error[:, :-1],
            level=found.std_error[:, -1],
            degrees=1 / (1 / found.degrees).mean(axis=1),
            path=path_length(means - level),
        )


def path_length(deviations: FloatArray) -> FloatArray:
    """The angles between the errors of neighbouring points, summed, of shape (n_outputs,).

    The deviations are those of blocks from their mean, of shape (n_blocks, n_outputs, n_points).
    """
    x = deviations - deviations.mean(axis=0)
    size = np.sqrt((x * x).sum(axis=0))
    product = (x[:, :, 1:] * x[:, :, :-1]).sum(axis=0)
    both = size[:, 1:] * size[:, :-1]
    correlation = np.where(both > 0, product / np.where(both > 0, both, 1.0), 1.0)
    return np.asarray(np.arccos(correlation.clip(-1.0, 1.0)).sum(axis=1))


def _has_all_rows(curve: Curve) -> bool:
    """Whether it is the curve of a table, with the ICE curve of every row in their order."""
    return (
        curve.inflation is None
        and curve.ice is not None
        and curve.ice.shape[1] == curve.n_samples >= FEWEST * _SHORTEST
        and not np.isnan(curve.ice).any()
        # All rows alike: weighted ones are no plain mean.
        and bool(np.allclose(curve.n_effective_points, curve.n_samples))
    )


def _shape_errors(curve: Curve) -> FloatArray:
    """Standard errors of the curve minus its mean over the points."""
    if curve.centred_std_error is not None:
        return curve.centred_std_error
    if curve.ice_spread is None:
        return curve.std_error
    n = np.maximum(curve.n_effective_points, 1.0)
    own = curve.ice_spread / np.sqrt(n)
    return np.where(np.isnan(own), curve.std_error, own)


def _level_errors(points: FloatArray, shape: FloatArray) -> FloatArray:
    """Standard error of the mean over the points.

    The mean variance of the points is that of the level plus the mean one of the shape: deviations
    from the mean have no covariance with it, on average over the points.
    """
    if not points.shape[1]:
        return np.full(len(points), np.nan)
    whole, own = (points**2).mean(axis=1), (shape**2).mean(axis=1)
    return np.asarray(np.sqrt(np.maximum(whole - own, _LEAST_OF_LEVEL * whole)))


def output_variance(curve: Curve) -> FloatArray:
    """The variance of the model's predictions, by what the curve tells, of shape (n_outputs,).

    That of the ICE curves at a point, and that of the curve over the data; as if the feature had
    nothing to do with the others.
    """
    n_outputs = len(curve.outputs)
    average = curve.average.reshape(n_outputs, -1)
    weights = curve.weights.ravel()
    away = average - (average @ weights)[:, None]
    of_curve = away**2 @ weights
    if curve.kind == "ale":
        return np.asarray(of_curve)
    error = curve.std_error.reshape(n_outputs, -1)
    inflation = np.ones(n_outputs) if curve.inflation is None else curve.inflation
    single = error**2 * curve.n_effective_points.ravel() / inflation[:, None]
    known = weights * ~np.isnan(single)
    total = known.sum(axis=1) if known.ndim > 1 else known.sum()
    of_rows = (np.nan_to_num(single) * known).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.asarray(of_curve + of_rows)
