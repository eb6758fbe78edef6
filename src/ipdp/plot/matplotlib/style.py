"""Colours, text and numbers of matplotlib figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.cbook import normalize_kwargs
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ipdp.core.typing import FloatArray
from ipdp.plot.shown.carpet import CurveHistory
from ipdp.plot.shown.clock import axis_label, clock_ticks, is_clock
from ipdp.plot.shown.pair import ShownPair
from ipdp.plot.shown.style import LineStyle, diverging_colours, line_styles, named

DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "none": "none"}
MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle-up": "^",
    "diamond": "D",
    "triangle-down": "v",
    "cross": "P",
}
# Mark (gid) of the lines that are curves, to find those that were drawn before, and of what is
# drawn beside them and has a label.
CURVE, CONTEXT = "ipdp-curve", "ipdp-context"
# Settings of a text that is shown letter by letter: a dollar sign starts no formula.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
# So many letters fit side by side on an axis of usual width.
_ROOM = 60
# More categories than this have small names, and of more than that not all are named.
_MANY, _NAMED = 20, 60


def next_styles(ax: Axes, n: int) -> list[LineStyle]:
    """The styles of the next n curves on these axes."""
    drawn = sum(line.get_gid() == CURVE for line in ax.lines)
    return line_styles(n, dark=is_dark(ax), first=drawn)


def is_dark(ax: Axes) -> bool:
    """Whether light colours are needed to be seen."""
    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    if alpha == 0:  # what is behind is not known, but text is made to be read on it
        red, green, blue = (1 - part for part in text_colour(ax)[:3])
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.4)


def text_colour(ax: Axes, opacity: float = 1.0) -> tuple[float, float, float, float]:
    """The colour of the axes' text."""
    return to_rgba(ax.xaxis.label.get_color(), opacity)


def add_grid(ax: Axes) -> None:
    """A light grid behind everything, and no box around it."""
    ax.set_axisbelow(True)
    ax.grid(True, color=text_colour(ax, 0.15), linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def label_axis(
    axis: Axis,
    label: str,
    values: FloatArray,
    categories: Sequence[Any] | None = None,
    *,
    whole: bool = False,
) -> None:
    """The label of an axis, and the names of categories or the numbers at its ticks."""
    axis.set_label_text(label, **PLAIN)
    side_by_side = isinstance(axis, XAxis)
    if categories is None:
        format_numbers(axis, values, whole=whole, side_by_side=side_by_side)
    else:
        _name_ticks(axis, categories, side_by_side=side_by_side)


def add_notes(ax: Axes, *, is_empty: bool, title: str) -> None:
    """When the curve was taken; words where no value is known."""
    if is_empty:
        grey = text_colour(ax, 0.6)
        ax.text(0.5, 0.5, "nothing yet", transform=ax.transAxes, ha="center", color=grey)
    if title:
        ax.set_title(title, loc="right", fontsize="small", color=text_colour(ax, 0.6))


def format_numbers(
    axis: Axis,
    values: FloatArray,
    *,
    side_by_side: bool = False,
    whole: bool = False,
    least: float = 1e4,
) -> None:
    """Thousands separators from `least` on; whole numbers for whole numbers."""
    known = values[np.isfinite(values)]
    if known.size and least <= abs(known).max() < 1e10:
        # To twelve digits, so that 0.1 + 0.2 reads 0.3.
        axis.set_major_formatter(
            FuncFormatter(lambda x, _: f"{round(x, 12):,.12g}".replace("-", "\N{MINUS SIGN}"))
        )
        if side_by_side:  # such labels need more room than matplotlib leaves them
            axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    elif whole:
        axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def clock_axis(axis: Axis, times: FloatArray) -> None:
    """Times along an axis of seconds since 1970."""
    ticks, texts = clock_ticks(float(times.min()), float(times.max()))
    axis.set_ticks(ticks, labels=texts)


def label_time(axis: Axis, times: FloatArray) -> None:
    """An axis of observations that are counted, or of a wall clock."""
    axis.set_label_text(axis_label(times))
    if is_clock(times):
        clock_axis(axis, times)
    else:
        format_numbers(axis, times, side_by_side=True, least=1e3)


def date_axis(axis: Axis, most: int = 6) -> None:
    """Dates on an axis of days since 1970."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=2, maxticks=most)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _name_ticks(axis: Axis, categories: Iterable[Any], *, side_by_side: bool) -> None:
    """Put the categories' names on an axis.

    Side by side they are slanted where they do not fit, and turned where they are many. Of very
    many only some are named.
    """
    names = [named(category, width=16) for category in categories]
    step = -(-len(names) // _NAMED)
    axis.set_ticks(range(0, len(names), step), labels=names[::step], **PLAIN)
    many = len(names) > _MANY
    settings: dict[str, Any] = {"fontsize": "x-small"} if many else {}
    if side_by_side and many:
        settings |= {"rotation": 90}
    elif side_by_side and sum(len(name) + 2 for name in names) > _ROOM:
        settings |= {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    for text in axis.get_ticklabels():
        text.set(**settings)


def add_legend(ax: Axes) -> None:
    """A small legend of all curves, and of what is beside them, that have a label."""
    marked = [
        artist
        for artist in (*ax.lines, *ax.collections)
        if artist.get_gid() in (CURVE, CONTEXT) and _is_labelled(artist)
    ]
    names, columns = [str(artist.get_label()) for artist in marked], -(-len(marked) // 12)
    place: dict[str, Any] = {"frameon": False, "fontsize": "small", "ncols": columns, "loc": "best"}
    legend = plain_legend(ax, marked, names, **place)
    for handle, artist in zip(legend.legend_handles, marked, strict=True):
        opacity: Any = artist.get_alpha()
        if handle is not None and np.ndim(opacity):  # of what fades, the newest
            handle.set_alpha(opacity[-1])


def _is_labelled(artist: Artist) -> bool:
    """Whether an artist has a label; matplotlib calls those without one _child0, _child1, ..."""
    label = str(artist.get_label())
    return bool(label) and not re.fullmatch(r"_child\d+", label)


def plain_legend(
    place: Axes | Figure | SubFigure,
    handles: Sequence[Artist],
    names: Sequence[str],
    **settings: Any,
) -> Legend:
    """A legend of axes, or of a figure, with names that are shown letter by letter."""
    # matplotlib leaves out names that start with an underscore, so the names are put in later.
    legend = place.legend(handles, ["x"] * len(names), **settings)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.update(PLAIN)
        text.set_text(name)
    return legend


def add_surface(
    ax: Axes, draw: Callable[..., Any], *data: Any, shown: ShownPair | CurveHistory, **settings: Any
) -> dict[str, Any]:
    """Draw a surface by a method of the axes, with its colour bar, and give the artists by name.

    The colours are told apart with every kind of colour vision, and in print.
    """
    add_grid(ax)
    ax.grid(False)
    colours: dict[str, Any] = {"cmap": "viridis"}
    if shown.z_range is not None:
        low, high = shown.z_range
        ends = diverging_colours(dark=is_dark(ax))
        cmap = LinearSegmentedColormap.from_list("ipdp-centred", ends)
        colours = {"cmap": cmap, "vmin": low, "vmax": high}
    values = np.ma.masked_invalid(data[-1])
    mesh = draw(*data[:-1], values, **colours | settings)
    bar = ax.figure.colorbar(mesh, ax=ax)
    bar.set_label(shown.label, **PLAIN)
    bar.outline.set_visible(False)
    format_numbers(bar.ax.yaxis, values.compressed())
    return {"ax": ax, "figure": ax.figure, "mesh": mesh, "colorbar": bar}


def written_out(settings: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """Settings of artists with short names written out (c, lw, ls, ...): none is given twice."""
    artists: dict[str, Any] = {"line": Line2D, "compare": Line2D, "rug": StepPatch}
    artists |= dict.fromkeys(("band", "ice", "trail"), PolyCollection)
    return {
        name: normalize_kwargs(dict(given or {}), artists[name]) if name in artists else given or {}
        for name, given in settings.items()
    }
