"""What a run puts into a checkpoint, and how it goes on from one."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Literal, get_args

from ipdp.core.jsonable import decode, encode
from ipdp.runs import estimators
from ipdp.runs.checkpoint import CheckpointError
from ipdp.runs.checkpoint.objects import give, take
from ipdp.runs.engines import alike, engine_state, restore_engine
from ipdp.runs.feed import Feed, checked_place
from ipdp.runs.scores import Scores
from ipdp.runs.step import Step

VERSION = 1
"""Of what a run's checkpoint holds."""

RISK = "a pickle can run any code when it is loaded, so load only what you wrote yourself"
"""What the user takes upon himself."""

How = Literal["given", "skops", "pickle", "replay"]
"""Where the model comes from on resume: from the user, from the file, or by learning again."""

# Seconds between two events of a replay.
_TELL = 0.25


class Keeper:
    """Takes a run apart for a checkpoint, and puts it together again.

    Parameters
    ----------
    step, feed
        Of the run.
    allow_pickle
        Whether what has no other way may be kept by pickle.
    """

    def __init__(self, step: Step, feed: Feed, *, allow_pickle: bool) -> None:
        self.step = step
        self.feed = feed
        self.allow_pickle = allow_pickle
        self._detectors_then: Any = None
        self._was_refused = False
        step.digests = not allow_pickle
        self._metrics = _Metrics(step.scores)

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
            "feed": self.feed.place,
            "columns": encode(step.order.columns),
            "digest": step.digest,
            "metrics": metrics,
            "scores": list(step.scores.by_name),
            "waiting": None if step.waiting is None else step.waiting.state,
            "budget": None if step.budget is None else step.budget.state,
            "engine": engine_state(step.pdp.engine),
        }
        parts: dict[str, Any] = {"run": run, "pdp": step.pdp.state}
        for name in ("monitor", "pfi"):
            part = getattr(step, name)
            parts[name] = None if part is None else part.state
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
        model = self.step.pdp.model
        if not self.step.learn or self._was_refused or not estimators.has_format(model):
            return None
        try:
            return estimators.dumped(model)
        except estimators.CannotBeKept as error:
            self._was_refused = True
            instead = (
                "it is kept by pickle"
                if self.allow_pickle
                else "when the run is resumed it learns again what it had learnt"
            )
            warnings.warn(
                f"the model cannot be kept in skops's format ({error}): {instead}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None

    def _detectors(self) -> Any:
        return None if self.step.monitor is None else self.step.monitor.detectors

    def _explainers(self) -> dict[str, Any]:
        both = {"pdp": self.step.pdp, "pfi": self.step.pfi}
        return {name: explainer for name, explainer in both.items() if explainer is not None}

    def _own_engines(self) -> dict[str, Any]:
        return {
            name: explainer.engine
            for name, explainer in self._explainers().items()
            if alike(explainer.engine, explainer.model) is None
        }

    def _pickled(self, with_metrics: bool) -> bytes:
        step = self.step
        # All in one, so that what is shared stays shared. An engine is kept only if it is one of
        # the user's own: those of ipdp may be made differently by the version that resumes.
        things = {
            "model": step.pdp.model if step.learn else None,
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

        Yields now and then how far it is, and how far it has to go, if the model has to learn
        again what it had learnt.
        """
        with _damage():
            run = parts["run"]
            self._must_fit(parts, run)
            place, how = checked_place(run["feed"]), run["model"]
        if how == "replay":
            yield from self._replay(place)
            self._must_agree(run)
        else:
            self.feed.go(place)
        with _damage():
            if how == "pickle":
                self._unpickle(parts["pickle"])
            elif how == "skops":
                estimators.load_into(self.step.pdp.model, parts["skops"])
            self._restore_parts(parts, run, how)

    def _must_fit(self, parts: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        if run["version"] != VERSION:
            raise CheckpointError(
                f"the checkpoint is of version {run['version']}, this ipdp goes on from version "
                f"{VERSION}"
            )
        for what, then, now in (
            ("learn", run["learns"], self.step.learn),
            ("metrics", run["scores"], list(self.step.scores.by_name)),
            ("a monitor", parts["monitor"] is not None, self.step.monitor is not None),
            ("pfi", parts["pfi"] is not None, self.step.pfi is not None),
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
        told = perf_counter()
        for x, y in self.feed.again(place):
            self.step.again(x, y)
            if perf_counter() - told > _TELL:
                told = perf_counter()
                yield self.feed.n, place["n"]

    def _must_agree(self, run: Mapping[str, Any]) -> None:
        if self.step.digest != run["digest"]:
            raise CheckpointError(
                f"the model, learning again the first {self.feed.n:,} observations, did not "
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
            for name, explainer in self._explainers().items():
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
        step.pdp.state = parts["pdp"]
        restore_engine(step.pdp.engine, run["engine"])
        for name in ("monitor", "pfi"):
            if parts[name] is not None:
                getattr(step, name).state = parts[name]
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


class _Metrics:
    """The metrics of a run, to be saved without pickle where that can be done."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._fresh: Any = copy.deepcopy(scores.by_name)
        self._is_open: bool | None = None

    @property
    def state(self) -> dict[str, Any] | None:
        """What they remember, JSON-safe; None if that cannot be told from outside."""
        if self._is_open is False:
            return None
        try:
            state = {name: take(metric) for name, metric in self._scores.by_name.items()}
        except TypeError:
            self._is_open = False
            return None
        if self._is_open is None:
            self._is_open = self._comes_back(state)
        return state if self._is_open else None

    def _comes_back(self, state: Mapping[str, Any]) -> bool:
        """Whether metrics that are given the state have it; tried once, on a copy."""
        twins, self._fresh = self._fresh, None
        try:
            for name, twin in twins.items():
                give(twin, state[name])
            return {name: take(twin) for name, twin in twins.items()} == state
        except Exception:  # whatever a metric of another make does
            return False


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
