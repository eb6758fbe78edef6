"""What is done with one observation: predict, score, explain, learn."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from ipdp.core.typing import Observation
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.pfi import IncrementalPFI
from ipdp.monitor import Change, Monitor
from ipdp.runs.answering import Learn, Order, Predict, learner, learns_without_labels, predictor
from ipdp.runs.budget import Budget
from ipdp.runs.labels import Waiting
from ipdp.runs.scores import Scores

_NOTHING: Sequence[Change] = ()


class Step:
    """One observation at a time through model, metrics, explainer and monitor.

    Attributes
    ----------
    doing
        What is being done, for the sentence that says what failed.
    explained, explain_seconds
        How many observations were explained, and how long that took.
    digests, digest
        Whether to keep a checksum of all predictions and labels so far, by which a replay is known
        to be the same; and that.
    """

    def __init__(
        self,
        pdp: IncrementalPDP,
        *,
        scores: Scores,
        monitor: Monitor | None,
        pfi: IncrementalPFI | None,
        learn: bool,
        waiting: Waiting | None,
        budget: Budget | None,
    ) -> None:
        self.pdp, self.monitor, self.pfi = pdp, monitor, pfi
        self.scores, self.waiting, self.budget = scores, waiting, budget
        self.learn = learn
        self.order = Order()
        self._predict: Predict | None = None
        self._learn: Learn | None = None
        self.bind()
        self.doing = "start"
        self.explained = 0
        self.explain_seconds = 0.0
        self.digests, self.digest = False, 0
        self.finished = perf_counter()

    def bind(self) -> None:
        """Take the explainer's model, which may be another one after a resume."""
        model = self.pdp.model
        self._predict = predictor(model, self.pdp.engine, self.scores, self.order)
        self._learn = learner(model, self.order) if self.learn else None
        self._needs_label = not (self.learn and learns_without_labels(model))

    @property
    def every(self) -> int:
        """Each how many-th observation is explained."""
        return self.pdp.every if self.budget is None else self.budget.every

    def __call__(self, x: Observation, y: Any) -> Sequence[Change]:
        """Deal with one observation; the changes that the monitor found."""
        started = self.finished
        if self.waiting is not None:
            self._answer(self.waiting.answered(x, y))
        y_pred = self._predicted(x, y)
        if self.waiting is None:
            self._score(y, y_pred)
        self.doing = "explain"
        before = perf_counter()
        changes = self._explain(x, y)
        spent = perf_counter() - before
        self.explain_seconds += spent
        if self.waiting is not None:
            self.waiting.ask(x, y, y_pred)
        else:
            self._teach(x, y)
        self.finished = perf_counter()
        if self.budget is not None:
            self.budget.update(spent, self.finished - started - spent)
        return changes

    def again(self, x: Observation, y: Any) -> None:
        """The same without explaining: what the model and the metrics have been through before."""
        if self.waiting is not None:
            self._answer(self.waiting.answered(x, y), explain=False)
            self.waiting.ask(x, y, self._predicted(x, y))
            return
        self._score(y, self._predicted(x, y))
        self._teach(x, y)

    def finish(self) -> None:
        """Deal with the labels that have not come when the stream ends."""
        if self.waiting is not None:
            self._answer(self.waiting.rest())

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

    def _explain(self, x: Observation, y: Any) -> Sequence[Change]:
        if self.budget is not None and not self.budget.wants():
            self.pdp.explain_one(x, 0.0)  # ages the curves and fills the storages
            return _NOTHING
        self.pdp.explain_one(x)
        self.explained += 1
        changes = _NOTHING if self.monitor is None else self.monitor.update(x)
        if self.pfi is not None and self.waiting is None and y is not None:
            self.pfi.explain_one(x, y)
        return changes

    def _teach(self, x: Observation, y: Any) -> None:
        if self._learn is not None and not (y is None and self._needs_label):
            self.doing = "learn"
            self._learn(x, y)

    def _answer(self, questions: Any, explain: bool = True) -> None:
        for question in questions:
            self._score(question.y, question.y_pred)
            if explain and self.pfi is not None and question.y is not None:
                self.doing = "explain"
                self.pfi.explain_one(question.x, question.y)
            self._teach(question.x, question.y)
