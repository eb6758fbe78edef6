"""Friedman's H: how much of what two features do is done together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.interpolation import weights_beyond
from ipdp.core.typing import Array, FloatArray

# From fewer observations nothing is said.
_FEWEST = 30
# Of the size of a surface, what may be rounding.
_ROUNDING = 1e-9


class Effect(NamedTuple):
    """A curve or a surface: values of shape (n_outputs, m) or (n_outputs, m1, m2), and its axes."""

    axes: Sequence[Array]
    values: FloatArray

    def at(self, own: Sequence[Sequence[Any]]) -> FloatArray:
        """The effect at the values of n observations, (n_outputs, n); NaN where it is not known."""
        parts = [weights_beyond(axis, values) for axis, values in zip(self.axes, own, strict=True)]
        unknown = np.asarray(np.isnan(self.values).any(axis=0))
        by_cell = "oi,ni->on" if len(parts) == 1 else "oij,ni,nj->on"
        found = np.einsum(by_cell, np.where(unknown, 0.0, self.values), *parts)
        if unknown.any():
            sizes = np.einsum(by_cell, unknown[None].astype(float), *map(np.abs, parts))
            found[:, sizes[0] > 0] = np.nan
        return np.asarray(found)


def h_squared(
    surface: Effect,
    singles: Sequence[Effect],
    own: Sequence[Sequence[Any]],
    weights: FloatArray,
) -> FloatArray | None:
    """H² of a pair (Friedman and Popescu 2008), for each output; None for too few observations.

    The share of the variance of the surface, over observations, that is not in the sum of the two
    curves. It is 0 for two features whose effects add up, and 1 where neither has an effect of its
    own; a little above 1 is possible where they are correlated. NaN of a surface that is flat.

    Parameters
    ----------
    surface, singles
        The partial dependence of the pair, and of its two features.
    own
        The values that the two features had in each of n observations.
    weights
        Of the observations.
    """
    both = surface.at(own)
    apart = both - sum(one.at([values]) for one, values in zip(singles, own, strict=True))
    known = np.isfinite(apart).all(axis=0) & (weights > 0)
    if known.sum() < _FEWEST:
        return None
    share = weights[known] / weights[known].sum()
    whole, rest = (variance(values[:, known], share) for values in (both, apart))
    return ratio(whole, rest, surface.values)


def ratio(whole: FloatArray, rest: FloatArray, values: FloatArray) -> FloatArray:
    """A share of variances, for each output; NaN where nothing is left but the values' rounding."""
    least = (_ROUNDING * np.abs(values[np.isfinite(values)]).max(initial=0.0)) ** 2
    return np.where(whole > least, rest / np.where(whole > least, whole, 1.0), np.nan)


def variance(values: FloatArray, share: FloatArray) -> FloatArray:
    """Of n values, (n_outputs, n), with shares that add up to 1."""
    away = values - (values @ share)[:, None]
    return np.asarray(away**2 @ share)
