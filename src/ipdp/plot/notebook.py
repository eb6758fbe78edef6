"""How curves and explainers show themselves in a notebook: plain HTML and SVG, names escaped.

The drawings need no library and follow the page's colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve, feature_text
from ipdp.core.typing import FloatArray
from ipdp.core.words import ends_text, few_digits
from ipdp.plot.shown.curve import Line, ShownCurve
from ipdp.plot.shown.pair import ShownPair, shown_of
from ipdp.plot.shown.style import THIN_POINT, line_styles, named, time_text
from ipdp.plot.shown.values import Rug, around, time_texts

if TYPE_CHECKING:
    from ipdp.explainers.drawing import CurveExplainer

# Rows of the table of an explainer, and sizes of the drawings in it and of a single curve.
_ROWS = 30
_SMALL, _LARGE = (150, 36), (380, 190)
_QUIET = 'style="opacity:0.7"'
# More cells than this along an axis of a pair are thinned out.
_CELLS = 24
# Width of a letter in pixels, about, and height of the histogram under a curve.
_LETTER, _RUG = 6.5, 26.0
_SCALE = (68, 1, 84), (33, 145, 140), (253, 231, 37)  # viridis


def curve_html(curve: Curve) -> str:
    """A curve as a small drawing with the ends of its axes.

    Examples
    --------
    >>> import ipdp
    >>> [curve] = ipdp.partial_dependence(lambda x: x["a"], [{"a": k} for k in range(9)])
    >>> "<svg" in ipdp.plot.curve_html(curve)
    True
    """
    shown = shown_of(curve, ice=False)
    what = f"{_text(shown.label)} by <b>{_text(curve.feature)}</b>"
    drawing = "nothing yet" if shown.is_empty else _drawing(shown, _LARGE, framed=True)
    when = "" if curve.t is None else f", {time_text(curve.t)}"
    notes = [_text(f"{curve.n_samples:,} observations explained{when}", 100)]
    key = ""
    if isinstance(shown, ShownPair):
        low, high = ends_text(*_limits([shown]))
        notes.append(f"from {low} (dark) to {high} (light)")
    else:
        missing = [few_digits(line.missing.y) for line in shown.lines if line.missing]
        notes += [f"when missing: {', '.join(missing)}"] if missing else []
        key = _key(shown)
    return f"<div>{what}<br>{drawing}<br><small {_QUIET}>{'; '.join(notes)}</small>{key}</div>"


def explainer_html(pdp: CurveExplainer) -> str:
    """An explainer as a table: its curves, the most important one first.

    Examples
    --------
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    >>> for k in range(50):
    ...     pdp.explain_one({"a": k % 7})
    >>> "<table" in ipdp.plot.explainer_html(pdp)
    True
    """
    curves = sorted(pdp.curves.values(), key=lambda curve: -curve.overall_importance)
    model, *counts = pdp.facts
    head = f"<b>{_text(model, 120)}</b>, {_text(', '.join(counts), 120)}"
    facts = [type(pdp).__name__, f"alpha = {pdp.alpha}", getattr(pdp, "estimator", pdp.title)]
    facts.append(pdp.engine.description)
    head += f"<br><small {_QUIET}>{_text(', '.join(facts), 200)}</small>"
    if not curves:
        return f"<div>{head}<br>{_text(pdp.why_nothing, 300)}.</div>"
    shown = [shown_of(curve, ice=False, rug=False) for curve in curves]
    single = [item for item in shown if isinstance(item, ShownCurve)]
    ends = _limits(single)  # one axis for all: a flat curve looks flat
    pairs = zip(curves[:_ROWS], shown, strict=False)
    rows = "".join(_row(curve, item, ends) for curve, item in pairs)
    more = len(curves) - _ROWS
    rest = f"<small {_QUIET}>and {more} more</small>" if more > 0 else ""
    heads = _cells("th", "feature", "curve", "importance", "where")
    table = f"<table><thead>{heads}</thead><tbody>{rows}</tbody></table>"
    return f"<div>{head}{table}{rest}{_key(single[0]) if single else ''}</div>"


def _row(curve: Curve, shown: ShownCurve | ShownPair, ends: tuple[float, float]) -> str:
    drawing = _drawing(shown, _SMALL, ends=ends if isinstance(shown, ShownCurve) else None)
    where = "; ".join(_extent(curve, k) for k in range(len(curve.grid_values)))
    return _cells("td", _text(curve.feature), drawing, few_digits(curve.overall_importance), where)


def _cells(tag: str, *cells: str) -> str:
    style = 'style="text-align:left;padding:2px 10px"'
    return f"<tr>{''.join(f'<{tag} {style}>{cell}</{tag}>' for cell in cells)}</tr>"


def _extent(curve: Curve, k: int) -> str:
    """The ends of a feature's axis, or its categories."""
    values = curve.grid_values[k].tolist()
    name = f"{_text(curve.features[k])}: " if len(curve.grid_values) > 1 else ""
    if not values:
        return f"{name}nothing yet"
    if curve.categorical[k]:
        few = ", ".join(_text(value, 16) for value in values[:6])
        return f"{name}{few}{f', … ({len(values)} in all)' if len(values) > 6 else ''}"
    if any(curve.times) and curve.times[k]:
        first, last = time_texts([values[0] / 86400, values[-1] / 86400])
    else:
        first, last = ends_text(values[0], values[-1])
    return f"{name}{first} to {last}"


def _key(shown: ShownCurve) -> str:
    """Names of the outputs in their colours, where there are several."""
    if len(shown.lines) < 2:
        return ""
    marks = (
        f'<span style="color:{style.colour}">&#9632;</span> {_text(line.output)}'
        for style, line in zip(line_styles(len(shown.lines), dark=False), shown.lines, strict=True)
    )
    return f"<br><small>{_text(shown.label)} of {' '.join(marks)}</small>"


def _text(name: object, width: int = 48) -> str:
    return escape(named(name, width))


def _drawing(
    shown: ShownCurve | ShownPair,
    size: tuple[int, int],
    *,
    ends: tuple[float, float] | None = None,
    framed: bool = False,
) -> str:
    """A curve, its band and its outputs, or the tiles of a pair; `framed` with axes and a rug."""
    ends = _limits([shown]) if ends is None else ends
    if isinstance(shown, ShownPair):
        return _pair_drawing(shown, size, ends, framed=framed)
    categorical = shown.categories is not None
    x = np.concatenate([line.x for line in shown.lines] or [np.empty(0)])
    pad = 0.5 if categorical else 0.0
    across = (float(x.min()) - pad, float(x.max()) + pad) if x.size else (0.0, 1.0)
    rug = shown.rug if framed else None
    if framed:
        low, high = ends_text(*ends)
        own = categorical or shown.is_time
        names = [*_ends(shown.values, categorical=own), "" if low == high else low, high]
        room, below = _limits([shown], bands=True), 0.0 if rug is None else _RUG
        canvas = SvgCanvas(size, across, room, names=names, named_y=ends, below=below)
    else:
        canvas = SvgCanvas(size, across, ends)
    colours = [style.colour for style in line_styles(len(shown.lines), dark=False)]
    draw = _draw_categories if categorical else _draw_numbers
    for line, colour in zip(shown.lines, colours, strict=True):
        draw(canvas, shown, line, colour)
    if rug is not None:
        canvas.bars(rug, colours[0] if len(colours) == 1 else "gray")
    return canvas.text(f"{shown.label} by {shown.feature}")


def _draw_numbers(canvas: SvgCanvas, shown: ShownCurve, line: Line, colour: str) -> None:
    low, high = (np.where(np.isnan(end), line.y, end) for end in (line.low, line.high))
    canvas.band(line.x, low, high, colour)
    if shown.thin.any():
        canvas.line(line.x, line.y, colour, dashes="2 3")
    canvas.line(line.x, np.where(shown.thin, np.nan, line.y), colour)
    if len(line.x) == 1:
        canvas.dot(line.x[0], line.y[0], colour)


def _draw_categories(canvas: SvgCanvas, shown: ShownCurve, line: Line, colour: str) -> None:
    for x, y, low, high, thin in zip(line.x, line.y, line.low, line.high, shown.thin, strict=True):
        opacity = THIN_POINT if thin else 1.0
        canvas.line(np.array([x, x]), np.array([low, high]), colour, opacity=opacity)
        canvas.dot(x, y, colour, opacity)


def _pair_drawing(
    shown: ShownPair, size: tuple[int, int], ends: tuple[float, float], *, framed: bool
) -> str:
    rows, columns = (
        np.unique(np.linspace(0, n - 1, min(n, _CELLS)).round().astype(int)) for n in shown.z.shape
    )
    low, high = ends
    names = [name for k in range(2) for name in _ends(shown.place_texts(k), categorical=True)]
    corner = (0.0, float(len(columns))), (0.0, float(len(rows)))
    canvas = SvgCanvas(size, *corner, names=names if framed else None)
    for (row, column), value in np.ndenumerate(shown.z[np.ix_(rows, columns)]):
        if np.isfinite(value):
            share = (value - low) / (high - low) if high > low else 0.5
            canvas.tile(column, row, _shade(float(share)))
    return canvas.text(f"{shown.label} by {feature_text(shown.features)}")


def _limits(shown: Sequence[ShownCurve | ShownPair], *, bands: bool = False) -> tuple[float, float]:
    """Ends of an axis that shows all of these, and no less than is worth showing; else 0 and 1."""
    parts: list[FloatArray] = []
    for item in shown:
        if isinstance(item, ShownPair):
            parts.append(item.z.ravel())
        else:
            parts += [line.y for line in item.lines] + [np.array(item.y_range or ())]
            parts += [end for line in item.lines if bands for end in (line.low, line.high)]
    values = np.concatenate(parts or [np.empty(0)])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)


def _ends(values: list[Any], *, categorical: bool) -> tuple[str, str]:
    """The first and the last value of an axis, as text."""
    if not values:
        return "", ""
    if categorical:
        first, last = (named(values[k], 16) for k in (0, -1))
    else:
        first, last = ends_text(values[0], values[-1])
    return first, "" if len(values) == 1 or first == last else last


def _shade(share: float) -> str:
    """A colour of the scale, between its low and its high end."""
    mixed = (np.interp(share, (0.0, 0.5, 1.0), channel) for channel in zip(*_SCALE, strict=True))
    return "#" + "".join(f"{round(float(part)):02x}" for part in mixed)


class SvgCanvas:
    """A drawing with the coordinates of the data.

    `size` is in pixels; `x` and `y` are the ends of the axes. `names` are written at them (left,
    right, bottom, top), the last two at `named_y`; `below` are pixels for a histogram.
    """

    def __init__(
        self,
        size: tuple[int, int],
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        names: Sequence[str] | None = None,
        named_y: tuple[float, float] | None = None,
        below: float = 0.0,
    ) -> None:
        self.size = size
        # The ends of an axis must not be one.
        self._x, self._y = (ends if ends[1] > ends[0] else around(ends[0]) for ends in (x, y))
        self._below = below
        self._parts: list[str] = []
        self._left = self._bottom = 4.0
        if names is not None:
            self._left, self._bottom = 8.0 + _LETTER * max(map(len, names[2:])), 20.0
            self._frame(names, named_y or self._y)

    def across(self, x: float) -> float:
        low, high = self._x
        return self._left + (self.size[0] - self._left - 4) * (x - low) / (high - low)

    def down(self, y: float) -> float:
        low, high = self._y
        height = self.size[1] - self._bottom - self._below - 4
        return 4 + height * (high - y) / (high - low)

    def _at(self, x: float, y: float) -> str:
        return f"{self.across(x):.1f},{self.down(y):.1f}"

    def _add(self, tag: str, text: str = "", **attributes: Any) -> None:
        given = "".join(f' {name.replace("_", "-")}="{a}"' for name, a in attributes.items())
        self._parts.append(f"<{tag}{given}>{escape(text)}</{tag}>" if text else f"<{tag}{given}/>")

    def _frame(self, names: Sequence[str], named_y: tuple[float, float]) -> None:
        """Lines at the left and below, with what is at their ends."""
        width, height = self.size
        path = f"M{self._left - 3:.1f},4V{height - self._bottom + 2}H{width - 4}"
        self._add("path", d=path, fill="none", stroke="currentColor", opacity=0.4)
        places = (
            (self._left, height - 5, "start"),
            (width - 4, height - 5, "end"),
            *((self._left - 6, max(self.down(y) + 4, 11.0), "end") for y in named_y),
        )
        for (x, y, anchor), name in zip(places, names, strict=True):
            place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text_anchor": anchor}
            self._add("text", name, **place, font_size=11, fill="currentColor", opacity=0.8)

    def line(
        self, x: FloatArray, y: FloatArray, colour: str, *, dashes: str = "none", opacity: float = 1
    ) -> None:
        """A line, broken where a value is not known."""
        there = np.isfinite(x) & np.isfinite(y)
        drawing = there & np.append(False, there[:-1])
        points = zip(x[there], y[there], drawing[there], strict=True)
        path = "".join(f"{'L' if on else 'M'}{self._at(a, b)}" for a, b, on in points)
        own: dict[str, Any] = {"stroke_width": 1.5, "stroke_dasharray": dashes, "opacity": opacity}
        self._add("path", d=path, fill="none", stroke=colour, **own)

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray, colour: str) -> None:
        there = np.isfinite(low) & np.isfinite(high)
        x, low, high = x[there], low[there], high[there]
        points = map(self._at, [*x, *x[::-1]], [*high, *low[::-1]])
        self._add("polygon", points=" ".join(points), fill=colour, opacity=0.2)

    def dot(self, x: float, y: float, colour: str, opacity: float = 1) -> None:
        if np.isfinite(y):
            place = {"cx": f"{self.across(x):.1f}", "cy": f"{self.down(y):.1f}"}
            self._add("circle", **place, r=3, fill=colour, opacity=opacity)

    def bars(self, rug: Rug, colour: str) -> None:
        """The histogram, in the room below the curve."""
        floor, path = self.size[1] - self._bottom, ""
        tallest = max(rug.counts.max(initial=0), 1)
        lefts, rights = (np.clip(ends, *self._x) for ends in (rug.left, rug.right))
        for left, right, count in zip(lefts, rights, rug.counts, strict=True):
            if right > left and count:
                top = floor - (self._below - 6) * count / tallest
                path += f"M{self.across(left):.1f},{floor:.1f}V{top:.1f}"
                path += f"H{self.across(right):.1f}V{floor:.1f}"
        self._add("path", d=path, fill=colour, opacity=0.45)

    def tile(self, column: int, row: int, colour: str) -> None:
        """A filled rectangle of the size 1."""
        left, top = self.across(column), self.down(row + 1)
        width, height = self.across(column + 1) - left + 0.3, self.down(row) - top + 0.3
        place = {"x": left, "y": top, "width": width, "height": height}
        self._add("rect", **{name: f"{at:.1f}" for name, at in place.items()}, fill=colour)

    def text(self, title: str) -> str:
        """The drawing as an SVG element; the title is read out."""
        width, height = self.size
        return (
            f'<svg role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'aria-label="{escape(title)}">{"".join(self._parts)}</svg>'
        )
