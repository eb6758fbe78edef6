"""Reading a log, also while it is being written."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import Array, Feature, FloatArray, State
from ipdp.log import files
from ipdp.log.blobs import change_of, curve_of, name_of, name_text, object_of
from ipdp.log.errors import LogError, following, sentences
from ipdp.log.records import SILENCE, LoggedChange, Snapshot, SnapshotInfo, Status, reason_of

# So many snapshots are fetched at a time. A reader that held on to one long query would keep
# SQLite from reusing the space of the write-ahead file.
_PAGE = 64
_LARGEST = 2**63 - 1  # of SQLite's integers


class LogReader:
    """The log of a run, read-only; any number of them may be open while the run writes.

    Time is `n`, the number of observations that the run had seen. All that is asked with `after`
    gives only what is newer, in the order in which it was written.

    Parameters
    ----------
    path
        The file, or the directory of a run.

    Examples
    --------
    >>> import tempfile
    >>> import ipdp
    >>> from ipdp.log import Log, LogReader
    >>> pdp = ipdp.IncrementalPDP(lambda x: 2 * x["a"], ["a"], alpha=0.1)
    >>> directory = tempfile.mkdtemp()
    >>> with Log(directory) as log:
    ...     for n in range(1, 301):
    ...         pdp.explain_one({"a": n % 7})
    ...         if n % 100 == 0:
    ...             log.snapshot(pdp.curves, n)
    >>> with LogReader(directory) as reader:
    ...     [info.n for info in reader.snapshots()]
    ...     reader.at(250)["a"].at(3.0).round(6)
    [100, 200, 300]
    array([6.])
    """

    def __init__(self, path: files.PathLike) -> None:
        self.path: Path = files.find(path)
        self._lock = threading.RLock()
        self._connection = files.open_to_read(self.path)

    @property
    def settings(self) -> State:
        """The settings that the run began with."""
        return object_of(*self._run("settings"))

    @property
    def status(self) -> Status:
        """How the run is doing."""
        state, n, message, started, heartbeat = self._run("state, n, message, started, heartbeat")
        silent = state == "running" and time.time() - heartbeat > SILENCE
        # Silent and alive: it waits for observations.
        if silent and not files.is_locked(self.path):
            state = "died"
        return Status(state, n, message, started, heartbeat)

    @property
    def features(self) -> list[Feature]:
        """The features in the order of the run, with the type of their names."""
        return list(self._features().values())

    def snapshots(self, after: int = -1) -> list[SnapshotInfo]:
        """When and why snapshots were taken, of those with an id larger than `after`."""
        rows = self._rows("SELECT n, time, reasons FROM snapshots WHERE n > ? ORDER BY n", after)
        return [_info(*row) for row in rows]

    def at(self, n: float) -> dict[Feature, Curve]:
        """The curves of the last snapshot at or before n; NotEnoughSamples before the first."""
        rows = self._rows(
            "SELECT feature, curve FROM curves "
            "WHERE n = (SELECT max(n) FROM snapshots WHERE n <= ?) ORDER BY feature",
            min(n, _LARGEST),
        )
        if not rows:
            raise NotEnoughSamples(f"no snapshot at or before n = {n}")
        names = self._features()
        return {names[number]: curve_of(names[number], blob) for number, blob in rows}

    def between(self, first: float, last: float) -> Iterator[Snapshot]:
        """The snapshots from n = `first` to n = `last`, both included, one after the other."""
        while True:
            rows = self._rows(
                "SELECT n, time, reasons, feature, curve FROM (SELECT * FROM snapshots "
                f"WHERE n BETWEEN ? AND ? ORDER BY n LIMIT {_PAGE}) JOIN curves USING (n) "
                "ORDER BY n, feature",
                min(first, _LARGEST),
                min(last, _LARGEST),
            )
            if not rows:
                return
            names = self._features()
            curves: dict[int, dict[Feature, Curve]] = {}
            infos = {}
            for n, when, reasons, number, blob in rows:
                infos[n] = _info(n, when, reasons)
                curves.setdefault(n, {})[names[number]] = curve_of(names[number], blob)
            for n, info in infos.items():
                yield Snapshot(info.id, info.n, info.time, info.reason, curves[n])
            first = following(self.path, first - 1, rows[-1][0]) + 1

    def history(self, feature: Feature, *, after: int = -1) -> Iterator[tuple[SnapshotInfo, Curve]]:
        """The curves of one feature, oldest first."""
        number = self._number(feature)
        while True:
            rows = self._rows(
                "SELECT n, time, reasons, curve FROM curves JOIN snapshots USING (n) "
                f"WHERE feature = ? AND curves.n > ? ORDER BY n LIMIT {_PAGE}",
                number,
                after,
            )
            for n, when, reasons, blob in rows:
                yield _info(n, when, reasons), curve_of(feature, blob)
            if len(rows) < _PAGE:
                return
            after = following(self.path, after, rows[-1][0])

    def importances(self, *, after: int = -1) -> dict[Feature, tuple[Array, FloatArray]]:
        """For each feature the n of its snapshots and its importance at each.

        The importance is that of the output to which the feature matters most.
        """
        return {
            name: _series(
                self._rows(
                    "SELECT n, importance FROM curves WHERE feature = ? AND n > ? ORDER BY n",
                    number,
                    after,
                )
            )
            for number, name in self._features().items()
        }

    def changes(self, *, after: int = -1) -> list[LoggedChange]:
        """The changes with an id larger than `after`."""
        rows = self._rows(
            "SELECT id, n, change, before, after FROM changes WHERE id > ? ORDER BY id", after
        )
        return [LoggedChange(number, n, change_of(*rest)) for number, n, *rest in rows]

    def metrics(self, *, after: int = -1) -> dict[str, tuple[Array, FloatArray]]:
        """For each metric the n at which it was noted, if after n = `after`, and its values."""
        found: dict[str, list[tuple[int, float]]] = {}
        for n, text in self._rows('SELECT n, "values" FROM metrics WHERE n > ? ORDER BY n', after):
            for name, value in object_of(text).items():
                found.setdefault(name, []).append((n, value))
        return {name: _series(pairs) for name, pairs in found.items()}

    def verify(self) -> list[str]:
        """What is wrong with the log, a sentence each; an empty list if it is sound."""
        from ipdp.log.verify import problems

        return problems(self)

    def export(
        self,
        path: files.PathLike,
        format: str | None = None,  # noqa: A002
        *,
        what: Literal["curves", "changes", "metrics"] = "curves",
    ) -> None:
        """Write the log as one table; see `ipdp.log.export.export`."""
        from ipdp.log.export import export

        export(self, path, format, what=what)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, sentences(self.path):
            return self._connection.execute(query, values).fetchall()

    def _run(self, columns: str) -> tuple[Any, ...]:
        rows = self._rows(f"SELECT {columns} FROM run WHERE id = 1")
        if len(rows) != 1:
            raise LogError(f"{self.path} is damaged: it does not say what run it is of")
        return rows[0]

    def _features(self) -> dict[int, Feature]:
        rows = self._rows("SELECT number, name FROM features ORDER BY number")
        return {number: name_of(text) for number, text in rows}

    def _number(self, feature: Feature) -> int:
        rows = self._rows("SELECT number FROM features WHERE name = ?", name_text(feature))
        if not rows:
            raise ValueError(f"no feature {feature!r}: the log has {self.features}")
        number: int = rows[0][0]
        return number


def _info(n: int, when: float, reasons: int) -> SnapshotInfo:
    # A run takes one snapshot at a time, so n tells them apart, also after a resume.
    return SnapshotInfo(id=n, n=n, time=when, reason=reason_of(reasons))


def _series(pairs: Sequence[tuple[Any, ...]]) -> tuple[Array, FloatArray]:
    n = np.array([pair[0] for pair in pairs], dtype=np.int64)
    return n, np.array([pair[1] for pair in pairs], dtype=np.float64)  # None becomes NaN
