"""One table for all figures: printed, written as JSON, and drawn."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes
    ----------
    figure
        What was measured: a ratio, and of what.
    what
        Of which model, at which size.
    value
        The number.
    at_most, at_least
        What is promised, if something is.
    """

    figure: str
    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the promise is kept."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    @property
    def promise(self) -> str:
        """The promise in words, with a mark where it is broken."""
        words = [
            f"{word} {bound:g}"
            for word, bound in (("at most", self.at_most), ("at least", self.at_least))
            if bound is not None
        ]
        return " and ".join(words) + ("" if self.holds else "  NOT KEPT")


def show(rows: Iterable[Row]) -> None:
    """Print rows, with a line above each group of them."""
    for figure, group in groupby(rows, key=lambda row: row.figure):
        print(f"\n{figure}")
        for row in group:
            print(f"  {row.what:44}{row.value:10.2f}  {row.promise}".rstrip())


def write(rows: Iterable[Row], path: Path, **about: Any) -> None:
    """Write rows as JSON, with what ran where."""
    machine = {"python": platform.python_version(), "machine": platform.machine(), **about}
    text = json.dumps({"about": machine, "rows": [asdict(row) for row in rows]}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> list[Row]:
    """The rows of a file that `write` wrote."""
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def draw(rows: Iterable[Row], path: Path) -> None:
    """Draw each group of rows as bars, with the promises as marks."""
    from matplotlib.figure import Figure

    groups = [(figure, list(group)) for figure, group in groupby(rows, key=lambda r: r.figure)]
    heights = [len(group) + 1.5 for _, group in groups]
    figure = Figure(figsize=(9, 0.24 * sum(heights)), layout="constrained")
    for ax, (title, group) in zip(
        figure.subplots(len(groups), squeeze=False, height_ratios=heights)[:, 0],
        groups,
        strict=True,
    ):
        places = range(len(group))
        bars = ax.barh(places, [row.value for row in group], color="#4477aa", height=0.7)
        ax.bar_label(bars, fmt="%.2f", padding=3, fontsize=8)
        for place, row in zip(places, group, strict=True):
            for bound in (row.at_most, row.at_least):
                if bound is not None:
                    ax.plot([bound, bound], [place - 0.4, place + 0.4], color="#cc3311", lw=2)
        ax.set_yticks(places, labels=[row.what for row in group], fontsize=8)
        ax.invert_yaxis()
        ax.set_title(title, loc="left", fontsize=9, fontweight="bold")
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.tick_params(left=False, bottom=False, labelbottom=False)
        ax.margins(x=0.1)
    figure.supxlabel("red: what is promised", fontsize=8, color="#cc3311")
    figure.savefig(path, dpi=110)
