"""Colours, text and numbers, the same in all figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's palette, which is told apart with every kind of colour vision.
_BLUE, _SKY, _VERMILLION, _GREEN = "#0072B2", "#56B4E9", "#D55E00", "#009E73"
_PURPLE, _ORANGE, _YELLOW = "#CC79A7", "#E69F00", "#F0E442"
_ON_LIGHT = (_BLUE, _VERMILLION, _GREEN, _PURPLE, _ORANGE, _SKY)
_ON_DARK = (_SKY, _ORANGE, _GREEN, _PURPLE, _VERMILLION, _YELLOW)
_DASHES = ("-", "--", ":", "-.")

CURVE = "ipdp-curve"
"""Mark (gid) of the lines that are curves, to find those that were drawn before."""


def named(name: object, width: int = 48) -> str:
    """A name as it is shown: on one line, not too long, never empty.

    Examples
    --------
    >>> named("salary"), named(""), named("a" * 30 + "b" * 30, width=9)
    ('salary', "''", 'aaaa…bbbb')
    """
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


def colours(ax: Axes, n: int) -> list[tuple[str, str]]:
    """Colour and dashes of the next n curves on these axes."""
    drawn = sum(line.get_gid() == CURVE for line in ax.lines)
    palette = _ON_DARK if is_dark(ax) else _ON_LIGHT
    pairs = []
    for k in range(drawn, drawn + n):
        dashes = _DASHES[k // len(palette) % len(_DASHES)]
        pairs.append((palette[k % len(palette)], dashes))
    return pairs


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


def write_numbers(axis: Axis, values: FloatArray, *, side_by_side: bool = False) -> None:
    """Thousands separators where there are thousands."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    known = values[np.isfinite(values)]
    if known.size and 1e4 <= abs(known).max() < 1e10:
        axis.set_major_formatter(FuncFormatter(_with_separators))
        if side_by_side:  # such labels need more room than matplotlib leaves them
            axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))


def _with_separators(x: float, _position: int | None) -> str:
    # To twelve digits, so that 0.1 + 0.2 reads 0.3.
    return f"{round(x, 12):,.12g}".replace("-", "\N{MINUS SIGN}")


def add_legend(ax: Axes) -> None:
    """A small legend of all curves that have a label."""
    lines = [line for line in ax.lines if line.get_gid() == CURVE and line.get_label()]
    columns = -(-len(lines) // 12)
    # matplotlib leaves out names that start with an underscore, so the names are put in later.
    legend = ax.legend(
        lines, ["x"] * len(lines), frameon=False, fontsize="small", ncols=columns, loc="best"
    )
    for text, line in zip(legend.get_texts(), lines, strict=True):
        text.update(plain())
        text.set_text(str(line.get_label()))
