"""The figures of elec2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ipdp.paper import figures as drawing
from ipdp.paper.elec2_watched import FEATURE, PAPER_CHANGES, Run, Watched

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 5


def figures(run: Run) -> Mapping[str, Figure]:
    """Fig. 4 for each model, the curves of all changes, and all features of the forest."""
    drawn = {"elec2": _figure(run.forest, "ARF(10)")}
    if run.bagging is not None:
        drawn["elec2_bagging"] = _figure(run.bagging, "bagging of 10 HAT")
    if run.forest.at_change:
        drawn["elec2_changes"] = _all_changes(run.forest)
    drawn["elec2_features"] = _all_features(run.forest)
    return drawn


def _figure(watched: Watched, model: str) -> Figure:
    """Fig. 4: the curve at three of the changes, and the accuracy with all of them."""
    times = _nearest(sorted(watched.at_change))
    figure, panels, (accuracy,) = drawing.panels_over_rows(3, (1.5,))
    for ax, t in zip(panels, times, strict=False):
        _panel(ax, watched, t)
    for ax in panels[len(times) :]:
        ax.set_visible(False)
    panels[0].set_ylabel("probability of a rise")
    panels[0].legend(frameon=False, fontsize=9, loc="lower right")
    recording = watched.recording
    drawing.draw_accuracy(accuracy, recording.t, recording.accuracy, "rolling accuracy")
    changes = watched.paper.get(FEATURE, [])
    drawing.mark(accuracy, changes, label="ADWIN on iPDP", color=drawing.BLUE, style="--")
    _mark_own(accuracy, watched.own.get(FEATURE, []), 0.07)
    accuracy.set(xlabel=f"observations ({model})")
    accuracy.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 0.1))
    return figure


def _panel(ax: Axes, watched: Watched, t: int) -> None:
    curve = watched.at_change[t]
    past = [earlier.select(True) for earlier in watched.recording.past("iPDP", FEATURE, t, n=4)]
    drawing.draw_curve(ax, curve, past=past)
    drawing.draw_values(ax, curve)
    ends = curve.grid_values[0]
    margin = 0.06 * (ends[-1] - ends[0]) or 1e-4
    ax.set(
        xlim=(ends[0] - margin, ends[-1] + margin),
        ylim=(0, 1),
        xlabel=FEATURE,
        title=f"after {t:,} observations",
    )
    ax.locator_params(axis="x", nbins=4)


def _mark_own(ax: Axes, found: list[tuple[int, str]], height: float) -> None:
    """Where our own detector found a change: of the effect full, of the range only hollow."""
    kinds = {
        "our detector: effect": ("real", "both"),
        "our detector: range": ("virtual", "unclear"),
    }
    for label, listed in kinds.items():
        times = [t for t, kind in found if kind in listed]
        face = "0.15" if "real" in listed else "white"
        ax.plot(
            times,
            [height] * len(times),
            linestyle="",
            marker="v",
            markersize=6,
            markeredgecolor="0.15",
            markerfacecolor=face,
            label=label if times else "",
        )


def _nearest(times: list[int]) -> list[int]:
    """Of the times of all changes the first and those nearest to the paper's, each once."""
    wanted = [] if not times else [times[0], *PAPER_CHANGES[1:]]
    return sorted({min((abs(t - at), t) for t in times)[1] for at in wanted})


def _all_changes(watched: Watched) -> Figure:
    """The curve of vicprice at each change that the paper's detector found."""
    times = sorted(watched.at_change)
    n_rows = -(-len(times) // _COLUMNS)
    figure = drawing.new_figure(10.5, 2.3 * n_rows + 0.2)
    axes = figure.subplots(n_rows, _COLUMNS, sharey=True, squeeze=False).ravel()
    for ax in axes[len(times) :]:
        ax.set_visible(False)
    for k, (ax, t) in enumerate(zip(axes, times, strict=False)):
        drawing.tidy(ax)
        _panel(ax, watched, t)
        ax.set(title=f"{t:,}", ylabel="" if k % _COLUMNS else "P(rise)")
        ax.locator_params(axis="x", nbins=3)
    return figure


def _all_features(watched: Watched) -> Figure:
    """Importance of every feature along the stream, and when our detector found it changed."""
    recording = watched.recording
    traces = recording.importance["iPDP"]
    figure = drawing.new_figure(10.5, 1.15 * len(traces) + 0.5)
    axes = figure.subplots(len(traces), 1, sharex=True, squeeze=False)[:, 0]
    for ax, (feature, trace) in zip(axes, traces.items(), strict=True):
        drawing.tidy(ax)
        ax.plot(recording.t[-len(trace) :], trace, color=drawing.RED, linewidth=1.5)
        theirs = watched.paper.get(feature, [])
        drawing.mark(ax, theirs, label="ADWIN on iPDP", color=drawing.BLUE, style="--")
        top = max([*trace, 1e-9])
        _mark_own(ax, watched.own.get(feature, []), 1.06 * top)
        ax.set(ylim=(0, 1.15 * top), xlim=(0, recording.t[-1]))
        ax.set_ylabel(str(feature), rotation=0, ha="right", va="center")
        drawing.thousands(ax.xaxis)
    axes[0].set_title("importance of each feature", fontsize=11, loc="left")
    handles, labels = _legend(axes)
    axes[0].legend(
        handles,
        labels,
        frameon=False,
        fontsize=9,
        ncols=3,
        loc="lower right",
        bbox_to_anchor=(1, 1),
    )
    axes[-1].set_xlabel("observations")
    return figure


def _legend(axes: Any) -> tuple[list[Any], list[str]]:
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)
