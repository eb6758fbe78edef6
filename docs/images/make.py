"""Makes the pictures of the README and of docs/figures.md: `python docs/images/make.py`.

The stream is the paper's: loan decisions whose rule changes after a third, and salaries that rise
after two thirds.
"""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
from matplotlib.figure import Figure
from river import forest, metrics, tree, utils

import ipdp
from ipdp.datasets import AgrawalDrift
from ipdp.plot import (
    CarpetDisplay,
    ChangeDisplay,
    OverviewDisplay,
    PDPDisplay,
    RegionsDisplay,
    TimelineDisplay,
)

N = 9_000
DIRECTORY = Path(__file__).parent / "figures"
FEATURES = ["salary", "age", "elevel", "commission", "loan", "hvalue"]
PAIR = ("age", "salary")


def history() -> dict[str, Any]:
    """Curves and accuracy every 100 observations, the changes, and the last observations."""
    model = forest.ARFClassifier(n_models=5, seed=42)
    pdp = ipdp.IncrementalPDP(model, FEATURES, alpha=0.002, seed=42)
    monitor = ipdp.Monitor(pdp, target="loan")
    # A pair asks a hundred questions an observation; every tenth is enough for a picture.
    pair = ipdp.IncrementalPDP(model, [PAIR], alpha=0.002, seed=42, every=10)
    accuracy = utils.Rolling(metrics.Accuracy, window_size=500)
    kept, times, values, rows = [], [], [], []
    stream = AgrawalDrift(N // 3, stretch_position=2 * N // 3, seed=42)
    for t, (x, y) in enumerate(stream.take(N), start=1):
        accuracy.update(y, model.predict_one(x))
        monitor.explain_one(x)
        pair.explain_one(x)
        model.learn_one(x, y)
        if t % 100 == 0:
            kept.append(pdp.snapshot(now=True))
            times.append(t)
            values.append(accuracy.get())
        if t > N - 1000:
            rows.append(x)
    return {
        "curves": kept,
        "accuracy": (times, values),
        "changes": monitor.changes,
        "rows": rows,
        "pair": pair.curve(PAIR),
    }


def bicycles(x: dict[str, Any]) -> float:
    """Two peaks on working days, one on others; more when it is warm, above all after noon."""
    hour = x["hour"]
    peaks = 200 + 150 * math.cos((hour - 8) * math.pi / 5)
    noon = 250 - 200 * math.cos((hour - 1) * math.pi / 12)
    return (peaks if x["workingday"] == "yes" else noon) + (6 if hour > 12 else 1) * x["temp"]


def regions() -> ipdp.IncrementalRegions:
    """Where the effects of a stream of hours differ."""
    explainer, draws = ipdp.IncrementalRegions(bicycles), random.Random(42)
    for t in range(3_000):
        day = "yes" if t // 24 % 7 < 5 else "no"
        explainer.explain_one({"hour": t % 24, "workingday": day, "temp": draws.gauss(15, 8)})
    return explainer


def save(name: str, size: tuple[float, float], draw: Any, *, dark: bool = False) -> None:
    """Write one picture."""
    with mpl.rc_context():
        if dark:
            mpl.style.use("dark_background")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        figure.savefig(DIRECTORY / f"{name}.png", dpi=90)


def first() -> None:
    """Write the picture of the README's first lines."""
    model = tree.HoeffdingAdaptiveTreeClassifier(seed=42)
    pdp = ipdp.IncrementalPDP(model)
    ipdp.run(ipdp.datasets.AgrawalDrift(4_000, seed=42).take(5_000), model, pdp)
    pdp.plot().figure_.savefig(DIRECTORY.parent / "first.png", dpi=90)


def main() -> None:
    """Write all pictures."""
    DIRECTORY.mkdir(exist_ok=True)
    first()
    seen = history()
    curves, changes = seen["curves"], seen["changes"]
    last = curves[-1]
    trail = [snapshot["salary"] for snapshot in curves[30:-1:6]]
    save("curve", (6, 4), last["salary"].plot)
    save("trail", (6, 4), lambda ax: last["salary"].plot(ax, trail=trail), dark=True)
    save("pair", (6, 4.2), lambda ax: PDPDisplay(seen["pair"]).plot(ax, data=seen["rows"]))
    save("overview", (8, 4.6), lambda ax: OverviewDisplay(last).plot(ax, columns=3))
    save("carpet", (7.5, 3.6), CarpetDisplay(curves, "salary", changes=changes).plot)
    timeline = TimelineDisplay(curves, metrics={"accuracy": seen["accuracy"]}, changes=changes)
    save("timeline", (8, 5), timeline.plot)
    real = [change for change in changes if change.kind == "real"]
    largest = max(real, key=lambda change: change.size)
    save("change", (6, 4), ChangeDisplay(largest).plot)
    save("regions", (8, 6.6), RegionsDisplay(regions().splits).plot)


if __name__ == "__main__":
    main()
