"""The runs of a directory, each read once however many pages look at it."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ipdp.log import LogReader
from ipdp.web.frames import label
from ipdp.web.view import START, Cursor, RunView

LOG = "log.db"

PAUSE = 0.5
"""Seconds for which what was read of a log is taken to be what is in it."""

# Answers that are kept until the log has news. Pages that follow a run ask for the same ones.
_ANSWERS = 64


class NoSuchRun(LookupError):
    """No run, or no feature, of that name or number."""


class WatchedRun:
    """One run: an answer is made once, and given to all who ask for it.

    For any number of threads. Raises what the log's reader raises: ValueError where the file is no
    log, FileNotFoundError where it is gone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._view: RunView | None = None
        self._file: tuple[int, int] | None = None
        self._looked = -float("inf")
        self._answers: dict[tuple[Any, ...], bytes] = {}

    def at_hand(self, *key: Any) -> bytes | None:
        """An answer of a moment ago, without waiting for anything.

        The key is what was asked: "run" and `after`, or "feature", its number and `after`.
        """
        if time.monotonic() - self._looked < PAUSE:
            return self._answers.get(key)
        return None

    def run(self, after: str | None = None) -> bytes:
        """The run without its curves, as JSON; ValueError if `after` is no cursor."""
        cursor = START if after is None else Cursor.parse(after)
        with self._lock:
            view = self._fresh()
            return self._answer(("run", after), lambda: view.run(cursor))

    def feature(self, k: int, after: int = -1) -> bytes:
        """The curves of the k-th feature, as JSON."""
        with self._lock:
            view = self._fresh()
            if not 0 <= k < len(view.features):
                raise NoSuchRun(f"this run has no feature number {k}")
            return self._answer(("feature", k, after), lambda: view.feature(k, after))

    def status(self) -> dict[str, Any]:
        """How the run is doing; a log that cannot be read has the state "unreadable"."""
        try:
            with self._lock:
                status = self._fresh().reader.status
        except (ValueError, OSError) as error:
            nothing = {"n": 0, "started": None}
            return {"state": "unreadable", "message": label(error), **nothing}
        message = None if status.message is None else label(status.message)
        return {
            "state": status.state,
            "message": message,
            "n": status.n,
            "started": status.started,
        }

    def close(self) -> None:
        """Close the log."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._view is not None:
            self._view.reader.close()
        self._view = None

    def _fresh(self) -> RunView:
        """The view as of now, or as of a moment ago."""
        if self._view is not None and time.monotonic() - self._looked < PAUSE:
            return self._view
        found = self.path.stat()
        if self._view is None or self._file != (found.st_dev, found.st_ino):
            self._close()  # another log was put in its place
            self._view = RunView(LogReader(self.path))
            self._file = found.st_dev, found.st_ino
        self._view.refresh()
        self._answers = {}  # before the time: what is at hand is never older than it says
        self._looked = time.monotonic()
        return self._view

    def _answer(self, key: tuple[Any, ...], make: Any) -> bytes:
        if key not in self._answers:
            if len(self._answers) >= _ANSWERS:
                self._answers = {}
            text = json.dumps(make(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
            self._answers[key] = text.encode("utf-8", errors="replace")
        return self._answers[key]


class Runs:
    """The runs in a directory: itself, if it holds a log, and those one level below.

    Parameters
    ----------
    directory
        A run's directory, a directory of runs, or a log's file.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory).resolve()
        if not self.directory.exists():
            raise FileNotFoundError(f"there is no {directory}: give a run, or a directory of runs")
        self._lock = threading.Lock()
        self._runs: dict[str, WatchedRun] = {}
        self._looked = -float("inf")

    def listing(self) -> dict[str, WatchedRun]:
        """The runs by their names; looked up anew now and then."""
        with self._lock:
            if time.monotonic() - self._looked >= PAUSE:
                paths = self._paths()
                for name in self._runs.keys() - paths.keys():
                    self._runs.pop(name).close()
                self._runs = {
                    name: self._runs.get(name) or WatchedRun(path) for name, path in paths.items()
                }
                self._looked = time.monotonic()
            return dict(self._runs)

    def get(self, name: str) -> WatchedRun:
        """The run of that name. Names are compared, never made into paths."""
        runs = self.listing()
        if name not in runs:
            raise NoSuchRun("there is no run of that name")
        return runs[name]

    def at_hand(self, name: str, *key: Any) -> bytes | None:
        """An answer of a moment ago, if there is one; never waits."""
        run = self._runs.get(name)
        return None if run is None else run.at_hand(*key)

    def payload(self) -> dict[str, Any]:
        """The runs and how they are doing; the newest first, the unreadable last."""
        runs = [
            {"name": label(name), "address": address(name), **run.status()}
            for name, run in self.listing().items()
        ]
        runs.sort(key=lambda run: (-(run["started"] or 0), run["name"]))
        return {"version": 1, "runs": runs}

    def _paths(self) -> dict[str, Path]:
        if self.directory.is_file():
            return {self.directory.stem: self.directory}
        found: dict[str, Path] = {}
        if (self.directory / LOG).is_file():
            found[self.directory.name] = self.directory / LOG
        try:
            below = sorted(self.directory.iterdir())
        except OSError:
            below = []
        for path in below:
            if path.suffix == ".db" and path.name != LOG and path.is_file():
                found.setdefault(path.name, path)
            elif (path / LOG).is_file():
                found.setdefault(path.name, path / LOG)
        return found

    def close(self) -> None:
        """Close all logs."""
        with self._lock:
            for run in self._runs.values():
                run.close()
            self._runs = {}


def address(name: str) -> str:
    """Where the page of a run is."""
    return f"/runs/{quote(name, safe='')}"
