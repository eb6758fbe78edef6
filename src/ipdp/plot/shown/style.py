"""Text, colours, dashes and markers, the same in all figures.

Dashes and markers have plotly's names; matplotlib's are in `ipdp.plot.matplotlib.style`.
"""

from __future__ import annotations

from typing import NamedTuple

from ipdp.core.curve import Curve, feature_text
from ipdp.core.times import moment

# Okabe and Ito's palette, which is told apart with every kind of colour vision.
_BLUE, _SKY, _VERMILLION, _GREEN = "#0072B2", "#56B4E9", "#D55E00", "#009E73"
_PURPLE, _ORANGE, _YELLOW = "#CC79A7", "#E69F00", "#F0E442"
_ON_LIGHT = (_BLUE, _VERMILLION, _GREEN, _PURPLE, _ORANGE, _SKY)
_ON_DARK = (_SKY, _ORANGE, _GREEN, _PURPLE, _VERMILLION, _YELLOW)
_DASHES = ("solid", "dash", "dot", "dashdot")
_MARKERS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")

# Dash and marker of each kind of change: no colour is needed to tell them apart.
KINDS = {
    "real": ("solid", "circle"),
    "virtual": ("dot", "square"),
    "both": ("dashdot", "diamond"),
    "unclear": ("dash", "triangle-up"),
}

# So many letters fit along the axis of the outputs.
_LABEL = 35

# Opacity of the points and lines that have few data behind them.
THIN_POINT, THIN_LINE = 0.3, 0.6


class LineStyle(NamedTuple):
    """What tells a line from others: its colour, and in print its dash and marker."""

    colour: str
    dash: str
    marker: str


def line_styles(n: int, *, dark: bool, first: int = 0) -> list[LineStyle]:
    """The styles of n lines on a light or dark background, from the first-th on."""
    palette = _ON_DARK if dark else _ON_LIGHT
    size = len(palette)
    return [
        LineStyle(palette[k % size], _DASHES[k // size % len(_DASHES)], _MARKERS[k % size])
        for k in range(first, first + n)
    ]


def diverging_colours(*, dark: bool) -> tuple[str, str, str]:
    """Colours of below, at and above the mean; the middle one is that of the background."""
    return (_SKY, "#1b1b1b", _ORANGE) if dark else (_BLUE, "#f7f7f7", _VERMILLION)


def named(name: object, width: int = 48) -> str:
    """A name as it is shown: on one line, shortened in the middle (aaaa…bbbb), never empty."""
    if isinstance(name, tuple):  # a pair
        return feature_text(tuple(named(part, max(width // 2, 9)) for part in name))
    text = "".join(c if c.isprintable() else " " for c in str(name))
    if not text.strip():
        return repr(text)
    if len(text) > width:
        half = (width - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text


def time_text(t: float | None) -> str:
    """A time as "t = 12,345", or date and time of day; empty where it is not known."""
    when = moment(t)
    if when is not None:
        return f"{when:%Y-%m-%d %H:%M} UTC"
    return "" if t is None else f"t = {t:,.10g}"


def output_label(whole: Curve, drawn: Curve, *, centred: bool = False) -> str:
    """What the axis of the outputs shows: "chance of True", "chance of each class".

    `drawn` has some of the outputs of `whole`, which says what they are.
    """
    one = drawn.outputs[0] if len(drawn.outputs) == 1 else None
    label = named(whole.output_text(one), _LABEL)
    if whole.kind == "ale":
        label = f"accumulated local {label}"
    return f"{label}, centred" if centred else label
