"""`Monitor`: watches every curve of an explainer and says what changed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.observations import observations
from ipdp.core.typing import FeatureName, Label, Observation, State
from ipdp.core.validation import next_time, whole_number
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor import saving
from ipdp.monitor.change import Change
from ipdp.monitor.detection import Watch
from ipdp.monitor.features import (
    IceRecord,
    effects,
    ice_since,
    monitored,
    newest_ice,
    outputs,
    widest,
)
from ipdp.monitor.inquiry import Found, Inquiry
from ipdp.monitor.notify import Handler, notify
from ipdp.monitor.records import PER_LEVEL, Record, Records
from ipdp.monitor.series import Detectors

StatisticName = Literal["shape", "importance", "l2", "derivative", "sign"]
"""What is watched."""

logger = logging.getLogger("ipdp.monitor")

# So many recent observations show where a feature's values are.
_SHOWN = 256


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
    n_changes
        Number of changes that are kept in `changes`; older ones are told and forgotten.
    handlers
        Who is told: functions of a `Change`, `ipdp.monitor.notify.LogLine`, `Webhook`.

    Attributes
    ----------
    changes
        The newest changes, oldest first.

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
        n_changes: int = 1000,
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
        self.pdp = pdp
        self.statistic = statistic
        self.detector = detector
        self.delta = delta
        self.tolerance = tolerance
        self.clock = whole_number("clock", clock)
        self.warm_up = whole_number("warm_up", warm_up)
        self.cool_down = whole_number("cool_down", cool_down)
        self.n_changes = whole_number("n_changes", n_changes)
        self.handlers: list[Handler] = [handlers] if callable(handlers) else list(handlers)
        self.changes: list[Change] = []
        self._watch: Watch | None = None
        self._inquiry: Inquiry | None = None
        self._detectors: Detectors | None = None
        self._are_anew = False  # whether the detectors missed what was before a restart
        self._records = Records()
        self._newest: IceRecord | None = None
        self._n = 0

    # The stream.

    def explain_one(self, x: Observation, w: float = 1.0, *, t: float | None = None) -> None:
        """Let the explainer explain one observation, then look at the curve."""
        self.pdp.explain_one(x, w, t=t)
        self.update(x)

    def explain_many(
        self,
        X: Any,
        w: Sequence[float] | None = None,
        *,
        t: Sequence[float] | None = None,
        names: Sequence[FeatureName] | None = None,
    ) -> None:
        """Let the explainer explain many observations, and look at each of their curves.

        The model is asked about `pdp.n_ice` observations at a time, as many as the explainer
        keeps. After an error, those before stay explained. With a statistic of the smoothed curve,
        which is looked at after each observation, they are explained one by one.

        Parameters
        ----------
        X, w, t, names
            As in `IncrementalPDP.explain_many`.
        """
        rows = observations(X, names)
        weights = [1.0] * len(rows) if w is None else list(w)
        for name, given in (("w", weights), ("t", rows if t is None else t)):
            if len(given) != len(rows):
                raise ValueError(f"{name} has {len(given)} values for {len(rows)} rows")
        size = self.pdp.n_ice if self.statistic == "shape" else 1
        for first in range(0, len(rows), size):
            part = slice(first, first + size)
            self._explain_some(rows[part], weights[part], None if t is None else t[part])

    def _explain_some(
        self, rows: Sequence[Observation], weights: list[float], times: Sequence[float] | None
    ) -> None:
        n_seen, last = self.pdp.n_seen, self.pdp.t
        self.pdp.explain_many(rows, weights, t=times)
        asked = []
        for k, (x, weight) in enumerate(zip(rows, weights, strict=True)):
            last = next_time(None if times is None else times[k], last)
            if weight and (n_seen + k + 1) % self.pdp.every == 0:
                asked.append((x, last))
        curves = ice_since(self.pdp, self._newest)[-len(rows) :]
        # The first of all observations are not explained, as there are no grid points yet.
        for ice, (x, time) in zip(curves, asked[len(asked) - len(curves) :], strict=True):
            # Copies, because these are parts of a larger array, which would be kept with them.
            own = IceRecord(ice.layout, ice.positions.copy(), ice.values.copy())
            self._look_at(own, x, time)
            self._newest = ice

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
        ice = newest_ice(self.pdp)
        if ice is None or ice is self._newest:
            return []  # not explained: warm-up, weight 0, or `every`
        self._newest = ice
        return self._look_at(ice, x, self.pdp.t or 0.0)

    def _look_at(self, ice: IceRecord, x: Observation, t: float) -> list[Change]:
        if not len(ice.values):
            return []  # a model that has learnt nothing yet has no outputs
        self._n += 1
        watch, inquiry = self._watch, self._inquiry
        if watch is None or inquiry is None or not self._fits(watch, ice):
            watch, inquiry = self._begin(ice)
        record = Record(self._n, t, dict(x), *ice)
        self._records.update(record)
        is_due = watch.update(record)
        found: list[Found] = []
        if self._detectors is not None:
            found = self._listen(self._detectors, watch, inquiry, record)
        elif is_due:
            found = inquiry.look(record)
        for row, change in found:
            began = record.n - (change.n_since or 0)
            self._start(watch, record, row, began, keep_range=change.kind == "real")
        if is_due and self._n >= self.warm_up:
            self._take_references(watch, record)
        return [self._told(change) for _, change in found]

    def _fits(self, watch: Watch, ice: IceRecord) -> bool:
        """Whether the outputs are those that are watched, and no feature has too many categories.

        Of a range that grows, and of its points with it, fewer knots do as well.
        """
        if len(ice.values) != len(watch.labels):
            return False
        if ice.layout is not watch.layout:
            if widest(ice.layout, watch.numbers, categories_only=True) > watch.n_points:
                return False
            watch.layout = ice.layout
        return True

    def _begin(self, ice: IceRecord) -> tuple[Watch, Inquiry]:
        """Begin anew with all features: first curves, a new class, more categories than before."""
        labels = tuple(outputs(self.pdp)[: len(ice.values)])  # new ones come last
        n_points = widest(ice.layout, list(monitored(effects(self.pdp))))
        return self.make_watch(labels, _watched_outputs(labels, ice), n_points)

    def make_watch(
        self, labels: Sequence[Label], rows: Sequence[int], n_points: int
    ) -> tuple[Watch, Inquiry]:
        """Watch all features anew: these rows of the outputs, at no more than so many points."""
        with_detectors = self.statistic != "shape" or self.detector is not None
        self._watch = watch = Watch(
            effects(self.pdp),
            labels,
            rows,
            n_points,
            delta=self.delta,
            clock=self.clock,
            # Detectors of the shape are fed at every step.
            at_once=1 if with_detectors and self.statistic == "shape" else PER_LEVEL,
        )
        self._inquiry = inquiry = Inquiry(
            watch,
            self._records,
            self.pdp,
            statistic=self.statistic,
            tolerance=self.tolerance,
            cool_down=self.cool_down,
        )
        if with_detectors:
            self._detectors = Detectors(self.statistic, self.detector, watch)
        return watch, inquiry

    def _take_references(self, watch: Watch, record: Record) -> None:
        for row in range(len(watch.numbers)):
            if not watch.is_watching(row) or watch.paused(row) >= self.cool_down:
                self._start(watch, record, row, record.n - self.cool_down)

    def _start(
        self, watch: Watch, record: Record, row: int, first: int, *, keep_range: bool = False
    ) -> None:
        recent = self._records.between(first, record.n, at_most=_SHOWN)
        watch.start(row, record, recent, keep_range=keep_range)

    def _listen(
        self, detectors: Detectors, watch: Watch, inquiry: Inquiry, record: Record
    ) -> list[Found]:
        """Feed the detectors that were given, and take their alarms."""
        if self._are_anew:
            logger.warning(
                "the drift detectors begin anew: their past is not in the monitor's state; "
                "save monitor.detectors (with pickle) to go on exactly"
            )
            self._are_anew = False
        alarms = detectors.update(self.pdp, watch)
        if not alarms:
            return []
        evidence = watch.evidence()
        found = [f for row, output in alarms for f in inquiry.alarm(record, evidence[row], output)]
        for row, _ in found:
            detectors.restart(row)
        return found

    def _told(self, change: Change) -> Change:
        self.changes.append(change)
        del self.changes[: -self.n_changes]
        notify(self.handlers, change)
        return change

    # State out and in.

    @property
    def detectors(self) -> Detectors | None:
        """River's detectors with all that they remember; None with the default detector.

        They are not in `state`, because they can only be pickled. To go on exactly after a
        restart, pickle this, and assign it after the state. Unpickle only what you trust.
        """
        return self._detectors

    @detectors.setter
    def detectors(self, detectors: Detectors | None) -> None:
        if (detectors is None) != (self._detectors is None):
            raise ValueError("give the monitor its state first, then the detectors saved with it")
        if detectors is not None and self._detectors is not None:
            self._detectors.must_fit(detectors)
        self._detectors, self._are_anew = detectors, False

    @property
    def state(self) -> State:
        """Everything the monitor remembers, JSON-safe; the explainer has a state of its own.

        Assign it to a monitor with the same settings, after the explainer's state, to go on from
        there, bit for bit. Only detectors of river are not in it: `state["is_whole"]` says so,
        and without `detectors` they begin anew.
        """
        return saving.save(self)

    @state.setter
    def state(self, state: State) -> None:
        saving.restore(self, state)

    def __repr__(self) -> str:
        return f"Monitor({self.pdp!r}, statistic={self.statistic!r}, changes={len(self.changes)})"


def _watched_outputs(labels: tuple[Label, ...], ice: IceRecord) -> list[int]:
    """Rows to watch: all, but of two probabilities the second, as the first says the same."""
    if len(labels) == 2 and np.allclose(ice.values.sum(axis=0), 1.0):
        return [labels.index(in_order(list(labels))[1])]
    return list(range(len(labels)))
