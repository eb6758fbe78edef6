"""What all displays have in common, and the one behind `curve.plot()`."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.typing import Label
from ipdp.core.validation import must_be_like
from ipdp.core.words import shown
from ipdp.plot.shown.pair import shown_of
from ipdp.plot.shown.values import is_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_BACKENDS = ("matplotlib", "plotly")
# Pixels of the picture for each pixel that it takes on the page: sharp on a fine screen.
_SHARP = 2
# matplotlib's backends that write files and have no window.
_WINDOWLESS = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}


def _check_backend(backend: str, *, with_artists: bool) -> None:
    """Refuse a backend that does not exist, is not there, or is given axes of another one."""
    if backend not in _BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(_BACKENDS)}, got {shown(backend)}")
    if backend == "plotly" and with_artists:
        raise ValueError(
            "axes and settings of artists are matplotlib's; with plotly, change the figure that "
            "is returned"
        )
    try:
        __import__(backend)
    except ImportError:
        raise ImportError(f"drawing needs {backend}: pip install 'ipdp[plot]'") from None


class NotebookDisplay:
    """A display whose figure shows itself in a notebook, and in a window on request.

    The figure is a plain `matplotlib.figure.Figure`, of which pyplot knows nothing: it goes when
    the display goes, and `figure_.savefig` writes it. Only `show` hands it to pyplot.
    """

    figure_: Figure | SubFigure

    def _draw(
        self, backend: str, kind: str, shown: Any, ax: Any, *settings: Mapping[str, Any]
    ) -> Any:
        """Draw what is shown, by the module of the backend that has the kind's name.

        matplotlib's `draw(shown, ax, *settings)` gives artists by name, which become attributes of
        the display with an underscore; plotly's `figure(shown)` gives the figure. The settings, if
        the kind has any, are a mapping of those of each kind of artist.
        """
        given = any(any(by_artist.values()) for by_artist in settings)
        _check_backend(backend, with_artists=ax is not None or given)
        module = import_module(f"ipdp.plot.{backend}.{kind}")
        if backend == "plotly":
            return module.figure(shown)
        several = ax if isinstance(ax, (list, tuple)) and ax else getattr(ax, "flat", [ax])
        for each in () if ax is None else several:
            must_be_like("ax", each, "get_figure", "axes of matplotlib")
        artists = module.draw(shown, ax, *settings)
        vars(self).update({f"{name}_": artist for name, artist in artists.items()})
        return self

    def show(self, *, block: bool | None = None) -> None:
        """Open a window with the figure, as `matplotlib.pyplot.show` does; in a notebook, show it.

        Parameters
        ----------
        block
            Whether to wait until all windows are closed. By default so in a script, and not
            where matplotlib is interactive.
        """
        figure = self._drawn()
        if figure is None:
            raise ValueError("nothing is drawn yet: call plot() first")
        from matplotlib import pyplot as plt

        backend = plt.get_backend()
        if backend.lower() in _WINDOWLESS:
            raise RuntimeError(
                f"matplotlib's backend {backend!r} has no window: choose another one with "
                "matplotlib.use(), or write a file with figure_.savefig()"
            )
        if not _is_pyplots(figure):
            plt.figure(FigureClass=lambda **_: figure)  # type: ignore[arg-type]  # takes it over
        plt.show(block=block)

    def _drawn(self) -> Figure | None:
        """The whole figure, None before anything is drawn."""
        part = getattr(self, "figure_", None)
        return None if part is None else part.canvas.figure

    def _repr_mimebundle_(self, **_wishes: object) -> tuple[dict[str, str], dict[str, Any]]:
        """What a notebook shows: the picture, unless pyplot shows the figure anyway."""
        words, figure = {"text/plain": repr(self)}, self._drawn()
        if figure is None or _is_pyplots(figure):
            return words, {}
        buffer = BytesIO()
        figure.savefig(buffer, format="png", dpi=_SHARP * figure.dpi)
        png = buffer.getvalue()
        # From the picture's own header: a setting such as savefig.bbox may have cut it.
        width, height = struct.unpack(">II", png[16:24])
        size = {"width": width // _SHARP, "height": height // _SHARP}
        return words | {"image/png": base64.b64encode(png).decode()}, {"image/png": size}


def _is_pyplots(figure: Figure) -> bool:
    """Whether the figure is one of those that pyplot holds, and shows."""
    from matplotlib._pylab_helpers import Gcf

    return figure.canvas.manager in Gcf.get_all_fig_managers()


class PDPDisplay(NotebookDisplay):
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
        Axes of the histogram under the curve and of the point beside it, None where there is none.
    trail_, compare_
        For each output the earlier curves as one collection, and the line compared with.
    past_
        The means of past answers, for outputs where the model as it is now says something else.
    spread_
        For each output the band of its ICE curves; empty where none was drawn.
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
    lines_: list[Line2D]
    bands_: list[Any]
    ice_lines_: list[LineCollection]
    missing_: list[ErrorbarContainer]
    mesh_: Any
    colorbar_: Colorbar | None
    rug_ax_: Axes | None
    missing_ax_: Axes | None
    trail_: list[LineCollection]
    compare_: list[Line2D]
    past_: list[Line2D]
    spread_: list[Any]
    density_: Any

    def __init__(self, curve: Curve) -> None:
        must_be_like("curve", curve, "grid_values", "a Curve")
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
        spread: bool = False,
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
            there is a trail, or their spread. They are left out where there are several outputs.
        band
            Level of the confidence band, None for none.
        spread
            Whether to draw how much the effect differs between observations: a light band of one
            standard deviation of the ICE curves, each about its own mean, to either side.
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
        settings = {"line": line_kw, "band": band_kw, "ice": ice_kw, "rug": rug_kw}
        settings |= {"mesh": mesh_kw, "trail": trail_kw, "compare": compare_kw}
        options = {"output": output, "centred": centred, "trail": trail, "compare": compare}
        options |= {"ice": ice, "band": band, "spread": spread, "rug": rug, "data": data}
        label = (line_kw or {}).get("label")
        options["name"] = None if label is None else str(label)
        # Categories of curves that were drawn before keep their places.
        place = getattr(ax, "get_axes_locator", None)
        options["categories"] = getattr(place and place(), "categories", ())
        kind = "pair" if is_pair(self.curve) else "curve"
        return self._draw(backend, kind, shown_of(self.curve, **options), ax, settings)

    def __repr__(self) -> str:
        return f"PDPDisplay({self.curve!r})"
