"""Appendix B, Fig. 7: how many values Algorithm 2 keeps to know the maximum of a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.extremes import WindowedExtremes
from ipdp.core.typing import FloatArray
from ipdp.paper import figures as drawing
from ipdp.paper.checks import Row, within
from ipdp.paper.experiment import Experiment, Say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOWS = (10, 30, 100, 300, 1_000, 3_000)
STREAMS = ("independent", "falling")

# Values are counted so many times while the stream moves on by a window.
_LOOKS = 30
# Window of the illustration, and how many values are seen before it is drawn.
_SHOWN, _SEEN = 16, 24


@dataclass(frozen=True)
class Run:
    """What a run has seen.

    Attributes
    ----------
    seed
        Of the independent values.
    stored
        By stream and window: how many values were kept, at some steps after the window was full.
    n_wrong
        Number of steps at which the maximum was not that of the window.
    """

    seed: int
    stored: dict[str, dict[int, list[int]]]
    n_wrong: int

    def mean(self, stream: str, window: int) -> float:
        """Mean number of values kept."""
        return float(np.mean(self.stored[stream][window]))


def values(stream: str, n: int, seed: int) -> FloatArray:
    """The best and the worst case: independent values, or values that fall all the time."""
    if stream == "falling":
        return np.linspace(1.0, 0.0, n)
    return np.random.default_rng(seed).random(n)


def run(seed: int, say: Say, *, windows: Sequence[int] = WINDOWS) -> Run:
    """Feed both streams to windows of several lengths, three lengths long each."""
    stored: dict[str, dict[int, list[int]]] = {stream: {} for stream in STREAMS}
    n_wrong = 0
    for stream in STREAMS:
        for window in windows:
            counts, wrong = _fed(values(stream, 3 * window, seed), window)
            stored[stream][window] = counts
            n_wrong += wrong
        say(f"{stream} values: windows up to {max(windows):,}")
    return Run(seed, stored, n_wrong)


def _fed(stream: FloatArray, window: int) -> tuple[list[int], int]:
    """How many values a full window keeps, at some steps, and how often its maximum is wrong."""
    extremes = WindowedExtremes(window=window)
    truth = np.lib.stride_tricks.sliding_window_view(stream, window).max(axis=1)
    counts, wrong = [], 0
    for t, x in enumerate(stream.tolist(), start=1):
        extremes.update(x)
        if t >= window:
            wrong += bool(extremes.max != truth[t - window])
            if t % max(window // _LOOKS, 1) == 0:
                counts.append(len(kept(extremes)))
    return counts, wrong


def kept(extremes: WindowedExtremes) -> list[tuple[int, float]]:
    """Age and size of the values that are kept for the maximum, the maximum first."""
    return [(extremes.n_values - n, x) for n, x in extremes.state["largest"]]


def numbers(run: Run) -> Mapping[str, Any]:
    """What is kept of a run."""
    means = {
        stream: {str(window): run.mean(stream, window) for window in counts}
        for stream, counts in run.stored.items()
    }
    return {"seed": run.seed, "n_wrong": run.n_wrong, **means}


def rows(runs: Sequence[Run]) -> list[Row]:
    """The table."""
    windows = list(runs[0].stored["falling"])
    widest = max(windows)
    few = [run.mean("independent", widest) for run in runs]
    return [
        within(
            "steps at which the maximum is wrong",
            "(the authors' code: 86 % of the steps of a falling trend)",
            [float(run.n_wrong) for run in runs],
            low=0,
            high=0,
            digits=0,
        ),
        within(
            f"independent values: kept of a window of w = {widest:,} (3 ln w)",
            "only a few",
            few,
            high=round(3 * float(np.log(widest)), 1),
            digits=1,
        ),
        within(
            "falling values: share of the window that is kept",
            "the reservoir is filled completely",
            [run.mean("falling", window) / window for run in runs for window in windows],
            low=1,
            high=1,
        ),
    ]


def figures(run: Run) -> Mapping[str, Figure]:
    """Fig. 7: what is kept, in both cases; and how many values against the window's length."""
    figure = drawing.new_figure(10.5, 5.2)
    axes = figure.subplot_mosaic(
        [["independent", "counts"], ["falling", "counts"]], width_ratios=[1.7, 1]
    )
    titles = {
        "independent": "(a) expected case: independent values",
        "falling": "(b) worst case: values that fall",
    }
    for stream, title in titles.items():
        n_kept = _draw_window(axes[stream], values(stream, _SEEN, run.seed))
        axes[stream].set_title(title, loc="left", fontsize=11)
        axes[stream].set_title(f"{n_kept} of a window of {_SHOWN} kept", loc="right", fontsize=9)
    _draw_counts(axes["counts"], run)
    return {"storage": figure}


def _draw_window(ax: Axes, stream: FloatArray) -> int:
    """The window as bars, those kept in red with how long they have to live; how many these are."""
    extremes = WindowedExtremes(window=_SHOWN)
    for x in stream.tolist():
        extremes.update(x)
    left = {len(stream) - age - 1: _SHOWN - age for age, _ in kept(extremes)}
    drawing.tidy(ax)
    first = len(stream) - _SHOWN
    for t, height in enumerate(stream.tolist()):
        color = "0.92" if t < first else drawing.RED if t in left else "0.75"
        ax.bar(t + 1, height + 0.02, color=color, width=0.8)
        if t in left:
            ax.annotate(
                str(left[t]),
                (t + 1, height + 0.02),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=9,
            )
    ax.axvspan(first + 0.5, len(stream) + 0.5, color="0.5", alpha=0.08, zorder=0)
    ax.set(ylim=(0, 1.18), xlim=(0, len(stream) + 1), xlabel="time", ylabel="value", yticks=[])
    return len(left)


def _draw_counts(ax: Axes, run: Run) -> None:
    """How many values are kept against the length of the window."""
    drawing.tidy(ax)
    colours = {"falling": drawing.GREY, "independent": drawing.RED}
    for stream, color in colours.items():
        windows = list(run.stored[stream])
        means = [run.mean(stream, window) for window in windows]
        ax.plot(windows, means, color=color, marker="o", linewidth=1.8, label=f"{stream} values")
    # A value is kept if it is larger than all newer ones: the k-th newest with probability 1 / k.
    expected = np.log(windows) + np.euler_gamma
    ax.plot(windows, expected, color="0.2", linestyle="--", linewidth=1, label="ln(w) + 0.58")
    ax.set(xscale="log", yscale="log", xlabel="window length w", ylabel="values kept")
    ax.set_title("(c) values kept", loc="left", fontsize=11)
    ax.legend(frameon=False, fontsize=9)


EXPERIMENT = Experiment(
    name="storage",
    title="Storage of extreme values (App. B, Fig. 7)",
    run=run,
    numbers=numbers,
    rows=rows,
    figures=figures,
)
