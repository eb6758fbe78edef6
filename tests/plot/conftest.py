from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

import ipdp
from ipdp.comparison import ScoreMove, ScorePart
from ipdp.explainers import Split
from ipdp.log import Log, LogReader

matplotlib.use("Agg")


def make_curve(**changes: Any) -> ipdp.Curve:
    """A curve of a number with one output, five points, three ICE curves and a rug."""
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    base = np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    values: dict[str, Any] = {
        "feature": "age",
        "outputs": ("prediction",),
        "grid_values": [x],
        "average": base[None],
        "std_error": np.full((1, 5), 0.25),
        "n_samples": 300,
        "n_effective_points": np.full(5, 200.0),
        "t": 300,
        "ice": np.stack([base - 1, base, base + 2])[None],
        "rug": [np.linspace(0.0, 4.0, 50)],
    }
    return ipdp.Curve(**{**values, **changes})


def make_split(feature: str = "age", gain: float = 0.6, spread: float = 2.0) -> Split:
    """A split of a number by a category."""
    whole = make_curve(feature=feature, ice_spread=np.full((1, 5), spread))
    words = "sex = f", "sex = m"
    one, other = (
        make_curve(feature=f"{feature}, where {word}", average=whole.average * k, ice=None)
        for word, k in zip(words, (2, 0.5), strict=True)
    )
    return Split(feature, "sex", words, gain, 0.1, 0.3, whole, (one, other))


def make_binary(**changes: Any) -> ipdp.Curve:
    """A curve of the probabilities of two classes."""
    p = np.array([0.2, 0.4, 0.6, 0.5, 0.9])
    values: dict[str, Any] = {
        "outputs": (False, True),
        "average": np.stack([1 - p, p]),
        "std_error": np.full((2, 5), 0.02),
        "ice": np.stack([np.stack([1 - p, 1 - p]), np.stack([p, p])]),
    }
    return make_curve(**{**values, **changes})


def make_categories(*categories: Any, **changes: Any) -> ipdp.Curve:
    """A curve of categories, with 10, 20, ... values of them in the rug."""
    axis = np.empty(len(categories), dtype=object)
    axis[:] = categories
    values: dict[str, Any] = {
        "grid_values": [axis],
        "average": np.arange(1.0, len(axis) + 1)[None],
        "std_error": np.full((1, len(axis)), 0.5),
        "n_effective_points": np.full(len(axis), 200.0),
        "categorical": (True,),
        "ice": np.arange(2.0 * len(axis)).reshape(1, 2, -1),
        "rug": [np.repeat(axis, 10 * np.arange(1, len(axis) + 1))],
    }
    return make_curve(**{**values, **changes})


def make_pair(**changes: Any) -> ipdp.Curve:
    """A curve of two numbers on a grid of 4 x 3."""
    first, second = np.array([0.0, 1.0, 2.0, 3.0]), np.array([10.0, 20.0, 40.0])
    values: dict[str, Any] = {
        "feature": ("age", "salary"),
        "grid_values": [first, second],
        "average": (first[:, None] * second)[None],
        "std_error": np.ones((1, 4, 3)),
        "n_effective_points": np.full((4, 3), 100.0),
        "categorical": (False, False),
        "ice": None,
        "rug": [np.linspace(-1.0, 3.0, 9), np.linspace(10.0, 40.0, 7)],
    }
    return make_curve(**{**values, **changes})


def make_history(n: int = 4, **changes: Any) -> list[ipdp.Curve]:
    """Curves at t = 100, 200, ..., each higher by the first one and one further to the right."""
    first = make_curve(ice=None)
    return [
        make_curve(
            **{
                "t": 100 * (k + 1),
                "grid_values": [first.grid_values[0] + k],
                "average": first.average * (k + 1),
                "ice": None,
                **changes,
            }
        )
        for k in range(n)
    ]


def make_change(**changes: Any) -> ipdp.Change:
    """A real change of the right half of an axis."""
    before, after = make_curve(ice=None, rug=[]), make_curve(ice=None, rug=[])
    values: dict[str, Any] = {
        "feature": before.feature,
        "output": "prediction",
        "t": 300,
        "began": 250,
        "before": before,
        "after": make_curve(ice=None, rug=[], average=after.average[:, ::-1]),
        "where": (2.0, 4.0),
        "range_before": (0.0, 4.0),
        "range_after": (0.0, 4.0),
    }
    return ipdp.Change(**{**values, **changes})


@pytest.fixture
def write_log() -> Iterator[Callable[..., LogReader]]:
    """A finished log of some snapshots, read again; it is closed after the test."""
    with ExitStack() as readers:

        def write_log(path: Path, snapshots: list[dict[Any, ipdp.Curve]], **more: Any) -> LogReader:
            with Log(path) as log:
                log.begin({}, list(snapshots[0]))
                for k, curves in enumerate(snapshots):
                    log.snapshot(curves, 100 * (k + 1))
                for change in more.get("changes", ()):
                    log.change(change, int(change.t))
                for n, value in more.get("accuracy", ()):
                    log.metric({"accuracy": value}, n)
                log.end(100 * len(snapshots))
            return readers.enter_context(LogReader(path))

        yield write_log


def texts_of(figure: Any) -> list[str]:
    """Every text of a figure that is not empty, as it is shown."""
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def traces(figure, meta):
    """The traces of a plotly figure of one kind."""
    assert isinstance(figure, go.Figure)
    return [trace for trace in figure.data if trace.meta == meta]


@pytest.fixture
def ax() -> Axes:
    return Figure(layout="constrained").subplots()


@pytest.fixture
def render() -> Callable[[Axes], None]:
    """Draws for real: what is wrong with a text or a size comes out only then."""
    return lambda ax: ax.figure.savefig(BytesIO(), format="png", dpi=40)


@pytest.fixture(autouse=True)
def _no_figure_is_left() -> Iterator[None]:
    yield
    plt.close("all")


def make_move(*parts, level=0.0, rest=0.0, **more):
    """A move of the mean prediction from 2, with these parts: feature, data, model."""
    made = [ScorePart(*part) for part in parts]
    total = sum(part.total for part in made) + level + rest
    given = {"names": ("May", "June"), "output": "y", "output_text": "y", "std": 1.0, **more}
    return ScoreMove(before=2.0, after=2.0 + total, parts=made, level=level, rest=rest, **given)
