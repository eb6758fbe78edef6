"""Figs. 1 to 3: what a PDP is, what drift does to it, and what one update of iPDP does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import ipdp
from ipdp.core.curve import Curve
from ipdp.paper import agrawal
from ipdp.paper import figures as drawing
from ipdp.paper.checks import Row, within
from ipdp.paper.experiment import Experiment, Say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Smoothing and ranges of the one update: strong enough to be seen.
_ALPHA, _BEFORE, _AFTER = 0.3, (0.0, 1.0), (0.6, 2.0)


@dataclass(frozen=True)
class Run:
    """What the figures show.

    Attributes
    ----------
    seed
        Of all of them.
    pdp
        Fig. 1: a batch PDP with its ICE curves, of a model with an interaction.
    drifts
        Fig. 2: the run along the agrawal stream.
    before, ice, after
        Fig. 3: the iPDP, the ICE curve of an observation from a new range, and the iPDP with it.
    """

    seed: int
    pdp: Curve
    drifts: agrawal.Run
    before: Curve
    ice: tuple[Any, Any]
    after: Curve

    def update_error(self) -> float:
        """Largest deviation of the update from equations 2 and 3, worked out by hand."""
        # Weights of t observations and of the one after them, debiased.
        old = 1 - (1 - _ALPHA) ** self.before.n_samples
        new = 1 - (1 - _ALPHA) ** self.after.n_samples
        share = _ALPHA / new
        assert np.isclose((1 - _ALPHA) * old / new, 1 - share)
        x = (1 - share) * self.before.grid_values[0] + share * self.ice[0]
        y = (1 - share) * self.before.average[0] + share * self.ice[1]
        return float(
            max(abs(x - self.after.grid_values[0]).max(), abs(y - self.after.average[0]).max())
        )


def run(seed: int, say: Say, *, length: int = agrawal.LENGTH, trees: int = 10) -> Run:
    """Make the three."""
    say("Fig. 1 and 3")
    before, ice, after = _update(seed)
    say("Fig. 2: the agrawal stream")
    return Run(
        seed, _pdp(seed), agrawal.run(seed, say, length=length, trees=trees), before, ice, after
    )


def _bend(x: Mapping[str, float]) -> float:
    """A model whose feature has a positive effect that depends on another one."""
    return float(1 / (1 + np.exp(-(2.2 * x["x"] * (0.4 + x["z"]) + 1.5 * x["z"] - 2.2))))


def _pdp(seed: int) -> Curve:
    rng = np.random.default_rng(seed)
    rows = [{"x": 3 * rng.random(), "z": rng.random()} for _ in range(40)]
    [curve] = ipdp.partial_dependence(_bend, rows, "x", grid=ipdp.grid.MinMax(25))
    return curve


def _update(seed: int) -> tuple[Curve, tuple[Any, Any], Curve]:
    """An iPDP, the ICE curve of an observation in another range, and the iPDP with it."""
    rng = np.random.default_rng(seed)
    # A window of two: the points lie between the last two values.
    pdp = ipdp.IncrementalPDP(
        _bend,
        ["x"],
        alpha=_ALPHA,
        grid=ipdp.grid.MinMax(8, window=2, warm_up=2),
        estimator="pointwise",
    )
    for t in range(20):
        pdp.explain_one({"x": _BEFORE[t % 2], "z": rng.random()}, t=t)
    before = pdp.curve("x")
    # Values of the new range enter the storage; with a weight of 0 the curve stays as it is.
    for x in _AFTER:
        pdp.explain_one({"x": x, "z": 0.0}, w=0.0, t=t)
    pdp.explain_one({"x": _AFTER[1], "z": 0.9}, t=t + 1)
    after = pdp.curve("x")
    assert after.ice is not None
    assert after.ice_grid_values is not None
    return before, (after.ice_grid_values[0][-1], after.ice[0, -1]), after


def numbers(run: Run) -> Mapping[str, Any]:
    """What is kept of a run."""
    return {
        "seed": run.seed,
        "update_error": run.update_error(),
        "pdp": run.pdp.average[0].tolist(),
        "agrawal": dict(agrawal.numbers(run.drifts)),
    }


def rows(runs: Sequence[Run]) -> list[Row]:
    """The table."""
    return [
        within(
            "Fig. 1: smallest step of the PDP",
            "a positive effect",
            [float(np.diff(run.pdp.average[0]).min()) for run in runs],
            low=0,
            digits=4,
        ),
        within(
            "Fig. 1: PDP minus the mean of the ICE curves",
            "the mean of the ICE curves",
            [_deviation(run.pdp) for run in runs],
            high=1e-12,
        ),
        *_rows_of_drifts([run.drifts for run in runs]),
        within(
            "Fig. 3: deviation from equations 2 and 3 by hand",
            "moves slowly into the new range",
            [run.update_error() for run in runs],
            high=1e-12,
        ),
    ]


def _rows_of_drifts(runs: Sequence[agrawal.Run]) -> list[Row]:
    """The batch PDPs of the three intervals."""
    spans = np.array([[np.ptp(run.batch[t].average[0]) for t in run.times] for run in runs])
    first, others = spans[:, 0].tolist(), spans[:, 1:].ravel().tolist()
    last = runs[0].times[-1]
    ends = [float(run.batch[last].grid_values[0][-1]) / 1000 for run in runs]
    paper = ("salary is not relevant", "salary becomes relevant", "a new range of the feature")
    return [
        within("Fig. 2: span of the batch PDP of the first interval", paper[0], first, high=0.06),
        within("Fig. 2: span of the other two", paper[1], others, low=0.30),
        within("Fig. 2: right end of the third in thousands", paper[2], ends, low=185, digits=1),
    ]


def _deviation(curve: Curve) -> float:
    assert curve.ice is not None
    return float(np.abs(curve.average[0] - curve.ice[0].mean(axis=0)).max())


def figures(run: Run) -> Mapping[str, Figure]:
    """Figs. 1, 2 and 3."""
    return {
        "illustration_pdp": _figure_pdp(run),
        "illustration_drifts": _figure_drifts(run),
        "illustration_update": _figure_update(run),
    }


def _figure_pdp(run: Run) -> Figure:
    figure = drawing.new_figure(5.2, 3.4)
    ax = figure.subplots()
    drawing.tidy(ax)
    drawing.draw_curve(ax, run.pdp, ice=True, band=False, label="PDP")
    ax.plot([], [], color="0.1", alpha=0.4, linewidth=0.8, label="ICE curves")
    ax.set(xlabel="feature value", ylabel="prediction", ylim=(0, 1))
    ax.legend(frameon=False, loc="lower right")
    return figure


def _figure_drifts(run: Run) -> Figure:
    """The stream as a strip with its three intervals, and the batch PDP of each under it."""
    drifts = run.drifts
    figure = drawing.new_figure(10.5, 4.8)
    parts: Any = figure.subfigures(2, 1, height_ratios=[1.25, 2.9])
    _draw_strip(parts[0].subplots(), drifts)
    panels = parts[1].subplots(1, 3, sharey=True)
    letters = ("(a) salary is not relevant", "(b) real drift", "(c) virtual drift")
    for ax, t, title in zip(panels, drifts.times, letters, strict=True):
        drawing.tidy(ax)
        ax.set_facecolor("0.97")
        drawing.draw_curve(ax, drifts.batch[t], ice=True, band=False, label="PDP")
        agrawal.dress(ax, title)
    panels[0].set_ylabel("probability of class 1")
    panels[0].plot([], [], color="0.1", alpha=0.4, linewidth=0.8, label="ICE curves")
    panels[0].legend(frameon=False, fontsize=9, loc="upper right")
    return figure


def _draw_strip(ax: Axes, drifts: agrawal.Run) -> None:
    """Accuracy along the stream, over bands for the intervals."""
    names = (
        "$t_1$:  $f_1$(age, education)",
        "$t_2$:  $f_2$(age, salary)",
        "$t_3$:  $f_2$(age, higher salary)",
    )
    edges = (0, *drifts.times)
    for k, name in enumerate(names):
        ax.axvspan(edges[k], edges[k + 1], color=("0.97", "0.9", "0.83")[k], zorder=0)
        ax.text((edges[k] + edges[k + 1]) / 2, 1.06, name, ha="center", va="bottom", fontsize=10)
    drawing.draw_accuracy(ax, drifts.recording.t, drifts.recording.accuracy, "rolling\naccuracy")
    for t, name in zip(drifts.times, ("real drift", "virtual drift"), strict=False):
        ax.axvline(t, color=drawing.GREY, linestyle=":", linewidth=1.6)
        ax.annotate(name, (t, 0.08), xytext=(5, 0), textcoords="offset points", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="observations")


def _figure_update(run: Run) -> Figure:
    figure = drawing.new_figure(5.2, 3.4)
    ax = figure.subplots()
    drawing.tidy(ax)
    x, y = run.before.grid_values[0], run.before.average[0]
    ax.plot(x, y, color=drawing.RED, linestyle="--", linewidth=1.8, marker=".", label="iPDP before")
    ax.plot(*run.ice, color="0.1", linewidth=1.2, marker=".", label="new ICE curve")
    drawing.draw_curve(ax, run.after, band=False, label="iPDP after")
    for old, new, at in zip(
        zip(x, y, strict=True),
        zip(run.after.grid_values[0], run.after.average[0], strict=True),
        range(len(x)),
        strict=True,
    ):
        if at in (0, len(x) - 1):
            ax.annotate("", new, old, arrowprops={"arrowstyle": "->", "color": "0.5"})
    ax.set(xlabel="feature value", ylabel="prediction", ylim=(0, 1.03))
    ax.legend(frameon=False, loc="lower right")
    return figure


EXPERIMENT = Experiment(
    name="illustration",
    title="Illustrations (Figs. 1 to 3)",
    run=run,
    numbers=numbers,
    rows=rows,
    figures=figures,
)
