"""Which of an observation's points are nearest to some knots, number by number.

Compiled as it is into `_nearest`, with the types in `_nearest.pxd`; where it is not compiled it
runs as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython  # noqa: F401

Span = tuple[int, int, int]
"""The number of a feature, its first column and the one after its last."""


class NearestPoints:
    """Finds the points that are nearest to the knots of each feature.

    Parameters
    ----------
    knots
        Of each feature, ascending; none for what is no number.
    slack
        A range may end earlier by this share of it, and still hold all knots.
    """

    def __init__(self, knots: Sequence[FloatArray], slack: float) -> None:
        self.slack, self.n_features = slack, len(knots)
        stops = np.cumsum([len(own) for own in knots])
        self.firsts = np.array([0, *stops], dtype=np.intp)
        self.knots = np.concatenate([np.empty(0), *knots])
        # As numbers in C.
        self.v_firsts, self.v_knots = self.firsts, self.knots

    def find(self, positions: list[Any], spans: list[Any], columns: Array, within: Array) -> None:
        """Write the columns of the nearest points, and whether a feature's knots are in its range.

        `positions` of each observation are of shape (n_axes, n_points), and `spans` where those of
        its features stand. `columns` has one number for each knot of all features, `within` one for
        each feature: of shape (n_observations, n_knots) and (n_observations, n_features).
        """
        n = len(positions)
        fits = len(spans) == columns.shape[0] == within.shape[0] == n
        if not fits or columns.shape[1] != self.v_knots.shape[0]:
            raise ValueError("these are not the knots of the features")
        if within.shape[1] != self.n_features:
            raise ValueError("these are not the knots of the features")
        for k in range(n):
            self._find(positions[k][0], spans[k], columns[k], within[k])

    def _find(
        self, positions: FloatArray, spans: Sequence[Span], columns: Array, within: Array
    ) -> None:
        """The same of one observation."""
        knots, firsts = self.v_knots, self.v_firsts
        for k in range(len(spans)):
            row, start, stop = spans[k]
            if not 0 <= row < self.n_features or not 0 <= start < stop <= positions.shape[0]:
                raise ValueError("there are no such points")
            first, last = firsts[row], firsts[row + 1]
            if first == last:
                continue
            ascends = True
            for column in range(start + 1, stop):
                ascends = ascends and positions[column - 1] <= positions[column]
            best = start
            for place in range(first, last):
                knot = knots[place]
                if not ascends:
                    best = start
                # From the one of the last knot on: in order, it is none before that.
                least = abs(positions[best] - knot)
                for column in range(best + 1, stop):
                    distance = abs(positions[column] - knot)
                    if distance <= least:
                        best, least = column, distance
                    elif ascends:
                        break
                columns[place] = best
            low, high = positions[start], positions[stop - 1]
            slack = self.slack * (high - low)
            within[row] = low - slack <= knots[first] and knots[last - 1] <= high + slack
