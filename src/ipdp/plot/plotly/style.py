"""Colours, text and axes of plotly figures."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from ipdp.plot.shown.source import Mark
from ipdp.plot.shown.style import LineStyle, diverging_colours, line_styles, named

Figure: TypeAlias = Any
"""A `plotly.graph_objects.Figure`; plotly has no types."""

Trace = dict[str, Any]
"""A trace as plotly takes it."""

# plotly reads markup, formulas between dollar signs and, in hover texts, %{...}.
_MARKUP = {ord(sign): f"&#{ord(sign)};" for sign in "&<>$%{}\"'"}


class Theme(NamedTuple):
    """What a figure takes from the template that plotly uses by default."""

    template: Any
    dark: bool

    @property
    def text(self) -> str:
        """The colour of text and of what is neither curve nor surface."""
        return "#e6e6e6" if self.dark else "#262626"

    def line_styles(self, n: int) -> list[LineStyle]:
        """The styles of n lines."""
        return line_styles(n, dark=self.dark)

    def colorscale(self, *, centred: bool) -> Any:
        """Colours of a surface."""
        if not centred:
            return "Viridis"
        colours = diverging_colours(dark=self.dark)
        return [list(pair) for pair in zip((0.0, 0.5, 1.0), colours, strict=True)]


def new_figure(traces: Any = None) -> Figure:
    """A figure of some traces."""
    from plotly.graph_objects import Figure

    return Figure(traces)


def default_theme() -> Theme:
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


def name_text(name: object, width: int = 48) -> str:
    """A name as plotly has to be given it for its letters to be shown as they are.

    Examples
    --------
    >>> name_text("a<b"), name_text("$x$"), name_text("")
    ('a&#60;b', '&#36;x&#36;', '&#39;&#39;')
    """
    return escaped(named(name, width))


def escaped(text: str) -> str:
    """A text without anything that plotly would take for markup, a formula or a variable."""
    return text.translate(_MARKUP)


def change_text(mark: Mark) -> str:
    """When and what changed, in lines that fit a hover text."""
    lines = textwrap.wrap(named(mark.change.summary(), width=400), 60)
    return "<br>".join([f"<b>{mark.time:,.10g}</b>", *map(escaped, lines)])


def with_opacity(colour: str, opacity: float) -> str:
    """A colour `#rrggbb` as plotly writes one that is not opaque."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:.3g})"


def tick_layout(categories: Sequence[Any] | None) -> dict[str, Any]:
    """Names of categories on their axis."""
    if categories is None:
        return {}
    names = [name_text(category, width=16) for category in categories]
    return {"tickvals": list(range(len(names))), "ticktext": names, "showgrid": False}


def add_notes(figure: Figure, *, is_empty: bool, title: str) -> None:
    """When the curve was taken; words where no value is known."""
    if is_empty:
        middle = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
        figure.add_annotation(text="nothing yet", showarrow=False, **middle)
    place = {"x": 0.98, "xanchor": "right", "font": {"size": 12}}
    figure.update_layout(title={"text": title, **place})


def finish(figure: Figure, theme: Theme, **layout: Any) -> Figure:
    """The figure with what all of them have in common."""
    figure.update_layout(
        template=theme.template,
        margin={"l": 60, "r": 20, "t": 40, "b": 50},
        hoverlabel={"align": "left"},
        **layout,
    )
    # Numbers are written out with separators, and not as 20k, unless they are huge or tiny.
    numbers = {"exponentformat": "power", "minexponent": 9, "separatethousands": True}
    figure.update_xaxes(automargin=True, **numbers)
    figure.update_yaxes(automargin=True, **numbers)
    return figure
