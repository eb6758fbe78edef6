"""A run at a glance: how good the model is, what it looks at, and when that changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import Feature
from ipdp.monitor.change import Change
from ipdp.plot.places import checked_backend, panels
from ipdp.plot.series import (
    Logged,
    Mark,
    Series,
    Snapshots,
    importances_of,
    marks_of,
    metrics_of,
)
from ipdp.plot.shown import Shown
from ipdp.plot.style import (
    CURVE,
    KINDS,
    dress,
    fade,
    looks,
    name_entries,
    named,
    plain,
    write_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

_WIDTH = 8.0
# Heights of the panels: of a metric, of the importances, and of one feature that changed.
_METRIC, _IMPORTANCE, _ROW = 1.1, 2.4, 0.3
# Marks along a line.
_MARKED = 7
# A legend at the right of a panel.
_BESIDE: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.01, 1.0),
    "borderaxespad": 0.0,
    "frameon": False,
    "fontsize": "small",
}


class TimelineDisplay(Shown):
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
            "matplotlib" or "plotly".

        Returns
        -------
        The display itself; with "plotly" a `plotly.graph_objects.Figure`.
        """
        checked_backend(backend, ax=ax)
        first = self.named_features(n_features)
        if backend == "plotly":
            from ipdp.plot.interactive.timeline import timeline_figure

            return timeline_figure(self.metrics, self.importances, self._marks, first)
        rows = self._rows()
        heights = [_METRIC] * len(self.metrics) + [_IMPORTANCE]
        if rows:
            heights.append(_ROW * (len(rows) + 1))
        size = (_WIDTH, sum(heights) + 0.6)
        made = panels(ax, len(heights), heights=heights, size=size, share="x")
        # A metric may have any name, also that of another panel: the last two are known by place.
        at = len(self.metrics)
        self.axes_ = dict(zip(self.metrics, made, strict=False)) | {"importance": made[at]}
        self.figure_ = made[0].figure
        self.metric_lines_ = {
            name: _metric(panel, name, series)
            for panel, (name, series) in zip(made, self.metrics.items(), strict=False)
        }
        self.lines_ = _importances(made[at], self.importances, first)
        self.changes_ = {}
        if rows:
            self.axes_["changes"] = made[-1]
            colours = {name: line.get_color() for name, line in self.lines_.items()}
            self.changes_ = _changes(made[-1], self._marks, rows, colours)
        for panel in made:
            _finish(panel, self, last=panel is made[-1])
        for panel in made[: at + 1]:
            _lines(panel, self._marks)
        return self

    def named_features(self, n: int) -> list[Feature]:
        """The features that get a name: those that changed, then the most important ones."""
        changed = dict.fromkeys(mark.change.feature for mark in self._marks)
        wanted = [name for name in changed if name in self.importances]
        wanted += [name for name in self.importances if name not in wanted]
        picked = set(wanted[:n])
        return [name for name in self.importances if name in picked]

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time of all that is shown."""
        series = [*self.importances.values(), *self.metrics.values()]
        times = np.concatenate([item.times for item in series])
        times = np.append(times, [mark.time for mark in self._marks])
        return float(times.min()), float(times.max())

    def _rows(self) -> list[Feature]:
        return list(dict.fromkeys(mark.change.feature for mark in self._marks))

    def __repr__(self) -> str:
        return f"TimelineDisplay({len(self.importances)} features, {len(self._marks)} changes)"


def _mean(series: Series) -> float:
    known = series.values[series.values == series.values]
    return float(known.mean()) if known.size else 0.0


def _metric(ax: Axes, name: str, series: Series) -> Line2D:
    dress(ax)
    ax.set_ylabel(named(name, width=16), fontsize="small", **plain())
    write_numbers(ax.yaxis, series.values)
    look: dict[str, Any] = {"color": fade(ax, 0.9), "linewidth": 1.5, "marker": _marker(series)}
    return ax.plot(series.times, series.values, **look)[0]


def _marker(series: Series) -> str:
    """A mark where there is no line to see yet."""
    return "o" if len(series.times) == 1 else ""


def _importances(
    ax: Axes, importances: Mapping[Feature, Series], first: Sequence[Feature]
) -> dict[Feature, Line2D]:
    dress(ax)
    ax.set_ylabel("importance", fontsize="small")
    shown = dict(zip(first, looks(ax, len(first)), strict=True))
    lines: dict[Feature, Line2D] = {}
    # The unnamed ones first: they lie under the others.
    for name in sorted(importances, key=lambda name: name in shown):
        series = importances[name]
        look: dict[str, Any] = {
            "color": fade(ax, 0.25),
            "linewidth": 0.8,
            "marker": _marker(series),
        }
        if name in shown:
            colour, dash, mark = shown[name]
            look = {"color": colour, "linestyle": dash, "linewidth": 1.8, "marker": mark}
            # Some marks, at other places for each: enough to tell the lines apart in print.
            step = max(len(series.times) // _MARKED, 1)
            look |= {"markevery": (len(lines) * 3 % step, step), "markersize": 5}
        lines[name] = ax.plot(*series, gid=CURVE, **look)[0]
    handles = [lines[name] for name in first]
    names = [named(name, width=24) for name in first]
    others = len(importances) - len(first)
    if others:
        handles.append(next(line for name, line in lines.items() if name not in shown))
        names.append(f"{others} other{'s' if others > 1 else ''}")
    legend = ax.legend(handles, ["x"] * len(names), **_BESIDE)
    name_entries(legend, names)
    ax.set_ylim(bottom=0)
    write_numbers(ax.yaxis, ax.dataLim.intervaly)
    return lines


def _changes(
    ax: Axes, marks: Sequence[Mark], rows: Sequence[Feature], colours: Mapping[Feature, Any]
) -> dict[str, PathCollection]:
    """A row for each feature that changed, and a mark for each change."""
    dress(ax)
    drawn = {}
    for kind, (_, shape) in KINDS.items():
        own = [mark for mark in marks if mark.change.kind == kind]
        if own:
            drawn[kind] = ax.scatter(
                [mark.time for mark in own],
                [rows.index(mark.change.feature) for mark in own],
                c=[colours.get(mark.change.feature, fade(ax, 0.9)) for mark in own],
                marker=shape,
                s=36,
                label=kind,
                zorder=3,
            )
    ax.set_yticks(range(len(rows)), labels=[named(name, width=20) for name in rows], **plain())
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0, labelsize="small")
    legend = ax.legend(**_BESIDE)
    for handle in legend.legend_handles:
        handle.set(color=fade(ax, 0.9))  # type: ignore[union-attr]  # scatter's has one
    return drawn


def _lines(ax: Axes, marks: Sequence[Mark]) -> None:
    """Faint lines at the changes, which the panel below names."""
    for mark in marks:
        dash = KINDS[mark.change.kind][0]
        ax.axvline(mark.time, color=fade(ax, 0.35), linewidth=0.8, linestyle=dash, zorder=1)


def _finish(ax: Axes, display: TimelineDisplay, *, last: bool) -> None:
    first, final = display.span
    if final > first:
        ax.set_xlim(first, final)
    else:
        ax.set_xticks([first], labels=[f"{first:,.10g}"])
    ax.tick_params(labelbottom=last)
    if last:
        ax.set_xlabel("observations")
        if final > first:
            write_numbers(ax.xaxis, np.array([first, final]), least=1e3)
