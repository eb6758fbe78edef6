"""A change: before and after."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.monitor.change import Change
from ipdp.plot.display import PDPDisplay
from ipdp.plot.frame import Frame
from ipdp.plot.outputs import output_name
from ipdp.plot.places import checked_backend, new_axes
from ipdp.plot.shown import Shown
from ipdp.plot.style import fade, named, plain
from ipdp.plot.weave import edges_around

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text

_LETTERS = 72


class ChangeDisplay(Shown):
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
        if len(change.before.grid_values) > 1:
            raise ValueError(
                f"{change.feature!r} is a pair, whose surfaces cannot be laid over each other: "
                "draw change.before and change.after"
            )
        self.change = change

    def plot(self, ax: Axes | None = None, *, backend: str = "matplotlib") -> Any:
        """Draw both curves.

        Parameters
        ----------
        ax
            Where to draw; None makes a new figure.
        backend
            "matplotlib" or "plotly".

        Returns
        -------
        The display itself; with "plotly" a `plotly.graph_objects.Figure`.
        """
        checked_backend(backend, ax=ax)
        if backend == "plotly":
            from ipdp.plot.interactive.change import change_figure

            return change_figure(self.change)
        ax = new_axes() if ax is None else ax
        style: dict[str, Any] = {"ice": False, "rug": False}
        for side, name in zip(("before", "after"), labels(self.change), strict=True):
            display = PDPDisplay(getattr(self.change, side)).plot(
                ax, line_kw={"label": name}, **style
            )
            setattr(self, f"{side}_", display)
        self.ax_, self.figure_ = ax, ax.figure
        self.where_ = [
            ax.axvspan(low, high, color=fade(ax, 0.12), linewidth=0, zorder=0)
            for low, high in shaded(self.change, Frame.around(ax).categories)
        ]
        ax.set_ylabel(output_name(self.change.output), **plain())
        sentence = textwrap.fill(sentence_of(self.change), _LETTERS)
        self.title_ = ax.set_title(sentence, fontsize="small", **plain())
        return self

    def __repr__(self) -> str:
        return f"ChangeDisplay({self.change!r})"


def labels(change: Change) -> tuple[str, str]:
    """What the two curves are called."""
    return f"before t = {change.began:,.10g}", f"at t = {change.t:,.10g}"


def sentence_of(change: Change) -> str:
    """The sentence, with all letters shown as they are, on one line."""
    return named(change.summary(), width=400)


def shaded(change: Change, categories: list[Any]) -> list[tuple[float, float]]:
    """The parts of the axis that changed; categories stand at their numbers.

    Of a virtual change these are the parts that only one of the two ranges reaches.
    """
    where = _moved(change) if change.kind == "virtual" else change.where or ()
    if change.is_categorical:
        numbers = [categories.index(c) for c in where if c in categories]
        return [(k - 0.5, k + 0.5) for k in numbers]
    if change.kind == "virtual" or not where:
        return list(where)
    low, high = where
    axis = np.asarray(change.before.grid_values[0], dtype=float)
    if low == high and len(axis) > 1:  # a single point: as wide as what it stands for
        k = int(np.abs(axis - low).argmin())
        low, high = edges_around(axis)[k : k + 2]
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
