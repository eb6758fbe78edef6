"""Reading a log, also while it is being written."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.importance import Result
from ipdp.core.redaction import without_secrets
from ipdp.core.typing import Array, Feature, FloatArray, State
from ipdp.core.validation import as_number, unknown
from ipdp.core.words import shown
from ipdp.log import files, schema
from ipdp.log.blobs import change_of, name_of, name_text, object_of, result_of, whole
from ipdp.log.files import LogError, following
from ipdp.log.headline import target_of
from ipdp.log.records import LoggedChange, Snapshot, SnapshotInfo, Status, reason_of

# So many snapshots are fetched at a time. A reader that held on to one long query would keep
# SQLite from reusing the space of the write-ahead file.
_PAGE = 64
_LARGEST = 2**63 - 1  # of SQLite's integers
_LONGEST_MESSAGE = 2_000  # letters of it that are shown
_LAST_DATE = 253_402_300_800  # the year 10,000, in seconds

Row = tuple[Any, ...]


def _bound(name: str, n: float) -> float:
    """A number of observations, or the largest that SQLite has; or an error."""
    number = as_number(n)
    if math.isnan(number):
        raise TypeError(f"{name} must be a number, got {shown(n)}")
    return max(min(number, _LARGEST), -_LARGEST)


class LogReader:
    """The log of a run, read-only; any number of them may be open while the run writes.

    Time is `n`, the number of observations that the run had seen. All that is asked with `after`
    gives only what is newer, in the order in which it was written. A log holds the results of one
    explainer or of several; where none is named, the first of them is meant.

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
        """The settings that the run began with; of older logs, too, without passwords."""
        return dict(without_secrets(object_of(*self._run("settings"))))

    @property
    def status(self) -> Status:
        """How the run is doing."""
        status = self._status()
        if status.state != "running" or files.is_locked(self.path):
            return status
        status = self._status()  # the run may have ended before its lock was looked at
        return replace(status, state="died") if status.state == "running" else status

    def _status(self) -> Status:
        state, n, message, *moments = self._run("state, n, message, started, heartbeat")
        if isinstance(message, str) and len(message) > _LONGEST_MESSAGE:
            message = f"{message[:_LONGEST_MESSAGE]}…"
        status = Status(state, n, without_secrets(message), *moments)
        is_silent = status.state == "running" and status.heartbeat is None
        if is_silent or not all(moment is None or _is_moment(moment) for moment in moments):
            raise LogError(f"{self.path} is damaged: it does not say when its run was last alive")
        return status

    @property
    def explainers(self) -> list[str]:
        """The names of the explainers whose results are logged, in the order of the run."""
        return list(self._followed())

    @property
    def features(self) -> list[Feature]:
        """The first explainer's features in the order of the run, with the type of their names."""
        return list(self._features(None).values())

    def snapshots(self, after: int = -1) -> list[SnapshotInfo]:
        """When and why snapshots were taken, of those with an id larger than `after`."""
        rows = self._rows(
            "SELECT n, time, reasons FROM snapshots WHERE n > ? ORDER BY n", _bound("after", after)
        )
        return [_info(*row) for row in rows]

    def at(self, n: float, explainer: str | None = None) -> dict[Feature, Any]:
        """An explainer's curves or importances at the last snapshot at or before n observations.

        Raises NotEnoughSamples before the first.
        """
        rows = self._rows(
            "SELECT feature, curve FROM curves "
            "WHERE n = (SELECT max(n) FROM snapshots WHERE n <= ?) ORDER BY feature",
            _bound("n", n),
        )
        if not rows:
            raise NotEnoughSamples(f"no snapshot at or before n = {n}")
        names = self._features(explainer)
        return {names[k]: result_of(names[k], blob) for k, blob in rows if k in names}

    def between(self, first: float, last: float) -> Iterator[Snapshot]:
        """The snapshots from n = `first` to n = `last`, both included, one after the other."""
        query = (
            "SELECT n, time, reasons, feature, curve FROM (SELECT * FROM snapshots "
            f"WHERE n BETWEEN ? AND ? ORDER BY n LIMIT {_PAGE}) JOIN curves USING (n) "
            "ORDER BY n, feature"
        )
        while rows := self._rows(query, _bound("first", first), _bound("last", last)):
            yield from self._snapshots(rows)
            first = following(self.path, first - 1, rows[-1][0]) + 1

    def _snapshots(self, rows: Sequence[Row]) -> Iterator[Snapshot]:
        followed = self._followed()
        names = {k: (by, name) for by, named in followed.items() for k, name in named.items()}
        for (n, when, reasons), of_snapshot in groupby(rows, key=itemgetter(0, 1, 2)):
            info = _info(n, when, reasons)
            results: dict[str, dict[Feature, Result]] = {by: {} for by in followed}
            for *_, number, blob in of_snapshot:
                with whole("a feature"):
                    explainer, feature = names[number]
                results[explainer][feature] = result_of(feature, blob)
            yield Snapshot(n, n, when, info.reason, results)

    def history(
        self, feature: Feature, *, explainer: str | None = None, after: int = -1
    ) -> Iterator[tuple[SnapshotInfo, Any]]:
        """What an explainer said of one feature, oldest first: curves, or importances."""
        number = self._number(feature, explainer)
        query = (
            "SELECT n, time, reasons, curve FROM curves JOIN snapshots USING (n) "
            f"WHERE feature = ? AND curves.n > ? ORDER BY n LIMIT {_PAGE}"
        )
        while rows := self._rows(query, number, _bound("after", after)):
            for n, when, reasons, blob in rows:
                yield _info(n, when, reasons), result_of(feature, blob)
            after = following(self.path, after, rows[-1][0])

    def importances(
        self, *, explainer: str | None = None, after: int = -1
    ) -> dict[Feature, tuple[Array, FloatArray]]:
        """For each feature the n of its snapshots and its importance at each.

        The importance of a curve is that to the output to which the feature matters most.
        """
        query = "SELECT n, importance FROM curves WHERE feature = ? AND n > ? ORDER BY n"
        names = self._features(explainer).items()
        last = _bound("after", after)
        return {name: _series(self._rows(query, number, last)) for number, name in names}

    def scores(self, *, after: int = -1) -> dict[str, tuple[Array, FloatArray]]:
        """The mean prediction over time: for each output the n of the snapshots and its values.

        They are called "mean prediction", or "mean chance of True"; of two classes there is the
        second. Empty in a log that was written before mean predictions were kept.
        """
        found: dict[str, list[tuple[int, float]]] = {}
        for feature in self.features:
            for info, curve in self.history(feature, after=after):
                if isinstance(curve, Curve) and curve.prediction is not None:
                    both = list(zip(curve.outputs, curve.prediction.tolist(), strict=True))
                    is_twice = len(both) == 2 and curve.of_classes
                    for output, mean in both[1:] if is_twice else both:
                        name = f"mean {curve.output_text(output)}"
                        found.setdefault(name, []).append((info.n, mean))
            if found:
                break  # it is the same for all features
        return {name: _series(pairs) for name, pairs in found.items()}

    def changes(self, *, after: int = -1) -> list[LoggedChange]:
        """The changes with an id larger than `after`."""
        rows = self._rows(
            "SELECT id, n, change, before, after FROM changes WHERE id > ? ORDER BY id",
            _bound("after", after),
        )
        target = target_of(self.settings) if rows else None
        if any(type(n) is not int for _, n, *_ in rows):
            raise LogError(f"{self.path} is damaged: it does not say when a change was found")
        found = [(number, n, change_of(*rest)) for number, n, *rest in rows]
        return [
            LoggedChange(number, n, change if change.target else replace(change, target=target))
            for number, n, change in found
        ]

    def metrics(self, *, after: int = -1) -> dict[str, tuple[Array, FloatArray]]:
        """For each metric the n at which it was noted, if after n = `after`, and its values."""
        found: dict[str, list[tuple[int, float]]] = {}
        query = 'SELECT n, "values" FROM metrics WHERE n > ? ORDER BY n'
        for n, text in self._rows(query, _bound("after", after)):
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
        what: Literal["curves", "importances", "changes", "metrics"] = "curves",
    ) -> None:
        """Write the log as one table; see `ipdp.log.export.export`."""
        from ipdp.log.export import export

        export(self, path, format, what=what)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def _rows(self, query: str, *values: Any) -> list[Row]:
        with self._lock:
            return files.rows(self.path, self._connection, query, values)

    def _run(self, columns: str) -> Row:
        rows = self._rows(f"SELECT {columns} FROM run WHERE id = 1")
        if len(rows) != 1:
            raise LogError(f"{self.path} is damaged: it does not say what run it is of")
        return rows[0]

    def _followed(self) -> dict[str, dict[int, Feature]]:
        """For each explainer its features by their number."""
        # Asked every time: a log of version 1 is brought up to date when its run is resumed.
        (version,) = self._rows("PRAGMA user_version")[0]
        column = "explainer" if version > 1 else f"'{schema.FIRST}'"
        query = f"SELECT number, {column}, name FROM features ORDER BY number"
        found: dict[str, dict[int, Feature]] = {}
        for number, explainer, text in self._rows(query):
            with whole("a feature"):
                if not isinstance(explainer, str):
                    raise TypeError
                found.setdefault(explainer, {})[number] = name_of(text)
        return found

    def _features(self, explainer: str | None) -> dict[int, Feature]:
        followed = self._followed()
        if explainer is None:
            return next(iter(followed.values()), {})
        if not isinstance(explainer, str) or explainer not in followed:
            raise ValueError(unknown("explainer", explainer, list(followed)))
        return followed[explainer]

    def _number(self, feature: Feature, explainer: str | None) -> int:
        names, text = self._features(explainer), name_text(feature)
        for number, name in names.items():
            if name_text(name) == text:  # as text, in which 1 and True differ
                return number
        raise ValueError(f"no feature {shown(feature)}: the log has {list(names.values())}")


def _is_moment(value: Any) -> bool:
    """Whether it is a time in seconds since 1970, of which there is a date."""
    return isinstance(value, (int, float)) and 0 <= value < _LAST_DATE


def _info(n: int, when: float, reasons: int) -> SnapshotInfo:
    with whole("a snapshot"):
        if type(n) is not int or not _is_moment(when):
            raise ValueError
        # A run takes one snapshot at a time, so n tells them apart, also after a resume.
        return SnapshotInfo(id=n, n=n, time=when, reason=reason_of(reasons))


def _series(pairs: Sequence[Row]) -> tuple[Array, FloatArray]:
    with whole("a number"):
        n = np.array([pair[0] for pair in pairs], dtype=np.int64)
        return n, np.array([pair[1] for pair in pairs], dtype=np.float64)  # None becomes NaN
