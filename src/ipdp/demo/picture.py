"""The picture of the demo: what the model believed, before, during and after the drifts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.files import written_whole
from ipdp.core.typing import FloatArray
from ipdp.demo.record import FEATURES, Person, Record, by_education, by_salary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"salary": "#0072B2", "age": "#D55E00", "elevel": "#009E73"}


def picture(record: Record) -> Figure:
    """The curves before, during and after the drifts, and what happened over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8.8), layout="constrained")
    panels = ["before", "during", "after", "virtual"]
    rows: list[Any] = [panels, ["heat"] * 4, ["importance"] * 4, ["accuracy"] * 4]
    axes = figure.subplot_mosaic(rows, height_ratios=[2.3, 1.8, 1.2, 0.9])
    title = "What the model believes about salary"
    figure.suptitle(title, fontsize=15, fontweight="bold", x=0.01, ha="left")
    draw_panels([axes[name] for name in panels], record)
    draw_heat(axes["heat"], record)
    draw_importance(axes["importance"], record)
    draw_accuracy(axes["accuracy"], record)
    for name in ("heat", "importance", "accuracy"):
        mark_drifts(axes[name], record, named=name == "heat")
    return figure


def draw_panels(axes: Sequence[Axes], record: Record) -> None:
    """The curve of salary at four times, and the rule that made the data."""
    from matplotlib.lines import Line2D

    real, virtual = record.drifts
    titles = (
        "Old rule",
        f"New rule, {record.moments[1] - real:,} later",
        f"New rule, {virtual - real:,} later",
        f"Higher salaries, {record.n - virtual:,} later",
    )
    for k, (ax, t, title) in enumerate(zip(axes, record.moments, titles, strict=True)):
        curve = record.salary(t)
        display = curve.plot(ax, line_kw={"color": _COLOURS["salary"]})
        # Between the thousands, where the rule does not jump.
        x = np.arange(20_500.0, 200_000 if t > virtual else 150_000, 1_000)
        rule = truth(by_salary if t > real else by_education, x)
        # Dotted, as the mean of past answers is dashed.
        dotted = ax.plot(x, rule, color="0.1", linewidth=1.5, linestyle=(0, (1, 1.2)), zorder=3)
        ax.set(ylim=(-0.04, 1.04), xlim=(10_000, 210_000), ylabel="" if k else "chance of a loan")
        ax.set_xticks([50_000, 100_000, 150_000, 200_000], ["50k", "100k", "150k", "200k"])
        ax.tick_params(labelleft=not k)
        ax.set_title(f"{k + 1}  {title}\n", fontsize=11, loc="left", fontweight="bold")
        ax.text(0, 1.03, f"t = {curve.t:,}", transform=ax.transAxes, color="0.4", fontsize=9)
    faint = Line2D([], [], color=_COLOURS["salary"], alpha=0.6, linewidth=0.8)
    handles: list[Any] = [(display.bands_[0], display.lines_[0]), faint, dotted[0]]
    names = ["the model as it is now, 95 % band", "recent ICE curves", "the rule behind the data"]
    axes[0].figure.legend(handles, names, loc="upper right", ncols=3, frameon=False, fontsize=9.5)


def truth(decide: Callable[[Person], int], salaries: FloatArray) -> FloatArray:
    """The partial dependence of the rule itself, over all ages and educations."""
    people = [{"age": age, "elevel": level} for age in range(20, 81) for level in range(5)]
    return np.array(
        [np.mean([decide({**x, "salary": salary}) for x in people]) for salary in salaries]
    )


def draw_heat(ax: Axes, record: Record) -> None:
    """Every salary curve of the run, one beside the other."""
    y = np.linspace(10_000, 210_000, 201)
    z = np.array([record.salary(t).at(y)[0] for t in record.t]).T
    mesh = ax.pcolormesh(record.t, y, z, cmap="viridis", vmin=0)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.01, aspect=12)
    bar.set_label("chance of a loan")
    bar.outline.set_visible(False)
    ax.set(ylabel="salary", ylim=(10_000, 210_000))
    ax.set_yticks([50_000, 100_000, 150_000, 200_000], ["50k", "100k", "150k", "200k"])
    tidy(ax, record)
    for k, t in enumerate(record.moments):
        ax.annotate(
            str(k + 1),
            (record.salary(t).t or t, 200_000),
            xytext=(-9 if t in record.drifts or t == record.n else 9, -4),
            textcoords="offset points",
            ha="center",
            va="center",
            color="white",
            fontsize=8,
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "0.2", "edgecolor": "none"},
        )


def draw_importance(ax: Axes, record: Record) -> None:
    """How much each feature matters, over time."""
    for name in FEATURES:
        values = [curves[name].select(1).importance[0] for curves in record.curves]
        ax.plot(record.t, values, color=_COLOURS[name], linewidth=2, label=name)
    ax.set(ylabel="importance", ylim=(0, None))
    ax.legend(frameon=False, loc="upper left", ncols=3, fontsize=9)
    tidy(ax, record)


def draw_accuracy(ax: Axes, record: Record) -> None:
    """Recent share of right predictions, each made before its observation was learned."""
    ax.plot(record.t, record.accuracy, color="0.2", linewidth=1.5)
    ax.set(ylabel="accuracy", ylim=(0.4, 1.02), xlabel="observations")
    ax.yaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
    tidy(ax, record)
    ax.tick_params(labelbottom=True)


def mark_drifts(ax: Axes, record: Record, *, named: bool) -> None:
    """Lines where the drifts are, with their names if asked for."""
    names = ("real drift: another rule", "virtual drift: higher salaries")
    for t, name in zip(record.drifts, names, strict=True):
        ax.axvline(t, color="0.2", linewidth=1, linestyle="--")
        if named:
            ax.annotate(
                name,
                (t, 1),
                (4, 3),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                fontsize=9,
            )


def tidy(ax: Axes, record: Record) -> None:
    """No box, a light grid, and time on the lowest axes only."""
    ax.set_xlim(0, record.n)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, alpha=0.25, linewidth=0.6)
    ax.xaxis.set_major_formatter(lambda v, _: f"{v:,.0f}")
    ax.tick_params(labelbottom=False)


def save(figure: Figure, path: Path) -> None:
    """Write the picture; a picture that fails leaves the one from before."""
    with written_whole(path) as draft:
        figure.savefig(draft, dpi=120)
