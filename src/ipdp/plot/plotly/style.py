"""Colours, text, traces and axes of plotly figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import plotly.io
from plotly import graph_objects

from ipdp.core.words import few_digits
from ipdp.plot.shown.clock import axis_label, clock_ticks, is_clock, point_text
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

    @classmethod
    def default(cls) -> Theme:
        """The user's default template; plotly's own default gives way to a plain one."""
        chosen = plotly.io.templates.default
        if chosen in (None, "plotly"):
            chosen = "plotly_white"
        background = plotly.io.templates[chosen].layout.paper_bgcolor or "white"
        return cls(chosen, _is_dark(str(background)))

    def text_colour(self, opacity: float = 1.0) -> str:
        """The colour of text and of what is neither curve nor surface."""
        return with_opacity("#e6e6e6" if self.dark else "#262626", opacity)

    def line_styles(self, n: int) -> list[LineStyle]:
        """The styles of n lines."""
        return line_styles(n, dark=self.dark)

    def colours_of(self, label: str, z_range: tuple[float, float] | None) -> Trace:
        """Colours of a surface and their bar; around zero if there is a range."""
        bar = {"colorbar": {"title": {"text": escaped(label), "side": "right"}}}
        if z_range is None:
            return {"colorscale": "Viridis", **bar}
        scale = zip((0.0, 0.5, 1.0), diverging_colours(dark=self.dark), strict=True)
        ends = {"zmin": z_range[0], "zmax": z_range[1]}
        return {"colorscale": list(map(list, scale)), **ends, **bar}

    def figure(self, traces: Iterable[Trace], layout: dict[str, Any]) -> Figure:
        """A figure of these traces, with what all figures have in common."""
        made = graph_objects.Figure(list(traces))
        margin = {"l": 60, "r": 20, "t": 40, "b": 50}
        made.update_layout(template=self.template, margin=margin, hoverlabel={"align": "left"})
        made.update_layout(layout)
        # Numbers are written out with separators, and not as 20k, unless they are huge or tiny.
        numbers = {"exponentformat": "power", "minexponent": 9, "separatethousands": True}
        made.update_xaxes(automargin=True, **numbers)
        made.update_yaxes(automargin=True, **numbers)
        return made


def _is_dark(colour: str) -> bool:
    """Whether a colour, `rgb(...)` or `#...`, is dark; of other names only black is."""
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
    """A name as plotly has to be given it for its letters to be shown as they are."""
    return escaped(named(name, width))


def escaped(text: str) -> str:
    """A text without anything that plotly would take for markup, a formula or a variable."""
    return text.translate(_MARKUP)


def change_text(mark: Mark) -> str:
    """When and what changed, in lines that fit a hover text."""
    lines = textwrap.wrap(named(mark.change.summary(), width=400), 60)
    return "<br>".join([f"<b>{point_text(mark.time)}</b>", *map(escaped, lines)])


def with_opacity(colour: str, opacity: float) -> str:
    """A colour `#rrggbb` as plotly writes one that is not opaque."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:.3g})"


def value_texts(values: Any) -> Any:
    """What hovering says of some numbers: plotly's own formats follow other rules."""
    if isinstance(values, (int, float)):
        return few_digits(values)
    return [value_texts(value) for value in np.asarray(values, dtype=float).tolist()]


def scatter(x: Any, y: Any, meta: str, *, hover: str = "", **more: Any) -> Trace:
    """A line, unless `mode` says otherwise, that is not in the legend; `%{text}` is its value."""
    if "%{text}" in hover:
        more["text"] = value_texts(y)
    text = {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
    own = {"type": "scatter", "mode": "lines", "x": x, "y": y, "showlegend": False, "meta": meta}
    return own | text | more


def axis(
    label: str, categories: Sequence[Any] | None = None, *, whole: bool = False, **more: Any
) -> dict[str, Any]:
    """An axis with the names of categories, or with whole numbers."""
    layout: dict[str, Any] = {"title": {"text": escaped(label)}, "zeroline": False}
    if categories is not None:
        names = [name_text(category, width=16) for category in categories]
        layout |= {"tickvals": list(range(len(names))), "ticktext": names, "showgrid": False}
    elif whole:
        layout["tickformat"] = ",d"
    return layout | more


def clock_axis(times: Any) -> dict[str, Any]:
    """Times along an axis of seconds since 1970."""
    values, texts = clock_ticks(float(min(times)), float(max(times)))
    return {"tickvals": values, "ticktext": texts}


def time_axis(times: Any, **more: Any) -> dict[str, Any]:
    """An axis of observations that are counted, or of a wall clock."""
    layout = axis(axis_label(times))
    if is_clock(times):
        layout |= clock_axis(times)
    return layout | more


def notes(title: str, *, is_empty: bool) -> dict[str, Any]:
    """When the curve was taken; words where no value is known."""
    layout: dict[str, Any] = {
        "title": {"text": title, "x": 0.98, "xanchor": "right", "font": {"size": 12}}
    }
    if is_empty:
        middle = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
        layout["annotations"] = [{"text": "nothing yet", "showarrow": False, **middle}]
    return layout
