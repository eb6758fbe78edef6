"""The series that are tested for changes: unsmoothed ICE curves at knots, and the values.

While model and data stay the same, the ICE curves of successive observations are independent, and
so are the values of a feature. Each ICE curve is read at fixed knots and centred, because the curve
of every feature moves as a whole when the effect of another one changes. One `Scan` tests all:

    shape   each knot of each centred curve
    level   the mean of each curve, which raises no alarm and is reported with one
    axis    the feature's value and its distance from the middle of the range
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import Array, FloatArray, Label, State
from ipdp.monitor.detectors.change_points import Scan
from ipdp.monitor.features import IceRecord, Layout, Target, axis_of, monitored, widest
from ipdp.monitor.history import PER_LEVEL, History, Record
from ipdp.monitor.knots import Knots


class Evidence(NamedTuple):
    """Test statistics of one feature; above 1 there is evidence of a change."""

    row: int  # which feature
    shape: float  # largest ratio of the centred curve's knots
    axis: float  # and of the feature's values
    output: int  # number of the output with the largest shape ratio
    shape_cut: int  # where the windows are best cut
    axis_cut: int


class FeatureSeries:
    """The shape of each feature's effect and the place of its values, as series under test.

    Of the model's outputs, whose names are the labels, those of the numbers `outputs` are
    monitored, at no more than `n_points` knots. So many observations `at_once` are collected and
    read together, as one numpy call costs about as much for thirty curves as for one.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        labels: Sequence[Label],
        outputs: Sequence[int],
        n_points: int,
        *,
        delta: float,
        clock: int,
        at_once: int = PER_LEVEL,
    ) -> None:
        # One row for each feature, by its number among the targets.
        self.numbers = tuple(monitored(targets))
        self.names = list(monitored(targets).values())
        self.labels = tuple(labels)
        self.outputs = list(outputs)
        self._layout: Layout | None = None  # the last one that was found to fit
        self.n_points = n_points
        self.knots = Knots(self.numbers)
        # What the ranges were when the references were taken; None for a feature without one.
        self.ranges: list[Any] = [None] * len(self.numbers)
        # Series: for each feature, knots by output, levels by output, two of the axis.
        self._n_shape = len(self.outputs) * n_points
        self._shape = (len(self.numbers), self._n_shape + len(self.outputs) + 2)
        # Evidence about a shape is checked with the model; evidence about the values stands alone.
        normal = np.ones(self._shape, dtype=bool)
        normal[:, -2:] = False
        self.scan = Scan(normal.size, delta=delta, clock=clock, normal=normal.ravel())
        self.at_once = at_once
        self._pending: list[Record] = []
        self._room = min(at_once, clock)  # so many more can be collected
        self._newest: FloatArray = np.zeros(self._shape)
        self._n_outside = np.zeros(len(self.numbers), dtype=int)

    def take_reference(self, row: int, newest: Record, recent: Sequence[Record]) -> None:
        """Take a new reference of a feature, if it has points now.

        Recent observations show where its values are.
        """
        self._drop_reference(row)
        axis = self.axis(row, newest)
        if axis is None or len(axis) < 2 or (axis.dtype == object and len(axis) > self.n_points):
            return
        values = [record.x.get(self.names[row]) for record in recent]
        numbers = [_number(value) for value in values if isinstance(value, (int, float))]
        numbers = [number for number in numbers if math.isfinite(number)]
        self.knots.take(row, newest.layout, newest.positions, numbers, self.n_points)
        self.ranges[row] = range_of(axis)

    def axis(self, row: int, record: Record) -> Array | None:
        """Where the points of a feature were; None if it was not evaluated."""
        return axis_of(record.layout, record.positions, self.numbers[row])

    def _drop_reference(self, row: int) -> None:
        """Forget the reference of a feature, and its series."""
        first, n_columns = row * self._shape[1], self._shape[1]
        self.scan.forget(slice(first, first + n_columns))
        self.knots.drop(row)
        self.ranges[row] = None
        self._n_outside[row] = 0

    def fits(self, ice: IceRecord | Record) -> bool:
        """Whether the outputs are those of the series, and no feature has too many categories.

        Of a range that grows, and of its points with it, fewer knots do as well.
        """
        if len(ice.values) != len(self.labels):
            return False
        if ice.layout is not self._layout:
            if widest(ice.layout, self.numbers, categories_only=True) > self.n_points:
                return False
            self._layout = ice.layout
        return True

    def without_reference(self, n_outside: int) -> list[int]:
        """Features without a reference, or with knots out of the range for so long."""
        rows = range(len(self.numbers))
        return [k for k in rows if not self.has_reference(k) or self._n_outside[k] >= n_outside]

    def has_reference(self, row: int) -> bool:
        """Whether the feature has a reference."""
        return self.ranges[row] is not None

    def update(self, record: Record) -> bool:
        """Take the newest ICE curves; True when it is time to look at the evidence."""
        if self._pending:
            last = self._pending[-1].layout
            if record.layout is not last and record.layout != last:
                self.flush()
        self._pending.append(record)
        return len(self._pending) >= self._room and self.flush()

    def flush(self) -> bool:
        """Read what has been collected; True when it is time to look at the evidence."""
        records, self._pending = self._pending, []
        if not records:
            return False
        is_due = self.scan.update(*self._read(records), t=records[-1].t)
        self._room = min(self.at_once, self.scan.clock - self.scan.steps)
        return is_due

    def _read(self, records: list[Record]) -> tuple[FloatArray, Array | None]:
        """Values of all series, of shape (n_records, n_series), and which of them are known."""
        at_knots, within = self.knots.read(
            records[0].layout,
            [record.positions for record in records],
            np.array([record.values for record in records])[:, self.outputs],
        )
        level = at_knots.sum(axis=3)
        level /= self.knots.n_knots
        at_knots -= level[:, :, :, None]
        at_knots *= self.knots.has
        n, n_outputs, n_features, width = at_knots.shape
        values = np.zeros((n, *self._shape))
        shape = values[:, :, : self._n_shape].reshape(n, n_features, n_outputs, self.n_points)
        shape[:, :, :, :width] = at_knots.swapaxes(1, 2)
        values[:, :, self._n_shape : -2] = level.swapaxes(1, 2)
        places = self._places(records)
        is_placed = np.isfinite(places)
        values[:, :, -2] = np.where(is_placed, places, 0.0)
        np.abs(values[:, :, -2], out=values[:, :, -1])
        self._newest = values[-1]
        # For how many records in a row, up to the newest, each feature has been out of its range.
        out = np.where(within.any(axis=0), within[::-1].argmax(axis=0), self._n_outside + n)
        self._n_outside = out.astype(int)
        if within.all() and is_placed.all():
            return values.reshape(n, -1), None
        known = np.empty(values.shape, dtype=bool)
        known[:, :, :-2] = within[:, :, None]
        known[:, :, -2:] = is_placed[:, :, None]
        return values.reshape(n, -1), known.reshape(n, -1)

    def _places(self, records: list[Record]) -> FloatArray:
        """Where on their axes the values lie, of shape (n_records, n_features).

        -1 to 1 in the range; 1 for an unknown category; NaN where there is no value.
        """
        # Nothing is within an empty range: no value has a place there.
        ends = [r if isinstance(r, tuple) else (0.0, math.nan) for r in self.ranges]
        low, high = np.array(ends, dtype=float).T
        with np.errstate(invalid="ignore", divide="ignore"):
            places = 2 * (_numbers([list(map(r.x.get, self.names)) for r in records]) - low)
            places /= np.where(high == low, 2.0, high - low)
        places -= high > low
        for row, known in enumerate(self.ranges):
            if isinstance(known, frozenset):
                values = [record.x.get(self.names[row]) for record in records]
                places[:, row] = [math.nan if v is None else float(v not in known) for v in values]
        return np.asarray(places)

    def evidence(self) -> list[Evidence]:
        """The test statistics of each feature."""
        self.flush()
        cuts = self.scan.check()
        ratios, at = cuts.ratio.reshape(self._shape), cuts.at.reshape(self._shape)
        rows = np.arange(len(self.numbers))
        shape = rows, ratios[:, : self._n_shape].argmax(axis=1)
        axis = rows, ratios[:, -2:].argmax(axis=1) + self._shape[1] - 2
        output = shape[1] // self.n_points
        found = (rows, ratios[shape], ratios[axis], output, at[shape], at[axis])
        return list(map(Evidence, *(part.tolist() for part in found)))

    def last_before(self, cut: int, newest: Record) -> int:
        """The number of the last observation before a cut."""
        return newest.n - int(self.scan.steps_since(cut)) - self.scan.steps

    def centred(self) -> FloatArray:
        """The newest centred curves that were read, (n_features, n_outputs, n_points)."""
        shape = len(self.numbers), len(self.outputs), self.n_points
        return self._newest[:, : self._n_shape].reshape(shape)

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe; what it has collected is in the history."""
        ranges = [sorted(r, key=repr) if isinstance(r, frozenset) else r for r in self.ranges]
        return {
            "n_points": self.n_points,
            "n_pending": len(self._pending),
            "scan": self.scan.state,
            "knots": self.knots.state,
            "ranges": [r and encode_name(tuple(r)) for r in ranges],
            "paused": self._n_outside.tolist(),
        }

    def restore(self, state: State, history: History) -> None:
        """Go on from a state."""
        self.scan.state = state["scan"]
        self.knots.state = state["knots"]
        for row, (saved, places) in enumerate(zip(state["ranges"], self.knots.places, strict=True)):
            is_set = places is not None and places.dtype == object
            self.ranges[row] = saved and (frozenset if is_set else tuple)(decode_name(saved))
        self._n_outside = np.array(state["paused"], dtype=int)
        self._pending = history.newest(state["n_pending"])
        self._room = min(self.at_once, self.scan.clock - self.scan.steps)


def range_of(axis: Array) -> Any:
    """The two ends of an axis of numbers, or the set of its categories."""
    if axis.dtype == object:
        return frozenset(axis.tolist())
    return float(axis.min()), float(axis.max())


def moved(before: Any, after: Any) -> float:
    """The share of two ranges' union that is not common to both."""
    if isinstance(before, frozenset) or isinstance(after, frozenset):
        if type(before) is not type(after):
            return 1.0
        return 1 - len(before & after) / len(before | after)
    union = max(before[1], after[1]) - min(before[0], after[0])
    common = min(before[1], after[1]) - max(before[0], after[0])
    return 1 - max(common, 0.0) / union if union else 0.0


def _numbers(rows: list[list[Any]]) -> FloatArray:
    """Values as floats; NaN for what is no number."""
    try:
        return np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.array([[_number(value) for value in row] for row in rows])


def _number(value: Any) -> float:
    """A value as a float; NaN for what is no number, or an int beyond the floats."""
    try:
        return float(value) if isinstance(value, (int, float, np.number)) else math.nan
    except OverflowError:
        return math.nan
