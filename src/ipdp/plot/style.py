"""Colours, text and numbers, the same in all figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ipdp.core.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend

# Okabe and Ito's palette, which is told apart with every kind of colour vision.
_BLUE, _SKY, _VERMILLION, _GREEN = "#0072B2", "#56B4E9", "#D55E00", "#009E73"
_PURPLE, _ORANGE, _YELLOW = "#CC79A7", "#E69F00", "#F0E442"
_ON_LIGHT = (_BLUE, _VERMILLION, _GREEN, _PURPLE, _ORANGE, _SKY)
_ON_DARK = (_SKY, _ORANGE, _GREEN, _PURPLE, _VERMILLION, _YELLOW)
_DASHES = ("-", "--", ":", "-.")
_MARKS = ("o", "s", "^", "D", "v", "P")

# What a change was found to be, in dashes and marks: no colour is needed to tell them apart.
KINDS = {"real": ("-", "o"), "virtual": (":", "s"), "both": ("-.", "D"), "unclear": ("--", "^")}

CURVE = "ipdp-curve"
"""Mark (gid) of the lines that are curves, to find those that were drawn before."""

CONTEXT = "ipdp-context"
"""Mark of what is drawn beside the curves and has a label."""


def named(name: object, width: int = 48) -> str:
    """A name as it is shown: on one line, not too long, never empty.

    Examples
    --------
    >>> named("salary"), named(""), named("a" * 30 + "b" * 30, width=9)
    ('salary', "''", 'aaaa…bbbb')
    >>> named(("age", "salary"), width=9)
    'age \N{MULTIPLICATION SIGN} salary'
    """
    if isinstance(name, tuple):  # a pair
        return " \N{MULTIPLICATION SIGN} ".join(named(part, max(width // 2, 9)) for part in name)
    text = "".join(c if c.isprintable() else " " for c in str(name))
    if not text.strip():
        return repr(text)
    if len(text) > width:
        half = (width - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text


def plain() -> dict[str, Any]:
    """Settings of a text that is shown letter by letter: a dollar sign starts no formula."""
    return {"parse_math": False, "usetex": False}


class Look(NamedTuple):
    """What tells a line from others: its colour, and in print its dashes and marks."""

    colour: str
    dashes: str
    mark: str


def looks(ax: Axes, n: int) -> list[Look]:
    """The looks of the next n curves on these axes."""
    drawn = sum(line.get_gid() == CURVE for line in ax.lines)
    every = [
        Look(colour, _DASHES[times], _MARKS[k % len(_MARKS)])
        for k, (colour, times) in enumerate(tints(is_dark(ax), drawn + n))
    ]
    return every[drawn:]


def tints(dark: bool, n: int) -> list[tuple[str, int]]:
    """Colours of n lines, and how often each was used before, of which its dashes follow.

    Examples
    --------
    >>> tints(dark=False, n=7)[0], tints(dark=False, n=7)[6]
    (('#0072B2', 0), ('#0072B2', 1))
    """
    palette = _ON_DARK if dark else _ON_LIGHT
    return [(palette[k % len(palette)], k // len(palette) % len(_DASHES)) for k in range(n)]


def diverging(dark: bool) -> tuple[str, str, str]:
    """Colours of below, at and above the mean; the middle one is that of the page."""
    return (_SKY, "#1b1b1b", _ORANGE) if dark else (_BLUE, "#f7f7f7", _VERMILLION)


def is_dark(ax: Axes) -> bool:
    """Whether light colours are needed to be seen."""
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    if alpha == 0:  # what is behind is not known, but text is made to be read on it
        red, green, blue = (1 - part for part in fade(ax, 1.0)[:3])
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.4)


def fade(ax: Axes, strength: float) -> tuple[float, float, float, float]:
    """The colour of the axes' text, so much of it as is said."""
    from matplotlib.colors import to_rgba

    return to_rgba(ax.xaxis.label.get_color(), strength)


def dress(ax: Axes) -> None:
    """A light grid behind everything, and no box around it."""
    ax.set_axisbelow(True)
    ax.grid(True, color=fade(ax, 0.15), linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def write_numbers(
    axis: Axis,
    values: FloatArray,
    *,
    side_by_side: bool = False,
    whole: bool = False,
    least: float = 1e4,
) -> None:
    """Thousands separators where there are at least so many; whole numbers for whole numbers."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    known = values[np.isfinite(values)]
    if known.size and least <= abs(known).max() < 1e10:
        axis.set_major_formatter(FuncFormatter(_with_separators))
        if side_by_side:  # such labels need more room than matplotlib leaves them
            axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    elif whole:
        axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _with_separators(x: float, _position: int | None) -> str:
    # To twelve digits, so that 0.1 + 0.2 reads 0.3.
    return f"{round(x, 12):,.12g}".replace("-", "\N{MINUS SIGN}")


def add_legend(ax: Axes) -> None:
    """A small legend of all curves, and of what is beside them, that have a label."""
    marked = [
        artist
        for artist in (*ax.lines, *ax.collections)
        if artist.get_gid() in (CURVE, CONTEXT) and _is_labelled(artist)
    ]
    columns = -(-len(marked) // 12)
    # matplotlib leaves out names that start with an underscore, so the names are put in later.
    legend = ax.legend(
        marked, ["x"] * len(marked), frameon=False, fontsize="small", ncols=columns, loc="best"
    )
    for handle, artist in zip(legend.legend_handles, marked, strict=True):
        strengths: Any = artist.get_alpha()
        if handle is not None and np.ndim(strengths):  # of what fades, the newest
            handle.set_alpha(strengths[-1])
    name_entries(legend, [str(artist.get_label()) for artist in marked])


def _is_labelled(artist: Artist) -> bool:
    """Whether an artist has a label; matplotlib calls those without one _child0, _child1, ..."""
    label = str(artist.get_label())
    return bool(label) and not re.fullmatch(r"_child\d+", label)


def name_entries(legend: Legend, names: Iterable[str]) -> None:
    """Write names into a legend letter by letter."""
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.update(plain())
        text.set_text(name)


def colour_map(ax: Axes, *, centred: bool) -> Any:
    """Colours of a surface: told apart with every kind of colour vision, and in print."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    if not centred:
        return colormaps["viridis"]
    return LinearSegmentedColormap.from_list("ipdp-centred", diverging(is_dark(ax)))
