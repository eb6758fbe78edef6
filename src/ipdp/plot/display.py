"""The display behind `curve.plot()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Label
from ipdp.plot.categorical import draw_categories, name_ticks
from ipdp.plot.context import draw_compare, draw_trail
from ipdp.plot.frame import Frame
from ipdp.plot.lines import say_nothing_yet, widen
from ipdp.plot.numeric import draw_numbers
from ipdp.plot.pair import draw_pair
from ipdp.plot.parts import Parts, Style
from ipdp.plot.places import checked_backend, new_axes
from ipdp.plot.shown import Shown
from ipdp.plot.style import add_legend, dress, fade, named, plain
from ipdp.plot.support import known
from ipdp.plot.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PDPDisplay(Shown):
    """A curve and its drawing.

    As with scikit-learn's displays, computing and drawing are two things: the curve is computed
    once and can be drawn many times, in other places and styles.

    Parameters
    ----------
    curve
        What to draw.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_
        One line for each output.
    bands_
        Confidence band of each line; error bars for categories.
    ice_lines_
        The recent ICE curves, oldest first, as one collection; empty where none were drawn.
    missing_
        Error bar of the point for a missing value, one for each output.
    mesh_, colorbar_
        Surface and colour bar of a pair, else None.
    rug_ax_, missing_ax_
        The strip under the curve and the one beside it, None where there is none.
    trail_, compare_
        For each output the earlier curves as one collection, and the line compared with.
    density_
        Contours, or dots, of the data over a pair; None of too few.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from ipdp import Curve
    >>> curve = Curve(
    ...     feature="age",
    ...     outputs=("prediction",),
    ...     grid_values=[np.array([20.0, 40.0, 60.0])],
    ...     average=np.array([[1.0, 2.0, 6.0]]),
    ...     std_error=np.array([[0.1, 0.1, 0.2]]),
    ...     n_samples=500,
    ...     n_effective_points=np.array([400.0, 400.0, 400.0]),
    ... )
    >>> display = PDPDisplay(curve).plot(ax=Figure().subplots())
    >>> display.lines_[0].get_ydata()
    array([1., 2., 6.])
    """

    ax_: Axes

    def __init__(self, curve: Curve) -> None:
        self.curve = curve

    def plot(
        self,
        ax: Axes | None = None,
        *,
        output: Label | None = None,
        centred: bool = False,
        trail: Sequence[Curve] = (),
        compare: Curve | None = None,
        ice: bool | None = None,
        band: float | None = 0.95,
        rug: bool = True,
        data: Any = None,
        backend: str = "matplotlib",
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        ice_kw: Mapping[str, Any] | None = None,
        rug_kw: Mapping[str, Any] | None = None,
        mesh_kw: Mapping[str, Any] | None = None,
        trail_kw: Mapping[str, Any] | None = None,
        compare_kw: Mapping[str, Any] | None = None,
    ) -> Any:
        """Draw the curve.

        Parameters
        ----------
        ax
            Where to draw; what is there already stays, so that curves can be laid over each other.
            None makes a new figure: a notebook shows the display by itself, `show` opens a window,
            `figure_.savefig` writes a file.
        output
            Which output to draw. By default all of them; of a classifier with two classes the
            second one, as the first says the same; of a pair the one with the largest effect.
        centred
            Whether to draw the curve minus its mean over the points, and each ICE curve and
            each curve beside it minus its own: shapes are compared, not levels.
        trail
            Earlier curves of the feature, drawn behind it: the older the fainter.
        compare
            Another curve of the feature, for instance the one that `ipdp.partial_dependence` gives,
            drawn as a dashed line.
        ice
            Whether to draw the recent ICE curves, the older the fainter. By default yes, unless
            there is a trail. They are left out where there are several outputs.
        band
            Level of the confidence band, None for none.
        rug
            Whether to show the feature's recent values: as a histogram under the curve, along the
            axes of a pair.
        data
            Observations, as a frame or a list of dicts, whose density is drawn over the surface
            of a pair: contours around 50, 80 and 95 % of them, or dots for categories. None
            takes the recent ones that the curve knows of.
        backend
            "matplotlib" or "plotly".
        line_kw, band_kw, ice_kw, rug_kw, mesh_kw, trail_kw, compare_kw
            Settings of the artists, as matplotlib names them. A `color` of the line is taken over
            by what belongs to it; a `label` of the line puts it into the legend.

        Returns
        -------
        The display itself, with the artists as attributes; with "plotly" a
        `plotly.graph_objects.Figure`.
        """
        settings = (line_kw, band_kw, ice_kw, rug_kw, mesh_kw, trail_kw, compare_kw)
        checked_backend(backend, ax=ax, settings=next((kw for kw in settings if kw), None))
        view = View.of(self.curve, output=output, centred=centred, trail=trail, compare=compare)
        if data is not None and len(self.curve.grid_values) == 1:
            raise ValueError("data is for the surface of a pair; this curve shows its own values")
        ice = not view.trail if ice is None else ice
        if backend == "plotly":
            from ipdp.plot.interactive.curve import curve_figure

            return curve_figure(view, ice=ice, band=band, rug=rug, data=data)
        return self._plot(ax, view, Style.of(ice, band, rug, *settings), data)

    def _plot(self, ax: Axes | None, view: View, style: Style, data: Any) -> PDPDisplay:
        own_figure = ax is None
        ax = new_axes() if ax is None else ax
        dress(ax)
        parts = _draw(view, ax, style, data)
        if not (view.trail or np.isfinite(known(view.curve)).any()):
            say_nothing_yet(ax)
        if parts.lines and view.span:
            widen(ax, y=view.span)
        if own_figure and view.curve.t is not None and not view.trail:
            now = f"t = {view.curve.t:,.10g}"
            ax.set_title(now, loc="right", fontsize="small", color=fade(ax, 0.6))
        self._keep(ax, parts)
        return self

    def _keep(self, ax: Axes, parts: Parts) -> None:
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_, self.bands_, self.ice_lines_ = parts.lines, parts.bands, parts.ice_lines
        self.missing_, self.mesh_, self.colorbar_ = parts.missing, parts.mesh, parts.colorbar
        self.rug_ax_, self.missing_ax_ = parts.rug_ax, parts.missing_ax
        self.trail_, self.compare_, self.density_ = parts.trail, parts.compare, parts.density

    def __repr__(self) -> str:
        return f"PDPDisplay({self.curve!r})"


def _draw(view: View, ax: Axes, style: Style, data: Any) -> Parts:
    curve = view.curve
    if len(curve.grid_values) == 2:
        return draw_pair(view, ax, style, data)
    ax.set_xlabel(named(curve.features[0]), **plain())
    ax.set_ylabel(view.label, **plain())
    beside = bool(view.trail) or view.compare is not None
    if beside and len(curve.outputs) == 1 and "label" not in style.line:
        style = replace(style, line={**style.line, "label": view.name})
    draw = draw_categories if curve.categorical[0] else draw_numbers
    parts = draw(curve, ax, style)
    if beside:
        _draw_beside(view, ax, style, parts)
    return parts


def _draw_beside(view: View, ax: Axes, style: Style, parts: Parts) -> None:
    outputs = view.curve.outputs
    looks = [line.get_color() for line in parts.lines]
    if view.trail:
        parts.trail = draw_trail(ax, view.trail, outputs, looks, style.earlier)
    if view.compare is not None:
        parts.compare = draw_compare(ax, view.compare, outputs, looks, style.other)
    if view.curve.categorical[0]:  # there may be more of them now
        name_ticks(ax.xaxis, Frame.around(ax).categories)
    add_legend(ax)
