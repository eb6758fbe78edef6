"""From statistical evidence to a confirmed change: the model is compared with its earlier self."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from ipdp.core.typing import FloatArray, State
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.candidate import N_RECHECKED, Candidate, ModelDifference, compare_models
from ipdp.monitor.change import Change, Kind, centred
from ipdp.monitor.feature_series import Evidence, FeatureSeries, moved, range_of
from ipdp.monitor.history import History, Record

logger = logging.getLogger("ipdp.monitor")

# The model must account for this share of the difference that was seen.
_REAL = 0.5
# The range has moved if this share of both ranges' union is not common to both.
_MOVED = 0.1
# With evidence of a move that is as strong, and new, the decision is left to the next check.
_HINT = 0.5
# The model's own change is this many standard errors over the stored observations.
_CLEAR = 4.0
# If that is not clear, or to read off the place of the change, so many are asked about,
_N_KEPT = 192
# if the change is at least this share of the tolerance. The place is looked for
_MAYBE = 0.5
# also where the current range ends this share of it earlier: an end moves with every extreme.
_EDGE = 0.05
# A model whose change is below this share of the tolerance counts as unchanged.
_UNCHANGED = 0.05

# Models may be compared at this share of the checks; unused comparisons are saved, up to eight.
_BUDGET = 0.125
# A feature whose candidate was rejected is looked at again after 1, 2, 4, ... checks, at most 2^5.
_LONGEST_WAIT = 5


class Throttle:
    """Limits how often models are compared, and how often one gradual change is reported."""

    def __init__(self, n_features: int) -> None:
        # How many comparisons are left before the budget has to grow again.
        self._budget = 1 / _BUDGET
        # For each feature: how many candidates were rejected in a row,
        self._n_rejected = [0] * n_features
        # how many checks until the next one is looked at,
        self._wait = [0] * n_features
        # and until when real and virtual changes up to which size are not reported.
        self._suppressed = [(0, 0.0, 0.0)] * n_features

    def tick(self) -> None:
        """One more check takes place."""
        self._wait = [max(wait - 1, 0) for wait in self._wait]
        self._budget = min(self._budget + _BUDGET, 1 / _BUDGET)

    def may_compare(self, row: int) -> bool:
        """Whether models may be compared for a candidate of a feature."""
        return not self._wait[row] and self._budget >= 1

    def compared(self) -> None:
        """Models were compared."""
        self._budget -= 1

    def rejected(self, row: int) -> None:
        """A candidate was rejected."""
        self._wait[row] = 2 ** min(self._n_rejected[row], _LONGEST_WAIT)
        self._n_rejected[row] += 1

    def reported(self, row: int, until: int, real: float, virtual: float) -> None:
        """A change was reported; until then, only larger ones are."""
        self._suppressed[row] = (until, real, virtual)
        self._n_rejected[row] = self._wait[row] = 0

    def suppresses(self, row: int, n: int, *, real: float = 0.0, virtual: float = 0.0) -> bool:
        """Whether a change of such a size is not to be reported at observation number n."""
        until, reported_real, reported_virtual = self._suppressed[row]
        return n < until and real <= reported_real and virtual <= reported_virtual

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe, by the names of the monitor's state version 2."""
        return {
            "credit": self._budget,
            "doubts": list(self._n_rejected),
            "wait": list(self._wait),
            "quiet": [list(suppressed) for suppressed in self._suppressed],
        }

    @state.setter
    def state(self, state: State) -> None:
        self._budget = state["credit"]
        self._n_rejected, self._wait = list(state["doubts"]), list(state["wait"])
        self._suppressed = [(until, real, virtual) for until, real, virtual in state["quiet"]]


Confirmed = tuple[int, Change]
"""The row of a feature, and its change."""


@dataclass(eq=False)
class Confirmation:
    """Decides which candidates are changes, and of which kind.

    The evidence comes from the series; the explainer's engine evaluates the model again on the
    stored observations of the history. `statistic`, `tolerance` and `cool_down` are those of
    `Monitor`.
    """

    series: FeatureSeries
    history: History
    pdp: IncrementalPDP
    statistic: str
    tolerance: float
    cool_down: int

    def __post_init__(self) -> None:
        self.throttle = Throttle(len(self.series.numbers))

    def check(self, newest: Record) -> list[Confirmed]:
        """Look at the evidence of all features, as is done every `clock` observations."""
        self.throttle.tick()
        found = sorted(self.series.evidence(), key=lambda e: max(e.shape, e.axis), reverse=True)
        for evidence in found:
            is_moved = self._is_moved(newest, evidence)
            if is_moved or self._is_worth_comparing(evidence):
                self.throttle.compared()
                change = self._confirm(newest, evidence, is_moved)
                # One at a time, the clearest first: evaluating the model again has its price.
                return self._decided(newest, evidence.row, change)
        return []

    def confirm_alarm(self, newest: Record, evidence: Evidence, output: int) -> list[Confirmed]:
        """Find the kind of a change for which a detector of river raised an alarm."""
        row, change = evidence.row, None
        if self.series.axis(row, newest) is not None and self.series.has_reference(row):
            evidence = evidence._replace(output=output)
            cut = evidence.shape_cut or 1
            difference = self._compare(newest, row, cut)
            is_moved = self._is_moved(newest, evidence)
            is_real = self._is_real(difference, evidence, cut, is_moved)
            if is_real or is_moved or self.statistic != "shape":
                kind = _kind(is_real, is_moved)
                candidate = Candidate(row, output, cut, kind, difference, self.statistic)
                change = self._change(newest, candidate)
        return self._decided(newest, row, change)

    def _decided(self, newest: Record, row: int, change: Change | None) -> list[Confirmed]:
        if change is None:
            self.throttle.rejected(row)
            return []
        self.throttle.reported(row, newest.n + self.cool_down, *_sizes(change))
        return [(row, change)]

    def _confirm(self, newest: Record, evidence: Evidence, is_moved: bool) -> Change | None:
        """The change that the evidence turns out to be, or None."""
        row, series = evidence.row, self.series
        if series.axis(row, newest) is None:
            return None
        cut = evidence.shape_cut if evidence.shape > 1 else evidence.axis_cut
        difference = self._compare(newest, row, cut)
        is_real = self._is_real(difference, evidence, cut, is_moved)
        if not is_real and self._is_unclear(difference, evidence, cut):
            difference = self._compare(newest, row, cut, all_kept=True)
            is_real = self._is_real(difference, evidence, cut, is_moved)
        if not (is_real or is_moved):
            k, enough = series.outputs[evidence.output], self._tolerated(evidence, cut)
            if difference is not None and difference.size[k] <= _UNCHANGED * enough:
                # The grid moved under a curved model, or the other features did: not the model.
                series.forget_shape(row, cut)
            return None
        if not is_real:
            cut = evidence.axis_cut  # the values show when they moved, whatever the curve does
        kind = _kind(is_real, is_moved)
        candidate = Candidate(row, evidence.output, cut, kind, difference, self.statistic)
        change = self._change(newest, candidate)
        real, virtual = _sizes(change)
        is_suppressed = self.throttle.suppresses(row, newest.n, real=real, virtual=virtual)
        return None if is_suppressed else change

    def _change(self, newest: Record, candidate: Candidate) -> Change:
        """The change to be reported; the place of a real one is read off more observations."""
        if candidate.kind in ("real", "both"):
            closer = self._compare(newest, candidate.row, candidate.cut, all_kept=True, edge=_EDGE)
            candidate = candidate._replace(difference=closer)
        return candidate.to_change(self.series, newest, self.history)

    def _is_moved(self, newest: Record, evidence: Evidence) -> bool:
        """Whether values and range have moved, and that has not been reported yet."""
        axis = self.series.axis(evidence.row, newest)
        if evidence.axis <= 1 or axis is None:
            return False
        share = moved(self.series.ranges[evidence.row], range_of(axis))
        is_suppressed = self.throttle.suppresses(evidence.row, newest.n, virtual=share)
        return share >= _MOVED and not is_suppressed

    def _is_worth_comparing(self, evidence: Evidence) -> bool:
        """Whether the curves differ clearly, for long enough, and by enough to compare models."""
        if evidence.shape <= 1 or not self.throttle.may_compare(evidence.row):
            return False
        # What has only just begun is left alone: a check later kind and place are known better.
        ages = self.series.scan.steps_since(np.array([evidence.shape_cut, evidence.axis_cut]))
        is_shape_new, is_axis_new = ages <= self.series.scan.clock
        if is_shape_new or (is_axis_new and evidence.axis > _HINT):
            return False
        # A model that learns always moves.
        cut = evidence.shape_cut
        return bool(self._seen(evidence, cut).std() >= self._tolerated(evidence, cut))

    def _is_real(
        self, difference: ModelDifference | None, evidence: Evidence, cut: int, is_moved: bool
    ) -> bool:
        """Whether the model changed clearly, enough to matter, and as was seen."""
        if difference is None:
            return False
        k = self.series.outputs[evidence.output]
        enough = self._tolerated(evidence, cut)
        if difference.z[k] < _CLEAR or difference.size[k] < enough:
            return False
        if evidence.shape <= 1 or is_moved:
            return True  # what was seen at the knots is not what is compared, or is disturbed
        places = self.series.knots.places[evidence.row]
        assert places is not None
        seen = self._seen(evidence, cut)
        if seen.std() < enough:
            return False
        return bool(difference.at(places)[k] @ seen >= _REAL * (seen @ seen))

    def _is_unclear(self, difference: ModelDifference | None, evidence: Evidence, cut: int) -> bool:
        """Whether the model may have changed by enough, but too few were asked to be sure."""
        if difference is None or evidence.shape <= 1:
            return False
        k = self.series.outputs[evidence.output]
        enough = _MAYBE * self._tolerated(evidence, cut)
        return bool(difference.z[k] < _CLEAR and difference.size[k] >= enough)

    def _tolerated(self, evidence: Evidence, cut: int) -> float:
        """The smallest difference that matters, in units of the output."""
        return self.tolerance * self.series.output_std(evidence.row, evidence.output, cut)

    def _seen(self, evidence: Evidence, cut: int) -> FloatArray:
        """The difference of the centred curves at the knots."""
        (before, _), (after, _) = self.series.sides(evidence.row, evidence.output, cut)
        return centred(np.nan_to_num(after.mean - before.mean))

    def _compare(
        self, newest: Record, row: int, cut: int, *, all_kept: bool = False, edge: float = 0.0
    ) -> ModelDifference | None:
        series = self.series
        # From all the time since the model changed last, and not only since the reference was
        # renewed because the data moved; the cut may lie a little after the change itself.
        records = self.history.evenly(
            series.starts[row],
            series.last_before(cut, newest),
            at_most=_N_KEPT if all_kept else N_RECHECKED,
            closer=all_kept,
        )
        axis, support = series.axis(row, newest), None
        if axis is not None and axis.dtype != object:
            first, last = range_of(axis)
            slack = edge * (last - first)
            support = first - slack, last + slack
        number = series.numbers[row]
        try:
            return compare_models(self.pdp.engine, records, number, series.labels, support)
        except Exception:  # the stream goes on without this check
            logger.exception("the model could not be evaluated again on stored observations")
            return None


def _kind(is_real: bool, is_moved: bool) -> Kind:
    if is_real:
        return "both" if is_moved else "real"
    return "virtual" if is_moved else "unclear"


def _sizes(change: Change) -> tuple[float, float]:
    """How large the real and the virtual part of a change are, to compare with another one."""
    real = change.size if change.kind != "virtual" else 0.0
    before, after = (
        frozenset(ends) if change.is_categorical else ends
        for ends in (change.range_before, change.range_after)
    )
    return real, moved(before, after) if change.kind in ("virtual", "both") else 0.0
