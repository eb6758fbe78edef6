"""`Monitor`: watches every curve of an explainer and says what changed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from ipdp.core.counts import in_order
from ipdp.explainer import IncrementalPDP
from ipdp.monitor import saving
from ipdp.monitor.change import Change, Kind, centred
from ipdp.monitor.detection import Evidence, Watch, moved, range_of
from ipdp.monitor.handlers import Handler, tell
from ipdp.monitor.judging import WITNESSES, Verdict, judge
from ipdp.monitor.knots import axis_of
from ipdp.monitor.reading import Reading, effects, newest
from ipdp.monitor.records import Record, Records
from ipdp.monitor.report import Case, began, change_of
from ipdp.monitor.series import Detectors
from ipdp.typing import Feature, Label, Observation, State

StatisticName = Literal["shape", "importance", "l2", "derivative", "sign"]
"""What is watched."""

logger = logging.getLogger("ipdp.monitor")

# So many recent observations show where a feature's values are.
_SHOWN = 256
# The model must account for this share of the difference that was seen.
_REAL = 0.5
# The range has moved if this share of both ranges' union is not common to both.
_MOVED = 0.1
# Evidence of a move that is enough beside a real change.
_HINT = 0.8
# The model's own change is this many standard errors over the observations asked about.
_CLEAR = 4.0
# The curves themselves must differ by this share of the tolerance.
_SEEN = 0.5
# A model whose change is below this share of the tolerance counts as unchanged.
_NOTHING = 0.05
# The model may be asked again at this share of the checks; unused ones are saved, up to eight.
_CREDIT = 0.125
# A suspicion that came to nothing is looked at again after 1, 2, 4, ... checks, at most 2^5.
_PATIENCE = 5


class Monitor:
    """Watches every feature of an explainer and reports changes.

    By default it looks at the unsmoothed ICE curves: when nothing changes they are independent, so
    that the rate of false alarms can be bounded. A suspicion is checked before it becomes an
    alarm: the model is asked again about observations from before the change. Only if it now
    says something else about them has the effect changed; a model that has stayed the same cannot
    raise a "real" alarm, whatever the data do.

    Parameters
    ----------
    pdp
        The explainer; it must keep at least one ICE curve (`n_ice`). Pairs are not watched.
    statistic
        "shape" is the default described above. "importance" is the paper's, the deviation of the
        smoothed curve from its mean; "l2", "derivative" and "sign" are distances of the smoothed
        curve to a reference on their common support. These four are autocorrelated and raise
        false alarms; they are reported as they come, without a check.
    detector
        Any `river.base.DriftDetector`, cloned for each series: one for each feature and output,
        with "shape" one for each knot too. None: for "shape" a test of all series at once
        (`ipdp.monitor.scan`), else the paper's `ADWIN(delta=1e-5, grace_period=2000)`.
    delta
        Chance of a false suspicion at one check, over all series; for the default detector.
    tolerance
        The smallest change of the model that is worth an alarm: root mean square of the
        difference of the centred curves, as a share of the standard deviation of the output. A
        model that learns changes a little all the time.
    clock
        Number of observations between checks.
    warm_up
        Number of explained observations before the first reference is taken.
    cool_down
        After a change the feature's reference is taken anew at once. For so many explained
        observations a further change of the same kind is reported only if it is larger than the
        last one, so that a model which adapts step by step raises one alarm and not ten.
    handlers
        Who is told: functions of a `Change`, `ipdp.monitor.handlers.LogLine`, `Webhook`.

    Attributes
    ----------
    changes
        All changes so far, oldest first.

    Examples
    --------
    >>> import numpy as np
    >>> import ipdp
    >>> from ipdp.monitor import Monitor
    >>> slope = {"a": 1.0, "b": 1.0}
    >>> def model(x):
    ...     return slope["a"] * x["a"] + slope["b"] * x["b"] + x["a"] * x["b"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a", "b"], grid=ipdp.grid.MinMax(5))
    >>> monitor = Monitor(pdp)
    >>> rng = np.random.default_rng(42)
    >>> for t in range(4_000):
    ...     if t == 3_000:
    ...         slope["a"] = -1.0
    ...     monitor.explain_one({"a": rng.uniform(), "b": rng.uniform()})
    >>> [(change.feature, change.kind) for change in monitor.changes]
    [('a', 'real')]
    """

    def __init__(
        self,
        pdp: IncrementalPDP,
        *,
        statistic: StatisticName = "shape",
        detector: Any = None,
        delta: float = 1e-3,
        tolerance: float = 0.1,
        clock: int = 32,
        warm_up: int = 1000,
        cool_down: int = 1000,
        handlers: Handler | Sequence[Handler] = (),
    ) -> None:
        if not isinstance(pdp, IncrementalPDP):
            raise TypeError(f"a Monitor watches an IncrementalPDP, got {type(pdp).__name__}")
        if not pdp.n_ice:
            raise ValueError("the monitor reads the newest ICE curve: n_ice must be at least 1")
        if statistic not in get_args(StatisticName):
            names = ", ".join(get_args(StatisticName))
            raise ValueError(f"statistic must be one of {names}, got {statistic!r}")
        if not 0 < delta < 1:
            raise ValueError(f"delta must be in (0, 1), got {delta}")
        if tolerance < 0:
            raise ValueError(f"tolerance must not be negative, got {tolerance}")
        for name, value in (("clock", clock), ("warm_up", warm_up), ("cool_down", cool_down)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.pdp = pdp
        self.statistic = statistic
        self.detector = detector
        self.delta = delta
        self.tolerance = tolerance
        self.clock = clock
        self.warm_up = warm_up
        self.cool_down = cool_down
        self.handlers: list[Handler] = [handlers] if callable(handlers) else list(handlers)
        self.changes: list[Change] = []
        self._watch: Watch | None = None
        self._detectors: Detectors | None = None
        self._outputs: tuple[Label, ...] = ()
        self._records = Records()
        self._newest: Any = None
        self._n = 0
        # How often the model may be asked again before the credit has to grow anew.
        self._credit = 1 / _CREDIT
        # For each feature: how many suspicions came to nothing,
        self._doubts: list[int] = []
        # how many checks until the next one is looked at,
        self._wait: list[int] = []
        # and until when real and virtual changes up to which size are not told.
        self._quiet: list[tuple[int, float, float]] = []

    # The stream.

    def explain_one(self, x: Observation, w: float = 1.0, *, t: float | None = None) -> None:
        """Let the explainer explain one observation, then look at the curve."""
        self.pdp.explain_one(x, w, t=t)
        self.update(x)

    def update(self, x: Observation) -> list[Change]:
        """Look at what the explainer has just explained.

        Parameters
        ----------
        x
            The observation that `pdp.explain_one` was called with.

        Returns
        -------
        The changes found at this step, as a rule none.
        """
        reading = newest(self.pdp)
        if reading is None or reading.values is self._newest:
            return []  # not explained: warm-up, weight 0, or `every`
        self._newest = reading.values
        self._n += 1
        watch = self._watch
        if watch is None or reading.outputs != self._outputs or self._too_wide(watch, reading):
            watch = self._begin(reading)
        self._records.update(
            Record(reading.t, dict(x), reading.layout, reading.positions, reading.values)
        )
        due = watch.update(reading, x)
        found: list[Change] = []
        if self._detectors is not None:
            found = self._listen(self._detectors, watch, reading)
        elif due:
            found = self._look(watch, reading)
        if due:
            self._take_references(watch, reading)
        for change in found:
            self.changes.append(change)
            tell(self.handlers, change)
        return found

    def _too_wide(self, watch: Watch, reading: Reading) -> bool:
        if reading.layout is watch.layout:
            return False
        watch.layout = reading.layout
        return _widest(reading, watch.numbers) > watch.n_points

    def _begin(self, reading: Reading) -> Watch:
        """Begin anew with all features: first curves, a new class, more categories than before."""
        self._outputs = reading.outputs
        watch = self.make_watch(_watched_outputs(reading), reading)
        self._doubts, self._wait = [0] * len(watch.numbers), [0] * len(watch.numbers)
        self._quiet = [(0, 0.0, 0.0)] * len(watch.numbers)
        return watch

    def make_watch(
        self, outputs: list[int], reading: Reading, n_points: int | None = None
    ) -> Watch:
        """Watch all features anew; with as many points as before if their number is given."""
        followed = effects(self.pdp)
        numbers = [k for k, effect in enumerate(followed) if not effect.is_pair]
        self._watch = watch = Watch(
            followed,
            numbers,
            outputs,
            n_points or _widest(reading, numbers),
            delta=self.delta,
            clock=self.clock,
        )
        watch.layout = reading.layout
        if self.statistic != "shape" or self.detector is not None:
            self._detectors = Detectors(self.statistic, self.detector, watch)
        return watch

    def _take_references(self, watch: Watch, reading: Reading) -> None:
        if self._n < self.warm_up:
            return
        for row in range(len(watch.numbers)):
            if not watch.is_watching(row) or watch.paused(row) >= self.cool_down:
                self._start(watch, reading, row, self._records.time_of(self.cool_down))

    def _start(self, watch: Watch, reading: Reading, row: int, since: float) -> None:
        records = self._records.between(since, reading.t, at_most=_SHOWN)
        watch.start(row, reading, [record.x for record in records])

    # From suspicion to change.

    def _look(self, watch: Watch, reading: Reading) -> list[Change]:
        """Look at the evidence, as is done every `clock` observations."""
        self._wait = [max(wait - 1, 0) for wait in self._wait]
        self._credit = min(self._credit + _CREDIT, 1 / _CREDIT)
        suspects = sorted(watch.evidence(), key=lambda e: max(e.shape, e.axis), reverse=True)
        for suspect in suspects:
            is_moved = self._is_moved(watch, reading, suspect)
            is_due = suspect.shape > 1 and not self._wait[suspect.row] and self._credit >= 1
            if is_moved or is_due:
                self._credit -= 1
                change = self._judged(watch, reading, suspect, is_moved)
                self._settle(watch, reading, suspect.row, change)
                # One at a time, the clearest first: asking the model again has its price.
                return [] if change is None else [change]
        return []

    def _listen(self, detectors: Detectors, watch: Watch, reading: Reading) -> list[Change]:
        """Feed the detectors that were given, and take their alarms."""
        found: list[Change] = []
        alarms = detectors.update(self.pdp, watch)
        if alarms:
            evidence = watch.evidence()
            for row, output in alarms:
                change = self._judged_alarm(watch, reading, evidence[row], output)
                self._settle(watch, reading, row, change)
                found += [] if change is None else [change]
        return found

    def _settle(self, watch: Watch, reading: Reading, row: int, change: Change | None) -> None:
        """After an alarm take the reference anew; after a doubt wait before the next look."""
        if change is None:
            self._wait[row] = 2 ** min(self._doubts[row], _PATIENCE)
            self._doubts[row] += 1
            return
        self._quiet[row] = (self._n + self.cool_down, *_weights(change))
        self._doubts[row] = self._wait[row] = 0
        self._start(watch, reading, row, change.began)
        if self._detectors is not None:
            self._detectors.restart(row)

    def _is_moved(
        self, watch: Watch, reading: Reading, suspect: Evidence, least: float = 1.0
    ) -> bool:
        if suspect.axis <= least:
            return False
        axis = axis_of(reading.layout, reading.positions, watch.numbers[suspect.row])
        if axis is None:
            return False
        share = moved(watch.ranges[suspect.row], range_of(axis))
        until, _, virtual = self._quiet[suspect.row]
        return share >= _MOVED and not (self._n < until and share <= virtual)

    def _judged(
        self, watch: Watch, reading: Reading, suspect: Evidence, is_moved: bool
    ) -> Change | None:
        """The change that a suspect turns out to be, or None."""
        row = suspect.row
        if watch.numbers[row] not in reading.layout.effects:
            return None
        cut = suspect.shape_cut if suspect.shape > 1 else suspect.axis_cut
        verdict = self._verdict(watch, reading, row, cut)
        is_real = self._is_real(verdict, watch, suspect, cut, is_moved)
        if is_real and not is_moved:  # where one thing changed, less is needed to show another
            is_moved = self._is_moved(watch, reading, suspect, least=_HINT)
        if not (is_real or is_moved):
            if verdict is not None and self._is_nothing(verdict, watch, suspect, cut):
                # The grid moved under a curved model, or the other features did: not the model.
                watch.scan.forget(watch.columns(row, "shape"), cut)
            return None
        kind: Kind = "both" if is_real and is_moved else ("real" if is_real else "virtual")
        case = Case(self._name(watch, row), row, suspect.output, cut, kind, verdict, self.statistic)
        change = change_of(case, watch, reading, self._records)
        return None if self._is_quiet(row, change) else change

    def _is_quiet(self, row: int, change: Change) -> bool:
        """Whether the cool-down keeps a change from being told."""
        until, real, virtual = self._quiet[row]
        own_real, own_virtual = _weights(change)
        return self._n < until and own_real <= real and own_virtual <= virtual

    def _is_real(
        self,
        verdict: Verdict | None,
        watch: Watch,
        suspect: Evidence,
        cut: int,
        is_moved: bool,
    ) -> bool:
        """Whether the model changed clearly, enough to matter, and as was suspected."""
        if verdict is None:
            return False
        k = watch.outputs[suspect.output]
        enough = self.tolerance * watch.spread(suspect.row, suspect.output, cut)
        if verdict.z[k] < _CLEAR or verdict.size[k] < enough:
            return False
        if suspect.shape <= 1 or is_moved:
            return True  # what was seen at the knots is not what is asked about, or is disturbed
        places = watch.knots.places[suspect.row]
        assert places is not None
        (before, _), (after, _) = watch.sides(suspect.row, suspect.output, cut)
        seen = centred(np.nan_to_num(after.mean - before.mean))
        if seen.std() < _SEEN * enough:
            return False
        return bool(verdict.at(places)[k] @ seen >= _REAL * (seen @ seen))

    def _is_nothing(self, verdict: Verdict, watch: Watch, suspect: Evidence, cut: int) -> bool:
        spread = watch.spread(suspect.row, suspect.output, cut)
        return bool(
            verdict.size[watch.outputs[suspect.output]] <= _NOTHING * self.tolerance * spread
        )

    def _judged_alarm(
        self, watch: Watch, reading: Reading, evidence: Evidence, output: int
    ) -> Change | None:
        """The change behind the alarm of a detector that was given; its kind as far as it shows."""
        row = evidence.row
        if watch.numbers[row] not in reading.layout.effects or not watch.is_watching(row):
            return None
        cut = evidence.shape_cut or 1
        verdict = self._verdict(watch, reading, row, cut)
        is_moved = self._is_moved(watch, reading, evidence)
        evidence = evidence._replace(output=output)
        is_real = self._is_real(verdict, watch, evidence, cut, is_moved)
        if self.statistic == "shape" and not (is_real or is_moved):
            return None
        kind: Kind = "unclear"
        if is_real or is_moved:
            kind = "both" if is_real and is_moved else ("real" if is_real else "virtual")
        case = Case(self._name(watch, row), row, output, cut, kind, verdict, self.statistic)
        return change_of(case, watch, reading, self._records)

    def _name(self, watch: Watch, row: int) -> Feature:
        return effects(self.pdp)[watch.numbers[row]].feature

    def _verdict(self, watch: Watch, reading: Reading, row: int, cut: int) -> Verdict | None:
        since = began(watch, self._records, cut)
        # From the whole window before the cut: it may lie a little after the change itself.
        records = self._records.spread(watch.starts[row], since, at_most=WITNESSES)
        axis = axis_of(reading.layout, reading.positions, watch.numbers[row])
        support = None if axis is None or axis.dtype == object else range_of(axis)
        try:
            return judge(
                self.pdp.engine, records, watch.numbers[row], list(reading.outputs), support
            )
        except Exception:  # the stream goes on without this check
            logger.exception("the model could not be asked again about earlier observations")
            return None

    # State out and in.

    @property
    def state(self) -> State:
        """What the monitor remembers, JSON-safe; the explainer has a state of its own.

        Detectors of river have no state to take out: after a restart they begin anew. Of the
        observations that the model may be asked about again, a part is kept.
        """
        return saving.save(self)

    @state.setter
    def state(self, state: State) -> None:
        saving.restore(self, state)

    def __repr__(self) -> str:
        return f"Monitor({self.pdp!r}, statistic={self.statistic!r}, changes={len(self.changes)})"


def _widest(reading: Reading, numbers: Sequence[int]) -> int:
    """The most points that one of the features has, with room for more categories."""
    widths = [
        p.stop - p.start
        for number, p in zip(reading.layout.effects, reading.layout.probes, strict=True)
        if number in numbers
    ]
    return max([2, *widths])


def _watched_outputs(reading: Reading) -> list[int]:
    """Rows to watch: all, but of two probabilities the second, as the first says the same."""
    outputs = reading.outputs
    if len(outputs) == 2 and np.allclose(reading.values.sum(axis=0), 1.0):
        return [outputs.index(in_order(list(outputs))[1])]
    return list(range(len(outputs)))


def _weights(change: Change) -> tuple[float, float]:
    """How large the real and the virtual part of a change are, to compare with another one."""
    real = change.size if change.kind != "virtual" else 0.0
    before, after = (
        frozenset(ends) if change.is_categorical else ends
        for ends in (change.range_before, change.range_after)
    )
    return real, moved(before, after) if change.kind in ("virtual", "both") else 0.0
