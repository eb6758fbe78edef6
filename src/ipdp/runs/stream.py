"""The stream of a run: any iterable, or a source that knows where it is."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from ipdp.core.jsonable import decode, encode
from ipdp.runs.checkpoint import CheckpointError

Pair = tuple[Any, Any]


class Stream:
    """Observations and labels, with a place to go on from.

    What is given is an iterable of (x, y), or of x alone. One that has a `position` and can `seek`
    is asked for its place; of others the observations are counted.
    """

    def __init__(self, given: Any) -> None:
        if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__iter__"):
            raise TypeError(
                f"a stream is an iterable of (x, y) or of x, got {type(given).__name__}; "
                "ipdp.sources.open_source opens files"
            )
        self.given = given
        self.knows_place = hasattr(given, "position") and hasattr(given, "seek")
        self.start = encode(given.position) if self.knows_place else None
        self.n = 0
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
        return pair

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
        if self.knows_place:
            place["position"] = encode(self.given.position)
        return place

    def go(self, place: Mapping[str, Any]) -> None:
        """Go on after the observation that a place was taken at."""
        if place["n"] and self.knows_place and "position" in place:
            self.given.seek(decode(place["position"]))
            self.n, self.start = place["n"], place["start"]
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
    if not isinstance(place["n"], int) or place["n"] < 0:
        raise ValueError(f"{place['n']!r} is no number of observations")
    return {"start": place["start"], "last": place["last"], **place}


def fingerprint(pair: Pair | None) -> int:
    """A number by which an observation and its label are known again."""
    return zlib.crc32(repr(pair).encode())
