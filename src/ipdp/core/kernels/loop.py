"""The steps that every observation goes through, number by number: fast when compiled.

This file is compiled as it is, into `_loop`, with the types in `_loop.pxd`, and so are `sums.py`,
`bins.py` and `storages.py`, whose names it has too. Where they are not, `array.py` does the same by
operations on arrays under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.typing import FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if cython.compiled:
    from ipdp.core.kernels import _bins as bins  # type: ignore[attr-defined]
    from ipdp.core.kernels import _storages as storages  # type: ignore[attr-defined]
    from ipdp.core.kernels import _sums as sums  # type: ignore[attr-defined]
else:
    from ipdp.core.kernels import bins, storages, sums

Locator = bins.Locator
CountWatch, Versions, Watch = storages.CountWatch, storages.Versions, storages.Watch
Extremes, Sample, QuantileSpan = storages.Extremes, storages.Sample, storages.QuantileSpan
RandomBlock, draw = storages.RandomBlock, storages.draw
count_in, is_whole, take_in = storages.count_in, storages.is_whole, storages.take_in
are_below = sums.are_below
close_block, close_stratum, join_strata = sums.close_block, sums.close_stratum, sums.join_strata
fold_at, fold_in, fold_many = sums.fold_at, sums.fold_in, sums.fold_many
fold_groups = sums.fold_groups


# Points.


class EvenPoints:
    """Equidistant points in several ranges, side by side in one row.

    A range has `ends()`, and a `version` that changes when these do; `columns` are, for each range,
    its first column and the one after its last.
    """

    def __init__(self, spans: list[Any], columns: list[tuple[int, int]]) -> None:
        self.spans = spans
        self.columns = columns
        self.versions = [-1] * len(spans)
        self.lows = [0.0] * len(spans)
        self.highs = [0.0] * len(spans)

    def moved(self) -> bool:
        """Whether any range may have moved since this was last asked."""
        versions, moved = self.versions, False
        for k in range(len(self.spans)):
            span = self.spans[k]
            version = span.version
            if version != versions[k]:
                versions[k] = version
                self.lows[k], self.highs[k] = span.ends()
                moved = True
        return moved

    def write(self, row: FloatArray) -> None:
        """Write the points into their columns."""
        # x_min + (k - 1) / (m - 1) (x_max - x_min), the paper's model evaluation point.
        for number in range(len(self.columns)):
            first, stop = self.columns[number]
            low, high = self.lows[number], self.highs[number]
            if first < 0 or stop > row.shape[0]:
                raise ValueError("the points do not fit into the row")
            steps = stop - first - 1
            for k in range(stop - first):
                row[first + k] = (high - low) * (k / steps) + low


def take_in_many(  # noqa: PLR0917  (called for each block: by position)
    values: list[list[Any]],
    asked: list[bool],
    part: tuple[int, int],
    takers: tuple[list[Any], list[Any]],
    points: tuple[Any, Any, Any],
    positions: list[Any],
) -> int:
    """Let storages take some observations, one after the other.

    Where one is asked about, the positions of the points come before it.

    Parameters
    ----------
    values, asked
        The values of each, as `take_in` has them, and whether it is asked about.
    part
        Number of the first of them, and of the one after the last.
    takers
        The storages and the updates, as `take_in` has them.
    points
        The `Versions` of points that may come and go, which are looked at; the `EvenPoints`, or
        None; the positions at the beginning, of shape (n_axes, n_points), which stay as they are.
    positions
        Takes the positions of each that is asked about.

    Returns
    -------
    The number of the one after the last that was taken: the next is to be asked about when other
    points may have come, gone or moved.
    """
    first, stop = part
    storages_of, updates = takers
    versions, even, latest = points
    for k in range(first, stop):
        if asked[k]:
            if k > first and versions.changed():
                return k
            if even is not None and even.moved():
                latest = latest.copy()
                even.write(latest[0])
            positions.append(latest)
        storages.take_in(values[k], storages_of, updates)
    return stop


# Values.


def numbers_of(x: Mapping[Any, Any], names: Sequence[Any], limit: float) -> list[Any] | None:
    """The values of some features; None unless all are floats or ints of a size below the limit."""
    values = []
    is_dict = type(x) is dict
    own: Any = x if is_dict else None  # as a dict of C
    for name in names:
        value = own.get(name) if is_dict else x.get(name)
        if type(value) is float or type(value) is int:
            if not -limit < value < limit:  # NaN is not, either
                return None
        else:
            return None
        values.append(value)
    return values


def are_numbers(values: list[Any], limit: float) -> bool:
    """Whether all values are floats or ints of a size below the limit."""
    for value in values:
        if type(value) is float or type(value) is int:
            if not -limit < value < limit:  # NaN is not, either
                return False
        else:
            return False
    return True
