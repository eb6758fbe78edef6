"""Room for a strip under the curve and one beside it, cut out of the axes' own place.

The axes keep their place in the user's figure, whatever lays it out: they are drawn a little
smaller inside of it, and the strips, which are children of theirs, fill the rest. The x axis itself
moves below the strip, so that its label and ticks are where one looks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.typing import Array, FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.axes._base import _AxesBase
    from matplotlib.backend_bases import RendererBase
    from matplotlib.transforms import Bbox

    Locator = Callable[[_AxesBase, RendererBase], Bbox]

# Shares of the axes' place.
_STRIP, _STRIP_GAP = 0.13, 0.02
_SIDE, _SIDE_GAP = 0.11, 0.03


class Frame:
    """The strips and categories of some axes; also the locator that makes room for them."""

    def __init__(self, ax: Axes) -> None:
        self._ax = ax
        self._before: Locator | None = ax.get_axes_locator()
        self.strip: Axes | None = None
        self.side: Axes | None = None
        self.categories: list[Any] = []

    @classmethod
    def around(cls, ax: Axes) -> Frame:
        """The frame of these axes, an earlier one if there is one."""
        locator: object = ax.get_axes_locator()
        if isinstance(locator, Frame):
            return locator
        frame = Frame(ax)
        ax.set_axes_locator(frame)
        return frame

    def places(self, categories: Array) -> FloatArray:
        """Where categories stand on the x axis; those of earlier curves keep their places."""
        wanted = categories.tolist()
        self.categories += [c for c in wanted if c not in self.categories]
        return np.array([self.categories.index(c) for c in wanted], dtype=float)

    @property
    def _bottom(self) -> float:
        return _STRIP + _STRIP_GAP if self.strip else 0.0

    @property
    def _right(self) -> float:
        return _SIDE + _SIDE_GAP if self.side else 0.0

    def __call__(self, ax: _AxesBase, renderer: RendererBase) -> Bbox:
        """Where the axes are drawn."""
        from matplotlib.transforms import Bbox

        place = self._before(ax, renderer) if self._before else ax.get_position(original=True)
        return Bbox.from_bounds(
            place.x0,
            place.y0 + self._bottom * place.height,
            (1 - self._right) * place.width,
            (1 - self._bottom) * place.height,
        )

    def open_strip(self) -> Axes:
        """The strip under the axes; they share their x axis."""
        if self.strip is None:
            # In units of the axes as they will be once the strip has taken its share.
            height = _STRIP / (1 - _STRIP - _STRIP_GAP)
            floor = (_STRIP + _STRIP_GAP) / (1 - _STRIP - _STRIP_GAP)
            self.strip = self._ax.inset_axes((0.0, -floor, 1.0, height), sharex=self._ax)
            self.strip.set_axis_off()
            self._ax.spines["bottom"].set_position(("axes", -floor))
            self._level()
        return self.strip

    def open_side(self) -> Axes:
        """The strip at the right of the axes; they share their y axis."""
        if self.side is None:
            left = 1 + _SIDE_GAP / (1 - _SIDE - _SIDE_GAP)
            width = _SIDE / (1 - _SIDE - _SIDE_GAP)
            self.side = self._ax.inset_axes((left, 0.0, width, 1.0), sharey=self._ax)
            self.side.set_axisbelow(True)
            self.side.tick_params(axis="y", which="both", left=False, labelleft=False)
            self.side.spines[["top", "right", "left"]].set_visible(False)
            self._level()
        return self.side

    def _level(self) -> None:
        """Bring the two x axes to the same height."""
        if self.strip is not None and self.side is not None:
            floor = (_STRIP + _STRIP_GAP) / (1 - _STRIP - _STRIP_GAP)
            self.side.spines["bottom"].set_position(("axes", -floor))
