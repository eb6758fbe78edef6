"""A change: before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.validation import must_be_like
from ipdp.monitor.change import Change
from ipdp.plot.shown.display import NotebookDisplay, PDPDisplay
from ipdp.plot.shown.style import named, time_text
from ipdp.plot.shown.values import edges_around

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text


class ChangeDisplay(NotebookDisplay):
    """The curve before and after a change, with the part of the axis that changed.

    Parameters
    ----------
    change
        What to draw, as `ipdp.Monitor` and logs give it.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    before_, after_
        The displays of the two curves.
    where_
        The shaded parts of the axis: where the curve changed, or what only one of the two ranges
        reaches where nothing but the range did.
    title_
        The sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from ipdp import Change, Curve
    >>> def curve(values):
    ...     return Curve("age", ("prediction",), [np.array([20.0, 40.0, 60.0])],
    ...         np.array([values]), np.full((1, 3), 0.01), 300, np.full(3, 300.0))
    >>> change = Change("age", "prediction", t=900, began=800, where=(40.0, 60.0),
    ...     before=curve([0.0, 1.0, 2.0]), after=curve([0.0, 0.5, -2.0]))
    >>> display = ChangeDisplay(change).plot(ax=Figure().subplots())
    >>> display.after_.lines_[0].get_ydata()
    array([ 0. ,  0.5, -2. ])
    """

    ax_: Axes
    before_: PDPDisplay
    after_: PDPDisplay
    where_: list[Rectangle]
    title_: Text

    def __init__(self, change: Change) -> None:
        must_be_like("change", change, "before", "a Change")
        if len(change.before.grid_values) > 1:
            raise ValueError(
                f"{change.feature!r} is a pair, whose surfaces cannot be laid over each other: "
                "draw change.before and change.after"
            )
        self.change = change

    def plot(self, ax: Axes | None = None, *, backend: str = "matplotlib") -> Any:
        """Draw both curves; `ax`, `backend` and what is returned are as in `PDPDisplay.plot`."""
        return self._draw(backend, "change", shown_change(self.change), ax)

    def __repr__(self) -> str:
        return f"ChangeDisplay({self.change!r})"


@dataclass(frozen=True)
class ShownChange:
    """What is drawn of a change."""

    curves: list[tuple[Curve, str]]  # before and after it, with their names in the legend
    options: dict[str, Any]  # how they are drawn, as in `PDPDisplay.plot`
    label: str  # of the axis of the output
    sentence: str
    parts: list[tuple[float, float]]  # of the x axis that are shaded


def shown_change(change: Change) -> ShownChange:
    """What is drawn of a change."""
    names = f"before {time_text(change.began)}", f"at {time_text(change.t)}"
    return ShownChange(
        curves=list(zip((change.before, change.after), names, strict=True)),
        options={"ice": False, "rug": False},
        label=named(change.output_text),
        sentence=named(change.summary(), width=400),
        parts=_shaded(change),
    )


def _shaded(change: Change) -> list[tuple[float, float]]:
    """The parts of the axis that changed; of a virtual change those that one range only reaches."""
    where = _moved(change) if change.kind == "virtual" else change.where or ()
    if change.is_categorical:
        both = (*change.before.grid_values[0].tolist(), *change.after.grid_values[0].tolist())
        categories = list(dict.fromkeys(both))
        numbers = [categories.index(c) for c in where if c in categories]
        return [(k - 0.5, k + 0.5) for k in numbers]
    if change.kind == "virtual" or not where:
        return list(where)
    low, high = where
    points = np.asarray(change.before.grid_values[0], dtype=float)
    if low == high and len(points) > 1:  # a single point: as wide as what it stands for
        k = int(np.abs(points - low).argmin())
        low, high = edges_around(points)[k : k + 2]
    return [(float(low), float(high))]


def _moved(change: Change) -> tuple[Any, ...]:
    before, after = change.range_before, change.range_after
    if change.is_categorical:
        return tuple(c for c in (*before, *after) if c not in before or c not in after)
    if len(before) != 2 or len(after) != 2:
        return ()
    (low, high), (later_low, later_high) = before, after
    if later_low >= high or low >= later_high:
        return before, after
    ends = [sorted((low, later_low)), sorted((high, later_high))]
    return tuple((float(a), float(b)) for a, b in ends if b > a)
