"""What a run puts into its checkpoint, when it writes it, and how it goes on from one."""

from __future__ import annotations

import glob
import math
import pickle
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, get_args

from ipdp.core.jsonable import decode, encode
from ipdp.core.validation import whole_number
from ipdp.core.words import shown
from ipdp.runs import checkpoint, models
from ipdp.runs.checkpoint import CheckpointError
from ipdp.runs.events import AnyEvent, Checkpointed
from ipdp.runs.metrics import MetricStates, give
from ipdp.runs.models import alike, engine_state, restore_engine
from ipdp.runs.recorder import Recorder
from ipdp.runs.step import Step
from ipdp.runs.stream import Stream, checked_place

NAME = "checkpoint.ipdp"
"""Name of the checkpoint in a run's directory."""

VERSION = 2
"""Of what a run's checkpoint holds; every version up to it is gone on from."""

RISK = "a pickle can run any code when it is loaded, so load only what you wrote yourself"
"""What the user takes upon himself."""

How = Literal["given", "skops", "pickle", "replay"]
"""Where the model comes from on resume: from the user, from the file, or by a replay."""

# Seconds between two events of a replay.
_REPORT = 0.25

# Without a number of observations between checkpoints: seconds between them, at least, and at
# least so many times as long as one takes.
_SECONDS, _TIMES = 10.0, 50.0

_DAMAGE = (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_LONGEST = 300  # letters of what was wrong that are repeated

_BUSY = "{path} is being written by another run: wait until it ends, or choose another place"


class CheckpointContent:
    """Takes a run apart for a checkpoint, and puts it together again.

    What has no other way is kept by pickle, if that is allowed.
    """

    def __init__(self, step: Step, stream: Stream, *, allow_pickle: bool) -> None:
        self.step, self.stream, self.allow_pickle = step, stream, allow_pickle
        self._was_refused = False
        step.digests = not allow_pickle
        self._metrics = MetricStates(step.scores)

    # Out.

    def parts(self) -> dict[str, Any]:
        """What goes into a checkpoint."""
        step = self.step
        metrics = self._metrics.state
        is_open = metrics is not None and not self._detectors()
        safe = self._dumped() if is_open else None
        how = self._how(is_open, safe)
        run = {
            "version": VERSION,
            "model": how,
            "learns": step.learn,
            "feed": self.stream.place,
            "columns": encode(step.order.columns),
            "digest": step.digest,
            "metrics": metrics,
            "scores": list(step.scores.by_name),
            "waiting": None if step.waiting is None else step.waiting.state,
            "budget": None if step.budget is None else step.budget.state,
            "explainers": list(step.explainers),
            "engines": {name: engine_state(e.engine) for name, e in step.explainers.items()},
        }
        parts: dict[str, Any] = {
            "run": run,
            "explainers": {name: e.state for name, e in step.explainers.items()},
            "monitor": None if step.monitor is None else step.monitor.state,
        }
        if how == "skops":
            parts["skops"] = safe
        elif how == "pickle":
            parts["pickle"] = self._pickled(metrics is None)
        return parts

    def _how(self, is_open: bool, safe: bytes | None) -> How:
        if is_open and not self.step.learn:
            return "given"
        if safe is not None:
            return "skops"
        return "pickle" if self.allow_pickle else "replay"

    def _dumped(self) -> bytes | None:
        """The model in its own safe format; None, with one warning, if it cannot be written so."""
        if not self.step.learn or self._was_refused:
            return None
        try:
            return models.dumped(self.step.first.model)
        except models.CannotBeKept as error:
            self._was_refused = True
            replayed = "when the run is resumed the observations are replayed"
            instead = "it is kept by pickle" if self.allow_pickle else replayed
            warnings.warn(
                f"the model cannot be kept in skops's format ({error}): {instead}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None

    def _detectors(self) -> Any:
        return None if self.step.monitor is None else self.step.monitor.detectors

    def _pickled(self, with_metrics: bool) -> bytes:
        step = self.step
        # An engine is kept only if it is one of the user's own: those of ipdp may be made
        # differently by the version that resumes.
        own = {
            name: explainer.engine
            for name, explainer in step.explainers.items()
            if step.learn and alike(explainer.engine, explainer.model) is None
        }
        # All in one, so that what is shared stays shared.
        things = {
            "model": step.first.model if step.learn else None,
            "engines": own,
            "metrics": dict(step.scores.by_name) if with_metrics else None,
            "detectors": self._detectors(),
        }
        try:
            return pickle.dumps(things, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # whatever the model's own code does
            raise CheckpointError(f"the model cannot be pickled: {error}") from error

    # In.

    def restore(self, parts: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
        """Bring the run to where the checkpoint was made.

        Yields now and then how far it is, and how far it has to go, if observations have to be
        replayed.
        """
        with _damage():
            parts = up_to_date(parts)
            run = parts["run"]
            self._must_fit(parts, run)
            place, how, digest = checked_place(run["feed"]), run["model"], run["digest"]
        if how == "replay":
            yield from self._replay(place, digest)
        else:
            self.stream.go(place)
        with _damage():
            things = self._unpickled(parts["pickle"]) if how == "pickle" else {}
            if how == "skops":
                models.load_into(self.step.first.model, parts["skops"])
            self._restore_parts(parts, run)
            if how == "pickle" and self.step.monitor is not None:
                self.step.monitor.detectors = things["detectors"]

    def _must_fit(self, parts: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        for what, then, now in (
            ("learn", run["learns"], self.step.learn),
            ("metrics", run["scores"], list(self.step.scores.by_name)),
            ("a monitor", parts["monitor"] is not None, self.step.monitor is not None),
            ("explainers", run["explainers"], list(self.step.explainers)),
            ("a delay", run["waiting"] is not None, self.step.waiting is not None),
        ):
            if then != now:
                raise CheckpointError(
                    f"the checkpoint does not fit this run: {what} was {shown(then, 200)}, "
                    f"and is {now} now"
                )
        if run["model"] not in get_args(How):
            raise CheckpointError(
                f"the checkpoint is damaged: {shown(run['model'])} keeps no model"
            )
        if run["model"] == "pickle" and not self.allow_pickle:
            raise CheckpointError(
                f"the checkpoint holds a pickle, which was not loaded: {RISK}; if you did, resume "
                "with allow_pickle"
            )

    def _replay(self, place: Mapping[str, Any], digest: int) -> Iterator[tuple[int, int]]:
        reported = perf_counter()
        for x, y in self.stream.replay(place):
            self.step.replay(x, y)
            if perf_counter() - reported > _REPORT:
                reported = perf_counter()
                yield self.stream.n, place["n"]
        if self.step.digest != digest:
            raise CheckpointError(
                f"the model, replaying the first {self.stream.n:,} observations, did not "
                "predict what it did before: give it as it was at the start, with a seed, or keep "
                "it with allow_pickle"
            )

    def _unpickled(self, data: bytes) -> dict[str, Any]:
        """What was pickled; model and metrics are taken from it."""
        try:
            things: dict[str, Any] = pickle.loads(data)
        except Exception as error:  # a class that is no longer there, for instance
            raise CheckpointError(
                f"the model in the checkpoint cannot be loaded: {error}"
            ) from error
        for name, explainer in self.step.explainers.items() if self.step.learn else ():
            engine = things["engines"].get(name) or alike(explainer.engine, things["model"])
            if engine is None:
                raise CheckpointError(
                    f"the model in the checkpoint is not one like the {name}'s model: make "
                    "everything as it was made at the start"
                )
            explainer.engine = engine
        if things["metrics"] is not None:
            self.step.scores.replace(things["metrics"])
        return things

    def _restore_parts(self, parts: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        step = self.step
        for name, explainer in step.explainers.items():
            explainer.state = parts["explainers"][name]
            restore_engine(explainer.engine, run["engines"].get(name))
        if step.monitor is not None:
            step.monitor.state = parts["monitor"]
        if run["metrics"] is not None:
            # After a replay too: what a metric holds depends on when it was read.
            for name, metric in step.scores.by_name.items():
                give(metric, run["metrics"][name])
        if run["model"] != "replay":
            step.order.columns = decode(run["columns"])
            if step.waiting is not None:
                step.waiting.state = run["waiting"]
        if step.budget is not None and run["budget"] is not None:
            step.budget.state = run["budget"]
        step.digest = run["digest"]
        step.bind()


def up_to_date(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a checkpoint as this version writes them."""
    run = parts["run"]
    if run["version"] not in range(1, VERSION + 1):
        raise CheckpointError(
            f"the checkpoint is of version {shown(run['version'])}, "
            f"this ipdp goes on from versions up to {VERSION}"
        )
    if run["version"] == VERSION:
        return dict(parts)
    # Version 1 knew two explainers, each by its name.
    states = {name: parts[name] for name in ("pdp", "pfi") if parts[name] is not None}
    run = {**run, "explainers": list(states), "engines": {"pdp": run["engine"]}}
    return {**parts, "run": run, "explainers": states}


@contextmanager
def _damage() -> Iterator[None]:
    """Say in one sentence that a checkpoint does not hold what it should."""
    try:
        yield
    except CheckpointError:
        raise
    except (KeyError, IndexError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error} is missing from it") from error
    except _DAMAGE as error:
        text = " ".join(str(error).split())[:_LONGEST]
        raise CheckpointError(f"the checkpoint does not fit this run: {text}") from error


class CheckpointSchedule:
    """Writes the checkpoint of a run when it is time to, and finds the one to go on from.

    Without a file none is kept; without a number of observations it is written by time.
    `was_there` says whether there was one to go on from.
    """

    def __init__(
        self, content: CheckpointContent, recorder: Recorder, file: Path | None, every: int | None
    ) -> None:
        self.file = file
        self.every = math.inf if every is None else whole_number("checkpoint_every", every)
        self.was_there = self._is_first = False
        self._content, self._recorder, self._stream = content, recorder, content.stream
        self._next = 0.0

    def open(self, stack: ExitStack, *, resume: bool) -> None:
        """Be the one run that writes the checkpoint, and see whether there is one to go on from."""
        if self.file is None:
            return
        stack.enter_context(_alone(self.file))
        self.was_there = self.file.exists()
        if self.was_there and not resume:
            raise FileExistsError(
                f"there is a checkpoint at {self.file}: resume it, or choose another place for "
                "this run"
            )

    def restore(self) -> Iterator[tuple[int, int]]:
        """Go on from the checkpoint, if there is one; as `CheckpointContent.restore`."""
        if self.file is not None and self.was_there:
            yield from self._content.restore(checkpoint.read(self.file))

    def begin(self) -> None:
        """Write a first one before anything is logged, so that a log always has its checkpoint."""
        self._next = perf_counter() + _SECONDS
        if self.file is not None and not self.was_there:
            checkpoint.write(self.file, self._content.parts())
            self._is_first = True

    def undo(self) -> None:
        """Take the first one back if the run has come to nothing: it can be tried again."""
        if self.file is not None and self._is_first and not self._recorder.has_results:
            self.file.unlink(missing_ok=True)

    def is_due(self, now: float) -> bool:
        """Whether it is time to write one."""
        return now >= self._next if self.every == math.inf else self._stream.n % self.every == 0

    def write(self) -> list[AnyEvent]:
        """Write one now, if one is kept."""
        if self.file is None:
            return []
        started = perf_counter()
        self._recorder.commit()  # the log may be ahead of the checkpoint, never behind
        parts = self._content.parts()
        size = checkpoint.write(self.file, parts)
        self._is_first = False
        self._stream.commit(parts["run"]["feed"])
        now = perf_counter()
        self._next = now + max(_SECONDS, _TIMES * (now - started))
        return [Checkpointed(self._stream.n, self.file, size, now - started)]


def checkpoint_file(path: Any) -> Path:
    """The checkpoint that a path means: the file itself, or the one in a run's directory."""
    file = Path(path)
    return file / NAME if file.is_dir() or not (file.suffix or file.exists()) else file


def _alone(file: Path) -> Any:
    """Keep other runs away from a checkpoint while the context lasts."""
    from ipdp.log import LogError, files

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        guard = files.lock(file, _BUSY)
    except OSError as error:
        raise CheckpointError(
            f"cannot write the checkpoint {file}: {error.strerror or error}"
        ) from error
    except LogError as error:
        raise CheckpointError(f"cannot write the checkpoint: {error}") from error
    # What a kill in the middle of writing has left.
    for draft in file.parent.glob(f".{glob.escape(file.stem)}.*.part{glob.escape(file.suffix)}"):
        draft.unlink(missing_ok=True)
    return closing(guard)
