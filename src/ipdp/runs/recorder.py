"""What of a run goes into its log, and is reported as events."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal

from ipdp.core.interactions import RESULTS
from ipdp.explainers import Explainer
from ipdp.monitor import Change
from ipdp.runs.checkpoint import CheckpointError
from ipdp.runs.events import (
    AnyEvent,
    Changed,
    Heartbeat,
    PaceChanged,
    Scored,
    Skipped,
    Snapshotted,
)
from ipdp.runs.searching import PairSearch
from ipdp.runs.step import Step
from ipdp.runs.stream import Stream

if TYPE_CHECKING:
    from ipdp.log import Log

# Seconds between two looks whether something waits to be committed.
_COMMIT = 1.0

# Snapshots, if nothing else was asked for: every so many observations; and after `_BEGUN` of them
# each part of the memory of the curves in which these cannot change much, but at most so many.
_OFTEN, _BEGUN, _SELDOM = 100, 5_000, 1_000
_PART_OF_MEMORY = 4


class SnapshotSchedule:
    """After how many observations there are snapshots, changes and the end aside.

    Parameters
    ----------
    every
        Number of observations between two of them; None: as often as curves can change.
    explainers
        Whose results they are.
    search
        The search for pairs, which is to have its snapshots.
    """

    def __init__(
        self, every: int | None, explainers: Iterable[Explainer], search: int | None
    ) -> None:
        self._at_first = self._later = every or _OFTEN
        self._search = search
        if every is None:
            # Of those that forget, the one that forgets fastest.
            alpha = max((each.alpha or 0.0 for each in explainers), default=0.0)
            later = 1 / max(_PART_OF_MEMORY * alpha, 1 / _SELDOM)
            self._later = max(50 * round(later / 50), _OFTEN)  # round numbers

    def after(self, n: int) -> int:
        """The number of observations at the first snapshot after so many."""
        steps = [self._at_first if n < _BEGUN else self._later, self._search]
        return min((n // step + 1) * step for step in steps if step is not None)


class Recorder:
    """Takes snapshots, reads metrics, passes on changes; to the log, and as events.

    The log is an `ipdp.Log`, the path of one, or None.
    """

    def __init__(self, step: Step, stream: Stream, log: Any, search: PairSearch) -> None:
        self.step, self.stream, self.search = step, stream, search
        self.n_changes = 0
        self.has_results = self._has_begun = False
        self._given = log
        self._log: Log | None = None
        self._scored: tuple[int, dict[str, float]] | None = None
        self._every = self._skipped = 0

    # Around the run.

    def open(self, stack: ExitStack) -> None:
        """Open the log, until the stack is closed."""
        self._log = self._given
        if self._given is not None and not hasattr(self._given, "snapshot"):
            from ipdp.log import Log, Retention

            self._log = stack.enter_context(Log(self._given))
            if self._log.status.state == "empty":
                self._log.retention = Retention()  # a run may last for years
        if self._log is not None:
            stack.enter_context(_committing(self._log))

    def look(self, *, resume: bool, has_checkpoint: bool) -> None:
        """Refuse to rewind a log without its checkpoint: what it holds would be lost."""
        if self._log is None or not resume:
            return
        n, logged = self.stream.n, self._log.status.n
        if not has_checkpoint and self._log.snapshots():
            raise CheckpointError(
                f"{self._log.path} holds a run of {logged:,} observations and there is no "
                "checkpoint to go on from: give the one that belongs to it, or begin anew in "
                "another directory"
            )
        if 0 < logged < n:
            raise CheckpointError(
                f"{self._log.path} is not the log of the checkpoint: it ends after {logged:,} "
                f"observations and the checkpoint was made after {n:,}"
            )

    def begin(self, settings: dict[str, Any], *, resume: bool) -> None:
        """Begin the log, or go on in it from where the run goes on."""
        self._every, self._skipped = self.step.every, self.stream.skipped[0]
        if self._log is not None:
            if resume:
                self._log.rewind(self.stream.n)
            features = {name: e.features for name, e in self.step.explainers.items()}
            self._log.begin(settings, features)
        self._has_begun = True

    def commit(self) -> None:
        """Bring the log to disk."""
        if self._log is not None:
            self._log.beat(self.stream.n)
            self._log.commit()

    def end(self, state: Literal["ended", "stopped", "failed"], message: str | None = None) -> None:
        """End the log; with a message if something went wrong."""
        if self._log is None or not self._has_begun:
            return
        # If the log itself has failed, that is the error to see.
        with suppress(Exception) if message else nullcontext():
            self._log.end(self.stream.n, state, message)

    # On the way.

    def changes(self, changes: Sequence[Change]) -> list[AnyEvent]:
        """Log changes, and what has come of those that were logged before."""
        self.n_changes += len(changes)
        revised = [] if self.step.monitor is None else self.step.monitor.take_revised()
        if self._log is not None:
            for change in revised:
                self._log.revise(change)
            for change in changes:
                self._log.change(change, self.stream.n)
        return [Changed(self.stream.n, change) for change in changes]

    def snapshot(self, reason: Literal["every", "change", "end"]) -> list[AnyEvent]:
        """Log the results of all explainers as they are."""
        results = self.step.results
        if not any(results.values()):
            return []
        pairs = self.search.results(self.stream.n, results, at_end=reason == "end")
        if pairs:
            results = {**results, RESULTS: pairs}
        if self._log is not None:
            self._log.snapshot(results, self.stream.n, reason, time=self.step.t)
        self.has_results = True
        return [Snapshotted(self.stream.n, results, reason)]

    def scores(self) -> list[AnyEvent]:
        """Log the metrics as they are."""
        values = self.step.scores.values
        if self._scored == (self.stream.n, values):
            return []
        self._scored = self.stream.n, values
        logged = dict(values)
        if self.step.budget is not None:
            logged["every"] = float(self.step.every)
        if logged and self._log is not None:
            self._log.metric(logged, self.stream.n)
        return [Scored(self.stream.n, values)] if values else []

    def news(self) -> list[AnyEvent]:
        """Whether the pace changed, or records were skipped, since this was last asked."""
        n = self.stream.n
        events: list[AnyEvent] = []
        if self.step.every != self._every:
            self._every = self.step.every
            events.append(PaceChanged(n, self._every))
        skipped, last = self.stream.skipped
        if skipped != self._skipped:
            self._skipped = skipped
            events.append(Skipped(n, skipped, last))
        return events

    def beat(self) -> list[AnyEvent]:
        """A sign of life."""
        if self._log is not None:
            self._log.beat(self.stream.n)
        return [Heartbeat(self.stream.n, self.step.explained, self.step.explain_seconds)]


@contextmanager
def _committing(log: Log) -> Iterator[None]:
    """Let readers see what was logged also while the run waits for an observation."""
    ended = threading.Event()

    def commit() -> None:
        while not ended.wait(_COMMIT):
            with suppress(Exception):  # the run itself will meet it
                log.commit_if_due()

    thread = threading.Thread(target=commit, name="ipdp-log", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
