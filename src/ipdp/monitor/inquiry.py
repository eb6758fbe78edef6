"""From suspicion to change: who is looked at, and what it turns out to be."""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np

from ipdp.core.typing import FloatArray, State
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.change import Change, Kind, centred
from ipdp.monitor.detection import Evidence, Watch, moved, range_of
from ipdp.monitor.judging import WITNESSES, Verdict, judge
from ipdp.monitor.patience import Patience
from ipdp.monitor.records import Record, Records
from ipdp.monitor.report import Case, change_of, cut_number

logger = logging.getLogger("ipdp.monitor")

# The model must account for this share of the difference that was seen.
_REAL = 0.5
# The range has moved if this share of both ranges' union is not common to both.
_MOVED = 0.1
# With evidence of a move that is as strong, and new, one check is waited for.
_HINT = 0.5
# The model's own change is this many standard errors over the observations asked about.
_CLEAR = 4.0
# Of a model that did change more observations are asked about, to tell the place, so many of them,
_CLOSER = 192
# and also where the range of now ends this share of it earlier: an end moves with every extreme.
_EDGE = 0.05
# A model whose change is below this share of the tolerance counts as unchanged.
_NOTHING = 0.05


class Found(NamedTuple):
    """A change, and the number of its feature."""

    row: int
    change: Change


class Inquiry:
    """Looks into suspicions; one for each `Watch`.

    Parameters
    ----------
    watch
        Where the evidence comes from.
    records
        Whom the model can be asked about again.
    pdp
        The explainer, whose engine asks the model.
    statistic, tolerance, cool_down
        As in `Monitor`.
    """

    def __init__(
        self,
        watch: Watch,
        records: Records,
        pdp: IncrementalPDP,
        *,
        statistic: str,
        tolerance: float,
        cool_down: int,
    ) -> None:
        self.watch = watch
        self.records = records
        self.pdp = pdp
        self.statistic = statistic
        self.tolerance = tolerance
        self.cool_down = cool_down
        self._patience = Patience(len(watch.numbers))

    def look(self, newest: Record) -> list[Found]:
        """Look at the evidence, as is done every `clock` observations."""
        patience = self._patience
        patience.tick()
        suspects = sorted(self.watch.evidence(), key=lambda e: max(e.shape, e.axis), reverse=True)
        for suspect in suspects:
            is_moved = self._is_moved(newest, suspect)
            may_ask = suspect.shape > 1 and patience.may_ask(suspect.row)
            may_ask = may_ask and not self._is_too_early(suspect)
            if is_moved or (may_ask and self._is_seen(suspect)):
                patience.ask()
                change = self._judged(newest, suspect, is_moved)
                # One at a time, the clearest first: asking the model again has its price.
                return self._settled(newest, suspect.row, change)
        return []

    def alarm(self, newest: Record, evidence: Evidence, output: int) -> list[Found]:
        """Look into the alarm of a detector that was given; its kind is told as far as it shows."""
        row, watch = evidence.row, self.watch
        if watch.axis(row, newest) is None or not watch.is_watching(row):
            return self._settled(newest, row, None)
        cut = evidence.shape_cut or 1
        verdict = self._verdict(newest, row, cut)
        is_moved = self._is_moved(newest, evidence)
        is_real = self._is_real(verdict, evidence._replace(output=output), cut, is_moved)
        change = None
        if is_real:
            verdict = self._verdict(newest, row, cut, closer=True)
        if is_real or is_moved or self.statistic != "shape":
            case = Case(row, output, cut, _kind(is_real, is_moved), verdict, self.statistic)
            change = change_of(case, watch, newest, self.records)
        return self._settled(newest, row, change)

    def _settled(self, newest: Record, row: int, change: Change | None) -> list[Found]:
        if change is None:
            self._patience.doubt(row)
            return []
        self._patience.told(row, newest.n + self.cool_down, *_weights(change))
        return [Found(row, change)]

    def _judged(self, newest: Record, suspect: Evidence, is_moved: bool) -> Change | None:
        """The change that a suspect turns out to be, or None."""
        row, watch = suspect.row, self.watch
        if watch.axis(row, newest) is None:
            return None
        cut = suspect.shape_cut if suspect.shape > 1 else suspect.axis_cut
        verdict = self._verdict(newest, row, cut)
        is_real = self._is_real(verdict, suspect, cut, is_moved)
        if not (is_real or is_moved):
            if verdict is not None and self._is_nothing(verdict, suspect, cut):
                # The grid moved under a curved model, or the other features did: not the model.
                watch.scan.forget(watch.columns(row, "shape"), cut)
            return None
        kind = _kind(is_real, is_moved)
        if kind == "virtual":
            cut = suspect.axis_cut  # the values tell when they moved, whatever the curve does
        else:
            verdict = self._verdict(newest, row, cut, closer=True)
        case = Case(row, suspect.output, cut, kind, verdict, self.statistic)
        change = change_of(case, watch, newest, self.records)
        real, virtual = _weights(change)
        is_quiet = self._patience.is_quiet(row, newest.n, real=real, virtual=virtual)
        return None if is_quiet else change

    def _is_moved(self, newest: Record, suspect: Evidence) -> bool:
        """Whether the values have moved, the range with them, and that has not been told yet."""
        axis = self.watch.axis(suspect.row, newest)
        if suspect.axis <= 1 or axis is None:
            return False
        share = moved(self.watch.ranges[suspect.row], range_of(axis))
        is_quiet = self._patience.is_quiet(suspect.row, newest.n, virtual=share)
        return share >= _MOVED and not is_quiet

    def _is_too_early(self, suspect: Evidence) -> bool:
        """Whether it has only just begun: a check later its kind and its place are known better."""
        ages = self.watch.scan.steps_since(np.array([suspect.shape_cut, suspect.axis_cut]))
        is_shape_new, is_axis_new = ages <= self.watch.scan.clock
        return bool(is_shape_new or (is_axis_new and suspect.axis > _HINT))

    def _is_real(
        self, verdict: Verdict | None, suspect: Evidence, cut: int, is_moved: bool
    ) -> bool:
        """Whether the model changed clearly, enough to matter, and as was suspected."""
        if verdict is None:
            return False
        watch = self.watch
        k = watch.outputs[suspect.output]
        enough = self.tolerance * watch.spread(suspect.row, suspect.output, cut)
        if verdict.z[k] < _CLEAR or verdict.size[k] < enough:
            return False
        if suspect.shape <= 1 or is_moved:
            return True  # what was seen at the knots is not what is asked about, or is disturbed
        places = watch.knots.places[suspect.row]
        assert places is not None
        seen = self._seen(suspect, cut)
        if seen.std() < enough:
            return False
        return bool(verdict.at(places)[k] @ seen >= _REAL * (seen @ seen))

    def _is_seen(self, suspect: Evidence) -> bool:
        """Whether the curves differ by enough to ask the model: one that learns always moves."""
        cut = suspect.shape_cut
        spread = self.watch.spread(suspect.row, suspect.output, cut)
        return bool(self._seen(suspect, cut).std() >= self.tolerance * spread)

    def _seen(self, suspect: Evidence, cut: int) -> FloatArray:
        """The difference of the centred curves at the knots."""
        (before, _), (after, _) = self.watch.sides(suspect.row, suspect.output, cut)
        return centred(np.nan_to_num(after.mean - before.mean))

    def _is_nothing(self, verdict: Verdict, suspect: Evidence, cut: int) -> bool:
        spread = self.watch.spread(suspect.row, suspect.output, cut)
        size = verdict.size[self.watch.outputs[suspect.output]]
        return bool(size <= _NOTHING * self.tolerance * spread)

    def _verdict(
        self, newest: Record, row: int, cut: int, *, closer: bool = False
    ) -> Verdict | None:
        watch = self.watch
        since = cut_number(watch, newest, cut)
        # From the whole window before the cut: it may lie a little after the change itself.
        at_most = _CLOSER if closer else WITNESSES
        records = self.records.spread(watch.starts[row], since, at_most=at_most, closer=closer)
        axis, support = watch.axis(row, newest), None
        if axis is not None and axis.dtype != object:
            first, last = range_of(axis)
            edge = _EDGE * (last - first) if closer else 0.0
            support = first - edge, last + edge
        try:
            return judge(self.pdp.engine, records, watch.numbers[row], watch.labels, support)
        except Exception:  # the stream goes on without this check
            logger.exception("the model could not be asked again about earlier observations")
            return None

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe; watch and records have their own."""
        return self._patience.state

    @state.setter
    def state(self, state: State) -> None:
        self._patience.state = state


def _kind(is_real: bool, is_moved: bool) -> Kind:
    if is_real:
        return "both" if is_moved else "real"
    return "virtual" if is_moved else "unclear"


def _weights(change: Change) -> tuple[float, float]:
    """How large the real and the virtual part of a change are, to compare with another one."""
    real = change.size if change.kind != "virtual" else 0.0
    before, after = (
        frozenset(ends) if change.is_categorical else ends
        for ends in (change.range_before, change.range_after)
    )
    return real, moved(before, after) if change.kind in ("virtual", "both") else 0.0
