"""A run as the page sees it: read once, then only what is new."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.importance import Result
from ipdp.core.jsonable import readable
from ipdp.core.typing import Array, Feature, FloatArray
from ipdp.web.payload import began, change, frames, label, pack, thin

if TYPE_CHECKING:
    from ipdp.log import LoggedChange, LogReader, SnapshotInfo

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
        """The cursor that `str` wrote; a ValueError says what is wrong with any other text.

        Examples
        --------
        >>> str(Cursor.parse("1200.3.1250"))
        '1200.3.1250'
        """
        match = _CURSOR.fullmatch(text)
        if not match:
            raise ValueError("after must be what an earlier answer gave as `next`: 1200.3.1250")
        return cls(*map(int, match.groups()))

    def __str__(self) -> str:
        return f"{self.snapshot}.{self.change}.{self.metric}"


START = Cursor()
"""Before anything was read."""


class RunView:
    """A run as the page sees it.

    `refresh` reads what the log has gained; all else answers from memory, so that any number of
    pages costs one reading. For one thread at a time.

    Parameters
    ----------
    reader
        The run's log.
    limit
        Snapshots to keep.
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
        self._metrics: dict[str, tuple[Array, FloatArray]] = {}
        self._histories: OrderedDict[tuple[str, int], list[tuple[SnapshotInfo, Result]]]
        self._histories = OrderedDict()

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

    def moments(self) -> list[float]:
        """When something happened: the alarms, and when the changes began by estimate."""
        return [moment for logged in self.changes for moment in (logged.n, began(logged))]

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
            gained = self.reader.importances(explainer=explainer, after=after)
            self._add_importances(explainer, gained, new)
        if not new:
            return
        self._read_kinds(new[-1].n)
        self.snapshots += new
        # At first, and then once in a while, not every time.
        if after < 0 or len(self.snapshots) > 2 * self.limit:
            self.thin(self.limit)

    def _add_importances(
        self,
        explainer: str,
        gained: dict[Feature, tuple[Array, FloatArray]],
        new: list[SnapshotInfo],
    ) -> None:
        """Put what each feature gained at the place of its snapshot, NaN where there is nothing."""
        places = {info.n: k for k, info in enumerate(new)}
        rows = self._importance.setdefault(explainer, {})
        for feature, (times, values) in gained.items():
            column = np.full(len(new), np.nan)
            for n, value in zip(times, values, strict=True):
                if int(n) in places:  # else it came after the snapshots were listed
                    column[places[int(n)]] = value
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

    def thin(self, limit: int) -> None:
        """Keep so many snapshots, those at changes among them."""
        kept = thin(np.array([info.n for info in self.snapshots]), limit, self.moments())
        self.snapshots = [self.snapshots[k] for k in kept]
        for rows in self._importance.values():
            rows.update({feature: row[kept] for feature, row in rows.items()})

    def run(self, after: Cursor = START) -> dict[str, Any]:
        """The run without its curves: all of it, or what came after a cursor."""
        first = sum(info.n <= after.snapshot for info in self.snapshots)
        new = self.snapshots[first:]
        features, settings = self.features, readable(self.reader.settings)
        return {
            "version": VERSION,
            "name": run_name(self.reader.path),
            "revision": self._revision(),
            "next": str(self.cursor),
            "status": status_of(self.reader),
            "settings": settings,
            "features": [
                {"name": label(name), "parts": list(map(label, parts(name)))} for name in features
            ],
            "n": [info.n for info in new],
            "time": [round(info.time, 3) for info in new],
            "explainers": [
                {
                    "name": name,
                    "title": explainer_title(name, settings),
                    "curves": self._gives_curves.get(name, False),
                    "importance": [
                        pack(rows[feature][first:]) if feature in rows else None
                        for feature in features
                    ],
                }
                for name, rows in self._importance.items()
            ],
            "metrics": {
                label(name): {"n": n[n > after.metric].tolist(), "value": pack(v[n > after.metric])}
                for name, (n, v) in self._metrics.items()
            },
            "changes": [
                change(logged, features) for logged in self.changes if logged.id > after.change
            ],
        }

    def feature(self, k: int, after: int = -1, explainer: str | None = None) -> dict[str, Any]:
        """What an explainer says of the k-th feature, with n > `after`.

        The explainer is that of the curves unless it is named. An IndexError if there is no such
        feature, empty frames if the explainer says nothing of it.
        """
        explainer = explainer or self.curve_explainer
        feature = self.features[k]
        if explainer is None or feature not in self._importance[explainer]:
            return frames([])
        history = self._history(explainer, k, feature)
        return frames((info, result) for info, result in history if info.n > after)

    def all_features(self) -> dict[str, list[dict[str, Any]]]:
        """The frames of all features, by explainer; each snapshot is read once."""
        items: dict[str, dict[Feature, list[tuple[SnapshotInfo, Result]]]] = {
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

    def _history(
        self, explainer: str, k: int, feature: Feature
    ) -> list[tuple[SnapshotInfo, Result]]:
        key = explainer, k
        known = self._histories.pop(key, [])
        kept = {info.n for info in self.snapshots}
        after = known[-1][0].n if known else -1
        new = self.reader.history(feature, explainer=explainer, after=after)
        known += [(info, result) for info, result in new if info.n in kept]
        if len(known) > 2 * self.limit:
            known = [(info, result) for info, result in known if info.n in kept]
        self._histories[key] = known
        while len(self._histories) > _AT_HAND:
            self._histories.popitem(last=False)
        return known

    def _revision(self) -> str:
        """Changes when what a page has read so far no longer holds."""
        return f"{self.reader.status.started}/{self._resets}"


def status_of(reader: LogReader) -> dict[str, Any]:
    """The state of a run, and when it was last heard of; an error where that makes no sense."""
    status = reader.status
    started, heartbeat = (
        None if moment is None else float(moment) for moment in (status.started, status.heartbeat)
    )
    return {
        "state": label(status.state),
        "n": int(status.n),
        "message": None if status.message is None else label(status.message),
        "started": started,
        "heartbeat": heartbeat,
        "silence": None if heartbeat is None else round(max(0.0, time.time() - heartbeat), 1),
    }


def explainer_title(name: str, settings: dict[str, Any]) -> str:
    """What an explainer is called for people, if the run's settings say so; else its name.

    Examples
    --------
    >>> explainer_title("ale", {"explainers": {"ale": {"title": "accumulated local effects"}}})
    'accumulated local effects'
    >>> explainer_title("ale", {})
    'ale'
    """
    described = settings.get("explainers")
    own = described.get(name) if isinstance(described, dict) else None
    title = own.get("title") if isinstance(own, dict) else None
    return label(title if isinstance(title, str) else name)


def parts(feature: Feature) -> tuple[Feature, ...]:
    """The names in a feature: two of a pair."""
    return feature if isinstance(feature, tuple) else (feature,)


def run_name(path: Path) -> str:
    """What a run is called: its directory, or its file if that is not called log.db."""
    path = path.resolve()
    return label(path.parent.name if path.name == "log.db" else path.stem)
