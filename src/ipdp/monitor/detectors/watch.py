"""Alarms of river's detectors, and of which kind they are."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.curve import Curve
from ipdp.core.typing import Array, State
from ipdp.monitor.change import Change, Kind
from ipdp.monitor.detectors.series import Evidence, FeatureSeries, moved, range_of
from ipdp.monitor.detectors.statistics import Detectors
from ipdp.monitor.features import IceRecord
from ipdp.monitor.history import History, Record
from ipdp.monitor.model.watch import Found, ModelWatch

logger = logging.getLogger("ipdp.monitor")

# The range has moved if this share of both ranges' union is not common to both.
_MOVED = 0.1
# The curves of before and after a move are the means of so many ICE curves.
_N_SHOWN = 16
# Number of recent observations that show where a feature's values are.
_N_RECENT = 256


@dataclass
class DetectorWatch:
    """Finds changes by detectors of river, and says of which kind they are.

    The evidence of moves comes from the series of the values; the model is compared by its watch.
    `statistic`, `warm_up` and `cool_down` are those of `Monitor`.
    """

    series: FeatureSeries
    detectors: Detectors
    history: History
    watch: ModelWatch
    statistic: str
    warm_up: int
    cool_down: int
    restarted: bool = False  # without what the detectors had seen before the state was saved
    # Until when, and up to which share, further moves are not reported.
    suppressed: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.suppressed = [(0, 0.0)] * len(self.series.numbers)

    def is_due(self, _: Record) -> bool:
        """Whether there is something to do with the newest observation: always."""
        return True

    def fits(self, ice: IceRecord | Record) -> bool:
        """Whether this watch can take such ICE curves."""
        return self.series.fits(ice)

    def update(self, record: Record, changes: list[Change]) -> list[Found]:
        """Take the newest observation, which is in the history already; what has been found."""
        del changes  # what was reported stays as it is
        is_due = self.series.update(record)
        found = self._feed(record)
        for row, change in found:
            self.series.take_reference(row, record, self._recent(record, change.n_since or 0))
        if is_due and record.n >= self.warm_up:
            for row in self.series.without_reference(self.cool_down):
                self.series.take_reference(row, record, self._recent(record, self.cool_down))
        return found

    def _recent(self, newest: Record, n: int) -> list[Record]:
        """Some of the last n observations, to show where the values of the features are."""
        return self.history.between(newest.n - n, newest.n, at_most=_N_RECENT)

    def _feed(self, record: Record) -> list[Found]:
        """Update the detectors, and find the kinds of their alarms."""
        if self.restarted:
            logger.warning(
                "the drift detectors start again: their past is not in the monitor's state; "
                "save monitor.detectors (with pickle) to go on exactly"
            )
            self.restarted = False
        alarms = self.detectors.update(self.watch.pdp, self.series)
        if not alarms:
            return []
        evidence = self.series.evidence()
        found: list[Found] = []
        for row, output in alarms:
            found += self.alarm(record, evidence[row], output)
        for row, _ in found:
            self.detectors.restart(row)
        return found

    def _moved_by(self, newest: Record, evidence: Evidence) -> float:
        """How far values and range have moved; 0 if they have not, or it was reported."""
        axis = self.series.axis(evidence.row, newest)
        if evidence.axis <= 1 or axis is None:
            return 0.0
        share = moved(self.series.ranges[evidence.row], range_of(axis))
        until, reported = self.suppressed[evidence.row]
        return 0.0 if newest.n < until and share <= reported else share

    def alarm(self, newest: Record, evidence: Evidence, output: int) -> list[Found]:
        """Find the kind of a change for which a detector raised an alarm."""
        row = evidence.row
        if self.series.axis(row, newest) is None or not self.series.has_reference(row):
            return []
        is_moved = self._moved_by(newest, evidence) >= _MOVED
        self.watch.place_knots(newest)
        compared = self.watch.compare(newest, row, output)
        is_real = compared is not None and self.watch.is_real(row, compared)[0]
        if not (is_real or is_moved or self.statistic != "shape"):
            return []
        change = self._move(newest, row, evidence.axis_cut or 1)
        if compared is not None:
            change = self.watch.describe(newest, row, compared)
        kind: Kind = "both" if is_moved else "real"
        if not is_real:
            kind = "virtual" if is_moved else "unclear"
        self.watch.since[row], self.watch.renewed[row] = newest.n, None
        return [(row, replace(change, kind=kind, statistic=self.statistic))]

    def _move(self, newest: Record, row: int, cut: int) -> Change:
        series, axis = self.series, self.series.axis(row, newest)
        assert axis is not None
        last, began = series.last_before(cut, newest), series.scan.time_of(cut)
        older = self.history.evenly(0, last, at_most=_N_SHOWN) or [newest]
        newer = self.history.between(last + 1, newest.n, at_most=_N_SHOWN) or [newest]
        before, after = (self._mean_ice(row, records) for records in (older, newer))
        return Change(
            feature=before.feature,
            output=before.outputs[0],
            t=newest.t,
            began=began,
            before=before,
            after=after,
            kind="virtual",
            shares={"real": 0.0, "virtual": 1.0},
            range_before=_ends(series.ranges[row]),
            range_after=_ends(range_of(axis)),
            statistic=self.statistic,
            n_since=newest.n - last,
            is_probability=self.watch.are_probabilities(newest),
        )

    def _mean_ice(self, row: int, records: list[Record]) -> Curve:
        """The mean of the ICE curves that have the points of the newest, the first."""
        series, output = self.series, self.series.outputs[0]
        number = series.numbers[row]
        keys = records[0].layout.keys_of(number)
        alike = [record for record in records if record.layout.keys_of(number) == keys]
        axis: Array | None = series.axis(row, alike[0])
        axis = np.empty(0) if axis is None else axis
        m = len(axis)
        values = np.array([r.values[output, r.layout.columns_of(number)[:m]] for r in alike])
        error = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(m, np.nan)
        return Curve(
            feature=series.names[row],
            outputs=(series.labels[output],),
            grid_values=[axis],
            average=values.mean(axis=0)[None],
            std_error=error[None] / len(values) ** 0.5,
            n_samples=len(values),
            n_effective_points=np.full(m, float(len(values))),
            categorical=(axis.dtype == object,),
            t=alike[0].t,
        )

    @property
    def state(self) -> State:
        """Everything but what the detectors remember, JSON-safe."""
        return {
            "series": self.series.state,
            "model": self.watch.state,
            "suppressed": [list(item) for item in self.suppressed],
        }

    @state.setter
    def state(self, state: State) -> None:
        self.series.restore(state["series"], self.history)
        self.watch.state = state["model"]
        self.suppressed = [(until, share) for until, share in state["suppressed"]]
        self.restarted = True


def _ends(ends: Any) -> tuple[Any, ...]:
    return tuple(in_order(list(ends))) if isinstance(ends, frozenset) else tuple(ends)
