"""The display behind `curve.plot()`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.plot.categorical import draw_categories
from ipdp.plot.lines import widen
from ipdp.plot.numeric import draw_numbers
from ipdp.plot.outputs import are_probabilities, chosen, y_label
from ipdp.plot.pair import draw_pair
from ipdp.plot.parts import Parts, Style
from ipdp.plot.style import dress, fade, named, plain
from ipdp.typing import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class PDPDisplay:
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
    figure_: Figure | SubFigure

    def __init__(self, curve: Curve) -> None:
        self.curve = curve

    def plot(
        self,
        ax: Axes | None = None,
        *,
        output: Label | None = None,
        ice: bool = True,
        band: float | None = 0.95,
        rug: bool = True,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        ice_kw: Mapping[str, Any] | None = None,
        rug_kw: Mapping[str, Any] | None = None,
        mesh_kw: Mapping[str, Any] | None = None,
    ) -> PDPDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax
            Where to draw; what is there already stays, so that curves can be laid over each other.
            None makes a figure with pyplot, which a notebook shows by itself and `plt.show()`
            in a script. Nothing else here touches pyplot.
        output
            Which output to draw. By default all of them; of a classifier with two classes the
            second one, as the first says the same; of a pair the one with the largest effect.
        ice
            Whether to draw the recent ICE curves, the older the fainter. They are left out where
            there are several outputs.
        band
            Level of the confidence band, None for none.
        rug
            Whether to show the feature's recent values: as a histogram under the curve, along the
            axes of a pair.
        line_kw, band_kw, ice_kw, rug_kw, mesh_kw
            Settings of the artists, as matplotlib names them. A `color` of the line is taken over
            by what belongs to it; a `label` of the line puts it into the legend.

        Returns
        -------
        The display itself, with the artists as attributes.
        """
        _need_matplotlib()
        curve = chosen(self.curve, output)
        style = Style.of(ice, band, rug, line_kw, band_kw, ice_kw, rug_kw, mesh_kw)
        own_figure = ax is None
        ax = _new_axes() if ax is None else ax
        dress(ax)
        parts = _draw(curve, ax, style, y_label(self.curve, curve))
        if parts.lines and are_probabilities(self.curve):
            widen(ax, curve)
        if own_figure and curve.t is not None:
            ax.set_title(f"t = {curve.t:,.10g}", loc="right", fontsize="small", color=fade(ax, 0.6))
        self._keep(ax, parts)
        return self

    def _keep(self, ax: Axes, parts: Parts) -> None:
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_, self.bands_, self.ice_lines_ = parts.lines, parts.bands, parts.ice_lines
        self.missing_, self.mesh_, self.colorbar_ = parts.missing, parts.mesh, parts.colorbar
        self.rug_ax_, self.missing_ax_ = parts.rug_ax, parts.missing_ax

    def __repr__(self) -> str:
        return f"PDPDisplay({self.curve!r})"


def _draw(curve: Curve, ax: Axes, style: Style, label: str) -> Parts:
    if len(curve.grid_values) == 2:
        return draw_pair(curve, ax, style, label)
    ax.set_xlabel(named(curve.features[0]), **plain())
    ax.set_ylabel(label, **plain())
    draw = draw_categories if curve.categorical[0] else draw_numbers
    return draw(curve, ax, style)


def _need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("drawing needs matplotlib: pip install 'ipdp[plot]'") from None


def _new_axes() -> Axes:
    # With pyplot and not as a bare Figure: notebooks show pyplot's figures at the end of a cell.
    from matplotlib import pyplot as plt

    _, ax = plt.subplots(figsize=(6.0, 4.2), layout="constrained")
    return ax
