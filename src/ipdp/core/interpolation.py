"""Between the points of a curve."""

from __future__ import annotations

import numpy as np

from ipdp.core.typing import Array, FloatArray


def interpolation_weights(axis: Array, x: Array, categorical: bool) -> FloatArray:
    """Weights of the axis' points at each x, of shape (n, m); a row of NaN outside of the axis."""
    weights = np.zeros((len(x), len(axis)))
    if categorical:
        known = {value: k for k, value in enumerate(axis.tolist())}
        for row, value in enumerate(x.tolist()):
            if value not in known:
                raise ValueError(f"no category {value!r}: the curve has {list(known)}")
            weights[row, known[value]] = 1.0
        return weights
    x = x.astype(float)
    # Duplicates (a constant feature) are stepped over: the last of them counts.
    right = np.clip(np.searchsorted(axis, x, side="right"), 1, max(len(axis) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(axis) - 1)
    width = (axis[right] - axis[left]).astype(float)
    share = np.where(width > 0, (x - axis[left]) / np.where(width > 0, width, 1.0), 0.0)
    rows = np.arange(len(x))
    weights[rows, left] += 1 - share
    weights[rows, right] += share
    weights[(x < axis[0]) | (x > axis[-1]) | np.isnan(x)] = np.nan
    return weights
