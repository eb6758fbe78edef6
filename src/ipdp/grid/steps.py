"""Where the knots of a lattice are, and how fine it may be."""

from __future__ import annotations

import math
from typing import NamedTuple


class Steps(NamedTuple):
    """Where the knots of a lattice are.

    Examples
    --------
    >>> Steps(0, thirds=False).at(7), Steps(0, thirds=True).at(6), Steps(-1, thirds=True).below(0.5)
    (7.0, 6.333333333333333, 0)
    """

    exponent: int
    thirds: bool

    @property
    def size(self) -> float:
        """The distance of two knots."""
        return math.ldexp(1.0, self.exponent)

    @property
    def _above(self) -> int:
        """How many thirds of a step the knots are above its multiples."""
        return 1 + self.exponent % 2

    def at(self, k: int) -> float:
        """The knot number k; the same number on every lattice that has it."""
        if not self.thirds:
            return math.ldexp(k, self.exponent)
        return math.ldexp(3 * k + self._above, self.exponent) / 3

    def nearest(self, x: float) -> float:
        """The knot nearest to a number."""
        return self.at(round(self._place(x)))

    def below(self, x: float) -> int:
        """The number of the last knot that is not above x."""
        k = math.floor(self._place(x))
        # The place is rounded: a knot may be taken for its neighbour.
        return k - 1 if self.at(k) > x else k

    def above(self, x: float) -> int:
        """The number of the first knot that is not below x."""
        k = math.ceil(self._place(x))
        return k + 1 if self.at(k) < x else k

    def _place(self, x: float) -> float:
        return x / self.size - (self._above / 3 if self.thirds else 0)


def finest(low: float, high: float, *, whole: bool, thirds: bool) -> int:
    """The finest step that tells knots apart: whole numbers, or what the floats there can hold."""
    ulp = math.frexp(math.ulp(max(abs(low), abs(high))))[1] - 1
    if thirds:
        ulp += 2  # three times the number of a knot is to be exact as well
    return max(0, ulp) if whole else ulp
