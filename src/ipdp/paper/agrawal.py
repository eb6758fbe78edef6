"""Appendix C, Fig. 8: loan decisions with a real and a virtual drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import ipdp
from ipdp.core.curve import Curve
from ipdp.datasets import AgrawalDrift
from ipdp.paper import figures as drawing
from ipdp.paper.checks import Row, within
from ipdp.paper.experiment import Experiment, Say
from ipdp.paper.following import Recording, follow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LENGTH = 10_000
"""Number of observations of each of the three intervals."""

# The authors' script draws a hundredth of the ICE curves.
_ICE_SHARE = 0.01


@dataclass
class Run:
    """What a run has seen.

    Attributes
    ----------
    seed
        Of stream, model and explainers.
    times
        The ends of the three intervals.
    recording
        Curves and importances.
    batch
        At the end of each interval, the batch PDP of the model over the interval's observations,
        at the points of the iPDP.
    """

    seed: int
    times: tuple[int, int, int]
    recording: Recording = field(default_factory=Recording)
    batch: dict[int, Curve] = field(default_factory=dict)

    def curve(self, t: int) -> Curve:
        """The iPDP of salary for class 1."""
        return self.recording.curves["iPDP"][t]["salary"].select(1)

    def rmse(self, t: int) -> float:
        """Distance of the iPDP to the batch PDP."""
        difference = self.curve(t).average[0] - self.batch[t].average[0]
        return float(np.sqrt(np.mean(difference**2)))

    def right_end(self, t: int) -> float:
        """The last point of the grid, in thousands."""
        return float(self.curve(t).grid_values[0][-1]) / 1000

    def span(self, t: int) -> float:
        """Largest minus smallest value of the curve."""
        return float(np.ptp(self.curve(t).average[0]))


def run(seed: int, say: Say, *, length: int = LENGTH, trees: int = 10, relabel: bool = True) -> Run:
    """Learn the stream with an adaptive random forest, explain salary, compare with batch PDPs."""
    from river import forest, metrics

    result = Run(seed, times=(length, 2 * length, 3 * length))
    stream = AgrawalDrift(length, stretch_position=2 * length, relabel=relabel, seed=seed)
    model = forest.ARFClassifier(n_models=trees, seed=seed)
    pdp = ipdp.IncrementalPDP(
        model,
        ["salary"],
        alpha=0.001,
        grid=ipdp.grid.MinMax(20, 1000),
        n_ice=100,
        estimator="pointwise",
    )
    accuracy: Any = metrics.Accuracy
    pfi = ipdp.IncrementalPFI(model, loss=accuracy(), alpha=0.001, seed=seed)
    interval: list[dict[str, Any]] = []

    def look(t: int, x: dict[str, Any]) -> None:
        interval.append(x)
        if t in result.times:
            say(f"batch PDP over the {len(interval):,} observations up to {t:,}")
            at = pdp.curve("salary").grid_values[0]
            result.batch[t] = _batch(model, interval, at)
            interval.clear()

    result.recording = follow(
        stream,
        model,
        {"iPDP": pdp},
        n=3 * length,
        say=say,
        moments=result.times,
        pfi=pfi,
        look=look,
    )
    return result


def _batch(model: Any, interval: Sequence[dict[str, Any]], at: Any) -> Curve:
    """The batch PDP, with the ICE curves of a part of the observations."""
    [curve] = ipdp.partial_dependence(model, interval, "salary", grid=ipdp.grid.Fixed(at))
    assert curve.ice is not None
    return replace(curve, ice=curve.ice[:, :: round(1 / _ICE_SHARE)], ice_grid_values=None).select(
        1
    )


def numbers(run: Run) -> Mapping[str, Any]:
    """What is kept of a run."""
    return {
        "seed": run.seed,
        "accuracy": run.recording.prequential_accuracy,
        **{
            f"at {t}": {
                "rmse": run.rmse(t),
                "span": run.span(t),
                "right_end": run.right_end(t),
                "x": run.curve(t).grid_values[0].tolist(),
                "y": run.curve(t).average[0].tolist(),
                "batch": run.batch[t].average[0].tolist(),
            }
            for t in run.times
        },
        "pfi": {feature: trace[-1] for feature, trace in run.recording.pfi.items()},
    }


def rows(runs: Sequence[Run]) -> list[Row]:
    """The table."""
    first, second, third = times = runs[0].times
    return [
        *(
            within(
                f"RMSE to the batch PDP at {t:,}",
                "the same effects as the batch PDP",
                [run.rmse(t) for run in runs],
                high=0.03,
            )
            for t in times
        ),
        within(
            f"span of the curve at {first:,}",
            "salary is not relevant",
            [run.span(first) for run in runs],
            high=0.03,
        ),
        within(
            f"span of the curve at {second:,} and {third:,}",
            "salary becomes relevant",
            [run.span(t) for run in runs for t in (second, third)],
            low=0.30,
        ),
        *_rows_of_ends(runs),
    ]


def _rows_of_ends(runs: Sequence[Run]) -> list[Row]:
    """How far the grid reaches, before and after salaries rise."""
    first, second, third = runs[0].times
    return [
        within(
            f"right end of the grid in thousands at {first:,} and {second:,}",
            "salaries up to 150 thousand",
            [run.right_end(t) for run in runs for t in (first, second)],
            low=149.5,
            high=150,
            digits=1,
        ),
        within(
            f"right end of the grid in thousands at {third:,}",
            "a new range of the feature",
            [run.right_end(third) for run in runs],
            low=193,
            high=200,
            digits=1,
        ),
    ]


def figures(run: Run) -> Mapping[str, Figure]:
    """Fig. 8."""
    figure, panels, (accuracy, importance) = drawing.panels_over_rows(3, (0.9, 1.6))
    for ax, t in zip(panels, run.times, strict=True):
        drawing.draw_curve(ax, run.curve(t), past=_past(run, t))
        batch = run.batch[t]
        ax.plot(
            batch.grid_values[0],
            batch.average[0],
            color=drawing.BLUE,
            linestyle="--",
            linewidth=1.6,
            label="batch PDP",
        )
        drawing.draw_values(ax, run.curve(t))
        dress(ax, f"iPDP at {t:,} observations")
    panels[0].set_ylabel("probability of class 1")
    panels[0].legend(frameon=False, fontsize=9, loc="lower right")
    recording = run.recording
    drawing.draw_accuracy(accuracy, recording.t, recording.accuracy, "rolling\naccuracy")
    named = ["salary", "age", "elevel", "commission"]
    drawing.draw_importances(importance, recording.t, recording.pfi, named=named, label="iPFI")
    top = max(value for trace in recording.pfi.values() for value in trace)
    importance.set(ylim=(-0.03, 1.35 * top), xlabel="observations")
    for ax in (accuracy, importance):
        drawing.mark(ax, run.times[:2], label="concept drift", color=drawing.GREY, style=":")
    accuracy.legend(frameon=False, fontsize=9, loc="lower right")
    importance.legend(frameon=False, fontsize=9, loc="upper right", ncols=6)
    return {"agrawal": figure}


def _past(run: Run, t: int) -> list[Curve]:
    return [curve.select(1) for curve in run.recording.past("iPDP", "salary", t, n=6)]


def dress(ax: Axes, title: str) -> None:
    """The axes of a curve of salary."""
    ax.set(xlim=(0, 205_000), ylim=(-0.03, 1.03), xlabel="salary in thousands", title=title)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}")


EXPERIMENT = Experiment(
    name="agrawal",
    title="Agrawal with a real and a virtual drift (App. C, Fig. 8)",
    run=run,
    numbers=numbers,
    rows=rows,
    figures=figures,
)
