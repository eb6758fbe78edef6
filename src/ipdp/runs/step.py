"""What is done with one observation: predict, score, explain, learn."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any

from ipdp.core.typing import Observation
from ipdp.explainers.base import Explainer
from ipdp.monitor import Change, Monitor
from ipdp.runs.budget import Budget
from ipdp.runs.explainers import ByName
from ipdp.runs.labels import Question, Waiting
from ipdp.runs.metrics import Scores
from ipdp.runs.models import Order, learner, learns_without_labels, predictor

_NOTHING: Sequence[Change] = ()


class RunFailed(RuntimeError):
    """The model, an explainer or a metric failed on an observation; the text says which.

    The error itself is its `__cause__`. The last checkpoint is as it was: mend what was wrong, and
    resume.

    Attributes
    ----------
    n
        Number of observations that went well.
    """

    def __init__(self, n: int, doing: str, error: BaseException) -> None:
        what = str(error) or "no reason given"
        super().__init__(
            f"could not {doing} observation {n + 1:,}: {what} ({type(error).__name__})"
        )
        self.n = n


class Step:
    """One observation at a time through model, metrics, explainers and monitor.

    The model and the pace are those of the first explainer. If it `digests`, it keeps a checksum of
    all predictions and labels so far, by which a replay is known to be the same.
    """

    def __init__(
        self,
        explainers: ByName,
        *,
        scores: Scores,
        monitor: Monitor | None,
        learn: bool,
        waiting: Waiting | None,
        budget: Budget | None,
    ) -> None:
        self.explainers, self.monitor = explainers, monitor
        self.first: Explainer = next(iter(explainers.values()))
        # Any: those that need labels take one argument more.
        given: list[Any] = list(explainers.values())
        self._with_label = [e.explain_one for e in given if e.needs_label]
        self._without_label = [e.explain_one for e in given if not e.needs_label]
        self.scores, self.waiting, self.budget = scores, waiting, budget
        self.learn = learn
        self.order = Order()
        self.bind()
        self.doing = "start"  # for the sentence that says what failed
        self.explained = 0
        self.explain_seconds = 0.0
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

    def __call__(self, x: Observation, y: Any) -> Sequence[Change]:
        """Deal with one observation; the changes that the monitor found."""
        started, explaining, waiting = self.finished, self.explain_seconds, self.waiting
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
            spent = self.explain_seconds - explaining
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
                changes = self.monitor.update(x)
        if self._with_label and y is not None:
            for explain_one in self._with_label:
                explain_one(x, y, w=w)
        self.explain_seconds += perf_counter() - started
        return changes

    def _teach(self, x: Observation, y: Any) -> None:
        if self._learn is not None and not (y is None and self._needs_label):
            self.doing = "learn"
            self._learn(x, y)

    def _answer(self, questions: Iterable[Question], w: float | None) -> None:
        """Deal with labels that have come; without a weight nothing is explained."""
        for question in questions:
            self._score(question.y, question.y_pred)
            if self._with_label and w is not None and question.y is not None:
                self.doing = "explain"
                started = perf_counter()
                for explain_one in self._with_label:
                    explain_one(question.x, question.y, w=w)
                self.explain_seconds += perf_counter() - started
            self._teach(question.x, question.y)
