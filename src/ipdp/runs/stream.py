"""The stream of a run: any iterable, or a source that knows where it is; labels that come later."""

from __future__ import annotations

import bisect
import math
import warnings
import zlib
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from ipdp.core import schema
from ipdp.core.jsonable import decode, encode
from ipdp.core.times import is_wall_clock, seconds
from ipdp.core.validation import unknown
from ipdp.runs.checkpoint import CheckpointError

Pair = tuple[Any, Any]


class Stream:
    """Observations and labels, with a place to go on from.

    What is given is an iterable of (x, y), or of x alone. One that has a `position` and can `seek`
    is asked for its place; of others the observations are counted. `time` is the name of the
    feature that is the time, which is taken out of x, or a function of x; `t` is the time of the
    last observation, in seconds since 1970.
    """

    def __init__(self, given: Any, time: Any = None) -> None:
        if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__iter__"):
            raise TypeError(
                f"a stream is an iterable of (x, y) or of x, got {type(given).__name__}; "
                "ipdp.sources.open_source opens files"
            )
        self.given = given
        self.knows_place = hasattr(given, "position") and hasattr(given, "seek")
        self.start = encode(given.position) if self.knows_place else None
        self.n = 0
        self.time = time
        self.t: float | None = None
        self._items: Iterator[Any] | None = None
        self._last: Pair | None = None

    def __iter__(self) -> Iterator[Pair]:
        return self

    def __next__(self) -> Pair:
        if self._items is None:
            self._items = iter(self.given)
        item = next(self._items)
        if type(item) is tuple and len(item) == 2:
            pair = item
        elif isinstance(item, Mapping):
            pair = item, None
        else:
            raise TypeError(
                f"observation {self.n + 1} of the stream is a {type(item).__name__}; it must be a "
                "dict x, or a tuple of a dict and its label (x, y)"
            )
        self.n += 1
        self._last = pair
        return pair if self.time is None else self._timed(*pair)

    def _timed(self, x: Any, y: Any) -> Pair:
        """The observation without its time, which is noted."""
        if callable(self.time):
            value = self.time(x)
        elif self.time in x:
            value = x[self.time]
            x = {name: each for name, each in x.items() if name != self.time}
        else:
            raise ValueError(f"time: {unknown('feature', self.time, list(x))}")
        if value is None:
            return x, y  # it is that of the one before
        t = seconds(value)
        if t is None or not is_wall_clock(t):
            raise ValueError(
                f"{self.time} of observation {self.n:,} is {value!r}, which is no time: it must be "
                "a date, date and time (2024-06-01 12:30), or seconds since 1970"
            )
        if self.t is not None and t < self.t:
            # The same words at the same place: Python says them once.
            warnings.warn("times go back: the latest one so far counts", stacklevel=2)
        self.t = t if self.t is None else max(t, self.t)
        return x, y

    @property
    def total(self) -> int | None:
        """How many observations there are in all, if the stream says so."""
        for name in ("total", "n_samples", "__len__"):
            value = getattr(self.given, name, None)
            value = value() if callable(value) else value
            if value is not None:
                return int(value)
        return None

    @property
    def skipped(self) -> tuple[int, str | None]:
        """How many records the source has left out, and what was wrong with the last one."""
        errors = getattr(self.given, "errors", None)
        return getattr(self.given, "n_skipped", 0), errors[-1] if errors else None

    @property
    def place(self) -> dict[str, Any]:
        """Where to go on, JSON-safe."""
        place: dict[str, Any] = {"n": self.n, "start": self.start, "last": fingerprint(self._last)}
        if self.t is not None:
            place["t"] = self.t
        if self.knows_place:
            place["position"] = encode(self.given.position)
        return place

    def go(self, place: Mapping[str, Any]) -> None:
        """Go on after the observation that a place was taken at."""
        if place["n"] and self.knows_place and "position" in place:
            self.given.seek(decode(place["position"]))
            self.n, self.start, self.t = place["n"], place["start"], place.get("t")
            return
        for _ in self.replay(place):
            pass

    def replay(self, place: Mapping[str, Any]) -> Iterator[Pair]:
        """All observations up to a place, from the start; then it goes on from there."""
        if self.knows_place and place["start"] is not None and place["start"] != self.start:
            self.given.seek(decode(place["start"]))
            self.start = place["start"]
        until = place["n"]
        while self.n < until:
            try:
                yield next(self)
            except StopIteration:
                raise CheckpointError(
                    f"the stream has only {self.n:,} observations, the checkpoint was made after "
                    f"{until:,}: it is not the same stream"
                ) from None
        if fingerprint(self._last) != place["last"]:
            raise CheckpointError(
                f"observation {until:,} of the stream is not the one that it was when the "
                "checkpoint was made: it is not the same stream"
            )

    def commit(self, place: Mapping[str, Any]) -> None:
        """Tell a source that wants to know that what came up to a place is safe."""
        if hasattr(self.given, "commit") and "position" in place:
            self.given.commit(decode(place["position"]))

    def interrupt(self) -> None:
        """Let a source that waits for input wait no longer; for signal handlers."""
        if hasattr(self.given, "interrupt"):
            self.given.interrupt()


def checked_place(place: Any) -> dict[str, Any]:
    """A place that came from a file, if it is one."""
    schema.check(place, n=schema.count, last=schema.count, t=schema.maybe(schema.number))
    return {**{name: place[name] for name in ("n", "start", "last")}, **place}


def fingerprint(pair: Pair | None) -> int:
    """A number by which an observation and its label are known again."""
    return zlib.crc32(repr(pair).encode())


class Question(NamedTuple):
    """An observation whose label has not come yet."""

    due: Any
    x: Any
    y: Any
    y_pred: Any


class Waiting:
    """The observations whose labels are still to come, as in `river.stream.simulate_qa`.

    `moment`, when an observation was made, is the name of a feature, a function of x, or None,
    which counts observations; `delay`, how long its label takes, is a number or a duration, the
    name of a feature, or a function of x and y.
    """

    def __init__(self, *, moment: Any = None, delay: Any) -> None:
        if isinstance(delay, (int, float)) and not 0 <= delay < math.inf:
            raise ValueError(f"delay must be a number of at least 0, and finite, got {delay}")
        self.moment, self.delay = moment, delay
        self._n = 0
        self._due: Any = None
        self._questions: deque[Question] = deque()  # the first to be answered first

    def answered(self, x: Any, y: Any) -> Iterator[Question]:
        """The observations whose labels have come by the time of this one; they are taken out."""
        now, delay = self._moment(x), self.delay
        if callable(delay):
            delay = delay(x, y)
        elif isinstance(delay, str):
            delay = x[delay]
        due = now + delay
        if due != due:  # noqa: PLR0124  (what is no time has no place in any order)
            raise ValueError(f"its label comes after {delay}, which is no time")
        self._due = due
        while self._questions and not self._questions[0].due > now:
            yield self._questions.popleft()

    def _moment(self, x: Any) -> Any:
        if self.moment is None:
            return self._n
        return self.moment(x) if callable(self.moment) else x[self.moment]

    def ask(self, x: Any, y: Any, y_pred: Any) -> None:
        """Put away an observation, with what was predicted for it."""
        if isinstance(y_pred, dict):
            y_pred = dict(y_pred)  # a plain one, which can be saved
        question = Question(self._due, x, y, y_pred)
        if callable(self.delay) or isinstance(self.delay, str):
            bisect.insort(self._questions, question, key=attrgetter("due"))
        else:  # a constant delay keeps the order
            self._questions.append(question)
        self._n += 1

    def rest(self) -> Iterator[Question]:
        """What is left when the stream ends; it is taken out."""
        while self._questions:
            yield self._questions.popleft()

    @property
    def state(self) -> dict[str, Any]:
        """What is waiting, JSON-safe."""
        return {"n": self._n, "questions": [encode(tuple(q)) for q in self._questions]}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        schema.check(state, n=schema.count, questions=schema.parts)
        self._n = state["n"]
        self._questions = deque(Question(*decode(question)) for question in state["questions"])
        _check_questions(self._questions)


def _check_questions(questions: Sequence[Question]) -> None:
    """Raise unless these can have been put away one after the other."""
    if not all(isinstance(question.x, Mapping) for question in questions):
        raise ValueError("what waits for its label is no observation")
    # Several labels at once are a dict or a list, of each observation or of none.
    if len({isinstance(question.y, Hashable) for question in questions}) > 1:
        raise ValueError("some of the labels that wait are damaged")
    said = [question.y_pred for question in questions if question.y_pred is not None]
    forms = {(isinstance(each, Mapping), isinstance(each, Hashable)) for each in said}
    kinds = {
        isinstance(part, (int, float))
        for each in said
        if isinstance(each, Mapping)
        for part in each.values()
    }
    # Chances of the classes, or several predictions at once.
    if len(kinds) > 1 or len(forms) > 1:
        raise ValueError("some of the predictions that wait are damaged")
    if any(earlier.due > later.due for earlier, later in pairwise(questions)):
        raise ValueError("the times at which labels come are damaged")
