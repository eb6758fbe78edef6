"""Colours, text and axes of plotly figures, the same in all of them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from ipdp.plot.style import diverging, named, tints

Figure: TypeAlias = Any
"""A `plotly.graph_objects.Figure`; plotly has no types."""

_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
_DASHES = ("solid", "dash", "dot", "dashdot")
# What a change was found to be: dashes of its line, shape of its mark.
KINDS = {
    "real": ("solid", "circle"),
    "virtual": ("dot", "square"),
    "both": ("dashdot", "diamond"),
    "unclear": ("dash", "triangle-up"),
}
# plotly reads markup, formulas between dollar signs and, in hover texts, %{...}.
_MARKUP = {ord(sign): f"&#{ord(sign)};" for sign in "&<>$%{}\"'"}


class Theme(NamedTuple):
    """What a figure takes from the template that plotly uses by default."""

    template: Any
    dark: bool

    @property
    def ink(self) -> str:
        """The colour of text and of what is neither curve nor surface."""
        return "#e6e6e6" if self.dark else "#262626"

    def looks(self, n: int) -> list[dict[str, str]]:
        """Colour and dashes of n lines."""
        return [{"color": colour, "dash": _DASHES[times]} for colour, times in tints(self.dark, n)]

    def scale(self, *, centred: bool) -> Any:
        """Colours of a surface."""
        if not centred:
            return "Viridis"
        return [list(pair) for pair in zip((0.0, 0.5, 1.0), diverging(self.dark), strict=True)]


def new_figure(traces: Any = None) -> Figure:
    """A figure of some traces."""
    from plotly.graph_objects import Figure

    return Figure(traces)


def symbol_of(colour: str) -> str:
    """The mark that goes with a colour, so that lines are told apart in print."""
    for dark in (False, True):
        own = [tint for tint, _ in tints(dark, len(_SYMBOLS))]
        if colour in own:
            return _SYMBOLS[own.index(colour)]
    return _SYMBOLS[0]


def theme() -> Theme:
    """The user's default template; plotly's own default gives way to a plain one."""
    import plotly.io

    chosen = plotly.io.templates.default
    if chosen in (None, "plotly"):
        chosen = "plotly_white"
    background = plotly.io.templates[chosen].layout.paper_bgcolor or "white"
    return Theme(chosen, _is_dark(str(background)))


def _is_dark(colour: str) -> bool:
    """Whether a colour of plotly's, `rgb(...)` or `#...`, is dark; other names are taken for light.

    Examples
    --------
    >>> _is_dark("rgb(17,17,17)"), _is_dark("#fff"), _is_dark("white")
    (True, False, False)
    """
    if colour.startswith("rgb"):
        parts = [float(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3]]
    elif colour.startswith("#"):
        digits = colour[1:]
        digits = digits if len(digits) > 4 else "".join(2 * digit for digit in digits)
        parts = [float(int(digits[k : k + 2], 16)) for k in (0, 2, 4)]
    else:
        return colour == "black"
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] < 0.4 * 255


def shown(name: object, width: int = 48) -> str:
    """A name as plotly has to be given it for its letters to be shown as they are.

    Examples
    --------
    >>> shown("a<b"), shown("$x$"), shown("")
    ('a&#60;b', '&#36;x&#36;', '&#39;&#39;')
    """
    return escaped(named(name, width))


def escaped(text: str) -> str:
    """A text without anything that plotly would take for markup, a formula or a variable."""
    return text.translate(_MARKUP)


def clear(colour: str, strength: float) -> str:
    """A colour `#rrggbb`, so much of it as is said."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength:.3g})"


def finished(figure: Figure, look: Theme, **layout: Any) -> Figure:
    """The figure with what all of them have in common."""
    figure.update_layout(
        template=look.template,
        margin={"l": 60, "r": 20, "t": 40, "b": 50},
        hoverlabel={"align": "left"},
        **layout,
    )
    # Numbers are written out with separators, and not as 20k, unless they are huge or tiny.
    numbers = {"exponentformat": "power", "minexponent": 9, "separatethousands": True}
    figure.update_xaxes(automargin=True, **numbers)
    figure.update_yaxes(automargin=True, **numbers)
    return figure
