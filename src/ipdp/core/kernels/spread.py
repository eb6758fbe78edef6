"""How far the ICE curves of an observation are from the mean, number by number.

Compiled as it is into `_spread`, with the types in `_spread.pxd`; `spread_array.py` does the same
by operations on arrays, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython  # noqa: F401

# Beyond its last points a curve goes on as a line, for so many times the distance of the two last
# points: what it does far from all data is not known.
_BEYOND = 1.0


class Groups:
    """Which columns are one curve each, and of what.

    Parameters
    ----------
    rows
        Whole numbers, with a column for each curve: its number; its first column, the one after
        its last point and the one after its last column (between the two stands a point for
        missing values); whether its points are numbers that may be elsewhere each time; which value
        of an observation is its feature's, -1 for a pair of features.
    lookups
        For each curve the columns of its categories; None for numbers.
    """

    def __init__(self, rows: Array, lookups: Sequence[Any]) -> None:
        self.numbers, self.starts, self.inners, self.stops, self.moving, self.places = rows
        self.lookups = list(lookups)


class SpreadStep:
    """Mean and spread of centred ICE curves, and of predictions without what the curves say.

    A curve is centred by its mean over its points, and `frame` is added: what keeps its level when
    points come and go. Sums are as in `Smoothing`: `mean` and `spread` of shape (n_outputs,
    n_columns), `weight` and `squares` (n_columns,). `reference` are the positions that they belong
    to. The frames (n_outputs, n_curves) and `effect`, the mean of each curve at the observations'
    own values, are by number. `total` and `total_spread` are mean and spread of the predictions and
    of what remains of them, (2, n_outputs); `clock` has their weight, their squares and the sum of
    weights of each effect behind. `density`, (n_columns,), are the weights of the observations,
    each shared by the two points of a curve that it lies between; `density_weight`, (1,), is the
    weight of all of them.
    """

    def __init__(self, groups: Groups, arrays: Mapping[str, FloatArray]) -> None:
        self.groups = groups
        self.mean = arrays["mean"]
        self.spread = arrays["spread"]
        self.weight = arrays["weight"]
        self.squares = arrays["squares"]
        self.reference = arrays["reference"]
        self.frame = arrays["frame"]
        self.effect = arrays["effect"]
        self.effect_weight = arrays["effect_weight"]
        self.total = arrays["total"]
        self.total_spread = arrays["total_spread"]
        self.clock = arrays["clock"]
        self.density = arrays["density"]
        self.density_weight = arrays["density_weight"]
        self.moved = np.zeros(self.mean.shape)
        self.shares = np.zeros(self.weight.shape)
        self.lookups = groups.lookups
        self.left, self.right, self.share = -1, -1, 0.0
        self.best, self.best_left, self.best_right, self.best_share = 0.0, -1, -1, 0.0
        self._prepare()

    def _prepare(self) -> None:
        """Look at the arrays once and not for each observation."""
        self.v_mean = self.mean
        self.v_spread = self.spread
        self.v_weight = self.weight
        self.v_squares = self.squares
        self.v_reference = self.reference
        self.v_frame = self.frame
        self.v_effect = self.effect
        self.v_effect_weight = self.effect_weight
        self.v_total = self.total
        self.v_total_spread = self.total_spread
        self.v_clock = self.clock
        self.v_density = self.density
        self.v_density_weight = self.density_weight
        self.v_moved = self.moved
        self.v_shares = self.shares
        self.v_numbers = self.groups.numbers
        self.v_starts = self.groups.starts
        self.v_inners = self.groups.inners
        self.v_stops = self.groups.stops
        self.v_moving = self.groups.moving
        self.v_places = self.groups.places
        n_outputs = self.mean.shape[0]
        self.said, self.rest = np.zeros((2, n_outputs))
        self.v_said = self.said
        self.v_rest = self.rest
        self.moves = bool(self.groups.moving.any())

    def strayed(self, positions: FloatArray) -> bool:
        """Whether a point is more than half a step from where it was when its curve began."""
        for g in range(self.v_numbers.shape[0]):
            if not self.v_moving[g]:
                continue
            for c in range(self.v_starts[g], self.v_inners[g]):
                away = abs(positions[c] - self.v_reference[c])
                if away == 0:
                    continue
                step = 0.0
                if c + 1 < self.v_inners[g]:
                    step = self.v_reference[c + 1] - self.v_reference[c]
                elif c > self.v_starts[g]:
                    step = self.v_reference[c] - self.v_reference[c - 1]
                if 2 * away > step:
                    return True
        return False

    def takes(self, values: FloatArray, positions: FloatArray) -> bool:
        """Whether there is as much as before, and no point has strayed."""
        shape = values.shape[0] == self.v_mean.shape[0] and values.shape[1] == self.v_mean.shape[1]
        return bool(shape and not (self.moves and self.strayed(positions[0])))

    def fold_many(  # noqa: PLR0917  (arrays one by one: C knows no objects of them)
        self,
        values: FloatArray,
        positions: FloatArray,
        own: list[list[Any]],
        times: tuple[list[float], list[float]],
        rests: FloatArray,
        first: int,
    ) -> int:
        """Take observations one after the other, until a point has strayed.

        Parameters
        ----------
        values, positions
            Of each its ICE curves, (n, n_outputs, n_columns), and where their points are, (n or 1,
            n_axes, n_columns).
        own
            Of each its own values.
        times
            Of each what is left then of what was before it, and its weight.
        rests
            Takes of each what the curves leave of its prediction, (n, n_outputs), where that is
            known.
        first
            Where to begin.

        Returns
        -------
        The number of that with a point that has strayed, which was not taken, or how many there
        are.
        """
        decays, weights = times
        for k in range(first, len(values)):
            at = positions[k if len(positions) > 1 else 0, 0]
            if self.moves and self.strayed(at):
                return k
            if self.fold(values[k], at, own[k], decays[k], weights[k]):
                for o in range(self.v_rest.shape[0]):
                    rests[k, o] = self.v_rest[o]
        return len(values)

    def fold(
        self, values: FloatArray, positions: FloatArray, own: list[Any], decay: float, w: float
    ) -> bool:
        """Take the ICE curves of an observation, (n_outputs, n_columns), and its own values.

        False if they do not tell the prediction for it.
        """
        self.move(values, positions)
        is_known: bool = self.remains(values, positions, own, decay, w)
        if is_known:
            self.fold_total(decay, w)
        self.fold_curves(decay, w)
        return is_known

    def move(self, values: FloatArray, positions: FloatArray) -> None:
        """What the curves are at their reference positions, centred."""
        n_outputs = self.v_mean.shape[0]
        if values.shape[0] != n_outputs or values.shape[1] != self.v_mean.shape[1]:
            raise ValueError("the rows have another shape than those before")
        for g in range(self.v_numbers.shape[0]):
            first, last = self.v_starts[g], self.v_inners[g]
            moving = self.v_moving[g]
            for o in range(n_outputs):
                total = 0.0
                for c in range(first, self.v_stops[g]):
                    value = values[o, c]
                    if moving and c < last:
                        away = self.v_reference[c] - positions[c]
                        if away != 0 and last - first > 1:
                            other = c + 1 if (away > 0 and c + 1 < last) or c == first else c - 1
                            run = positions[other] - positions[c]
                            if run != 0:
                                value = value + (values[o, other] - value) / run * away
                    self.v_moved[o, c] = value
                    if c < last:
                        total += value
                centre = total / (last - first)
                for c in range(first, self.v_stops[g]):
                    self.v_moved[o, c] = (self.v_moved[o, c] - centre) + self.v_frame[
                        o, self.v_numbers[g]
                    ]

    def remains(
        self, values: FloatArray, positions: FloatArray, own: list[Any], decay: float, w: float
    ) -> bool:
        """The prediction for the observation, and it without what the curves say.

        The prediction is read off the curve that is nearest to constant where the observation is:
        between two points it cannot be far from both. False if no curve can tell.
        """
        n_outputs = self.v_mean.shape[0]
        self.best, self.best_left = 1e300, -1
        for g in range(self.v_numbers.shape[0]):
            if self.v_places[g] >= 0:
                self.read_off(values, positions, own[self.v_places[g]], g)
        if self.best_left < 0:
            return False
        for o in range(n_outputs):
            left = values[o, self.best_left]
            self.v_said[o] = left + self.best_share * (values[o, self.best_right] - left)
            self.v_rest[o] = self.v_said[o]
        for c in range(self.v_density.shape[0]):
            self.v_density[c] *= decay
        self.v_density_weight[0] = decay * self.v_density_weight[0] + w
        for g in range(self.v_numbers.shape[0]):
            if self.v_places[g] >= 0:
                self.locate(values, own[self.v_places[g]], g)
                self.subtract(self.v_numbers[g], decay, w)
                self.count(own[self.v_places[g]], g, w)
        return True

    def count(self, value: Any, g: int, w: float) -> None:
        """Count an observation among the points of a curve, also those without a past."""
        if self.left < 0:
            if value is not None and self.lookups[g] is None:
                x = value
                self.between(self.v_reference, g, x, False)
            else:
                self.left = self.column_of(value, g)
                self.right, self.share = self.left, 0.0
        if self.left >= 0:
            self.v_density[self.left] += w * (1 - self.share)
            self.v_density[self.right] += w * self.share

    def read_off(self, values: FloatArray, positions: FloatArray, value: Any, g: int) -> None:
        """Consider one curve for the prediction."""
        if value is not None and self.lookups[g] is None:
            x = value
            self.between(positions, g, x, False)
            self.consider(self.doubt(values))
            return
        self.left = self.column_of(value, g)
        self.right, self.share = self.left, 0.0
        self.consider(0.0)

    def column_of(self, value: Any, g: int) -> int:
        """The column of a category, or of a missing value; -1 if there is none."""
        if value is not None:
            column: int = self.lookups[g].get(value, -1)
            return column
        return self.v_inners[g] if self.v_inners[g] < self.v_stops[g] else -1

    def locate(self, values: FloatArray, value: Any, g: int) -> None:
        """Find where a value is on a curve, among the points that have a past.

        Between two points the model need not be a line: a tree has a step there. How far the
        prediction has come from the one to the other says where the observation is.
        """
        if value is None or self.lookups[g] is not None:
            self.left = self.column_of(value, g)
            if self.left >= 0 and self.v_weight[self.left] == 0:
                self.left = -1
            self.right, self.share = self.left, 0.0
            return
        x = value
        self.between(self.v_reference, g, x, True)
        if self.left >= 0 and 0 < self.share < 1:
            largest = 0.0
            share = self.share
            for o in range(values.shape[0]):
                left = values[o, self.left]
                rise = values[o, self.right] - left
                if abs(rise) > largest and abs(rise) > 1e-9 * abs(left):
                    largest = abs(rise)
                    share = (self.v_said[o] - left) / rise
            self.share = min(max(share, 0.0), 1.0)

    def subtract(self, number: int, decay: float, w: float) -> None:
        """Take off what a curve says where the observation is; if it cannot tell, its mean."""
        self.v_effect_weight[number] *= decay
        if self.left >= 0:
            self.v_effect_weight[number] += w
        for o in range(self.v_mean.shape[0]):
            said = self.v_effect[o, number]
            if self.left >= 0:
                left = self.v_mean[o, self.left]
                said = left + self.share * (self.v_mean[o, self.right] - left)
                self.v_effect[o, number] += (w / self.v_effect_weight[number]) * (
                    said - self.v_effect[o, number]
                )
            self.v_rest[o] -= said

    def consider(self, doubt: float) -> None:
        """Read the prediction off here, unless there is a better place."""
        if self.left >= 0 and doubt < self.best:
            self.best, self.best_share = doubt, self.share
            self.best_left, self.best_right = self.left, self.right

    def between(self, at: FloatArray, g: int, x: float, known: bool) -> None:
        """Find two columns of a curve, `left` and `right`, with a number between them.

        `share` is its share of the way. Only columns with a past count, if they are to be `known`.
        Beyond the ends they are the two last; of one column only, `left` is that.
        """
        before, left, right, after = -1, -1, -1, -1
        for c in range(self.v_starts[g], self.v_inners[g]):
            if known and self.v_weight[c] == 0:
                continue
            if at[c] <= x:
                before, left = left, c
            elif right < 0:
                right = c
                if left >= 0:
                    break
            else:
                after = c
                break
        if left < 0:
            left, right = right, after
        elif right < 0 and before >= 0:
            left, right = before, left
        self.left, self.right, self.share = left, left, 0.0
        if left < 0 or right < 0 or not at[right] > at[left]:
            return
        self.right = right
        share = (x - at[left]) / (at[right] - at[left])
        self.share = min(max(share, -_BEYOND), 1 + _BEYOND)

    def doubt(self, values: FloatArray) -> float:
        """How far an answer between two columns may be from the line between them."""
        a, b, s = self.left, self.right, self.share
        if a < 0:
            return 1e300
        largest = 0.0
        for o in range(values.shape[0]):
            largest = max(largest, abs(values[o, b] - values[o, a]))
        if s < 0 or s > 1 or a == b:
            return 1e100 * (1.0 + largest)  # beyond the points, or of one point only
        return largest * (s if s < 0.5 else 1 - s)

    def fold_total(self, decay: float, w: float) -> None:
        """Fold the prediction and what remains of it in."""
        self.v_clock[0] *= decay
        weight = self.v_clock[0]
        share = w / (weight + w)
        for o in range(self.v_mean.shape[0]):
            for row in range(2):
                value = self.v_rest[o] if row else self.v_said[o]
                delta = value - self.v_total[row, o]
                step = delta * share
                self.v_total[row, o] += step
                self.v_total_spread[row, o] = (
                    self.v_total_spread[row, o] * decay + step * delta * weight
                )
        self.v_clock[0] += w
        self.v_clock[1] = decay * decay * self.v_clock[1] + w * w

    def fold_curves(self, decay: float, w: float) -> None:
        """Fold the centred curves in."""
        n_columns = self.v_mean.shape[1]
        weight, share = 0.0, 0.0
        for c in range(n_columns):
            self.v_weight[c] *= decay
            # To divide takes longest, and those of neighbours are often the same.
            if c == 0 or self.v_weight[c] != weight:
                weight = self.v_weight[c]
                share = w / (weight + w)
            self.v_shares[c] = share
        for o in range(self.v_mean.shape[0]):
            for c in range(n_columns):
                delta = self.v_moved[o, c] - self.v_mean[o, c]
                step = delta * self.v_shares[c]
                self.v_mean[o, c] += step
                self.v_spread[o, c] = self.v_spread[o, c] * decay + step * delta * self.v_weight[c]
        for c in range(n_columns):
            self.v_weight[c] += w
            self.v_squares[c] = decay * decay * self.v_squares[c] + w * w
