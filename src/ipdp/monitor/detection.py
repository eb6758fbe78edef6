"""The default detection: unsmoothed, centred ICE curves at fixed knots, and the values themselves.

While model and data stay the same, the ICE curves of successive observations are independent, and
so are the values of a feature. Each ICE curve is read at fixed knots and centred, because the curve
of every feature moves as a whole when the effect of another one changes. One `Scan` watches all:

    shape   each knot of each centred curve
    level   the mean of each curve, which raises no alarm and is reported with one
    axis    the feature's value and its distance from the middle of the range
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.effects import Effect
from ipdp.layout import Layout
from ipdp.monitor.knots import Knots, axis_of
from ipdp.monitor.reading import Reading
from ipdp.monitor.scan import Scan, Side
from ipdp.typing import Array, FloatArray, Observation, State


class Evidence(NamedTuple):
    """What speaks for a change of one feature; above 1 it is one.

    Attributes
    ----------
    row
        Which feature.
    shape, axis
        Largest ratio of the centred curve's knots, and of the feature's values.
    output
        Number of the output with the largest shape ratio.
    shape_cut, axis_cut
        Where the windows are best cut.
    """

    row: int
    shape: float
    axis: float
    output: int
    shape_cut: int
    axis_cut: int


class Watch:
    """Follows the shape of each feature's effect and the place of its values.

    Parameters
    ----------
    effects
        The curves of the explainer.
    numbers
        Which of them are watched.
    outputs
        Which rows of the model's answer are watched.
    n_points
        The most knots that a feature can have.
    delta, clock
        As in `Scan`.
    """

    def __init__(
        self,
        effects: Sequence[Effect],
        numbers: Sequence[int],
        outputs: Sequence[int],
        n_points: int,
        *,
        delta: float,
        clock: int,
    ) -> None:
        self.numbers = tuple(numbers)
        self.names = [effects[number].names[0] for number in numbers]
        self.outputs = list(outputs)
        self.layout: Layout | None = None  # the one that the number of points was taken from
        self.n_points = n_points
        self.knots = Knots(self.numbers)
        self.ranges: list[Any] = [None] * len(self.numbers)
        self.starts = [-math.inf] * len(self.numbers)  # when the references were taken
        n_columns = len(self.outputs) * (n_points + 1) + 2
        self._shape = (len(self.numbers), n_columns)
        # A suspicion about a shape is checked with the model; one about the values stands alone.
        normal = np.ones(self._shape, dtype=bool)
        normal[:, -2:] = False
        self.scan = Scan(normal.size, delta=delta, clock=clock, normal=normal.ravel())
        self._values = np.zeros(self._shape)
        self._known = np.zeros(self._shape, dtype=bool)
        self._paused = np.zeros(len(self.numbers), dtype=int)

    # Series: for each feature, knots by output, levels by output, two of the axis.

    @property
    def _n_shape(self) -> int:
        return len(self.outputs) * self.n_points

    def columns(self, row: int, part: str) -> Array:
        """The series of a feature: its "shape", its "level", its "axis", or "all"."""
        first = row * self._shape[1]
        ends = {"shape": (0, self._n_shape), "level": (self._n_shape, self._shape[1] - 2)}
        ends |= {"axis": (self._shape[1] - 2, self._shape[1]), "all": (0, self._shape[1])}
        start, stop = ends[part]
        return np.arange(first + start, first + stop)

    def start(self, row: int, reading: Reading, recent: Sequence[Observation]) -> None:
        """Take the reference of a feature anew, if it has points now.

        Parameters
        ----------
        row
            Which feature.
        reading
            The newest ICE curves.
        recent
            Observations that show where its values are.
        """
        self.stop(row)
        axis = axis_of(reading.layout, reading.positions, self.numbers[row])
        if axis is None or len(axis) < 2 or len(axis) > self.n_points:
            return
        values = [x.get(self.names[row]) for x in recent]
        numbers = [v for v in values if isinstance(v, (int, float)) and math.isfinite(v)]
        self.knots.take(row, reading.layout, reading.positions, numbers)
        self.ranges[row] = range_of(axis)
        self.starts[row] = reading.t

    def stop(self, row: int) -> None:
        """Forget the reference of a feature."""
        self.scan.forget(self.columns(row, "all"))
        self.knots.drop(row)
        self.ranges[row] = None
        self._paused[row] = 0

    def is_watching(self, row: int) -> bool:
        """Whether the feature has a reference."""
        return self.ranges[row] is not None

    def update(self, reading: Reading, x: Observation) -> bool:
        """Take the newest ICE curves; True when it is time to look at the evidence."""
        values, known = self._values, self._known
        at_knots, within = self.knots.read(reading.layout, reading.positions, reading.values)
        if len(self.outputs) < len(at_knots):
            at_knots = at_knots[self.outputs]
        level = at_knots.sum(axis=2)
        level /= self.knots.n_knots
        at_knots -= level[:, :, None]
        at_knots *= self.knots.has
        n_features, width = at_knots.shape[1:]
        shape = values[:, : self._n_shape].reshape(n_features, len(self.outputs), self.n_points)
        shape[:, :, :width] = at_knots.swapaxes(0, 1)
        if width < self.n_points:
            shape[:, :, width:] = 0.0
        values[:, self._n_shape : -2] = level.T
        places = [self._place(row, x.get(name)) for row, name in enumerate(self.names)]
        if None not in places and within.all():
            if self._paused.any():
                self._paused[:] = 0
            values[:, -2] = places
            np.abs(values[:, -2], out=values[:, -1])
            return self.scan.update(values.ravel())
        values[:, -2] = [0.0 if place is None else place for place in places]
        np.abs(values[:, -2], out=values[:, -1])
        known[:, :-2] = within[:, None]
        known[:, -2:] = np.array([place is not None for place in places])[:, None]
        self._paused = np.where(within, 0, self._paused + 1)
        return self.scan.update(values.ravel(), known.ravel())

    def _place(self, row: int, value: Any) -> float | None:
        """Where on its axis a value lies: -1 to 1 in the range; 1 for an unknown category."""
        ends = self.ranges[row]
        if ends is None:
            return None
        if isinstance(ends, frozenset):
            return None if value is None else float(value not in ends)
        if type(value) is not float and not isinstance(value, (int, float, np.number)):
            return None
        if not math.isfinite(value):
            return None
        low, high = ends
        return float(2 * (value - low) / (high - low) - 1) if high > low else float(value - low)

    def paused(self, row: int) -> int:
        """For how many observations in a row the knots have been out of the range."""
        return int(self._paused[row])

    def evidence(self) -> list[Evidence]:
        """What speaks for a change of each feature."""
        cuts = self.scan.check()
        ratios, at = cuts.ratio.reshape(self._shape), cuts.at.reshape(self._shape)
        found = []
        for row in range(len(self.numbers)):
            shape, axis = ratios[row, : self._n_shape], ratios[row, -2:]
            best, place = int(shape.argmax()), int(axis.argmax())
            found.append(
                Evidence(
                    row,
                    float(shape[best]),
                    float(axis[place]),
                    best // self.n_points,
                    int(at[row, best]),
                    int(at[row, self._shape[1] - 2 + place]),
                )
            )
        return found

    def sides(self, row: int, output: int, cut: int) -> list[tuple[Side, Side]]:
        """Before and after a cut: the centred curve at the knots, and its level, of one output."""
        places = self.knots.places[row]
        n_knots = 0 if places is None else len(places)
        first = self.columns(row, "shape")[0] + output * self.n_points
        level = self.columns(row, "level")[output]
        return [
            (_pick(side, slice(first, first + n_knots)), _pick(side, slice(level, level + 1)))
            for side in self.scan.sides(cut)
        ]

    def spread(self, row: int, output: int, cut: int) -> float:
        """Standard deviation of the model's output before a cut, over observations and knots."""
        shape, level = self.sides(row, output, cut)[0]
        parts = [shape.variance.mean(), (shape.mean**2).mean(), level.variance[0]]
        return math.sqrt(max(float(np.nansum(parts)), 0.0))

    def centred(self) -> FloatArray:
        """The newest centred curves, of shape (n_features, n_outputs, n_points)."""
        n_features = len(self.numbers)
        return self._values[:, : self._n_shape].reshape(
            n_features, len(self.outputs), self.n_points
        )

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        ranges = [sorted(r, key=repr) if isinstance(r, frozenset) else r for r in self.ranges]
        return {
            "scan": self.scan.state,
            "knots": self.knots.state,
            "ranges": [r and list(r) for r in ranges],
            "paused": self._paused.tolist(),
            "starts": [None if math.isinf(start) else start for start in self.starts],
        }

    @state.setter
    def state(self, state: State) -> None:
        self.scan.state = state["scan"]
        self.knots.state = state["knots"]
        for row, (saved, places) in enumerate(zip(state["ranges"], self.knots.places, strict=True)):
            is_set = places is not None and places.dtype == object
            self.ranges[row] = saved and (frozenset(saved) if is_set else tuple(saved))
        self._paused = np.array(state["paused"], dtype=int)
        self.starts = [-math.inf if start is None else start for start in state["starts"]]


def range_of(axis: Array) -> Any:
    """The two ends of an axis of numbers, or the set of its categories."""
    if axis.dtype == object:
        return frozenset(axis.tolist())
    return float(axis.min()), float(axis.max())


def moved(before: Any, after: Any) -> float:
    """The share of two ranges' union that is not common to both.

    Examples
    --------
    >>> moved((0.0, 2.0), (1.0, 3.0)), moved(frozenset("ab"), frozenset("ab"))
    (0.6666666666666667, 0.0)
    """
    if isinstance(before, frozenset) or isinstance(after, frozenset):
        if type(before) is not type(after):
            return 1.0
        return 1 - len(before & after) / len(before | after)
    union = max(before[1], after[1]) - min(before[0], after[0])
    common = min(before[1], after[1]) - max(before[0], after[0])
    return 1 - max(common, 0.0) / union if union else 0.0


def _pick(side: Side, series: slice) -> Side:
    return Side(side.n[series], side.mean[series], side.variance[series])
