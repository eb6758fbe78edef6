"""Pairs of features: one walk for each value of the first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray, Observation
from ipdp.models.base import Probe
from ipdp.models.trees.points import Columns, Points


class Lines:
    """The points of a pair as lines: with each value of its first feature all of its second.

    Along a line one feature is replaced, which is what a walk is for.
    """

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self._columns = Columns(())
        self._length = 0

    @staticmethod
    def serves(probe: Probe) -> bool:
        """Whether it can serve this probe."""
        has_missing = any(c is not None and None in c.tolist() for c in probe.categories)
        return len(probe.names) == 2 and not probe.missing and not has_missing

    def of(self, x: Observation, positions: FloatArray) -> Iterator[tuple[slice, Points]] | None:
        """The columns and points of each line; None if they are not all of the same kind.

        Parameters
        ----------
        x
            The observation.
        positions
            Of all points, of shape (n_axes, n_points).
        """
        firsts = self.probe.values(positions, 0)
        n = next((k for k, value in enumerate(firsts) if value != firsts[0]), len(firsts))
        if firsts != [value for value in firsts[::n] for _ in range(n)]:
            return None
        columns = self._columns_of(n)
        return None if columns is None else self._lines(x, positions, firsts, columns)

    def as_one(
        self, x: Observation, positions: FloatArray
    ) -> tuple[slice, Points, FloatArray] | None:
        """The columns, the points of a line, and the values of the first feature, one a line.

        None if these are no numbers in ascending order, or the lines differ.
        """
        probe = self.probe
        if probe.categories[0] is not None or probe.whole[0]:
            return None
        firsts, seconds = positions[:, probe.start : probe.stop]
        n = int(np.searchsorted(firsts, firsts[0], side="right"))
        columns = self._columns_of(n) if len(firsts) % n == 0 else None
        if columns is None:
            return None
        one = firsts[::n].copy()
        same = (firsts.reshape(-1, n) == one[:, None]).all() and (np.diff(one) > 0).all()
        if not same or not (seconds.reshape(-1, n) == seconds[:n]).all():
            return None
        own = slice(probe.start, probe.start + n)
        return slice(probe.start, probe.stop), columns.points(x, positions[None, 1:, own]), one

    def _lines(
        self, x: Observation, positions: FloatArray, firsts: list[Any], columns: Columns
    ) -> Iterator[tuple[slice, Points]]:
        for line in range(0, len(firsts), columns.n):
            start = self.probe.start + line
            own = slice(start, start + columns.n)
            with_first = {**x, self.probe.names[0]: firsts[line]}
            yield own, columns.points(with_first, positions[None, 1:, own])

    def _columns_of(self, n: int) -> Columns | None:
        """The columns of a line of n points; None if lines have different categories."""
        if n != self._length:
            probe = self.probe
            categories = probe.categories[1]
            own = None if categories is None else categories[:n]
            if categories is not None and own is not None:
                lines = categories.reshape(-1, n).tolist()
                if any(line != own.tolist() for line in lines):
                    return None
            line = Probe(probe.names[1:], 0, n, probe.whole[1:], (own,), times=probe.times[1:])
            self._columns, self._length = Columns((line,)), n
        return self._columns

    def at(self, x: Observation, positions: FloatArray, column: int) -> dict[FeatureName, Any]:
        """The observation with the values of one column."""
        values = [self.probe.values(positions, axis)[column - self.probe.start] for axis in (0, 1)]
        return {**x, **dict(zip(self.probe.names, values, strict=True))}
