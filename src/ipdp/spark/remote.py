"""A model that is asked about a micro-batch at once: by Spark's workers, or here."""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.typing import FloatArray, Label, Observation
from ipdp.models import Engine, engine
from ipdp.models.base import Outputs, Probe
from ipdp.models.linked import on_link
from ipdp.spark.backfill import NoAnswers
from ipdp.spark.interrupts import end_jobs
from ipdp.spark.sending import Sent

# Fewer observations than this are not worth a job of Spark, which takes tens of milliseconds.
_LEAST = 256
# An answer that takes less CPU than this is given here: to note a question, send it and fetch the
# answer takes a tenth of a millisecond, which should be no more than a quarter of the whole.
_WORTH = 400e-6
# What an answer must save if it is given together with others: to note a question and to find its
# answer takes some 15 microseconds.
_NOTING = 20e-6
_TRIED = 8  # answers that are timed


class _Way(Enum):
    """How questions about a micro-batch are answered."""

    ALONE = "here, one by one"
    TOGETHER = "here, many at a time"
    WORKERS = "by the workers"


class RemoteEngine(Engine):
    """Asks a model about many observations ahead, and keeps the answers for later.

    When the explainer comes to the observations one by one the answers are there (`ahead`). Those
    of a slow model come from Spark's workers. One that is so quick that it takes longer to ask
    elsewhere is asked here: about many observations at a time, if that saves more than it costs.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes and that can be pickled.
    """

    def __init__(self, model: Any) -> None:
        self._context: Any = None
        self._sent: Sent | None = None
        self._answers: deque[tuple[Observation, FloatArray, Outputs]] = deque()
        self.replace(model)

    def replace(self, model: Any) -> None:
        """Take another model, from the next observation on."""
        self.local = on_link(engine(model), self.link)
        self.link = self.local.link
        self.model, self.ordered = self.local.model, self.local.ordered
        if self._sent is not None:
            self._sent.forget()
        self._sent = None
        self._way: _Way | None = None  # not known yet
        self._answers.clear()

    def origin(self, output: Label) -> float:
        return self.local.origin(output)

    def connect(self, context: Any) -> None:
        """Use the workers of a context; the model is sent to them once."""
        if self._sent is None or context is not self._context:
            self._context = context
            self._sent = Sent(context, self.local, "the model")

    def cancel(self) -> None:
        """Let the workers stop."""
        end_jobs(self._context)

    def ahead(self, explainer: Any, rows: Sequence[Observation], w: Any, t: Any) -> None:
        """Ask about the rows that an explainer with this engine comes to next.

        Where its grids will be does not depend on the model, so that a copy of it finds out what
        it is going to ask.
        """
        self._answers.clear()
        if self._way is _Way.ALONE or self._sent is None:
            return
        asking = _Asking(ordered=self.ordered)
        copied = type(explainer)(asking, **explainer.settings, **explainer._unsaved)
        copied._memory = explainer.memory and explainer.memory.copy()
        copied.explain_many(rows, w, t=t)
        n = sum(len(question.observations) for question in asking.questions)
        if n < _LEAST:
            return
        if self._way is None:
            self._way = _cheapest(self.local, asking.questions[-1])
        if self._way is _Way.TOGETHER:
            for question in asking.questions:
                self._keep(question, self.local.ice(*question))
        elif self._way is _Way.WORKERS:
            self._ask(asking.questions, -(-n // self._context.defaultParallelism))

    def _keep(self, question: Question, answer: Outputs) -> None:
        """Keep an answer about many observations for when each of them comes."""
        labels, values = answer
        asked = zip(question.observations, question.positions, values, strict=True)
        self._answers.extend((x, where, Outputs(labels, own[None])) for x, where, own in asked)

    def _ask(self, questions: list[Question], size: int) -> None:
        """Let the workers answer, each about so many observations."""
        tasks = [pickle.dumps(part, 5) for part in _parted(questions, size)]
        sent = self._sent
        answers = self._context.parallelize(tasks, len(tasks)).map(lambda x: _answer(sent, x))
        asked = ((x, where) for q in questions for x, where in zip(*q[::2], strict=True))
        for answer in answers.collect():
            for labels, values in pickle.loads(answer):
                self._answers.extend((*next(asked), Outputs(labels, own[None])) for own in values)

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        if len(observations) == 1 and self._answers:
            x, where, answer = self._answers.popleft()
            if x == observations[0] and np.array_equal(where, positions[0], equal_nan=True):
                return answer
            self._answers.clear()
        return self.local.ice(observations, probes, positions)

    def ice_again(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        return self.local.ice_again(observations, probes, positions)

    def predict(self, observations: Sequence[Observation]) -> Outputs:
        return self.local.predict(observations)

    @property
    def description(self) -> str:
        return f"{self.local.description}, on Spark"


class Question(NamedTuple):
    """What an engine is asked."""

    observations: list[Observation]
    probes: Sequence[Probe]
    positions: FloatArray


class _Asking(NoAnswers):
    """Notes what it is asked, and has no answer."""

    def __init__(self, *, ordered: bool) -> None:
        self.ordered = ordered
        self.questions: list[Question] = []

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        self.questions.append(Question(list(observations), probes, positions))
        return super().ice(observations, probes, positions)


def _cheapest(engine: Engine, question: Question) -> _Way:
    """The way that takes least CPU; the first answer, which prepares the engine, is not timed."""
    n = len(question.observations)
    _seconds(engine, question, slice(0, 1))
    alone = [_seconds(engine, question, slice(k, k + 1)) for k in range(min(_TRIED, n))]
    each = float(np.median(alone))
    together = _seconds(engine, question, slice(0, _LEAST)) / min(_LEAST, n)
    if min(each, together) >= _WORTH:
        return _Way.WORKERS
    return _Way.TOGETHER if each - together > _NOTING else _Way.ALONE


def _seconds(engine: Engine, question: Question, some: slice) -> float:
    """CPU seconds of an answer about some of the observations."""
    before = time.thread_time()
    engine.ice(question.observations[some], question.probes, question.positions[some])
    return time.thread_time() - before


def _parted(questions: list[Question], size: int) -> Iterator[list[Question]]:
    """The questions in parts of so many observations."""
    part: list[Question] = []
    room = size
    for question in questions:
        start, n = 0, len(question.observations)
        while start < n:
            stop = min(n, start + room)
            own = question.positions[start:stop]
            # Points that stay where they are travel once.
            still = bool((own == own[:1]).all())
            asked = question.observations[start:stop], question.probes, own[:1] if still else own
            part.append(Question(*asked))
            room, start = room - (stop - start), stop
            if not room:
                yield part
                part, room = [], size
    if part:
        yield part


def _answer(sent: Any, task: bytes) -> bytes:
    """In a worker: the answers of the model."""
    engine, answers = sent.load(), []
    for observations, probes, positions in pickle.loads(task):
        shape = (len(observations), *positions.shape[1:])
        # A copy: compiled loops take no array that is read-only.
        where = np.broadcast_to(positions, shape).copy()
        answers.append(engine.ice(observations, probes, where))
    return pickle.dumps([(labels, values) for labels, values in answers], 5)
