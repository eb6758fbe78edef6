"""`Run`: the loop that an engineer leaves running."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import Any, Literal

from ipdp.core.validation import whole_number
from ipdp.explainers.base import Explainer
from ipdp.monitor import Change, Monitor
from ipdp.runs.checkpointing import CheckpointContent, CheckpointSchedule, checkpoint_file
from ipdp.runs.cures import cure
from ipdp.runs.events import AnyEvent, Ended, Replayed, Started
from ipdp.runs.model_digest import model_digest
from ipdp.runs.recorder import Recorder, SnapshotSchedule
from ipdp.runs.searching import PairSearch
from ipdp.runs.step import Results, RunFailed, Step, by_name, described
from ipdp.runs.stream import Stream

# Seconds between two signs of life.
_BEAT = 0.25

State = Literal["new", "running", "ended", "stopped", "failed"]

Explainers = Explainer | Sequence[Explainer] | Mapping[str, Explainer]
"""An explainer, several of them, or several by name."""


class Run:
    """Predict, score, explain, learn, observation by observation; a generator of events.

    Parameters
    ----------
    stream
        An iterable of (x, y), or of x alone; or a source of `ipdp.sources`. An observation whose
        label is None is explained, and neither scored nor learnt.
    model
        The model that is explained.
    explainers
        An explainer of it, a list, or a dict of them by name; those of a list are called "pdp",
        "pfi", ... as their kind. The first one's features, pace and curves are meant where one is
        asked for. One that needs labels explains an observation when its label comes.
    metric
        A river metric, a list or a dict of them, by which predictions are scored before the model
        learns.
    monitor
        A `Monitor` of one of the explainers.
    log
        An `ipdp.Log`, or the path of one (a run's directory, or a file), whose past is then thinned
        out by `ipdp.log.Retention()`.
    learn
        Whether the model learns each observation after it was explained; False leaves it as it is.
    time
        Name of the feature that is the time of an observation (a datetime, a date, a text such as
        2024-06-01 12:30, or seconds since 1970), or a function of x that gives it. The feature is
        taken out of x. Curves, changes and snapshots then carry that time; how fast the past is
        forgotten is still counted in observations.
    moment, delay
        Labels that come later, as in `river.stream.simulate_qa`: when an observation was made, and
        how long its label takes. The model is scored and learns when the label comes.
    budget
        Share of the time that explaining may take: every k-th observation is explained, with k as
        the measured times demand. Curves age with all observations, so that alpha keeps its
        meaning. What k is depends on the machine, so two such runs are not the same bit for bit.
    snapshot_every
        Number of observations between two snapshots of the results; there is one at each change,
        and one at the end, too. None: 100, and after 5,000 observations a quarter of the memory of
        the curves (250 with the default alpha), from 100 to 1,000.
    interactions
        Number of observations between two searches for the pairs of features that do most together
        (`IncrementalPDP.interactions`), a multiple of `snapshot_every` if that is given; None:
        none. Page and report then have a heat map of them.
    checkpoint
        Where to keep a checkpoint: a file, or a run's directory.
    checkpoint_every
        Number of observations between two checkpoints. None: by time, so that they take at most
        two hundredths of it. There is one at the end, and when the run is stopped, too.
    resume
        Whether to go on from the checkpoint; from the start if there is none yet.
    allow_pickle
        Whether a model that learns may be kept by pickle. A pickle can run any code when it is
        loaded, so load only what you wrote yourself. Models of scikit-learn do not need it: they
        are kept in skops's format. For others all observations are replayed without it, on resume:
        the stream must be one that can be read again.
    settings
        What else the log is to know about the run, JSON-safe.
    pdp, pfi
        Deprecated: give them as `explainers`.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.runs import Run, Scored
    >>> from river import datasets, metrics, tree
    >>> model = tree.HoeffdingAdaptiveTreeClassifier(seed=42)
    >>> pdp = ipdp.IncrementalPDP(model, ["salary", "age"], seed=42)
    >>> stream = datasets.synth.Agrawal(classification_function=2, seed=42).take(1_000)
    >>> for event in Run(stream, model, pdp, metric=metrics.Accuracy(), snapshot_every=500):
    ...     if isinstance(event, Scored):
    ...         print(event.n, {name: round(value, 3) for name, value in event.values.items()})
    500 {'Accuracy': 0.603}
    1000 {'Accuracy': 0.633}
    """

    def __init__(
        self,
        stream: Any,
        model: Any,
        explainers: Explainers | None = None,
        *,
        metric: Any = None,
        monitor: Monitor | None = None,
        log: Any = None,
        learn: bool = True,
        time: Any = None,
        moment: Any = None,
        delay: Any = None,
        budget: float | None = None,
        snapshot_every: int | None = None,
        interactions: int | None = None,
        checkpoint: Any = None,
        checkpoint_every: int | None = None,
        resume: bool = False,
        allow_pickle: bool = False,
        settings: Mapping[str, Any] | None = None,
        pdp: Explainer | None = None,
        pfi: Explainer | None = None,
    ) -> None:
        self.explainers = by_name(explainers, pdp=pdp, pfi=pfi)
        self.monitor, self.learn = monitor, learn
        self.resume, self.allow_pickle = resume, allow_pickle
        self.snapshot_every = (
            None if snapshot_every is None else whole_number("snapshot_every", snapshot_every)
        )
        self.checkpoint_every = checkpoint_every
        self.checkpoint = None if checkpoint is None else checkpoint_file(checkpoint)
        self.settings = dict(settings or {})
        self.state: State = "new"
        self._is_stopping, self._next_beat = False, 0.0
        self._must_fit(model)
        self._stream = Stream(stream, time)
        if moment is not None and moment == time:  # which is not in x any more
            moment = self._now
        timing: dict[str, Any] = {"moment": moment, "delay": delay, "budget": budget}
        self._step = Step(self.explainers, metric=metric, monitor=monitor, learn=learn, **timing)
        search = PairSearch(self.explainers, interactions, self.snapshot_every)
        self._recorder = Recorder(self._step, self._stream, log, search)
        self._snapshots = SnapshotSchedule(
            self.snapshot_every, self.explainers.values(), search.every
        )
        self._next_snapshot = self._snapshots.after(0)
        content = CheckpointContent(self._step, self._stream, allow_pickle=allow_pickle)
        self._checkpoints = CheckpointSchedule(
            content, self._recorder, self.checkpoint, checkpoint_every
        )

    def _now(self, _x: Any) -> float | None:
        return self._stream.t

    def _must_fit(self, model: Any) -> None:
        """Raise if what was given does not belong together."""
        monitor = self.monitor
        if monitor is not None and not any(monitor.pdp is e for e in self.explainers.values()):
            raise ValueError("the monitor watches another explainer")
        for name, explainer in self.explainers.items():
            if model is not explainer.model and model is not explainer.engine:
                raise ValueError(f"the explainer {name} explains another model than the one given")
        if self.checkpoint is None:
            if self.resume:
                raise ValueError("resume needs the checkpoint to go on from")
        elif not self.allow_pickle and monitor is not None and _has_detectors(monitor):
            raise ValueError(
                "the drift detectors of the monitor can be kept in a checkpoint by pickle only: "
                "give allow_pickle=True, or a monitor without a detector of its own"
            )

    # Reading.

    @property
    def model(self) -> Any:
        """The model; after a resume from a pickle it is the one from there."""
        return self._step.first.model

    @property
    def stream(self) -> Any:
        """The stream that was given."""
        return self._stream.given

    @property
    def time(self) -> Any:
        """Where the time of an observation comes from; None: observations are counted."""
        return self._stream.time

    @property
    def n(self) -> int:
        """Number of observations so far, those before a resume included."""
        return self._stream.n

    @property
    def total(self) -> int | None:
        """Number of observations in all, if the stream says so."""
        return self._stream.total

    @property
    def metric(self) -> dict[str, Any]:
        """The metrics, by name."""
        return self._step.scores.by_name

    @property
    def scores(self) -> dict[str, float]:
        """The metrics' values as they stand, by name."""
        return self._step.scores.values

    @property
    def every(self) -> int:
        """Every k-th observation is explained; this is k."""
        return self._step.every

    @property
    def results(self) -> Results:
        """What the explainers have to tell, by their names, then by feature."""
        return self._step.results

    @property
    def n_changes(self) -> int:
        """Number of changes found since the start or resume."""
        return self._recorder.n_changes

    @property
    def n_skipped(self) -> int:
        """Number of records that the source left out because they were no observations."""
        return self._stream.skipped[0]

    @property
    def explained(self) -> int:
        """Number of observations explained since the start or resume."""
        return self._step.explained

    @property
    def explain_seconds(self) -> float:
        """Time spent on explaining, the monitor's included, since the start or resume."""
        return self._step.explain_seconds

    def __getattr__(self, name: str) -> Any:
        if name not in ("pdp", "pfi"):
            raise AttributeError(f"a Run has no {name!r}")
        warnings.warn(
            f"run.{name} goes with the next release: it is run.explainers[{name!r}]",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.explainers.get(name)

    # Stopping.

    def stop(self) -> None:
        """Ask the run to end after the observation in hand; any thread may."""
        self._is_stopping = True

    def interrupt(self) -> None:
        """The same from a signal handler: a source that waits for input waits no longer."""
        self._is_stopping = True
        if self.state == "running":  # a replay has an end
            self._stream.interrupt()

    # The loop.

    def __iter__(self) -> Iterator[AnyEvent]:
        return self.events()

    def events(self) -> Generator[AnyEvent, None, None]:
        """Go through the stream, once; closing the generator stops the run as `stop` does."""
        self._must_be_new()
        with ExitStack() as stack:
            try:
                self._recorder.open(stack)
                self._checkpoints.open(stack, resume=self.resume)
                yield from self._begin()
                if self.state == "running":
                    yield from self._observations()
                    yield from self._end("stopped" if self._is_stopping else "ended")
            except GeneratorExit:
                # Whoever listened has had enough. At every event everything is whole.
                if self.state == "running":
                    self._end("stopped")
                raise
            except (KeyboardInterrupt, SystemExit):
                # In the middle of an observation: the last checkpoint is the place to go on from.
                self.state = "stopped"
                self._recorder.end("stopped", "interrupted")
                raise
            except BaseException as error:
                self.state = "failed"
                self._checkpoints.undo()
                self._recorder.end("failed", str(error) or type(error).__name__)
                raise

    def _must_be_new(self) -> None:
        if self.state != "new":
            raise RuntimeError("a run can be gone through once: make another one")

    def _begin(self) -> Iterator[AnyEvent]:
        """Restore what is to be restored, then begin the log."""
        for n, until in self._checkpoints.restore():
            yield Replayed(n, until)
            if self._is_stopping:  # the checkpoint is as it was
                self.state = "stopped"
                yield Ended(until, "stopped")
                return
        self._step.t = self._stream.t
        self._next_snapshot = self._snapshots.after(self.n)
        self._recorder.look(resume=self.resume, has_checkpoint=self._checkpoints.was_there)
        self._checkpoints.begin()
        self._recorder.begin({**self._described(), **self.settings}, resume=self.resume)
        self.state = "running"
        now = perf_counter()
        self._step.finished, self._next_beat = now, now + _BEAT
        yield Started(self.n, self.total, self.monitor is not None)

    def _observations(self) -> Iterator[AnyEvent]:
        stream, step = self._stream, self._step
        checkpoint_every = self._checkpoints.every
        while not self._is_stopping:
            pair = next(stream, None)
            if pair is None:
                return
            try:
                changes = step(*pair, stream.t)
            except Exception as error:
                stream.n -= 1
                said = cure(error, *pair, step.first.model)
                raise RunFailed(stream.n, step.doing, error, said) from error
            n = stream.n
            if (
                changes
                or n >= self._next_snapshot
                or step.finished >= self._next_beat
                or n % checkpoint_every == 0
            ):
                # All is done before any of it is reported, so that at every event all is whole.
                yield from self._kept(changes)

    def _kept(self, changes: Sequence[Change]) -> list[AnyEvent]:
        """Take snapshots, read metrics and write a checkpoint, where it is time to."""
        recorder, now = self._recorder, self._step.finished
        events = recorder.changes(changes)
        if self.n >= self._next_snapshot:
            self._next_snapshot = self._snapshots.after(self.n)
            events += recorder.snapshot("every") + recorder.scores()
        if changes:
            events += recorder.snapshot("change")
        if now >= self._next_beat:
            self._next_beat = now + _BEAT
            events += recorder.news() + recorder.beat()
        if self._checkpoints.is_due(now):
            events += self._checkpoints.write()
        return events

    def _end(self, state: Literal["ended", "stopped"]) -> list[AnyEvent]:
        events = self._recorder.changes(()) + self._recorder.news() + self._checkpoints.write()
        if state == "ended":
            try:
                self._step.finish()
            except Exception as error:
                raise RunFailed(self.n, self._step.doing, error) from error
            events += self._recorder.scores()
        events += self._recorder.snapshot("end") + self._recorder.beat()
        self._recorder.end(state)
        self.state = state
        return [*events, Ended(self.n, state)]

    def _described(self) -> dict[str, Any]:
        """What the log is to know about the run, JSON-safe."""
        first, names = self._step.first, ("alpha", "estimator", "every", "seed")
        return {
            "model": first.engine.description,
            # Of the first explainer, by itself, as it was when there was but one.
            **{name: getattr(first, name, None) for name in names},
            "explainers": described(self.explainers),
            "learn": self.learn,
            "model_digest": None if self.learn else model_digest(first.model),
            "time": self.time if isinstance(self.time, str) else self.time is not None,
            "budget": None if self._step.budget is None else self._step.budget.share,
            "metric": list(self.metric),
            "monitor": self.monitor is not None,
            "snapshot_every": self.snapshot_every,
            "interactions": self._recorder.search.every,
        }


def _has_detectors(monitor: Monitor) -> bool:
    return monitor.statistic != "shape" or monitor.detector is not None
