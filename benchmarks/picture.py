"""The picture of a run of the benchmarks: two questions, and their answers at one look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import parts
import peers
from table import Row

BLUE, LIGHT, GREY, DARK = "#2b6cb0", "#a9c6e5", "#b8b8b8", "#333333"


def draw(rows: Iterable[Row], path: Path) -> None:
    """What explaining costs beside learning, and what a table costs beside other libraries."""
    from matplotlib.figure import Figure

    listed = list(rows)
    learn = _by_build([row for row in listed if row.figure == parts.LEARN])
    others = sorted((row for row in listed if row.figure == peers.FIGURE), key=lambda r: r.value)
    figure = Figure(
        figsize=(9, 1.6 + 0.27 * (len(learn) + len(others))), layout="constrained", dpi=110
    )
    upper, lower = figure.subplots(
        2, height_ratios=[max(len(learn), 1) + 2, max(len(others), 1) + 2]
    )
    _learning(upper, learn)
    _peers(lower, others)
    figure.savefig(path)


def _by_build(rows: Sequence[Row]) -> list[tuple[str, dict[str, float]]]:
    """For each model its figures by build, cheapest first."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        name, _, build = row.what.rpartition(", ")
        found.setdefault(name, {})[build] = row.value
    return sorted(found.items(), key=lambda item: item[1].get("compiled", item[1].get("pure", 0.0)))


def _learning(ax: Any, models: Sequence[tuple[str, dict[str, float]]]) -> None:
    for place, (_, by_build) in enumerate(models):
        compiled, pure = by_build.get("compiled"), by_build.get("pure")
        if pure is not None:
            ax.barh(place, pure, color=LIGHT, height=0.72)
        if compiled is not None:
            ax.barh(place, compiled, color=BLUE, height=0.72)
    ax.set_xscale("log")
    ax.axvline(1, color=DARK, lw=1, ls="--")
    ax.text(1.04, -0.9, "as long as learning", fontsize=8, color=DARK, va="bottom")
    _named(ax, [f"{name}    {by_build.get('compiled', np.nan):.2g}" for name, by_build in models])
    ax.set_title(
        "What explaining all features of an observation costs, in learning steps of the model\n",
        loc="left", fontsize=10, fontweight="bold",
    )  # fmt: skip
    ax.text(
        0, 1.01, "dark, and the number: compiled; light: pure; means, default grid, log scale",
        transform=ax.transAxes, fontsize=8, color=DARK,
    )  # fmt: skip


def _peers(ax: Any, rows: Sequence[Row]) -> None:
    colours = [BLUE if row.what.startswith("ipdp") else GREY for row in rows]
    bars = ax.barh(range(len(rows)), [row.value for row in rows], color=colours, height=0.72)
    ax.bar_label(bars, fmt="%.2g", padding=3, fontsize=8, color=DARK)
    ax.axvline(1, color=DARK, lw=1, ls="--")
    ax.text(1.01, -0.9, "one prediction of all points", fontsize=8, color=DARK, va="bottom")
    _named(ax, [row.what for row in rows])
    ax.set_title(
        "What the curves of a table cost, beside one prediction of all points\n",
        loc="left", fontsize=10, fontweight="bold",
    )  # fmt: skip
    ax.text(
        0, 1.01, "2,000 rows, 8 features x 10 points, 100 boosted trees; CPU time",
        transform=ax.transAxes, fontsize=8, color=DARK,
    )  # fmt: skip


def _named(ax: Any, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), labels=names, fontsize=8)
    ax.set_ylim(len(names) - 0.4, -1.3)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(left=False, bottom=False, which="both", labelbottom=False)
    low, high = ax.get_xlim()
    ax.set_xlim(low, high * 1.1)
