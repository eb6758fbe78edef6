"""What every source of observations can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, get_args

from ipdp.core.validation import whole_number
from ipdp.core.words import shown
from ipdp.sources.columns import BadRecord, Columns

OnError = Literal["raise", "skip"]
"""What to do about a record that is not an observation."""


Pair = tuple[dict[str, Any], Any]
"""An observation and its label."""

AHEAD = 100
"""So many observations are looked at, at most, before a run begins."""


class SourceError(ValueError):
    """A source that cannot be read, or a record of it; the text says which and why.

    Examples
    --------
    >>> import ipdp
    >>> try:
    ...     ipdp.sources.open_source("missing.csv", target="y")
    ... except ValueError as error:  # a SourceError is one
    ...     print("missing.csv" in str(error))
    True
    """


class Interrupted(BaseException):
    """Raised by `Source.interrupt` where a source waits for input; it never leaves the source."""


class _Looked(NamedTuple):
    pair: Pair | None
    error: Exception | None
    position: dict[str, Any]


class Source(ABC):
    """A stream of observations (x, y) that knows where it is.

    Parameters
    ----------
    name
        What the source is called in messages.
    target
        Name of the column that is y; None: y is None.
    features
        Names of the columns that are x; None: all but the target.
    drop
        Names of columns to leave out of x.
    types
        Kinds of columns by name ("number", "bool", "text") where the first value does not tell.
    on_error
        What to do about a record that is not an observation: "raise" a SourceError, or "skip" it.
        A record that is skipped changes nothing.
    limit
        Number of observations after which it ends; None: it ends where it ends.

    Attributes
    ----------
    n
        Number of observations given out, those before `seek` included.
    n_skipped
        Number of records skipped.
    errors
        The last few of them, as sentences.
    first
        The first observations, at most 100 of them, those that were only looked at included.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ipdp
    >>> file = Path(tempfile.mkdtemp(), "loans.jsonl")
    >>> _ = file.write_text('{"age": 30, "granted": "yes"}')
    >>> source = ipdp.sources.open_source(str(file), target="granted")
    >>> list(source)
    [({'age': 30}, 'yes')]
    >>> source.close()
    """

    is_live = False
    """Whether it may have to be waited for."""

    def __init__(
        self,
        name: str,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        types: Mapping[str, str] | None = None,
        on_error: OnError = "raise",
        limit: int | None = None,
    ) -> None:
        if on_error not in get_args(OnError):
            raise ValueError(f"on_error must be raise or skip, got {shown(on_error)}")
        self.name = name
        self.limit = None if limit is None else whole_number("limit", limit)
        self.on_error = on_error
        self.columns = Columns(target, features, drop, types)
        self.n = 0
        self.n_skipped = 0
        self.errors: deque[str] = deque(maxlen=10)
        self.first: list[Pair] = []
        self._rows: Iterator[Pair] | None = None
        self._ahead: deque[_Looked] = deque()  # what was looked at and not given out yet
        self._place: dict[str, Any] | None = None  # of the last one given out, while there is more
        self._n_skipped_then = self._n_skipped_ahead = 0
        self._is_waiting = self._is_interrupted = False

    def __iter__(self) -> Iterator[Pair]:
        while self._ahead and self.n != self.limit and not self._is_interrupted:
            yield self._given_out(self._ahead.popleft())
        if self.n == self.limit:
            return
        rows, self._rows, self._place = self._rows or self._observations(), None, None
        self.n_skipped += self._n_skipped_ahead
        self._n_skipped_ahead = 0
        for pair in rows:
            if len(self.first) == self.n < AHEAD:
                self.first.append(pair)
            self.n += 1
            self._n_skipped_then = self.n_skipped
            yield pair
            if self.n == self.limit:
                return

    def peek(self, n: int = AHEAD) -> list[Pair]:
        """Look at the first observations, at most so many, without giving them out.

        What is wrong with one of them is said when its turn has come. Of a source that has to be
        waited for it is the first one only.

        Parameters
        ----------
        n
            How many.
        """
        n = min(k for k in (1 if self.is_live else n, AHEAD, self.limit) if k is not None)
        if self._rows is None and not self.n:
            self._place, self._rows = self.position, self._observations()
        n_skipped = self.n_skipped
        while self._rows is not None and len(self.first) < n and not self._failed:
            try:
                pair = next(self._rows)
            except StopIteration:
                break
            except Exception as error:
                self._ahead.append(_Looked(None, error, {}))
                break
            self.first.append(pair)
            self._ahead.append(_Looked(pair, None, self._position(self.n + len(self._ahead) + 1)))
        # Those between the observations that were looked at count when these are given out.
        self._n_skipped_ahead, self.n_skipped = self.n_skipped - n_skipped, n_skipped
        return self.first[:n]

    @property
    def _failed(self) -> bool:
        return bool(self._ahead) and self._ahead[-1].error is not None

    def _given_out(self, looked: _Looked) -> Pair:
        if looked.pair is None:
            assert looked.error is not None
            raise looked.error
        self.n += 1
        self._place = looked.position
        self._n_skipped_ahead -= looked.position["n_skipped"] - self.n_skipped
        self.n_skipped = looked.position["n_skipped"]
        return looked.pair

    @abstractmethod
    def _observations(self) -> Iterator[Pair]:
        """The observations from here on, with the place of the last one kept for `_where`."""

    @property
    def target(self) -> str | None:
        """What the label is called; None where that is not known, or there is none."""
        return self.columns.target

    @property
    def is_labelled(self) -> bool:
        """Whether its observations have a label y."""
        return self.columns.target is not None

    @classmethod
    def without_secrets(cls, spec: str) -> str:
        """The word that names such a source, as it may be shown and logged."""
        return spec

    # Where it is.

    @property
    def total(self) -> int | None:
        """Number of observations in all, if that is known cheaply; records may be skipped yet."""
        return min((n for n in (self._total, self.limit) if n is not None), default=None)

    @property
    def _total(self) -> int | None:
        return None

    @property
    def position(self) -> dict[str, Any]:
        """Where the last observation given out ended, JSON-safe; for `seek`."""
        if self._place is not None:
            return self._place
        return self._position(self.n, self._n_skipped_then)

    def _position(self, n: int, n_skipped: int | None = None) -> dict[str, Any]:
        counts = {"n": n, "n_skipped": self.n_skipped if n_skipped is None else n_skipped}
        return {**counts, **self._where(), **self.columns.state}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on right after the observation that a `position` belongs to.

        Parameters
        ----------
        position
            Of this source, or of one that was opened in the same way.
        """
        self._ahead.clear()
        self._rows = self._place = None
        self._n_skipped_ahead = 0
        try:
            self.columns.restore(position)
            self._go(position)
            self.n = position["n"]
            self.n_skipped = self._n_skipped_then = position["n_skipped"]
        except (KeyError, TypeError) as error:
            raise SourceError(f"{self.name}: this is not a position of it: {error}") from None
        except BadRecord as error:
            raise SourceError(f"{self.name} has changed since: {error}") from None

    @abstractmethod
    def _where(self) -> dict[str, Any]:
        """Where the last observation given out ended, in the source's own terms; JSON-safe."""

    @abstractmethod
    def _go(self, position: Mapping[str, Any]) -> None:
        """Go to where `_where` was taken."""

    def commit(self, position: Mapping[str, Any]) -> None:  # noqa: B027  # files need not know
        """Let the sender know that observations up to a position need not be sent again."""

    # When something is wrong, and the end.

    def _reject(self, place: str, what: object) -> None:
        """Deal with a record that is no observation as `on_error` says."""
        sentence = f"{self.name}, {place}: {what}"
        if self.on_error == "raise":
            raise SourceError(sentence)
        self.n_skipped += 1
        self.errors.append(sentence)

    def interrupt(self) -> None:
        """End the stream before the next observation, also if it waits for input.

        Meant for signal handlers, which run between two instructions of the same thread.
        """
        self._is_interrupted = True
        if self._is_waiting:
            raise Interrupted

    def close(self) -> None:  # noqa: B027  # most have nothing to give back
        """Give back files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, n={self.n}, n_skipped={self.n_skipped})"
