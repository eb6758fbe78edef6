"""The annotated curve of docs/start/reading.md: python docs/images/reading.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import ipdp

HERE = Path(__file__).parent
GREY = "#555555"


def model(x: dict[str, float]) -> float:
    """A chance that a loan is paid back: it rises with the salary, less for the young."""
    return float(1 / (1 + np.exp(-(x["salary"] - 55 + 0.4 * (45 - x["age"])) / 14)))


def curve() -> ipdp.Curve:
    """The curve of the salary over 1,500 applicants."""
    rng = np.random.default_rng(7)
    pdp = ipdp.IncrementalPDP(model, ["salary"], alpha=0.08, n_ice=12, seed=7)
    for _ in range(1_500):
        salary = float(np.clip(rng.normal(55, 16), 10, 110))
        pdp.explain_one({"salary": salary, "age": float(rng.uniform(20, 70))})
    return pdp.curve("salary")


def note(ax, text, xy, place):
    """A remark with an arrow to what it is about."""
    arrow = {"arrowstyle": "->", "color": GREY, "connectionstyle": "arc3,rad=0.15"}
    ax.annotate(
        text,
        xy,
        place,
        arrowprops=arrow,
        color=GREY,
        fontsize=10,
        va="center",
        annotation_clip=False,
    )


def main() -> None:
    """Draw it and write it beside this file."""
    shown = curve()
    ax = Figure(figsize=(8.5, 5), layout="constrained").subplots()
    shown.plot(ax, ice=True)
    ax.set(xlabel="salary (thousands)", ylabel="chance that the loan is paid back")
    ax.set_title("The higher the salary, the better the chance: what the model says on average")
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    grid = np.asarray(shown.grid_values[0], dtype=float)
    at = lambda x: float(np.interp(x, grid, shown.average[0]))  # noqa: E731
    _, upper = shown.band(0.95, simultaneous=True)
    note(ax, "the line: the mean answer\nof the model at this value", (62, at(62)), (66, 0.30))
    note(
        ax,
        "the band: how well\nthe line is known",
        (50, float(np.interp(50, grid, upper[0]))),
        (22, 0.72),
    )
    note(ax, "a thin line:\none applicant", (44.5, 0.435), (22, 0.50))
    note(ax, "the histogram: where\nthe applicants are", (60, -0.05), (68, 0.10))
    ax.figure.savefig(HERE / "reading.png", dpi=130)


if __name__ == "__main__":
    main()
