"""`Monitor`: tests every curve of an explainer for changes and reports them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, must_be_savable
from ipdp.core.observations import as_observation, observations
from ipdp.core.typing import FeatureName, Label, Observation, State
from ipdp.core.validation import as_number, listed, next_time, whole_number
from ipdp.core.words import shown
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor import features
from ipdp.monitor.change import Change, Kind
from ipdp.monitor.data.move import Aspect
from ipdp.monitor.data.moves import DataMoves, Periods, periods_text
from ipdp.monitor.data.watch import DataWatch
from ipdp.monitor.default_watch import DefaultWatch
from ipdp.monitor.detectors.series import FeatureSeries
from ipdp.monitor.detectors.statistics import Detectors
from ipdp.monitor.detectors.watch import DetectorWatch
from ipdp.monitor.explained.watch import ExplainedWatch
from ipdp.monitor.features import IceRecord, newest_ice, targets
from ipdp.monitor.history import PER_LEVEL, History, Record
from ipdp.monitor.model.watch import ModelWatch
from ipdp.monitor.notify import Handler, is_about, notify
from ipdp.monitor.score import with_score
from ipdp.monitor.settings import StatisticName, check_data_settings, check_settings, handlers_of

logger = logging.getLogger("ipdp.monitor")

_STATE_VERSION, _EARLIER_VERSIONS = 5, (2, 3, 4)


class Monitor:
    """Tests every feature of an explainer for changes and reports them.

    A change of the model is found by asking it again: at every check about a few stored
    observations, and about many more before an alarm is raised. Only if it answers otherwise than
    it did, and by more than is usual for this model, has the effect changed; a model that has
    stayed the same cannot raise a "real" alarm, whatever the data do.

    The values of each feature are watched for themselves: where they lie, how widely they spread,
    whether they are missing, stuck, or of other categories, further than ever at that time scale.

    Parameters
    ----------
    pdp
        The explainer; it must keep at least one ICE curve (`n_ice`). Pairs are not monitored.
    statistic
        "shape" is the default described above. "importance" is the paper's, the deviation of the
        smoothed curve from its mean; "l2", "derivative" and "sign" are distances of the smoothed
        curve to a reference on their common support. These four are autocorrelated and raise
        false alarms; they are reported as they come, without confirmation.
    detector
        Any `river.base.DriftDetector`, cloned for each series: one for each feature and output,
        with "shape" one for each knot too. None: for "shape" a test of all series at once
        (`ipdp.monitor.detectors.change_points`), else the paper's
        `ADWIN(delta=1e-5, grace_period=2000)`.
    delta
        Chance of a false candidate at one check, over all series; for the default detector.
    tolerance
        The smallest change of the model that is worth an alarm: root mean square of the
        difference of the centred curves, as a share of the standard deviation of the output. A
        model that learns changes a little all the time: of it twice as much is asked for.
    clock
        Number of observations between checks.
    warm_up
        Number of explained observations before the first reference is taken.
    cool_down
        After a change the feature gets a new reference at once. For so many explained observations
        a further change of the same kind is reported only if it is larger than the last one, so
        that a model which adapts step by step raises one alarm and not ten.
    n_changes
        Number of changes that are kept in `changes`; handlers get all of them.
    false_alarms_per
        In so many explained observations one false alarm about the data is allowed, in all.
    period
        Length of the season of the data on the clock of the stream (`t`), or a dict with that of
        some features. Without it a move must be larger than what the season does.
    report
        Which changes to report, and to keep: kinds ("real", "virtual", "both") and ways in which
        data move (`ipdp.monitor.data.move.Aspect`: "missing", ...). None: all.
    target
        What the model predicts, for sentences: "the chance that churned is yes".
    handlers
        Called with each change: `ipdp.monitor.notify.LogLine`, `Webhook`, or any function.

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
        false_alarms_per: float = 1e6,
        period: Periods = None,
        report: Sequence[Kind | Aspect] | None = None,
        target: str | None = None,
        handlers: Handler | Sequence[Handler] = (),
    ) -> None:
        check_settings(pdp, statistic, delta, tolerance)
        check_data_settings(false_alarms_per, period, report)
        self.pdp = pdp
        self.statistic = statistic
        self.detector = detector
        self.delta = as_number(delta)
        self.tolerance = as_number(tolerance)
        self.clock = whole_number("clock", clock)
        self.warm_up = whole_number("warm_up", warm_up)
        self.cool_down = whole_number("cool_down", cool_down)
        self.n_changes = whole_number("n_changes", n_changes)
        self.false_alarms_per = as_number(false_alarms_per)
        self.period = period
        self.report = report
        self.target = target
        self.handlers = handlers_of(handlers)
        self.changes: list[Change] = []
        self._watch: DefaultWatch | DetectorWatch | None = None
        self._history = History()
        self._newest: IceRecord | None = None
        self._n = 0

    # The stream.

    def explain_one(self, x: Observation, w: float = 1.0, *, t: float | None = None) -> None:
        """Explain one observation, then test its curves."""
        x = as_observation(x)
        must_be_savable(x)  # some are kept
        self.pdp.explain_one(x, w, t=t)
        self._tested(x, None)

    def explain_many(
        self,
        X: Any,
        w: Sequence[float] | None = None,
        *,
        t: Sequence[float] | None = None,
        names: Sequence[FeatureName] | None = None,
    ) -> None:
        """Explain many observations, and test the curves of each of them.

        The model is evaluated on `pdp.n_ice` observations at a time, as many as the explainer
        keeps. After an error, those before stay explained. With a statistic of the smoothed curve,
        which is computed after each observation, they are explained one by one.

        Parameters
        ----------
        X, w, t, names
            As in `IncrementalPDP.explain_many`.
        """
        rows = observations(X, names)
        weights = [1.0] * len(rows) if w is None else listed("w", w)
        for name, given in (("w", weights), ("t", rows if t is None else listed("t", t))):
            if len(given) != len(rows):
                raise ValueError(f"{name} has {len(given)} values for {len(rows)} rows")
        size = self.pdp.n_ice if self.statistic == "shape" else 1
        for first in range(0, len(rows), size):
            part = slice(first, first + size)
            self._explain_some(rows[part], weights[part], None if t is None else t[part])

    def _explain_some(
        self, rows: Sequence[Observation], weights: list[float], times: Sequence[float] | None
    ) -> None:
        for row in rows:
            must_be_savable(row)
        n_seen, last = self.pdp.n_seen, self.pdp.t
        self.pdp.explain_many(rows, weights, t=times)
        explained = []
        for k, (x, weight) in enumerate(zip(rows, weights, strict=True)):
            last = next_time(None if times is None else times[k], last)
            if weight and (n_seen + k + 1) % self.pdp.every == 0:
                explained.append((x, last))
        curves = features.ice_since(self.pdp, self._newest)[-len(rows) :]
        # The first of all observations are not explained, as there are no grid points yet.
        for ice, (x, time) in zip(curves, explained[len(explained) - len(curves) :], strict=True):
            # Copies, because these are parts of a larger array, which would be kept with them.
            own = IceRecord(ice.layout, ice.positions.copy(), ice.values.copy())
            self._process(own, x, time)
            self._newest = ice

    def update(self, x: Observation, *, t: float | None = None) -> list[Change]:
        """Test what the explainer has just explained.

        Parameters
        ----------
        x
            The observation that `pdp.explain_one` was called with.
        t
            Its time, for changes, if that is another one than the explainer's, which may count.

        Returns
        -------
        The changes found at this step, as a rule none.
        """
        x = as_observation(x)
        must_be_savable(x)
        return self._tested(x, t)

    def _tested(self, x: Observation, t: float | None) -> list[Change]:
        ice = newest_ice(self.pdp)
        if ice is None or ice is self._newest:
            return []  # not explained: warm-up, weight 0, or `every`
        self._newest = ice
        return self._process(ice, x, (self.pdp.t or 0.0) if t is None else t)

    def take_revised(self) -> list[Change]:
        """Changes of which there is more to say since they were reported, each told once.

        A change of the model that went on has come to an end, or data have moved further. They are
        in `changes` as they are now; `feature` and `t` say which of those reported they replace.
        """
        if not isinstance(self._watch, DefaultWatch) or not self._watch.data.revised:
            return []
        revised, self._watch.data.revised = self._watch.data.revised, []
        return revised

    def _process(self, ice: IceRecord, x: Observation, t: float) -> list[Change]:
        if not len(ice.values):
            return []  # a model that has learnt nothing yet has no outputs
        turns = self.pdp.turns
        try:
            turns.explain()
            self._n += 1
            record = Record(self._n, t, dict(x), *ice)
            self._history.update(record)
            # Most of them are only kept.
            is_due = self._watch is None or self._watch.is_due(record)
            return self._watched(record) if is_due else []
        finally:
            turns.give_back()

    def _watched(self, record: Record) -> list[Change]:
        watch = self._watch if self._watch and self._watch.fits(record) else self._begin(record)
        found = watch.update(record, self.changes)
        if isinstance(watch, DefaultWatch) and watch.data.revised:
            self._score_revised(watch, record)
        if not found:
            return []
        reported = [
            replace(with_score(c, self.pdp, self._history, record), target=self.target)
            for _, c in found
            if self.report is None or is_about(c, self.report)
        ]
        self.changes += reported
        del self.changes[: -self.n_changes]
        for change in reported:
            notify(self.handlers, change)
        return reported

    def _score_revised(self, watch: DefaultWatch, newest: Record) -> None:
        """Say anew what changes did to the mean prediction that have gone on since."""
        for k, change in enumerate(watch.data.revised):
            if change.score is None:
                scored = with_score(change, self.pdp, self._history, newest)
                watch.data.revised[k] = scored
                self.changes[:] = [scored if each is change else each for each in self.changes]

    def _begin(self, ice: Record) -> DefaultWatch | DetectorWatch:
        """Start again with all features: first curves, a new class, more categories than before."""
        n_points = features.widest(ice.layout, list(features.monitored(targets(self.pdp))))
        return self._build(*features.outputs(self.pdp, ice), n_points)

    def _build(
        self, labels: Sequence[Label], rows: Sequence[int], n_points: int
    ) -> DefaultWatch | DetectorWatch:
        """Begin with these rows of the outputs; detectors look at no more than so many points."""
        parts = self.pdp, targets(self.pdp), labels, rows, self._history
        lengths = {name: getattr(self, name) for name in ("clock", "warm_up", "cool_down")}
        model = ModelWatch(*parts, tolerance=self.tolerance, **lengths)
        if self.statistic == "shape" and self.detector is None:
            if isinstance(self._watch, DefaultWatch):  # the data are the same as before
                data = self._watch.data
            else:
                rest = self.false_alarms_per, self.warm_up, self.period
                moves = DataMoves(model.numbers, model.names, *rest)
                data = DataWatch(moves, self._history, self.cool_down)
            self._watch = DefaultWatch(model, data, ExplainedWatch(model, self._history))
            return self._watch
        series = FeatureSeries(
            targets(self.pdp),
            labels,
            rows,
            n_points,
            delta=self.delta,
            clock=self.clock,
            # Detectors of the shape are fed at every step.
            at_once=1 if self.statistic == "shape" else PER_LEVEL,
        )
        detectors = Detectors(self.statistic, self.detector, series)
        last = self.statistic, self.warm_up, self.cool_down
        self._watch = DetectorWatch(series, detectors, self._history, model, *last)
        return self._watch

    # State out and in.

    @property
    def detectors(self) -> Detectors | None:
        """River's detectors with all that they remember; None with the default detector.

        They are not in `state`, because they can only be pickled. To go on exactly after a
        restart, pickle this, and assign it after the state. Unpickle only what you trust.
        """
        return self._watch.detectors if isinstance(self._watch, DetectorWatch) else None

    @detectors.setter
    def detectors(self, detectors: Detectors | None) -> None:
        watch = self._watch if isinstance(self._watch, DetectorWatch) else None
        if (detectors is None) != (watch is None):
            raise ValueError("give the monitor its state first, then the detectors saved with it")
        if detectors is not None and watch is not None:
            watch.detectors.must_fit(detectors)
            watch.detectors, watch.restarted = detectors, False

    @property
    def state(self) -> State:
        """Everything the monitor remembers, JSON-safe; the explainer has a state of its own.

        Assign it to a monitor with the same settings, after the explainer's state, to go on from
        there, bit for bit. Only detectors of river are not in it: `state["is_whole"]` says so,
        and without `detectors` they start again.
        """
        with self.pdp.turns.reading():
            return {
                "version": _STATE_VERSION,
                **self._settings,
                "is_whole": not isinstance(self._watch, DetectorWatch),
                "n": self._n,
                "records": self._history.state,
                "watch": None if self._watch is None else self._watch.state,
                "changes": [change.to_dict() for change in self.changes],
            }

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, n=schema.count, changes=schema.parts)
        version = state.get("version")
        if version in _EARLIER_VERSIONS:
            self._begin_anew(state)
            return
        schema.must_be_version("a state", version, _STATE_VERSION)
        for name, value in self._settings.items():
            if (was := state.get(name)) != value:
                raise ValueError(
                    f"the state was made with {name} = {shown(was, 200)}, "
                    f"this monitor has {value!r}"
                )
        if state.get("n") and newest_ice(self.pdp) is None:
            raise ValueError("give the explainer its state first, then the monitor")
        before = dict(vars(self))
        try:
            with schema.intact("the state"):
                self._restore(state)
        except ValueError:
            vars(self).update(before)
            raise

    def _begin_anew(self, state: State) -> None:
        """Keep the changes of a monitor of before, which looked at other things than this one."""
        with schema.intact("the state"):
            changes = [Change.from_dict(change) for change in state["changes"]]
        logger.warning(
            "the monitor starts anew: its state is of version %s of ipdp's monitor, which found "
            "changes in another way; it keeps the %d changes that were found",
            state["version"],
            len(changes),
        )
        self.changes, self._n, self._history = changes, 0, History()
        self._newest = newest_ice(self.pdp)
        self._watch = None

    def _restore(self, state: State) -> None:
        self._n = state["n"]
        self.changes = [Change.from_dict(change) for change in state["changes"]]
        self._history = History.restored(state["records"], targets(self.pdp))
        self._newest = newest_ice(self.pdp)
        self._watch = None
        saved = state["watch"]
        if saved is not None:
            n_points = saved["series"]["n_points"] if "series" in saved else 0
            labels = decode_name(saved["model"]["labels"])
            if len(set(labels)) != len(saved["model"]["labels"]):
                raise ValueError("the state is damaged: its labels are not distinct names")
            watch = self._build(labels, saved["model"]["outputs"], n_points)
            watch.state = saved

    @property
    def _settings(self) -> dict[str, Any]:
        """What two monitors must have in common to go on from each other's state."""
        detector = None if self.detector is None else type(self.detector).__name__
        settings = {"statistic": self.statistic, "detector": detector, "clock": self.clock}
        return settings | {"period": periods_text(self.period)}

    def __repr__(self) -> str:
        return f"Monitor({self.pdp!r}, statistic={self.statistic!r}, changes={len(self.changes)})"
