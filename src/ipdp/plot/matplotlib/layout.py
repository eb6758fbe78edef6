"""Where a figure is drawn: new axes or the user's, divided into panels, with room for a rug.

The axes of a curve keep their place in the user's figure, whatever lays it out: they are drawn a
little smaller inside of it, and the axes of the histogram under the curve and of the missing value
beside it, which are children of theirs, fill the rest. The x axis itself moves below the histogram.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axes._base import _AxesBase
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

# Shares of the axes' place, with a gap, and the same in units of the axes that are left.
_RUG, _RUG_GAP = 0.13, 0.02
_MISSING, _MISSING_GAP = 0.11, 0.03
_BELOW, _BESIDE = _RUG + _RUG_GAP, _MISSING + _MISSING_GAP
_FLOOR = _BELOW / (1 - _BELOW)


class Frame:
    """What belongs to the axes of a curve; also the locator that makes room for it."""

    def __init__(self, ax: Axes) -> None:
        self._ax = ax
        self._before: Callable[[_AxesBase, RendererBase], Bbox] | None = ax.get_axes_locator()
        self.rug: Axes | None = None  # under those of the curve
        self.missing: Axes | None = None  # beside them
        self.categories: list[Any] = []  # on the x axis

    @classmethod
    def around(cls, ax: Axes) -> Frame:
        """The frame of these axes, an earlier one if there is one."""
        locator: object = ax.get_axes_locator()
        if isinstance(locator, Frame):
            return locator
        frame = Frame(ax)
        ax.set_axes_locator(frame)
        return frame

    def __call__(self, ax: _AxesBase, renderer: RendererBase) -> Bbox:
        """Where the axes are drawn."""
        below, beside = _BELOW if self.rug else 0.0, _BESIDE if self.missing else 0.0
        place = self._before(ax, renderer) if self._before else ax.get_position(original=True)
        bottom = place.y0 + below * place.height
        size = (1 - beside) * place.width, (1 - below) * place.height
        return Bbox.from_bounds(place.x0, bottom, *size)

    def add_rug(self) -> Axes:
        """The axes under those of the curve; they share the x axis."""
        if self.rug is None:
            place = (0.0, -_FLOOR, 1.0, _RUG / (1 - _BELOW))
            self.rug = self._ax.inset_axes(place, sharex=self._ax)
            self.rug.set_axis_off()
            self._ax.spines["bottom"].set_position(("axes", -_FLOOR))
            self._level()
        return self.rug

    def add_missing(self) -> Axes:
        """The axes at the right of those of the curve; they share the y axis."""
        if self.missing is None:
            left, width = 1 + _MISSING_GAP / (1 - _BESIDE), _MISSING / (1 - _BESIDE)
            self.missing = self._ax.inset_axes((left, 0.0, width, 1.0), sharey=self._ax)
            self.missing.set_axisbelow(True)
            self.missing.tick_params(axis="y", which="both", left=False, labelleft=False)
            self.missing.spines[["top", "right", "left"]].set_visible(False)
            self._level()
        return self.missing

    def _level(self) -> None:
        """Bring the two x axes to the same height."""
        if self.rug is not None and self.missing is not None:
            self.missing.spines["bottom"].set_position(("axes", -_FLOOR))


def new_axes(width: float = 6.0, height: float = 4.2) -> Axes:
    """Axes of a new figure, of which pyplot knows nothing."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)  # with it, also `figure.canvas.draw()` draws
    return figure.subplots()


def panels(
    ax: Axes | Sequence[Axes] | None,
    n: int,
    *,
    columns: int = 1,
    size: tuple[float, float],
    heights: Sequence[float] | None = None,
    share: str,
    n_shared: int | None = None,
) -> list[Axes]:
    """Axes for n panels, row by row; the first `n_shared` have the axis `share` in common.

    `ax` is None for a new figure of a size in inches; axes whose place is cut up, as in
    scikit-learn's displays; or as many axes as there are panels, or more.
    """
    if ax is not None and not isinstance(ax, Axes):
        given = list(np.asarray(ax, dtype=object).ravel())
        if len(given) < n:
            raise ValueError(f"{n} panels need {n} axes, got {len(given)}")
        return given[:n]
    ax = new_axes(*size) if ax is None else ax
    spec = ax.get_subplotspec()
    if spec is None:
        raise ValueError(
            "these axes have no place that could be divided: make them with figure.subplots()"
        )
    ax.set_axis_off()
    cut = spec.subgridspec(-(-n // columns), columns, height_ratios=heights)
    made: list[Axes] = []
    for k in range(n):
        in_common = made and (n_shared is None or k < n_shared)
        first = {f"share{share}": made[0]} if in_common else {}
        made.append(ax.figure.add_subplot(cut[divmod(k, columns)], **first))
    return made
