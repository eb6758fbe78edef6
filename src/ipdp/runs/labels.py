"""Labels that come later than their observations, as in `river.stream.simulate_qa`."""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from ipdp.core.jsonable import decode, encode


class Question(NamedTuple):
    """An observation whose label has not come yet."""

    due: Any
    x: Any
    y: Any
    y_pred: Any


class Waiting:
    """The observations whose labels are still to come.

    `moment`, when an observation was made, is the name of a feature, a function of x, or None,
    which counts observations; `delay`, how long its label takes, is a number or a duration, the
    name of a feature, or a function of x and y.
    """

    def __init__(self, *, moment: Any = None, delay: Any) -> None:
        self.moment, self.delay = moment, delay
        self._n = 0
        self._due: Any = None
        self._questions: deque[Question] | list[Question]
        # A constant delay keeps the order; only then is it enough to look at the oldest one.
        self._keeps_order = not (callable(delay) or isinstance(delay, str))
        self._questions = deque() if self._keeps_order else []

    def __len__(self) -> int:
        return len(self._questions)

    def answered(self, x: Any, y: Any) -> Iterator[Question]:
        """The observations whose labels have come by the time of this one; they are taken out."""
        now = self._moment(x)
        self._due = now + self._delay(x, y)
        while self._questions and not self._questions[0].due > now:
            yield self._first()

    def ask(self, x: Any, y: Any, y_pred: Any) -> None:
        """Put away an observation, with what was predicted for it."""
        if isinstance(y_pred, dict):
            y_pred = dict(y_pred)  # a plain one, which can be saved
        question = Question(self._due, x, y, y_pred)
        if self._keeps_order:
            self._questions.append(question)
        else:
            bisect.insort(self._questions, question, key=attrgetter("due"))
        self._n += 1

    def rest(self) -> Iterator[Question]:
        """What is left when the stream ends; it is taken out."""
        while self._questions:
            yield self._first()

    def _first(self) -> Question:
        if isinstance(self._questions, deque):
            return self._questions.popleft()
        return self._questions.pop(0)

    def _moment(self, x: Any) -> Any:
        if self.moment is None:
            return self._n
        return self.moment(x) if callable(self.moment) else x[self.moment]

    def _delay(self, x: Any, y: Any) -> Any:
        if callable(self.delay):
            return self.delay(x, y)
        return x[self.delay] if isinstance(self.delay, str) else self.delay

    @property
    def state(self) -> dict[str, Any]:
        """What is waiting, JSON-safe."""
        return {"n": self._n, "questions": [encode(tuple(q)) for q in self._questions]}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self._n = state["n"]
        self._questions.clear()
        self._questions.extend(Question(*decode(question)) for question in state["questions"])


def waiting_for(moment: Any, delay: Any) -> Waiting | None:
    """What waits for labels that come later; None where they come at once."""
    if delay is not None:
        return Waiting(moment=moment, delay=delay)
    if moment is not None:
        raise ValueError("moment says when an observation was made: give delay as well")
    return None
