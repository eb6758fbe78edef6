"""All features at one time, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.typing import Feature, Label
from ipdp.plot.display import PDPDisplay
from ipdp.plot.frame import Frame
from ipdp.plot.places import checked_backend, panels
from ipdp.plot.series import Curves, Logged, curves_at, importance_of
from ipdp.plot.shown import Shown
from ipdp.plot.style import fade, name_entries, named, plain
from ipdp.plot.support import is_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Size of one panel in a new figure, and letters that fit above it.
_WIDTH, _HEIGHT = 2.6, 2.1
_LETTERS = 22
# So many letters of categories have room under a panel.
_ROOM = 24


class OverviewDisplay(Shown):
    """The curves of all features as small multiples, the most important one first.

    All panels have one axis of the output, so that a flat curve looks flat beside a steep one.
    Pairs come last: their surfaces have colours of their own.

    Parameters
    ----------
    curves
        Curves of one time, as `IncrementalPDP.curves` gives them, or a log.
    n
        Of a log, the number of observations at which to look; by default its newest snapshot.

    Attributes
    ----------
    curves
        The curves in the order in which they are drawn.
    axes_, displays_
        For each curve its axes and its `PDPDisplay`.
    figure_, legend_
        Where it was drawn, and the legend of several outputs, else None.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] + 3 * x["b"], grid=ipdp.grid.Fixed([0, 1]))
    >>> pdp.explain_one({"a": 0.5, "b": 0.5})
    >>> overview = OverviewDisplay(pdp.curves).plot(ax=Figure().subplots())
    >>> [curve.feature for curve in overview.curves]
    ['b', 'a']
    """

    axes_: list[Axes]
    displays_: list[PDPDisplay]
    legend_: Any

    def __init__(self, curves: Curves | Logged, *, n: int | None = None) -> None:
        found = curves_at(curves, n)
        if not found:
            raise ValueError("there is no curve to show")
        self.curves: list[Curve] = sorted(found, key=_rank)

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        features: Sequence[Feature] | None = None,
        output: Label | None = None,
        centred: bool = False,
        ice: bool = False,
        band: float | None = 0.95,
        rug: bool = True,
        columns: int | None = None,
        backend: str = "matplotlib",
    ) -> Any:
        """Draw the curves.

        Parameters
        ----------
        ax
            Axes whose place is divided among the panels, or one for each of them; None makes a
            new figure.
        features
            Which features to draw; by default all of them.
        output, centred, ice, band, rug
            As in `PDPDisplay.plot`.
        columns
            Number of panels side by side.
        backend
            "matplotlib" or "plotly".

        Returns
        -------
        The display itself; with "plotly" a `plotly.graph_objects.Figure`.
        """
        checked_backend(backend, ax=ax)
        curves = self._picked(features)
        columns = columns or side_by_side(len(curves))
        style: dict[str, Any] = {
            "output": output,
            "centred": centred,
            "ice": ice,
            "band": band,
            "rug": rug,
        }
        if backend == "plotly":
            from ipdp.plot.interactive.overview import overview_figure

            return overview_figure(curves, columns, style)
        self._draw(ax, curves, columns, style)
        return self

    def _draw(
        self,
        ax: Axes | Sequence[Axes] | None,
        curves: list[Curve],
        columns: int,
        style: dict[str, Any],
    ) -> None:
        single = [curve for curve in curves if not is_pair(curve)]
        size = (_WIDTH * columns, _HEIGHT * -(-len(curves) // columns) + 0.3)
        self.axes_ = panels(
            ax, len(curves), columns=columns, size=size, share="y", n_shared=len(single)
        )
        self.figure_ = self.axes_[0].figure
        self.displays_ = [
            PDPDisplay(curve).plot(axes, **style)
            for curve, axes in zip(curves, self.axes_, strict=True)
        ]
        # Where one panel has a strip all have one, so that the common axis is level.
        strip = style["rug"] and any(curve.rug for curve in single)
        for k, display in enumerate(self.displays_):
            _name(display, weight(display.curve, curves[0]))
            if is_pair(display.curve):
                _tidy_pair(display)
            else:
                _tidy(display, first=k % columns == 0, strip=strip)
        self.legend_ = _legend(self.displays_)

    def _picked(self, features: Sequence[Feature] | None) -> list[Curve]:
        if features is None:
            return self.curves
        if not features:
            raise ValueError("features is empty: leave it out to draw all of them")
        there = [curve.feature for curve in self.curves]
        absent = [name for name in features if name not in there]
        if absent:
            raise ValueError(f"no curve of {absent}: there are {there}")
        return [curve for curve in self.curves if curve.feature in features]

    def __repr__(self) -> str:
        return f"OverviewDisplay({len(self.curves)} curves)"


def side_by_side(n: int) -> int:
    """How many panels make a row.

    Examples
    --------
    >>> [side_by_side(n) for n in (1, 3, 4, 8, 30)]
    [1, 3, 4, 4, 5]
    """
    return min(n, 4) if n <= 12 else 5


def fit_under(categories: Sequence[Any]) -> bool:
    """Whether the names of categories have room under a panel.

    Examples
    --------
    >>> fit_under([False, True]), fit_under(range(40))
    (True, False)
    """
    return sum(len(named(category)) + 1 for category in categories) <= _ROOM


def weight(curve: Curve, largest: Curve) -> str:
    """The importance in two digits; nothing more of what is nothing beside the largest."""
    value = importance_of(curve)
    return f"{value:.2g}" if value > 0.005 * importance_of(largest) else "≈ 0"


def is_pair(curve: Curve) -> bool:
    """Whether a curve is the surface of two features."""
    return len(curve.grid_values) == 2


def _rank(curve: Curve) -> tuple[bool, float]:
    return is_pair(curve), -importance_of(curve)


def _name(display: PDPDisplay, size: str) -> None:
    """The name and the importance above a panel, in small letters."""
    ax = display.ax_
    name = named(display.curve.feature, width=_LETTERS)
    ax.set_title(name, loc="left", fontsize="small", **plain())
    ax.set_title(size, loc="right", fontsize="x-small", color=fade(ax, 0.6))


def _tidy_pair(display: PDPDisplay) -> None:
    """Small letters, and few ticks."""
    from matplotlib.ticker import MaxNLocator

    ax, bar = display.ax_, display.colorbar_
    ax.tick_params(labelsize="x-small")
    curve = display.curve
    for axis, name, categorical in zip(
        (ax.xaxis, ax.yaxis), curve.features, curve.categorical, strict=True
    ):
        axis.label.set(size="x-small", text=named(name, width=_LETTERS))
        if not categorical:
            axis.set_major_locator(MaxNLocator(nbins=3))
    if bar is not None:
        bar.ax.tick_params(labelsize="x-small")
        bar.ax.yaxis.label.set(size="x-small")


def _tidy(display: PDPDisplay, *, first: bool, strip: bool) -> None:
    """Small letters, and the label of the common axis once a row."""
    from matplotlib.ticker import MaxNLocator

    ax, curve = display.ax_, display.curve
    if strip:
        Frame.around(ax).open_strip()
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    ax.tick_params(labelsize="x-small", labelleft=first)
    ax.set_xlabel("")
    ax.yaxis.label.set(size="small", visible=first)
    if not curve.categorical[0]:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=is_whole(curve)))
    elif not fit_under(curve.grid_values[0].tolist()):
        ax.set_xticks([])
        ax.set_xlabel(f"{len(curve.grid_values[0])} categories", fontsize="x-small")
    if display.missing_ax_ is not None:  # with room for fewer letters than "missing" has
        display.missing_ax_.set_xticks([0], labels=["n/a"])
        display.missing_ax_.tick_params(labelsize="x-small")


def _legend(displays: Sequence[PDPDisplay]) -> Any:
    """One legend of the outputs for all panels."""
    most = max(displays, key=lambda display: len(display.lines_))
    if len(most.lines_) < 2:
        return None
    figure = most.ax_.figure
    names = [str(line.get_label()) for line in most.lines_]
    place: dict[str, Any] = {"loc": "lower center", "ncols": min(len(names), 6)}
    if figure.get_layout_engine() is not None:
        place["loc"] = "outside lower center"
    legend = figure.legend(
        most.lines_, ["x"] * len(names), frameon=False, fontsize="small", **place
    )
    name_entries(legend, names)
    return legend
