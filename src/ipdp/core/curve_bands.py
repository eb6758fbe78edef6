"""How wide the band of a curve is, and whether its outputs are probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ipdp.core.student_t import pointwise_level, student_quantile
from ipdp.core.typing import FloatArray
from ipdp.core.validation import checked_level

if TYPE_CHECKING:
    from ipdp.core.curve import Curve


def half_width(curve: Curve, level: float, *, simultaneous: bool) -> FloatArray:
    """Half the width of a curve's confidence band, of the shape of `average`."""
    level = checked_level(level)
    degrees = np.broadcast_to(curve.n_effective_points - 1, curve.average.shape)
    if curve.degrees is not None:
        own = curve.degrees.reshape(-1, *[1] * len(curve.grid_values))
        degrees = np.minimum(degrees, own)
    half = np.empty(curve.average.shape)
    for k in range(len(curve.outputs)):
        of_point = level
        if simultaneous:
            path = None if curve.path_length is None else float(curve.path_length[k])
            of_point = pointwise_level(level, n=curve.n_effective_points.size, path_length=path)
        half[k] = student_quantile((1 + of_point) / 2, degrees[k]) * curve.std_error[k]
    return half


def missing_ends(curve: Curve, level: float) -> tuple[FloatArray, FloatArray]:
    """Both ends of the band at the point of missing values."""
    level = checked_level(level)
    nothing = np.full(len(curve.outputs), np.nan)
    centre = nothing if curve.missing is None else curve.missing
    error = nothing if curve.missing_std_error is None else curve.missing_std_error
    half = student_quantile((1 + level) / 2, np.inf) * error
    return centre - half, centre + half


def are_probabilities(curve: Curve) -> bool:
    """Whether the outputs are the probabilities of classes, which have names."""
    if not curve.outputs:
        return False
    newest = curve.ice is not None and curve.ice.shape[1] > 0
    values = curve.ice[:, -1] if curve.ice is not None and newest else curve.average
    values = values.reshape(len(curve.outputs), -1)
    values = values[:, ~np.isnan(values).any(axis=0)]
    if curve.kind == "ale":  # what one class gains, others lose
        return bool(len(values) > 1 and np.allclose(values.sum(axis=0), 0.0, atol=1e-6))
    # A smoothed curve may leave [0, 1] a little where data are few, but not on the whole.
    if not values.size or values.mean(axis=1).min() < -1e-9:
        return False
    return bool(np.allclose(values.sum(axis=0), 1.0, atol=1e-6))


def are_linked(curve: Curve) -> bool:
    """Whether the outputs are probabilities on the scale of a link.

    Of logarithms it is seen by their sum: means of logarithms are no more than those of means.
    """
    if curve.link != "log" or curve.kind == "ale":
        return curve.link == "logit"
    values = curve.average.reshape(len(curve.outputs), -1)
    values = values[:, np.isfinite(values).all(axis=0)]
    return bool(values.size and np.exp(np.minimum(values, 1.0)).sum(axis=0).max() <= 1.01)
