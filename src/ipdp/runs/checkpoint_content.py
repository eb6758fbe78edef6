"""What a run puts into a checkpoint, and how it goes on from one."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Literal, get_args

from ipdp.core.jsonable import decode, encode
from ipdp.runs import models
from ipdp.runs.errors import CheckpointError
from ipdp.runs.metrics import MetricStates, give
from ipdp.runs.models import alike, engine_state, restore_engine
from ipdp.runs.step import Step
from ipdp.runs.stream import Stream, checked_place

VERSION = 2
"""Of what a run's checkpoint holds; every version up to it is gone on from."""

RISK = "a pickle can run any code when it is loaded, so load only what you wrote yourself"
"""What the user takes upon himself."""

How = Literal["given", "skops", "pickle", "replay"]
"""Where the model comes from on resume: from the user, from the file, or by a replay."""

# Seconds between two events of a replay.
_REPORT = 0.25


class CheckpointContent:
    """Takes a run apart for a checkpoint, and puts it together again.

    Parameters
    ----------
    step, stream
        Of the run.
    allow_pickle
        Whether what has no other way may be kept by pickle.
    """

    def __init__(self, step: Step, stream: Stream, *, allow_pickle: bool) -> None:
        self.step = step
        self.stream = stream
        self.allow_pickle = allow_pickle
        self._detectors_then: Any = None
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
        model = self.step.first.model
        if not self.step.learn or self._was_refused or not models.has_format(model):
            return None
        try:
            return models.dumped(model)
        except models.CannotBeKept as error:
            self._was_refused = True
            instead = (
                "it is kept by pickle"
                if self.allow_pickle
                else "when the run is resumed the observations are replayed"
            )
            warnings.warn(
                f"the model cannot be kept in skops's format ({error}): {instead}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None

    def _detectors(self) -> Any:
        return None if self.step.monitor is None else self.step.monitor.detectors

    def _own_engines(self) -> dict[str, Any]:
        return {
            name: explainer.engine
            for name, explainer in self.step.explainers.items()
            if alike(explainer.engine, explainer.model) is None
        }

    def _pickled(self, with_metrics: bool) -> bytes:
        step = self.step
        # All in one, so that what is shared stays shared. An engine is kept only if it is one of
        # the user's own: those of ipdp may be made differently by the version that resumes.
        things = {
            "model": step.first.model if step.learn else None,
            "engines": self._own_engines() if step.learn else {},
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
            place, how = checked_place(run["feed"]), run["model"]
        if how == "replay":
            yield from self._replay(place)
            self._must_agree(run)
        else:
            self.stream.go(place)
        with _damage():
            if how == "pickle":
                self._unpickle(parts["pickle"])
            elif how == "skops":
                models.load_into(self.step.first.model, parts["skops"])
            self._restore_parts(parts, run, how)

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
                    f"the checkpoint does not fit this run: {what} was {then}, and is {now} now"
                )
        if run["model"] not in get_args(How):
            raise CheckpointError(f"the checkpoint is damaged: {run['model']!r} keeps no model")
        if run["model"] == "pickle" and not self.allow_pickle:
            raise CheckpointError(
                f"the checkpoint holds a pickle, which was not loaded: {RISK}; if you did, resume "
                "with allow_pickle"
            )

    def _replay(self, place: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
        reported = perf_counter()
        for x, y in self.stream.replay(place):
            self.step.replay(x, y)
            if perf_counter() - reported > _REPORT:
                reported = perf_counter()
                yield self.stream.n, place["n"]

    def _must_agree(self, run: Mapping[str, Any]) -> None:
        if self.step.digest != run["digest"]:
            raise CheckpointError(
                f"the model, replaying the first {self.stream.n:,} observations, did not "
                "predict what it did before: give it as it was at the start, with a seed, or keep "
                "it with allow_pickle"
            )

    def _unpickle(self, data: bytes) -> None:
        try:
            things = pickle.loads(data)
        except Exception as error:  # a class that is no longer there, for instance
            raise CheckpointError(
                f"the model in the checkpoint cannot be loaded: {error}"
            ) from error
        if self.step.learn:
            for name, explainer in self.step.explainers.items():
                engine = things["engines"].get(name) or alike(explainer.engine, things["model"])
                if engine is None:
                    raise CheckpointError(
                        f"the model in the checkpoint is not one like the {name}'s model: make "
                        "everything as it was made at the start"
                    )
                explainer.engine = engine
        if things["metrics"] is not None:
            self.step.scores.replace(things["metrics"])
        self._detectors_then = things["detectors"]

    def _restore_parts(self, parts: Mapping[str, Any], run: Mapping[str, Any], how: How) -> None:
        step = self.step
        for name, explainer in step.explainers.items():
            explainer.state = parts["explainers"][name]
            restore_engine(explainer.engine, run["engines"].get(name))
        if step.monitor is not None:
            step.monitor.state = parts["monitor"]
        if how == "pickle" and step.monitor is not None:
            step.monitor.detectors = self._detectors_then
        if run["metrics"] is not None:
            # After a replay too: what a metric holds depends on when it was read.
            for name, metric in step.scores.by_name.items():
                give(metric, run["metrics"][name])
        if how != "replay":
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
            f"the checkpoint is of version {run['version']}, this ipdp goes on from versions up to "
            f"{VERSION}"
        )
    if run["version"] == VERSION:
        return dict(parts)
    # Version 1 knew two explainers, each by its name.
    states = {name: parts[name] for name in ("pdp", "pfi") if parts[name] is not None}
    engines = {"pdp": run["engine"]}
    return {
        **parts,
        "run": {**run, "explainers": list(states), "engines": engines},
        "explainers": states,
    }


@contextmanager
def _damage() -> Iterator[None]:
    """Say in one sentence that a checkpoint does not hold what it should."""
    try:
        yield
    except CheckpointError:
        raise
    except (KeyError, IndexError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error} is missing from it") from error
    except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"the checkpoint does not fit this run: {error}") from error
