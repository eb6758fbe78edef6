"""Threads and an explainer: one explains, others may read meanwhile, each in its turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Condition, Lock, get_ident
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


class Turns:
    """Whose turn it is with one explainer.

    Who reads waits for the end of the observation that is being explained, and the next one waits
    for who reads: first come, first served, so that neither keeps the other out. A second thread
    that explains is refused: which observation comes first would be chance. A thread may begin
    again within its own turn, as a handler that saves what it is told of.

    Examples
    --------
    >>> turns = Turns()
    >>> with turns.explaining(), turns.reading():
    ...     print("both, in one thread")
    both, in one thread
    """

    __slots__ = ("_changed", "_explaining", "_lock", "_owner", "_waiting", "_within")

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._waiting: deque[object] = deque()
        self._owner: int | None = None  # the thread whose turn it is
        self._within = 0  # how often it has begun again
        self._explaining: int | None = None  # the thread that explains, or waits to

    def __reduce__(self) -> tuple[type[Turns], tuple[()]]:
        return Turns, ()  # a copy of an explainer is nobody's

    def explain(self) -> None:
        """Wait for one's turn to explain, which `give_back` ends; a second such thread is refused.

        Neither is a context manager, which would cost as much again for each observation.
        """
        thread = get_ident()
        with self._lock:
            if self._owner is None and not self._waiting:
                self._owner = self._explaining = thread
                return
            if self._owner != thread and self._explaining is not None:
                raise RuntimeError(
                    "two threads explain at the same time with one explainer: give each its "
                    "own and merge them, or put a lock around the calls"
                )
            if self._owner != thread:
                self._explaining = thread
            self._take(thread)

    def _take(self, thread: int) -> None:
        if self._owner == thread:
            self._within += 1
            return
        place = object()
        self._waiting.append(place)
        try:
            while self._owner is not None or self._waiting[0] is not place:
                self._changed.wait()
            self._owner = thread
        finally:
            self._waiting.remove(place)
            if self._owner != thread:  # Ctrl-C
                self._left(thread)

    def give_back(self) -> None:
        """End one's turn, if it is."""
        thread = get_ident()
        with self._lock:
            if self._owner != thread:
                return
            if self._within:
                self._within -= 1
                return
            self._owner = None
            self._left(thread)

    def _left(self, thread: int) -> None:
        if self._explaining == thread:
            self._explaining = None
        if self._waiting:
            self._changed.notify_all()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """One's turn to explain."""
        try:
            self.explain()
            yield
        finally:
            self.give_back()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One's turn to read."""
        try:
            with self._lock:
                self._take(get_ident())
            yield
        finally:
            self.give_back()


def in_turn(method: Method) -> Method:
    """Have a method of an explainer read in its turn, so that what it reads is of one time."""

    @wraps(method)
    def read(self: Any, *args: Any, **options: Any) -> Any:
        with self.turns.reading():
            return method(self, *args, **options)

    return cast("Method", read)
