"""What is done with one observation (predict, score, explain, learn), and how often."""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from ipdp.core import schema
from ipdp.core.curve import Curve
from ipdp.core.importance import Result
from ipdp.core.jsonable import readable
from ipdp.core.typing import Feature, Observation
from ipdp.explainers import IncrementalALE, IncrementalPDP
from ipdp.explainers.base import Explainer, canonical
from ipdp.monitor import Change, Monitor
from ipdp.runs.metrics import Scores, numbered
from ipdp.runs.models import Order, learner, learns_without_labels, predictor
from ipdp.runs.stream import Question, Waiting

Results = dict[str, dict[Feature, Result]]
"""By the name of the explainer, then by feature."""

_NOTHING: Sequence[Change] = ()

# Times are means over about so many observations.
_MEMORY = 200
# The pace is looked at anew after so many explained observations.
_LOOK = 8
_SLOWEST = 10_000


class RunFailed(RuntimeError):
    """The model, an explainer or a metric failed on an observation; the text says which.

    The error itself is its `__cause__`. The last checkpoint is as it was: mend what was wrong, and
    resume.

    Attributes
    ----------
    n
        Number of observations that went well.

    Examples
    --------
    >>> import ipdp
    >>> def model(x):
    ...     return 1 / x["a"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"], grid=ipdp.grid.Fixed([0]))
    >>> try:
    ...     ipdp.run([{"a": 1.0}], model, pdp, learn=False)
    ... except ipdp.runs.RunFailed as error:
    ...     print(error.n, type(error.__cause__).__name__)
    0 ZeroDivisionError
    """

    def __init__(self, n: int, doing: str, error: BaseException, cure: str | None = None) -> None:
        what = cure or f"{str(error) or 'no reason given'} ({type(error).__name__})"
        super().__init__(f"could not {doing} observation {n + 1:,}: {what}")
        self.n = n


def by_name(given: Any, *, pdp: Any = None, pfi: Any = None) -> dict[str, Explainer]:
    """An explainer, several, or a dict of them, by their names, in their order.

    By default an explainer has the name of its kind, with a number if that is taken. `pdp` and
    `pfi` are what was given before there could be any; they go with the next release.
    """
    old = [explainer for explainer in (pdp, pfi) if explainer is not None]
    if old:
        warnings.warn(
            "pdp= and pfi= go with the next release: give explainers=[pdp, pfi]",
            DeprecationWarning,
            stacklevel=3,
        )
        given = [given, *old] if given is not None else old
    named = numbered(given, lambda explainer: getattr(explainer, "name", "?"))
    if not named:
        raise TypeError("a run needs an explainer, such as ipdp.IncrementalPDP")
    for explainer in named.values():
        if not isinstance(explainer, Explainer):
            raise TypeError(f"an explainer must be an ipdp.Explainer, got {explainer!r:.60}")
    return named


def described(explainers: Mapping[str, Explainer]) -> dict[str, dict[str, Any]]:
    """The settings of each of them, JSON-safe."""
    return {
        name: {
            "kind": type(explainer).__name__,
            "title": getattr(explainer, "title", name),
            "seed": explainer.seed,
            **{setting: _plain(value) for setting, value in explainer.settings.items()},
        }
        for name, explainer in explainers.items()
    }


def _plain(setting: Any) -> Any:
    # The keys of a dict, such as of grids by feature, may be what JSON has no keys for.
    return canonical(setting) if isinstance(setting, Mapping) else readable(setting)


class Step:
    """One observation at a time through model, metrics, explainers and monitor.

    The model and the pace are those of the first explainer. If it `digests`, it keeps a checksum of
    all predictions and labels so far, by which a replay is known to be the same.
    """

    def __init__(
        self,
        explainers: Mapping[str, Explainer],
        *,
        metric: Any,
        monitor: Monitor | None,
        learn: bool,
        moment: Any,
        delay: Any,
        budget: float | None,
    ) -> None:
        self.explainers, self.monitor, self.learn = explainers, monitor, learn
        self.first: Explainer = next(iter(explainers.values()))
        if budget is not None and self.first.every != 1:
            every = self.first.every
            raise ValueError(f"give a budget, or an explainer with every={every}, not both")
        if moment is not None and delay is None:
            raise ValueError("moment says when an observation was made: give delay as well")
        self.scores = Scores(metric)
        self.waiting = None if delay is None else Waiting(moment=moment, delay=delay)
        self.budget = None if budget is None else Budget(budget)
        # Any: those that need labels take one argument more.
        given: list[Any] = list(explainers.values())
        self._with_label = [e.explain_one for e in given if e.needs_label]
        self._without_label = [e.explain_one for e in given if not e.needs_label]
        self.order = Order()
        self.bind()
        self.t: float | None = None  # of the last observation, if it has a clock
        self.doing = "start"  # for the sentence that says what failed
        self.explained, self.explain_seconds = 0, 0.0
        self._spent = 0.0  # of these seconds, those that the budget knows of
        self.digests, self.digest = False, 0
        self.finished = perf_counter()

    def bind(self) -> None:
        """Take the explainers' model, which may be another one after a resume."""
        model = self.first.model
        self._predict = predictor(model, self.first.engine, self.scores, self.order)
        self._learn = learner(model, self.order) if self.learn else None
        self._needs_label = not (self.learn and learns_without_labels(model))

    @property
    def every(self) -> int:
        """Every k-th observation is explained; this is k."""
        return self.first.every if self.budget is None else self.budget.every

    @property
    def results(self) -> Results:
        """What each explainer has to tell by now; it may ask the model for that."""
        began = perf_counter()
        results = {name: explainer.results() for name, explainer in self.explainers.items()}
        if any(isinstance(explainer, IncrementalALE) for explainer in self.explainers.values()):
            results = {name: self._with_off_data(name, r) for name, r in results.items()}
        self.explain_seconds += perf_counter() - began
        return results if self.t is None else {name: self._dated(r) for name, r in results.items()}

    def _with_off_data(self, name: str, results: dict[Feature, Result]) -> dict[Feature, Result]:
        """Curves with what they ask about observations that do not occur, for those who compare."""
        explainer = self.explainers[name]
        if not isinstance(explainer, IncrementalPDP):
            return results
        return {
            feature: explainer.with_off_data(found) if isinstance(found, Curve) else found
            for feature, found in results.items()
        }

    def _dated(self, results: Mapping[Feature, Result]) -> dict[Feature, Result]:
        """Results of observations that were counted, with the time of the last one."""
        return {name: replace(result, t=self.t) for name, result in results.items()}

    def __call__(self, x: Observation, y: Any, t: float | None = None) -> Sequence[Change]:
        """Deal with one observation, made at `t`; the changes that the monitor found."""
        self.t = t
        started, waiting = self.finished, self.waiting
        # A weight of 0 ages the results and fills the storages, without a call of the model.
        w = 1.0 if self.budget is None or self.budget.wants() else 0.0
        if waiting is not None:
            self._answer(waiting.answered(x, y), w)
        y_pred = self._predicted(x, y)
        if waiting is None:
            self._score(y, y_pred)
        changes = self._explain(x, y if waiting is None else None, w)
        if waiting is None:
            self._teach(x, y)
        else:
            waiting.ask(x, y, y_pred)
        self.finished = perf_counter()
        if self.budget is not None:
            # With what was read of the explainers since the observation before.
            spent, self._spent = self.explain_seconds - self._spent, self.explain_seconds
            self.budget.update(spent, self.finished - started - spent)
        return changes

    def replay(self, x: Observation, y: Any) -> None:
        """The same without explaining: what the model and the metrics have been through before."""
        if self.waiting is not None:
            self._answer(self.waiting.answered(x, y), None)
            self.waiting.ask(x, y, self._predicted(x, y))
            return
        self._score(y, self._predicted(x, y))
        self._teach(x, y)

    def finish(self) -> None:
        """Deal with the labels that have not come when the stream ends."""
        if self.waiting is not None:
            self._answer(self.waiting.rest(), 1.0)

    def _predicted(self, x: Observation, y: Any) -> Any:
        y_pred = None
        if self._predict is not None:
            self.doing = "predict"
            y_pred = self._predict(x)
        if self.digests:
            self.digest = zlib.crc32(repr((y_pred, y)).encode(), self.digest)
        return y_pred

    def _score(self, y: Any, y_pred: Any) -> None:
        if y is not None and self._predict is not None:
            self.doing = "score"
            self.scores.update(y, y_pred)

    def _explain(self, x: Observation, y: Any, w: float) -> Sequence[Change]:
        self.doing = "explain"
        started = perf_counter()
        for explain_one in self._without_label:
            explain_one(x, w=w)
        changes = _NOTHING
        if w:
            self.explained += 1
            if self.monitor is not None:
                changes = self.monitor.update(x, t=self.t)
        self.explain_seconds += perf_counter() - started
        if self._with_label:
            self._explain_label(x, y, w)
        return changes

    def _explain_label(self, x: Observation, y: Any, w: float) -> None:
        if y is not None:
            self.doing = "explain"
            started = perf_counter()
            for explain_one in self._with_label:
                explain_one(x, y, w=w)
            self.explain_seconds += perf_counter() - started

    def _teach(self, x: Observation, y: Any) -> None:
        if self._learn is not None and not (y is None and self._needs_label):
            self.doing = "learn"
            self._learn(x, y)

    def _answer(self, questions: Iterable[Question], w: float | None) -> None:
        """Deal with labels that have come; without a weight nothing is explained."""
        for _, x, y, y_pred in questions:
            self._score(y, y_pred)
            if w is not None and self._with_label:
                self._explain_label(x, y, w)
            self._teach(x, y)


class Budget:
    """Chooses k, of "every k-th observation is explained", from measured times.

    With c the time of explaining one observation, s that of passing one by, and r that of all the
    rest, explaining takes the share (s + (c - s) / k) / (s + (c - s) / k + r) of the time. The
    smallest k is chosen for which that is no more than `share`, in (0, 1); it is `every`.
    """

    def __init__(self, share: float) -> None:
        if not 0 < share < 1:
            raise ValueError(f"budget must be in (0, 1), the share of the time, got {share}")
        self.share = share
        self.every = 1
        self._since = self._looks = 0
        self._wanted = False
        self._explain, self._pass, self._rest = _Mean(_LOOK), _Mean(_MEMORY), _Mean(_MEMORY)

    def wants(self) -> bool:
        """Whether the next observation is to be explained."""
        self._since += 1
        self._wanted = self._since >= self.every
        return self._wanted

    def update(self, seconds: float, rest: float) -> bool:
        """Learn how long the explainer and the rest of an observation took; whether k changed."""
        self._rest.update(rest)
        if not self._wanted:
            self._pass.update(seconds)
            return False
        self._since = 0
        self._explain.update(seconds)
        self._looks += 1
        if self._looks % _LOOK:
            return False
        before, self.every = self.every, self._pace()
        return self.every != before

    def _pace(self) -> int:
        passing = self._pass.value if self._pass.weight else 0.0
        room = self.share / (1 - self.share) * self._rest.value - passing
        more = max(self._explain.value - passing, 0.0)
        pace = _SLOWEST if room * _SLOWEST <= more else math.ceil(more / room - 1e-9)
        # One slow moment of the machine is not to send it far.
        return min(max(pace, 1), 2 * self.every, _SLOWEST)

    @property
    def state(self) -> dict[str, Any]:
        """The pace and the times that it rests on, JSON-safe."""
        means = [[mean.sum, mean.weight] for mean in (self._explain, self._pass, self._rest)]
        return {"every": self.every, "since": self._since, "looks": self._looks, "means": means}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        schema.check(state, every=schema.count, since=schema.count, looks=schema.count)
        schema.check(state, means=schema.each(schema.each(schema.weight, 2), 3))
        if not 1 <= state["every"] <= _SLOWEST:
            raise ValueError(f"{state['every']} is no pace")
        self.every, self._since = int(state["every"]), int(state["since"])
        self._looks = int(state["looks"])
        means = self._explain, self._pass, self._rest
        for mean, (total, weight) in zip(means, state["means"], strict=True):
            mean.sum, mean.weight = float(total), float(weight)


class _Mean:
    """Exponentially smoothed with the weights so far."""

    def __init__(self, memory: int) -> None:
        self.alpha = 1 / memory
        self.sum = self.weight = 0.0

    def update(self, value: float) -> None:
        self.sum += self.alpha * (value - self.sum)
        self.weight += self.alpha * (1 - self.weight)

    @property
    def value(self) -> float:
        return self.sum / self.weight
