"""A run over time: how good the model is, how much each feature matters, and what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import Feature
from ipdp.monitor.change import Change
from ipdp.plot.shown.display import NotebookDisplay
from ipdp.plot.shown.source import (
    Logged,
    Mark,
    Series,
    Snapshots,
    importances_of,
    marks_of,
    metrics_of,
)
from ipdp.plot.shown.style import KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

# Heights of the panels in inches: of a metric, of the importances, and of a feature that changed.
_METRIC, _IMPORTANCE, _ROW = 1.1, 2.4, 0.3


class TimelineDisplay(NotebookDisplay):
    """Metrics, the importance of each feature, and the changes, along one axis of time.

    Parameters
    ----------
    curves
        A log; or curves at several times, as for `CarpetDisplay`.
    metrics
        For each metric its times and its values; by default the log's.
    changes
        The changes to mark; by default the log's.

    Attributes
    ----------
    importances, metrics
        For each name its times and values; the most important feature first.
    axes_, figure_
        The panels by name: each metric, "importance" and, if there are any, "changes".
    lines_, metric_lines_
        For each feature and each metric its line.
    changes_
        For each kind of change its marks.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], grid=ipdp.grid.Fixed([0.0, 1.0]))
    >>> kept = []
    >>> for _ in range(3):
    ...     pdp.explain_one({"a": 0.5})
    ...     kept.append(pdp.curves)
    >>> timeline = TimelineDisplay(kept, metrics={"accuracy": ([1, 2, 3], [0.5, 0.6, 0.7])})
    >>> sorted(timeline.plot(ax=Figure().subplots()).axes_)
    ['accuracy', 'importance']
    """

    axes_: dict[str, Axes]
    lines_: dict[Feature, Line2D]
    metric_lines_: dict[str, Line2D]
    changes_: dict[str, PathCollection]

    def __init__(
        self,
        curves: Snapshots | Logged,
        *,
        metrics: Mapping[str, tuple[Any, Any]] | None = None,
        changes: Iterable[Change] | None = None,
    ) -> None:
        found = importances_of(curves)
        if not found:
            raise NotEnoughSamples("there is no curve yet, so there is no importance to show")
        self.importances: dict[Feature, Series] = dict(
            sorted(found.items(), key=lambda item: _mean(item[1]), reverse=True)
        )
        self.metrics = metrics_of(curves, metrics)
        self._marks = marks_of(curves, changes)

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        n_features: int = 8,
        backend: str = "matplotlib",
    ) -> Any:
        """Draw the timeline.

        Parameters
        ----------
        ax
            Axes whose place is divided among the panels, or one for each of them, from top to
            bottom; None makes a new figure.
        n_features
            So many features have a colour and a name, the others are thin lines; those that
            changed come first.
        backend
            As in `PDPDisplay.plot`, as what is returned.
        """
        shown = shown_timeline(self.metrics, self.importances, self._marks, n_features)
        return self._draw(backend, "timeline", shown, ax)

    def __repr__(self) -> str:
        return f"TimelineDisplay({len(self.importances)} features, {len(self._marks)} changes)"


@dataclass(frozen=True)
class ShownTimeline:
    """What is drawn of a run: panels under each other, along one axis of time."""

    metrics: dict[str, Series]  # a panel for each
    importances: dict[Feature, Series]  # in the order of drawing: the unnamed ones come first
    named: list[Feature]  # those with a name and a colour, the most important one first
    marks: list[Mark]  # the changes
    rows: list[Feature]  # those that changed: the rows of the last panel, if there are any
    heights: list[float]  # of the panels, in inches
    span: tuple[float, float]  # the first and the last time

    @property
    def n_others(self) -> int:
        """How many features have no name."""
        return len(self.importances) - len(self.named)

    @property
    def marks_by_kind(self) -> dict[str, list[Mark]]:
        """The changes of each kind that there are any of."""
        by_kind = {kind: [m for m in self.marks if m.change.kind == kind] for kind in KINDS}
        return {kind: marks for kind, marks in by_kind.items() if marks}


def shown_timeline(
    metrics: dict[str, Series],
    importances: Mapping[Feature, Series],
    marks: list[Mark],
    n_features: int,
) -> ShownTimeline:
    """What is drawn of a run; importances come the most important one first."""
    rows = list(dict.fromkeys(mark.change.feature for mark in marks))
    heights = [_METRIC] * len(metrics) + [_IMPORTANCE] + ([_ROW * (len(rows) + 1)] if rows else [])
    # Those that changed have a name first, then the most important ones.
    wanted = [name for name in rows if name in importances]
    wanted += [name for name in importances if name not in wanted]
    picked = set(wanted[:n_features])
    series = [*importances.values(), *metrics.values()]
    times = np.concatenate([item.times for item in series] + [[mark.time for mark in marks]])
    return ShownTimeline(
        metrics=metrics,
        importances=dict(sorted(importances.items(), key=lambda item: item[0] in picked)),
        named=[name for name in importances if name in picked],
        marks=marks,
        rows=rows,
        heights=heights,
        span=(float(times.min()), float(times.max())),
    )


def _mean(series: Series) -> float:
    known = series.values[~np.isnan(series.values)]
    return float(known.mean()) if known.size else 0.0
