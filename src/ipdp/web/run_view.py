"""A run as the page sees it: read once, then only what is new."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.jsonable import readable
from ipdp.core.redaction import short_paths
from ipdp.core.typing import Array, Feature, FloatArray
from ipdp.log.files import NAME as LOG
from ipdp.web.payload import began, change, frames, label, pack, thin

if TYPE_CHECKING:
    from ipdp.log import LoggedChange, LogReader, SnapshotInfo

    History: TypeAlias = list[tuple[SnapshotInfo, Result]]

VERSION = 2
"""Version of the payload."""

LIMIT = 2000
"""Snapshots that are kept for the page; a longer run is thinned out, but not at its changes."""

# Features whose curves are kept at hand; a page shows one at a time.
_AT_HAND = 12

_CURSOR = re.compile(r"(-1|[0-9]{1,18})\.(-1|[0-9]{1,18})\.(-1|[0-9]{1,18})")


class Cursor(NamedTuple):
    """How far a page has read: the last snapshot, the last change, the last metric."""

    snapshot: int = -1
    change: int = -1
    metric: int = -1

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """The cursor that `str` wrote; a ValueError says what is wrong with any other text."""
        match = _CURSOR.fullmatch(text)
        if not match:
            raise ValueError("after must be what an earlier answer gave as `next`: 1200.3.1250")
        return cls(*map(int, match.groups()))

    def __str__(self) -> str:
        return f"{self.snapshot}.{self.change}.{self.metric}"


_START = Cursor()


class NotFound(LookupError):
    """No run, feature or explainer of that name or number."""


class RunView:
    """A run as the page sees it, with at most `limit` of its snapshots.

    `refresh` reads what the log has gained; all else answers from memory, so that any number of
    pages costs one reading. For one thread at a time.
    """

    def __init__(self, reader: LogReader, *, limit: int = LIMIT) -> None:
        self.reader = reader
        self.limit = limit
        self._resets = 0
        self._reset()

    def _reset(self) -> None:
        self.snapshots: list[SnapshotInfo] = []
        self.changes: list[LoggedChange] = []
        # The features of all explainers; a page knows them by their numbers, so none ever moves.
        self.features: list[Feature] = []
        self._importance: dict[str, dict[Feature, FloatArray]] = {}
        self._gives_curves: dict[str, bool] = {}
        self._explained = ""  # how much the newest curves tell, in words
        self._metrics: dict[str, tuple[Array, FloatArray]] = {}
        self._histories: dict[tuple[str, int], History] = {}

    @property
    def explainers(self) -> list[str]:
        """The explainers whose results are logged, in the order of the run."""
        return list(self._importance)

    @property
    def curve_explainer(self) -> str | None:
        """The explainer whose curves are shown first; None if there are no curves."""
        return next((name for name in self.explainers if self._gives_curves.get(name)), None)

    @property
    def cursor(self) -> Cursor:
        """How far the log was read."""
        return Cursor(
            self.snapshots[-1].n if self.snapshots else -1,
            self.changes[-1].id if self.changes else -1,
            max((int(n[-1]) for n, _ in self._metrics.values()), default=-1),
        )

    def refresh(self) -> None:
        """Read what the log has gained."""
        if self.snapshots and not self.reader.snapshots(after=self.snapshots[-1].n - 1):
            self._reset()  # it was taken back to an earlier time
            self._resets += 1
        after = self.cursor
        self.changes += self.reader.changes(after=after.change)
        self._read_metrics(after.metric)
        self._read_snapshots(after.snapshot)

    def _read_metrics(self, after: int) -> None:
        for name, gained in self.reader.metrics(after=after).items():
            known = self._metrics.get(name, (np.empty(0, dtype=np.int64), np.empty(0)))
            n, values = (np.concatenate(both) for both in zip(known, gained, strict=True))
            kept = thin(n, self.limit if len(n) > 2 * self.limit else len(n))
            self._metrics[name] = n[kept], values[kept]

    def _read_snapshots(self, after: int) -> None:
        new = self.reader.snapshots(after=after)
        explainers = self.reader.explainers
        if not new and explainers == self.explainers:
            return
        for explainer in explainers:
            self._read_importances(explainer, new, after)
        if not new:
            return
        self._read_kinds(new[-1].n)
        self._read_explained(new[-1].n)
        self.snapshots += new
        # At first, and then once in a while, not every time.
        if after < 0 or len(self.snapshots) > 2 * self.limit:
            self.thin(self.limit)

    def _read_importances(self, explainer: str, new: list[SnapshotInfo], after: int) -> None:
        """Put what each feature gained at the place of its snapshot, NaN where there is nothing."""
        times = [info.n for info in new]
        rows = self._importance.setdefault(explainer, {})
        gained = self.reader.importances(explainer=explainer, after=after)
        for feature, (n, values) in gained.items():
            listed = np.isin(n, times)  # the others came after the snapshots were listed
            column = np.full(len(new), np.nan)
            column[np.searchsorted(times, n[listed])] = values[listed]
            if feature not in rows and feature not in self.features:
                self.features.append(feature)
            before = rows.get(feature, np.full(len(self.snapshots), np.nan))
            rows[feature] = np.concatenate([before, column])

    def _read_kinds(self, n: int) -> None:
        """Whether the results of an explainer are curves; all that it gives are of one kind."""
        for explainer in self.explainers:
            if explainer not in self._gives_curves:
                for result in self.reader.at(n, explainer).values():
                    self._gives_curves[explainer] = isinstance(result, Curve)

    def _read_explained(self, n: int) -> None:
        """How much of the model the curves of a snapshot tell."""
        found = None
        if self.curve_explainer is not None:
            results = self.reader.at(n, self.curve_explainer).values()
            found = Explained.of(result for result in results if isinstance(result, Curve))
        self._explained = "" if found is None else label(found.sentence)

    def thin(self, limit: int) -> None:
        """Keep so many snapshots, among them those at changes and where these began."""
        moments = [n for logged in self.changes for n in (logged.n, began(logged))]
        kept = thin(np.array([info.n for info in self.snapshots]), limit, moments)
        self.snapshots = [self.snapshots[k] for k in kept]
        for rows in self._importance.values():
            rows.update({feature: row[kept] for feature, row in rows.items()})

    def run(self, after: Cursor = _START) -> dict[str, Any]:
        """The run without its curves: all of it, or what came after a cursor."""
        first = sum(info.n <= after.snapshot for info in self.snapshots)
        new = self.snapshots[first:]
        settings = short_paths(readable(self.reader.settings))
        return {
            "version": VERSION,
            "name": run_name(self.reader.path),
            # Another one when what a page has read so far no longer holds.
            "revision": f"{self.reader.status.started}/{self._resets}",
            "next": str(self.cursor),
            "status": status_of(self.reader),
            "settings": settings,
            "features": list(map(_named, self.features)),
            "n": [info.n for info in new],
            "time": [round(info.time, 3) for info in new],
            "explained": self._explained,
            "explainers": [self._explainer(name, first, settings) for name in self.explainers],
            "metrics": {
                label(name): {"n": n[n > after.metric].tolist(), "value": pack(v[n > after.metric])}
                for name, (n, v) in self._metrics.items()
            },
            "changes": [
                change(logged, self.features) for logged in self.changes if logged.id > after.change
            ],
        }

    def _explainer(self, name: str, first: int, settings: dict[str, Any]) -> dict[str, Any]:
        rows = self._importance[name]
        packed = {feature: pack(row[first:]) for feature, row in rows.items()}
        described = settings.get("explainers")
        own = described.get(name) if isinstance(described, dict) else None
        title = own.get("title") if isinstance(own, dict) else None
        return {
            "name": name,
            "title": label(title if isinstance(title, str) else name),
            "curves": self._gives_curves.get(name, False),
            "importance": [packed.get(feature) for feature in self.features],
        }

    def feature(self, k: int, after: int = -1, explainer: str | None = None) -> dict[str, Any]:
        """What an explainer, unless it is named that of the curves, says of the k-th feature.

        With n > `after`; empty frames if the explainer says nothing of it.
        """
        if not 0 <= k < len(self.features):
            raise NotFound(f"this run has no feature number {k}")
        if explainer is not None and explainer not in self._importance:
            raise NotFound("this run has no explainer of that name")
        explainer = explainer or self.curve_explainer
        if explainer is None or self.features[k] not in self._importance[explainer]:
            return frames([])
        history = self._history(explainer, k)
        return frames((info, result) for info, result in history if info.n > after)

    def all_features(self) -> dict[str, list[dict[str, Any]]]:
        """The frames of all features, by explainer; each snapshot is read once."""
        items: dict[str, dict[Feature, History]] = {
            explainer: {name: [] for name in self.features} for explainer in self.explainers
        }
        for info in self.snapshots:
            for snapshot in self.reader.between(info.n, info.n):
                for explainer, results in snapshot.results.items():
                    for name, result in results.items():
                        items[explainer][name].append((info, result))
        return {
            explainer: [frames(history) for history in by_feature.values()]
            for explainer, by_feature in items.items()
        }

    def _history(self, explainer: str, k: int) -> History:
        known = self._histories.pop((explainer, k), [])
        kept = {info.n for info in self.snapshots}
        after = known[-1][0].n if known else -1
        new = self.reader.history(self.features[k], explainer=explainer, after=after)
        known += [(info, result) for info, result in new if info.n in kept]
        if len(known) > 2 * self.limit:
            known = [(info, result) for info, result in known if info.n in kept]
        self._histories[explainer, k] = known
        if len(self._histories) > _AT_HAND:
            del self._histories[next(iter(self._histories))]
        return known


def status_of(reader: LogReader) -> dict[str, Any]:
    """The state of a run, and when it was last heard of; an error where that makes no sense."""
    status = reader.status
    started, heartbeat = (
        None if moment is None else float(moment) for moment in (status.started, status.heartbeat)
    )
    return {
        "state": label(status.state),
        "n": int(status.n),
        "message": None if status.message is None else label(short_paths(status.message)),
        "started": started,
        "heartbeat": heartbeat,
        "silence": None if heartbeat is None else round(max(0.0, time.time() - heartbeat), 1),
    }


def _named(feature: Feature) -> dict[str, Any]:
    parts = feature if isinstance(feature, tuple) else (feature,)
    return {"name": label(feature), "parts": list(map(label, parts))}


def run_name(path: Path) -> str:
    """What a run is called: its directory, or its file if that is not called log.db."""
    path = path.resolve()
    return label(path.parent.name if path.name == LOG else path.stem)
