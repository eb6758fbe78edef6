"""A stream that drifts twice, explained as it goes: `python -m ipdp.demo`.

The stream is the paper's: loan decisions of the Agrawal generator. In the first third they depend
on age and education; then the rule changes to age and salary (a real drift); in the last third the
rule stays but salaries rise (a virtual drift). Everything is generated, nothing is downloaded.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ipdp
from ipdp.core.curve import Curve
from ipdp.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import Console

FEATURES = ("salary", "age", "elevel")
N, N_QUICK, N_LEAST = 15_000, 3_000, 300
_COLOURS = {"salary": "#0072B2", "age": "#D55E00", "elevel": "#009E73"}
_SNAPSHOTS = 150
_WARM_UP = 20  # values that a grid collects before there is a curve

Person = dict[Any, Any]
Decision = Callable[[Person], int]


# The stream.


def by_education(x: Person) -> int:
    """The first rule: age and education decide (river's classification function 2)."""
    if x["age"] < 40:
        return int(x["elevel"] in (0, 1))
    return int(x["elevel"] in ((1, 2, 3) if x["age"] < 60 else (2, 3, 4)))


def by_salary(x: Person) -> int:
    """The second rule: age and salary decide (river's classification function 1)."""
    low = 50_000 if x["age"] < 40 else 75_000 if x["age"] < 60 else 25_000
    return int(low <= x["salary"] <= low + 50_000)


def stream(n: int, seed: int = 42) -> Iterator[tuple[Person, int]]:
    """Loan decisions with a real drift after a third of them and a virtual one after two."""
    from river.datasets import synth

    rng = random.Random(seed)
    for t, (x, _) in enumerate(synth.Agrawal(seed=seed).take(n)):
        if 3 * t >= 2 * n:
            x["salary"] *= rng.uniform(1, 1.3334)
        yield x, by_education(x) if 3 * t < n else by_salary(x)


# The run.


@dataclass
class Record:
    """What was seen on the way: every few observations the time, the curves and the accuracy."""

    n: int
    seconds: float = 0.0
    accuracy: list[float] = field(default_factory=list)
    t: list[int] = field(default_factory=list)
    curves: list[dict[Any, Curve]] = field(default_factory=list)

    @property
    def step(self) -> int:
        """How many observations there are from one snapshot to the next."""
        return max(self.n // _SNAPSHOTS, 1)

    @property
    def drifts(self) -> tuple[int, int]:
        """When the real and the virtual drift happen."""
        return -(-self.n // 3), -(-2 * self.n // 3)

    @property
    def moments(self) -> tuple[int, int, int, int]:
        """When to look: before, during and after the real drift, and after the virtual one."""
        real, virtual = self.drifts
        return real, real + 4 * self.step, virtual, self.n

    def salary(self, t: float) -> Curve:
        """The last curve of salary that was taken up to this time, of the class "granted"."""
        return self.curves[np.searchsorted(self.t, t, side="right") - 1]["salary"].select(1)


def run(n: int, tick: Callable[[int, float], None] = lambda _t, _accuracy: None) -> Record:
    """Predict, explain, learn, n times; `tick` is told how far it is and how well it goes."""
    from river import tree

    # Splits early, so that it is right again soon after the rule has changed.
    model: Any = tree.HoeffdingAdaptiveTreeClassifier(grace_period=25, delta=0.01, seed=42)
    alpha, window = min(30 / n, 0.05), max(n // 15, 20)
    pdp = ipdp.IncrementalPDP(
        model,
        FEATURES,
        alpha=alpha,
        grid={"salary": ipdp.grid.MinMax(20, window), "age": ipdp.grid.MinMax(8, window)},
        estimator="regrid",
        every=2,  # enough for the picture, in half of the time
        seed=42,
    )
    hits = ipdp.Smoothing(alpha=alpha)
    record = Record(n)
    started = time.perf_counter()
    for t, (x, y) in enumerate(stream(n), start=1):
        hits.update(float(model.predict_one(x) == y))
        pdp.explain_one(x)
        model.learn_one(x, y)
        if t % record.step == 0 and t > _WARM_UP:
            record.t.append(t)
            record.curves.append(pdp.curves)
            record.accuracy.append(hits.value)
        if t % 50 == 0 or t == n:
            tick(t, hits.value)
    record.seconds = time.perf_counter() - started
    return record


def run_with_progress(n: int, console: Console) -> Record:
    """The same with a progress bar."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("explaining"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:>7}"),
        TimeRemainingColumn(),
        TextColumn("accuracy {task.fields[accuracy]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=n, rate="", accuracy="  -  ")
        started = time.perf_counter()

        def tick(t: int, accuracy: float) -> None:
            rate = f"{t / (time.perf_counter() - started):,.0f}/s"
            progress.update(task, completed=t, rate=rate, accuracy=f"{accuracy:5.1%}")

        return run(n, tick)


# The picture.


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
        dashed = ax.plot(x, rule, color="0.2", linewidth=1.2, linestyle=(0, (4, 2)), zorder=3)
        ax.set(ylim=(-0.04, 1.04), xlim=(10_000, 210_000), ylabel="" if k else "P(loan)")
        ax.set_xticks([50_000, 100_000, 150_000, 200_000], ["50k", "100k", "150k", "200k"])
        ax.tick_params(labelleft=not k)
        ax.set_title(f"{k + 1}  {title}\n", fontsize=11, loc="left", fontweight="bold")
        ax.text(0, 1.03, f"t = {curve.t:,}", transform=ax.transAxes, color="0.4", fontsize=9)
    faint = Line2D([], [], color=_COLOURS["salary"], alpha=0.6, linewidth=0.8)
    handles: list[Any] = [(display.bands_[0], display.lines_[0]), faint, dashed[0]]
    names = ["iPDP with its 95 % band", "recent ICE curves", "the rule behind the data"]
    axes[0].figure.legend(handles, names, loc="upper right", ncols=3, frameon=False, fontsize=9.5)


def truth(decide: Decision, salaries: FloatArray) -> FloatArray:
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
    bar.set_label("P(loan)")
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
    """Share of right predictions of late, each made before its observation was learnt."""
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


# The command.


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; the exit code is 0, 1 after an error, 130 after Ctrl-C."""
    given = parser().parse_args(argv)
    n = given.n or (N_QUICK if given.quick else N)
    try:
        import matplotlib.figure  # noqa: F401  # should it be missing: now, not after the run
        from rich.console import Console

        console = Console()
        path = writable(given.out) / "demo.png"
        real, virtual = Record(n).drifts
        drifts = f"the rule changes after {real:,}, salaries rise after {virtual:,}"
        say(console, f"{n:,} loan decisions: {drifts}.")
        record = run_with_progress(n, console)
        save(picture(record), path)
        report(record, path, console)
    except KeyboardInterrupt:
        return refuse("Stopped.", 130)
    except ImportError as error:
        return refuse(
            f"The demo needs {(error.name or '').split('.')[0]}: pip install 'ipdp[demo]'", 1
        )
    except OSError as error:
        return refuse(f"Cannot write to {given.out}: {error.strerror or error}.", 1)
    return 0


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    command = argparse.ArgumentParser(
        prog="python -m ipdp.demo",
        description="Explain a model on a stream that drifts twice, and draw what it believed.",
    )
    command.add_argument(
        "--out",
        type=Path,
        default=Path("ipdp-demo"),
        metavar="DIR",
        help="where to put demo.png (default: %(default)s)",
    )
    command.add_argument(
        "--n", type=count, metavar="N", help=f"number of observations (default: {N})"
    )
    command.add_argument(
        "--quick", action="store_true", help=f"take {N_QUICK} observations instead"
    )
    return command


def count(text: str) -> int:
    """The number of observations that a text stands for."""
    n = int(text)
    if n < N_LEAST:
        raise argparse.ArgumentTypeError(f"must be at least {N_LEAST}, got {n}")
    return n


def writable(directory: Path) -> Path:
    """The directory, made if it is not there; an OSError now rather than after the run."""
    directory.mkdir(parents=True, exist_ok=True)
    probe = directory / ".ipdp-demo"
    probe.touch()
    probe.unlink()
    return directory


def save(figure: Figure, path: Path) -> None:
    """Write the picture whole or not at all."""
    part = path.with_name(".demo.part.png")
    try:
        figure.savefig(part, dpi=120)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def report(record: Record, path: Path, console: Console) -> None:
    """Say in a few lines what happened."""
    points = sum(len(record.curves[-1][name].grid_values[0]) for name in FEATURES)
    before, _, learnt, last = (record.salary(t).importance[0] for t in record.moments)
    say(
        console,
        f"Explained {len(FEATURES)} features at {points} points for every second observation: "
        f"{record.seconds:.0f} s with learning, {record.n / record.seconds:,.0f} observations/s.",
    )
    say(
        console,
        f"Importance of salary: {before:.2f} before the rule changed, {learnt:.2f} before "
        f"salaries rose, {last:.2f} at the end.",
    )
    say(console, f"The picture is {path}")


def say(console: Console, line: str) -> None:
    """Print a line as it is: no colours by guess, no breaks within a path."""
    console.print(line, soft_wrap=True, markup=False, highlight=False)


def refuse(sentence: str, code: int) -> int:
    """Say why there is nothing to see."""
    sys.stderr.write(f"{sentence}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
