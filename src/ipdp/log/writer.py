"""Writing a log: the one writer of a run."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from itertools import takewhile
from time import time as _now
from typing import Any, Literal

from ipdp.core.importance import Result
from ipdp.core.redaction import without_secrets
from ipdp.core.typing import Feature
from ipdp.core.validation import listed, must_be_dict, must_be_like, whole_number
from ipdp.core.words import shown
from ipdp.log import files
from ipdp.log.batch import Batch, Row
from ipdp.log.blobs import change_text, curve_blob, name_text, result_blob
from ipdp.log.files import LogError
from ipdp.log.reader import LogReader
from ipdp.log.records import REASONS
from ipdp.log.retention import Retention
from ipdp.log.schema import FIRST
from ipdp.monitor.change import Change

_ENDS = ("ended", "stopped", "failed")


class Log(LogReader):
    """The log of a run, to write; it can be read with `LogReader` at the same time.

    What is logged is gathered and committed about once a second. A run that is killed loses at
    most that second, never what was committed; what was logged is never seen by halves.

    Parameters
    ----------
    path
        A file, or the directory of a run, in which the log is called log.db. Made if there is
        none; a path without a suffix is a directory.
    durability
        "normal": a power failure may cost the commits of the last seconds. "full": every snapshot
        is on the disk when `snapshot` comes back, at the price of waiting for it.
    retention
        How old snapshots are thinned out. None: as the log began; a new log keeps everything
        (`ipdp.run` gives the logs that it makes itself a rule).

    Examples
    --------
    >>> import tempfile
    >>> import ipdp
    >>> from ipdp.log import Log
    >>> pdp = ipdp.IncrementalPDP(lambda x: 2 * x["a"], ["a"], alpha=0.1)
    >>> log = Log(tempfile.mkdtemp())
    >>> log.begin({"alpha": 0.1}, features=["a"])
    >>> for n in range(1, 201):
    ...     pdp.explain_one({"a": n % 7})
    >>> log.snapshot(pdp.curves, n)
    >>> log.metric({"MAE": 0.5}, n)
    >>> log.end(n)
    >>> log.status.state, log.status.n
    ('ended', 200)
    >>> log.close()
    """

    def __init__(
        self,
        path: files.PathLike,
        *,
        durability: Literal["normal", "full"] = "normal",
        retention: Retention | None = None,
    ) -> None:
        if durability not in ("normal", "full"):
            raise ValueError(f"durability must be 'normal' or 'full', got {shown(durability)}")
        self.path = files.place(path)
        self.durability = durability
        self._lock = threading.RLock()
        self._guard = files.lock(self.path)
        with files.closed_on_error(self._guard):
            self._connection = files.open_to_write(self.path, full=durability == "full")
        self._rewound = self._closed = False
        with files.closed_on_error(self._connection, self._guard):
            self._batch = Batch(self._connection, self.path)
            self._batch.redact()
            if retention is not None:
                self.retention = retention

    @property
    def retention(self) -> Retention | None:
        """How old snapshots are thinned out, of those that are logged from now on."""
        kept = json.loads(self._batch.run["retention"])
        return None if kept is None else Retention(**kept)

    @retention.setter
    def retention(self, rule: Retention | None) -> None:
        self._batch.run["retention"] = json.dumps(None if rule is None else rule.to_dict())

    def begin(
        self,
        settings: Mapping[str, Any],
        features: Sequence[Feature] | Mapping[str, Sequence[Feature] | None] | None = None,
    ) -> None:
        """Begin a run.

        Parameters
        ----------
        settings
            Whatever belongs to the run and JSON can hold.
        features
            The features in the order in which they are to be shown; else they come in the order
            in which they are logged. For several explainers a dict of them by the explainers'
            names, None for one that will say it with its first results.
        """
        must_be_dict("settings", settings)
        try:
            text = json.dumps(without_secrets(dict(settings)))
        except (TypeError, ValueError) as error:
            raise TypeError(f"the settings cannot be logged: {error}") from error
        by_explainer = features if isinstance(features, Mapping) else {FIRST: features}
        # Up to the first that does not know its features: the order of the explainers counts.
        known = takewhile(lambda item: item[1] is not None, by_explainer.items())
        names = [
            (explainer, name_text(name))
            for explainer, given in known
            for name in listed("features", given or ())
        ]
        with self._lock:
            run = self._batch.run
            if run["state"] != "empty" and not self._rewound:
                raise LogError(
                    f"{self.path} already holds a run: resume it, or log to another file"
                )
            run["settings"] = text
            for explainer, name in names:
                self._batch.number_of(explainer, name)
            self._batch.note(run["n"])
            self._batch.commit()

    def snapshot(
        self,
        results: Mapping[Feature, Result] | Mapping[str, Mapping[Feature, Result]],
        n: int,
        reason: str = "every",
        *,
        time: float | None = None,
    ) -> None:
        """Log what explainers say of all features.

        A second snapshot at the same n is not written again; the stronger reason of the two
        counts. Without results there is nothing to log.

        Parameters
        ----------
        results
            Curves by feature, such as `pdp.curves`. Of several explainers a dict of such dicts,
            `{"pdp": pdp.results(), "pfi": pfi.results()}`.
        n
            Observations seen so far.
        reason
            "every", "change" or "end". Snapshots at changes and at the end are kept for good.
        time
            Unix seconds of the last observation; None: now.
        """
        if not isinstance(reason, str) or reason not in REASONS:
            raise ValueError(f"reason must be one of {list(REASONS)}, got {shown(reason)}")
        rows = [
            _result_row(explainer, feature, result)
            for explainer, by_feature in _by_explainer(results).items()
            for feature, result in by_feature.items()
        ]
        with self._lock:
            newest = self._batch.newest
            n = _in_order(n, newest)
            if newest is not None and n == newest["n"]:
                self._batch.add_reason(REASONS[reason])
            elif rows:
                self._add_snapshot(n, REASONS[reason], rows, _now() if time is None else time)
            self._batch.note(n)
            self._batch.commit(if_due=self.durability != "full")

    def change(self, change: Change, n: int) -> None:
        """Log a change that was found after n observations."""
        must_be_like("change", change, "before", "a Change")
        row: Row = {"n": _count(n), "change": change_text(change)}
        row |= {"before": curve_blob(change.before), "after": curve_blob(change.after)}
        with self._lock:
            # Changes are never thinned out, so their number is the next one's name.
            self._batch.run["n_changes"] += 1
            self._batch.insert("changes", {"id": self._batch.run["n_changes"], **row})
            self.beat(n)

    def revise(self, change: Change) -> None:
        """Replace what was logged of a change, by feature and time, by what it has come to.

        A change that was not logged stays so.
        """
        with self._lock:
            same = (
                logged
                for logged in reversed(self.changes())
                if (logged.change.feature, logged.change.t) == (change.feature, change.t)
            )
            if (logged := next(same, None)) is None:
                return
            row: Row = {"id": logged.id, "n": logged.n, "change": change_text(change)}
            row |= {"before": curve_blob(change.before), "after": curve_blob(change.after)}
            self._batch.insert("changes", row, "INSERT OR REPLACE")

    def metric(self, values: Mapping[str, float], n: int) -> None:
        """Log metrics such as {"Accuracy": 0.87}; those of the same n are joined."""
        must_be_dict("values", values)
        numbers = {str(name): float(value) for name, value in values.items()}
        with self._lock:
            newest = self._batch.newest_metrics
            n = _in_order(n, newest)
            if newest is not None and n == newest["n"]:
                numbers = {**json.loads(newest["values"]), **numbers}
                expires = newest["expires"]
            else:
                expires = self._expires(n, newest)
                self._batch.run["n_metrics"] += 1
            row = {"n": n, "values": json.dumps(numbers), "expires": expires}
            self._batch.insert("metrics", row, "INSERT OR REPLACE")
            self._batch.newest_metrics = row
            self.beat(n)

    def beat(self, n: int) -> None:
        """Say that the run is alive and how far it is; cheap enough for every observation."""
        with self._lock:
            self._batch.note(n)
            self._batch.commit(if_due=True)

    def end(
        self,
        n: int,
        state: Literal["ended", "stopped", "failed"] = "ended",
        message: str | None = None,
    ) -> None:
        """End the run; the log can still be read, and closed.

        Parameters
        ----------
        n
            Observations seen.
        state
            "ended", "stopped" by its user, or "failed".
        message
            What to tell whoever reads the log.
        """
        if state not in _ENDS:
            raise ValueError(f"state must be one of {list(_ENDS)}, got {shown(state)}")
        with self._lock:
            self._batch.note(_count(n))
            # A lone surrogate, as in the name of a file that is no UTF-8, is no text for SQLite.
            told = message and str(message).encode(errors="backslashreplace").decode()
            said = without_secrets(told)
            self._batch.run.update(state=state, message=said)
            self.commit()

    def commit(self) -> None:
        """Write what was logged so far, and wait until it is on the disk."""
        with self._lock:
            self._batch.commit()
            self._batch.sync()

    def commit_if_due(self) -> None:
        """Write what was logged so far if the last time is a second ago; any thread may ask."""
        with self._lock:
            self._batch.commit(if_due=True)

    def rewind(self, n: int) -> None:
        """Forget all that came after n observations, to go on from there.

        The run is running again, and what was logged because it had ended is forgotten too:
        after a resume the log is as if there had been no interruption.
        """
        with self._lock:
            self._batch.rewind(_count(n))
            self._rewound = True

    def close(self) -> None:
        """Commit and close; a run that has not ended is "stopped" then."""
        self._close()

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._close(error)

    def _close(self, error: object = None) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                run = self._batch.run
                if run["state"] != "running":
                    self.commit()
                elif isinstance(error, Exception):
                    self.end(run["n"], "failed", f"{type(error).__name__}: {error}")
                else:
                    self.end(run["n"], "stopped")
            finally:
                self._connection.close()
                self._guard.close()

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            self._batch.commit()  # the writer reads what it wrote
            return super()._rows(query, *values)

    def _add_snapshot(
        self, n: int, reasons: int, rows: list[tuple[str, str, Row]], when: float
    ) -> None:
        batch = self._batch
        snapshot: Row = {"n": n, "time": when, "reasons": reasons, "n_curves": len(rows)}
        snapshot["expires"] = self._expires(n, batch.newest)
        batch.insert("snapshots", snapshot)
        for explainer, name, row in rows:
            batch.insert("curves", {"n": n, "feature": batch.number_of(explainer, name), **row})
        batch.newest = snapshot
        batch.run["n_snapshots"] += 1

    def _expires(self, n: int, newest: Row | None) -> int | None:
        rule = self.retention
        return None if rule is None else rule.expires(n, None if newest is None else newest["n"])


def _by_explainer(
    results: Mapping[Feature, Result] | Mapping[str, Mapping[Feature, Result]],
) -> Mapping[str, Mapping[Any, Any]]:
    """The results by the name of their explainer; what is not by name is the PDP's."""
    must_be_dict("results", results)
    named = {str(name): value for name, value in results.items() if isinstance(value, Mapping)}
    if named and len(named) < len(results):
        raise TypeError("give results by feature, or by explainer and then by feature, not both")
    return named or {FIRST: results}


def _result_row(explainer: str, feature: Feature, result: Result) -> tuple[str, str, Row]:
    must_be_like("a result", result, "overall_importance", "a curve or an importance")
    blob = result_blob(result)
    importance = result.overall_importance
    # SQLite has no NaN. A model that has said nothing yet uses no feature, as far as is known.
    is_known = not math.isnan(importance) and getattr(result, "outputs", True)
    row = {"importance": importance if is_known else None, "curve": blob}
    return explainer, name_text(feature), row


def _count(n: int) -> int:
    return whole_number("n", n, least=0)


def _in_order(n: int, newest: Row | None) -> int:
    n = _count(n)
    if newest is not None and n < newest["n"]:
        raise ValueError(
            f"n = {n} comes after n = {newest['n']} was logged: rewind({n}) forgets what came later"
        )
    return n
