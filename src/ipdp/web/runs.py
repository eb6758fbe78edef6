"""The runs of a directory, each read once however many pages show it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from ipdp.log import LogError, LogReader
from ipdp.log.files import NAME as LOG
from ipdp.log.headline import brief
from ipdp.web.payload import label, to_json
from ipdp.web.run_view import RunView
from ipdp.web.status import NotFound, plain_name, status_of

PAUSE = 0.5
"""Seconds for which what was read of a log is taken to be what is in it."""

# Answers that are kept until the log has news. Pages that follow a run ask for the same ones.
_ANSWERS = 64

OPEN = 32
"""Logs that are kept open, with what was read of them; each has three files."""


What = Literal["run", "feature", "document"]


class Unreadable(ValueError):
    """The log of a run cannot be read; the message says why."""


class WatchedRun:
    """One run: an answer is made once, and given to all who ask for it.

    For any number of threads. Raises NotFound where the log is gone, and Unreadable for whatever
    else is wrong with it: a damaged log must not keep other runs from being shown.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._view: RunView | None = None
        self._file: tuple[int, int] | None = None
        self._read_at = -float("inf")
        self._answers: dict[tuple[Any, ...], bytes] = {}
        self._headline: tuple[tuple[str, int], str] | None = None  # the headline of a state

    def answer(self, what: What, *asked: Any) -> bytes:
        """What the method of `RunView` of that name says when it is asked so, as JSON."""
        key = what, *asked
        with self._lock, explained():
            view = self._current_view()
            if key not in self._answers:
                if len(self._answers) >= _ANSWERS:
                    self._answers = {}
                make: Callable[..., Any] = getattr(view, what)
                self._answers[key] = to_json(make(*asked))
            return self._answers[key]

    def kept_answer(self, *key: Any) -> bytes | None:
        """An answer of a moment ago, without waiting for anything."""
        is_recent = time.monotonic() - self._read_at < PAUSE
        return self._answers.get(key) if is_recent else None

    def status(self) -> dict[str, Any]:
        """How the run is doing; "unreadable" is a state too, with the reason as its message.

        Of the rest of the log its metrics and changes are read, when it has news; it is not kept
        open: there may be many runs.
        """
        try:
            with explained(), LogReader(self.path) as reader:
                status = status_of(reader)
                if self._headline is None or self._headline[0] != (status["state"], status["n"]):
                    text = label(brief(reader))
                    self._headline = (status["state"], status["n"]), text
                return {**status, "headline": self._headline[1]}
        except (NotFound, Unreadable) as error:
            said = label(error)
            return {
                **{"state": "unreadable", "message": said, "headline": said},
                **{"n": 0, "started": None},
            }

    def close(self) -> None:
        """Close the log."""
        with self._lock:
            if self._view is not None:
                self._view.reader.close()
            self._view, self._answers = None, {}

    def try_to_close(self) -> bool:
        """Close the log unless it is being read; says whether it is closed."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self.close()
            return True
        finally:
            self._lock.release()

    def _current_view(self) -> RunView:
        """The view as of now, or as of a moment ago."""
        if self._view is not None and time.monotonic() - self._read_at < PAUSE:
            return self._view
        found = self.path.stat()
        if self._view is None or self._file != (found.st_dev, found.st_ino):
            self.close()  # another log was put in its place
            self._view = RunView(LogReader(self.path))
            self._file = found.st_dev, found.st_ino
        self._view.refresh()
        self._answers = {}  # before the time: what is kept is never older than it says
        self._read_at = time.monotonic()
        return self._view


@contextmanager
def explained() -> Iterator[None]:
    """Whatever goes wrong when a log is read, as NotFound or Unreadable."""
    try:
        yield
    except (NotFound, Unreadable):
        raise
    except FileNotFoundError:
        raise NotFound("the log of this run is gone") from None
    except (LogError, OSError) as error:
        raise Unreadable(str(error)) from error
    except Exception as error:
        raise Unreadable(f"the log is damaged: {type(error).__name__}: {error}") from error


class Runs:
    """The runs in a directory: itself, if it holds a log, and those one level below.

    Of the file of a log it is the only one.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory).resolve()
        if not self.directory.exists():
            raise FileNotFoundError(f"there is no {directory}: give a run, or a directory of runs")
        self._lock = threading.Lock()
        self._runs: dict[str, WatchedRun] = {}
        self._asked: dict[WatchedRun, None] = {}  # those whose logs are open, the last one last
        self._listed_at = -float("inf")
        self._reading = threading.Lock()
        self._states: bytes | None = None
        self._states_at = -float("inf")

    def listing(self) -> dict[str, WatchedRun]:
        """The runs by their names; listed anew now and then."""
        with self._lock:
            if time.monotonic() - self._listed_at >= PAUSE:
                paths = self._paths()
                for name in self._runs.keys() - paths.keys():
                    self._asked.pop(self._runs[name], None)
                    self._runs.pop(name).close()
                self._runs = {
                    name: self._runs.get(name) or WatchedRun(path) for name, path in paths.items()
                }
                self._listed_at = time.monotonic()
            return dict(self._runs)

    def get(self, name: str) -> WatchedRun:
        """The run of that name. Names are compared, never made into paths."""
        runs = self.listing()
        if name not in runs:
            raise NotFound("there is no run of that name")
        return runs[name]

    def answer(self, name: str, what: What, *asked: Any) -> bytes:
        """What a run says; the logs of those that were asked longest ago are closed."""
        run = self.get(name)
        try:
            return run.answer(what, *asked)
        finally:
            with self._lock:
                self._asked.pop(run, None)
                self._asked[run] = None
                for other in list(self._asked)[:-OPEN]:
                    if other.try_to_close():  # not if it is being asked just now
                        del self._asked[other]

    def kept_answer(self, name: str, *key: Any) -> bytes | None:
        """An answer of a moment ago, if there is one; never waits."""
        run = self._runs.get(name)
        return None if run is None else run.kept_answer(*key)

    def payload(self) -> bytes:
        """The runs and their states as JSON; the newest first, the unreadable last.

        One thread at a time reads them. Meanwhile others get the list of a moment ago, so that a
        log that takes long keeps one thread busy, and not all of them.
        """
        if self._reading.acquire(blocking=self._states is None):
            try:
                if self._states is None or time.monotonic() - self._states_at >= PAUSE:
                    self._states = self._read_states()
                    self._states_at = time.monotonic()
            finally:
                self._reading.release()
        assert self._states is not None
        return self._states

    def _read_states(self) -> bytes:
        runs = [
            {"name": label(name), "address": address(name), **run.status()}
            for name, run in self.listing().items()
        ]
        runs.sort(key=lambda run: (-(run["started"] or 0), run["name"]))
        return to_json({"version": 1, "runs": runs})

    def _paths(self) -> dict[str, Path]:
        if self.directory.is_file():
            return {self.directory.stem: self.directory}
        found: dict[str, Path] = {}
        for path in (self.directory, *sorted(self.directory.glob("*"))):
            name = plain_name(path.name)
            if (path / LOG).is_file():
                found.setdefault(name, path / LOG)
            elif path.suffix == ".db" and path.name != LOG and path.is_file():
                found.setdefault(name, path)
        return found

    def close(self) -> None:
        """Close all logs."""
        with self._lock:
            for run in self._runs.values():
                run.close()
            self._runs, self._asked = {}, {}


def address(name: str) -> str:
    """Where the page of a run is.

    That of a run called x.json ends in a slash: without one it is where run x is given as JSON.
    """
    end = "/" if name.endswith((".json", ".html")) else ""
    return f"/runs/{quote(name, safe='')}{end}"
