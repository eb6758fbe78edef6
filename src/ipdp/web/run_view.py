"""A run as the page sees it: read once, then only what is new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.interactions import RESULTS, Interactions
from ipdp.core.jsonable import readable
from ipdp.core.parts import n_features, parts_among, wholes_among
from ipdp.core.redaction import short_paths
from ipdp.core.typing import Array, Feature, FloatArray
from ipdp.log.headline import Facts, headline, target_of
from ipdp.runs.challengers import PREFIX, compared, is_challenger
from ipdp.web import effects, pairs
from ipdp.web.payload import began, change, frames, label, pack, thin
from ipdp.web.regions import part_drawings
from ipdp.web.run_document import RunContent, run_document
from ipdp.web.status import Cursor, NotFound, run_name, status_of

if TYPE_CHECKING:
    from ipdp.log import LoggedChange, LogReader, SnapshotInfo

    History: TypeAlias = list[tuple[SnapshotInfo, Result]]
    Histories: TypeAlias = dict[str, dict[Feature, History]]

VERSION = 2
"""Version of the payload."""

LIMIT = 2000
"""Snapshots that are kept for the page; a longer run is thinned out, but not at its changes."""

# Snapshots whose curves are in a document: there is no room for more columns.
_IN_DOCUMENT = 160

# Features whose curves are kept at hand; a page shows one at a time.
_AT_HAND = 12

_START = Cursor()


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
        self._challengers: dict[str, str] = {}  # the names of models, by those of explainers
        self._newest: dict[str, dict[Feature, Result]] = {}  # by explainer, at the last snapshot
        self._pairs: Mapping[Feature, Result] = {}  # the last that was found of them
        self._metrics: dict[str, tuple[Array, FloatArray]] = {}
        self._scores: dict[str, tuple[Array, FloatArray]] = {}
        self._histories: dict[tuple[str, int], History] = {}

    @property
    def explainers(self) -> list[str]:
        """The explainers whose results are logged, in the order of the run; no challengers."""
        return [name for name in self._importance if name not in self._challengers]

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
        self._gain(self._metrics, self.reader.metrics(after=after.metric))
        self._gain(self._scores, self.reader.scores(after=after.snapshot))
        self._read_snapshots(after.snapshot)

    def _gain(
        self,
        series: dict[str, tuple[Array, FloatArray]],
        gains: Mapping[str, tuple[Array, FloatArray]],
    ) -> None:
        for name, gained in gains.items():
            known = series.get(name, (np.empty(0, dtype=np.int64), np.empty(0)))
            n, values = (np.concatenate(both) for both in zip(known, gained, strict=True))
            kept = thin(n, self.limit if len(n) > 2 * self.limit else len(n))
            series[name] = n[kept], values[kept]

    def _read_snapshots(self, after: int) -> None:
        new = self.reader.snapshots(after=after)
        explainers = self.reader.explainers
        if not new and [name for name in explainers if name != RESULTS] == list(self._importance):
            return
        for explainer in explainers:
            if explainer != RESULTS:
                self._read_importances(explainer, new, after)
        if not new:
            return
        newest = {name: self.reader.at(new[-1].n, name) for name in explainers}
        self._pairs = self._read_pairs(newest.pop(RESULTS, {}))
        self._newest = newest
        self._read_kinds()
        self.snapshots += new
        # At first, and then once in a while, not every time.
        if after < 0 or len(self.snapshots) > 2 * self.limit:
            self.thin(self.limit)

    def _read_pairs(self, newest: Mapping[Feature, Result]) -> Mapping[Feature, Result]:
        """What was last found of pairs, which are not searched for at each snapshot."""
        if newest or RESULTS not in self.reader.explainers:
            return newest
        times = [n[-1] for n, _ in self.reader.importances(explainer=RESULTS).values() if len(n)]
        return self.reader.at(int(max(times)), RESULTS) if times else newest

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

    def _read_kinds(self) -> None:
        """Whether the results of an explainer are curves; all that it gives are of one kind."""
        for explainer, results in self._newest.items():
            if is_challenger(explainer, results):
                self._challengers[explainer] = explainer.removeprefix(PREFIX)
            for result in results.values():
                self._gives_curves[explainer] = isinstance(result, Curve)

    @property
    def both_kinds(self) -> tuple[str, str] | None:
        """The explainers of partial dependence and of local effects, where the run has both."""
        return effects.both_kinds({name: self._newest.get(name, {}) for name in self.explainers})

    @property
    def interactions(self) -> Interactions | None:
        """The strongest pairs, as they were last searched for; None if they were not."""
        return pairs.interactions_of(self._pairs, self.curves)

    @property
    def curves(self) -> list[Curve]:
        """The newest curves of the explainer whose curves are shown first."""
        results = self._newest.get(self.curve_explainer or "", {}).values()
        return [result for result in results if isinstance(result, Curve)]

    def _ordered(self) -> list[Curve]:
        """The newest curves, the most important first, by the importances that were read."""
        rows = self._importance.get(self.curve_explainer or "", {})

        def place(curve: Curve) -> tuple[bool, int, float]:
            row = rows.get(curve.feature)
            value = np.nan if row is None or not len(row) else row[-1]
            return (
                curve.feature in of_parts,
                len(curve.grid_values),
                -np.nan_to_num(value, nan=-np.inf),
            )

        of_parts = parts_among(curve.feature for curve in self.curves)
        return sorted(self.curves, key=place)

    @property
    def facts(self) -> Facts:
        """What is known of the run, to be said in words."""
        return Facts(
            status=self.reader.status,
            settings=self.reader.settings,
            metrics=self._metrics,
            changes=self.changes,
            curves=self._ordered(),
            has_results=bool(self.snapshots),
            scores=self._scores,
        )

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
        facts = self.facts
        settings = short_paths(readable(facts.settings))
        explained, found = Explained.of(facts.curves), self.interactions
        return {
            "version": VERSION,
            "name": run_name(self.reader.path),
            # Another one when what a page has read so far no longer holds.
            "revision": f"{self.reader.status.started}/{self._resets}",
            "next": str(self.cursor),
            "status": status_of(self.reader),
            "settings": settings,
            "features": _named(self.features),
            "n_features": n_features(self.features),
            "n": [info.n for info in new],
            "time": [round(info.time, 3) for info in new],
            "headline": {
                name: label(said) if said else "" for name, said in vars(headline(facts)).items()
            },
            "interactions": [] if found is None else pairs.described(found),
            "explained": "" if explained is None else label(explained.sentence),
            "explainers": [
                *(self._explainer(name, first, settings) for name in self.explainers),
                *self._joint(first),
            ],
            "challengers": list(map(label, self._challengers.values())),
            "metrics": {
                label(name): {"n": n[n > last].tolist(), "value": pack(v[n > last])}
                for series, last in (
                    (self._metrics, after.metric),
                    (self._scores, after.snapshot),
                )
                for name, (n, v) in series.items()
            },
            "changes": [
                change(logged, self.features) for logged in self.changes if logged.id > after.change
            ],
        }

    def _explainer(self, name: str, first: int, settings: dict[str, Any]) -> dict[str, Any]:
        rows = self._importance[name]
        packed = {feature: pack(row[first:]) for feature, row in rows.items()}
        return {
            "name": name,
            "title": self._title(name, settings),
            "curves": self._gives_curves.get(name, False),
            "importance": [packed.get(feature) for feature in self.features],
        }

    def _joint(self, first: int) -> Iterator[dict[str, Any]]:
        """What the page may show in place of the curves of one explainer: those of two."""
        both = self.both_kinds
        if both is None:
            return
        rows, others = (self._importance[name] for name in both)
        known = {feature: pack(row[first:]) for feature, row in rows.items() if feature in others}
        importance = [known.get(feature) for feature in self.features]
        named = {"name": effects.NAME, "title": effects.TITLE}
        yield {**named, "curves": True, "joint": True, "importance": importance}

    @staticmethod
    def _title(name: str, settings: Mapping[str, Any]) -> str:
        described = settings.get("explainers")
        own = described.get(name) if isinstance(described, dict) else None
        title = own.get("title") if isinstance(own, dict) else None
        return label(title if isinstance(title, str) else name)

    def feature(self, k: int, after: int = -1, explainer: str | None = None) -> dict[str, Any]:
        """What an explainer, unless it is named that of the curves, says of the k-th feature.

        With n > `after`; empty frames if the explainer says nothing of it.
        """
        if not 0 <= k < len(self.features):
            raise NotFound(f"this run has no feature number {k}")
        both = self.both_kinds
        if explainer == effects.NAME and both is not None:
            return self._effect(k, both, after)
        if explainer is not None and explainer not in self._importance:
            raise NotFound("this run has no explainer of that name")
        explainer = explainer or self.curve_explainer
        if explainer is None or self.features[k] not in self._importance[explainer]:
            return frames([])
        history = self._history(explainer, k)
        new = [(info, result) for info, result in history if info.n > after]
        target = target_of(self.reader.settings)
        return {**frames(new, target), **self.pictures(explainer, self.features[k])}

    def pictures(self, explainer: str, feature: Feature) -> dict[str, list[str]]:
        """The newest small multiples of a feature, where it has any."""
        results = self._newest.get(explainer, {})
        whole = results.get(feature)
        if not isinstance(whole, Curve):
            return {}
        curves = [result for result in results.values() if isinstance(result, Curve)]
        drawn = part_drawings(whole, curves, target_of(self.reader.settings))
        return {"pictures": drawn} if drawn else {}

    def _effect(self, k: int, both: tuple[str, str], after: int) -> dict[str, Any]:
        """The curves of both explainers with n > `after`."""
        histories = [
            self._history(name, k) if self.features[k] in self._importance[name] else []
            for name in both
        ]
        new = [one for one in effects.joined(*histories) if one[0].n > after]
        return effects.effect_frames(new, target_of(self.reader.settings))

    def histories(self, limit: int | None = None) -> Histories:
        """What is logged of all features, by explainer and feature; each snapshot is read once.

        At most so many snapshots, evenly.
        """
        items: Histories = {
            explainer: {name: [] for name in self.features} for explainer in self.explainers
        }
        n = np.array([info.n for info in self.snapshots])
        for k in range(len(n)) if limit is None else thin(n, limit):
            info = self.snapshots[k]
            for snapshot in self.reader.between(info.n, info.n):
                for explainer, results in snapshot.results.items():
                    if explainer not in items:
                        continue
                    for name, result in results.items():
                        items[explainer][name].append((info, result))
        return items

    def content(self, histories: Histories | None = None) -> RunContent:
        """What a document tells of the run."""
        if histories is None:
            histories = self.histories(_IN_DOCUMENT)
        of_curves = histories.get(self.curve_explainer or "", {})
        settings = self.reader.settings
        return RunContent(
            name=run_name(self.reader.path),
            facts=self.facts,
            histories={
                feature: [(info.n, result) for info, result in history if isinstance(result, Curve)]
                for feature, history in of_curves.items()
            },
            others={
                self._title(name, settings): {
                    label(feature): result.overall_importance for feature, result in found.items()
                }
                for name, found in self._newest.items()
                if name != self.curve_explainer and name not in self._challengers
            },
            challengers=compared(self._newest),
            interactions=self.interactions,
            ales={} if self.both_kinds is None else self._newest[self.both_kinds[1]],
        )

    def document(self) -> dict[str, Any]:
        """The run as a document, in HTML that runs no script, and whether it is still running."""
        content = self.content()
        return {
            "text": run_document(content),
            "is_running": content.facts.status.state == "running",
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


def _named(features: Sequence[Feature]) -> list[dict[str, Any]]:
    """The names of features, those of a pair, and the number of which it is a part, if of any."""
    whole, place = wholes_among(features), {feature: k for k, feature in enumerate(features)}
    return [
        {
            "name": label(feature),
            "parts": list(map(label, feature if isinstance(feature, tuple) else (feature,))),
            "part_of": place[whole[feature]] if feature in whole else None,
        }
        for feature in features
    ]
