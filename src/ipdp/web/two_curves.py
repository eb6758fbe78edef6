"""A model and its challenger in a document: both curves of each feature, and their difference."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from ipdp.comparison import Comparison, Difference
from ipdp.core.curve import feature_text
from ipdp.core.typing import FloatArray
from ipdp.core.words import few_digits
from ipdp.plot.shown.comparison import axis_of, parts_beyond
from ipdp.plot.shown.style import named
from ipdp.web.drawings import BOTTOM, LEFT, RIGHT, SIZE, TOP, draw_x_axis
from ipdp.web.payload import label
from ipdp.web.svg import Drawing, Scale

# Features that are drawn, those that differ first; the others have a sentence.
_DRAWN = 12
# Classes of the style sheet: the lines of both sides, and of their difference.
_KINDS, _APART = ("d-c1", "d-c2"), "d-now"


def challenger_card(name: str, found: Comparison) -> str:
    """How a challenger differs from the model: a sentence and two drawings for each feature."""
    ranked = found.ranked
    drawn = [each for each in ranked if each.shape.size and len(each.places) == 1][:_DRAWN]
    rest = [each for each in ranked if not any(each is other for other in drawn)]
    articles = "".join(_article(each, found.names) for each in drawn)
    others = "".join(f"<li>{_escaped(each.summary())}</li>" for each in rest)
    others = others and f'<ul class="sentences">{others}</ul>'
    notes = "".join(f'<p class="muted">{_escaped(remark)}</p>' for remark in found.remarks)
    return (
        f'<section class="card challenger"><h2>The challenger {_escaped(name)}</h2>'
        f"<p>{_escaped(found.heading)}.</p>{notes}"
        '<p class="muted">Dashes in the difference: what counts as none. Shaded: where both models '
        f"differ by more.</p>{articles}{others}</section>"
    )


def _article(each: Difference, names: Sequence[str]) -> str:
    figures = both_drawing(each, names), difference_drawing(each, names)
    drawn = "".join(f"<figure>{svg}</figure>" for svg in figures)
    said = each.summary().removeprefix(f"{feature_text(each.feature)}: ")
    return (
        f'<article class="feature-card"><h3>{_escaped(each.feature)}</h3>'
        f"<p>{_escaped(said[:1].upper() + said[1:])}.</p>"
        f'<div class="figures">{drawn}</div></article>'
    )


def both_drawing(each: Difference, names: Sequence[str]) -> str:
    """Both curves, where both have data behind them; where they differ it is shaded."""
    title = f"{named(each.output_text, 24)}: "
    drawing, across = _begun(each, f"{each.output_text} along {feature_text(each.feature)}")
    drawing.text(4, 12, title, "d-title")
    _draw_names(drawing, names, 4 + 6.4 * len(title))
    up = Scale.around([*each.a, *each.b], BOTTOM - 4, TOP, 0.08)
    _draw_parts(drawing, each, across)
    drawing.y_axis(up, (LEFT, RIGHT), few_digits)
    for values, kind, shift in zip((each.a, each.b), _KINDS, (-4.0, 4.0), strict=True):
        _draw_line(drawing, each, (across, up), (values, None, kind), shift)
    _end(drawing, each, across)
    return str(drawing)


def difference_drawing(each: Difference, names: Sequence[str]) -> str:
    """The difference of the shapes with its band; dashes are the margin."""
    said = f"{named(names[1], 18)} minus {named(names[0], 18)}, without the level"
    drawing, across = _begun(each, f"{said}, along {feature_text(each.feature)}")
    drawing.text(4, 12, said, "d-title")
    half = np.where(np.isfinite(each.half), each.half, 0.0)
    reach = [*(each.shape - half), *(each.shape + half), each.margin, -each.margin]
    up = Scale.around(reach, BOTTOM - 4, TOP, 0.06)
    _draw_parts(drawing, each, across)
    drawing.y_axis(up, (LEFT, RIGHT), few_digits)
    drawing.line((LEFT, RIGHT), (up(0.0), up(0.0)), "d-axis")
    for margin in (each.margin, -each.margin):
        drawing.path([LEFT, RIGHT], [up(margin), up(margin)], "d-past")
    _draw_line(drawing, each, (across, up), (each.shape, each.half, _APART), 0.0)
    _end(drawing, each, across)
    return str(drawing)


def _begun(each: Difference, said: str) -> tuple[Drawing, Scale]:
    margin = 0.12 if each.categorical[0] else 0.02
    return Drawing(*SIZE, label(said)), Scale.around(axis_of(each), LEFT + 4, RIGHT, margin)


def _end(drawing: Drawing, each: Difference, across: Scale) -> None:
    draw_x_axis(drawing, across, each.places[0].tolist() if each.categorical[0] else None)
    middle = (LEFT + RIGHT) / 2
    drawing.text(middle, SIZE[1] - 6, named(each.feature, 44), anchor="middle")


def _draw_names(drawing: Drawing, names: Sequence[str], x: float) -> None:
    for name, kind in zip(names, _KINDS, strict=True):
        said = named(name, 16)
        drawing.dot(x + 4, 8, kind, 4)
        drawing.text(x + 12, 12, said)
        x += 24 + 6.4 * len(said)


def _draw_parts(drawing: Drawing, each: Difference, across: Scale) -> None:
    for low, high in parts_beyond(each):
        sides = [min(max(across(side), LEFT), RIGHT) for side in (low, high)]
        drawing.bar((sides[0], sides[1]), (BOTTOM, TOP), "d-beyond")


def _draw_line(
    drawing: Drawing,
    each: Difference,
    scales: tuple[Scale, Scale],
    drawn: tuple[FloatArray, FloatArray | None, str],
    shift: float,
) -> None:
    """A line with its band; along categories points, a little to the side."""
    (across, up), (values, half, kind) = scales, drawn
    x, y = [across(v) for v in axis_of(each).tolist()], [up(v) for v in values]
    ends = None
    if half is not None:
        ends = [[up(v) for v in edge] for edge in (values - half, values + half)]
    if each.categorical[0]:
        for k, (at, height) in enumerate(zip(x, y, strict=True)):
            if ends is not None and np.isfinite(ends[0][k] + ends[1][k]):
                drawing.line((at, at), (ends[0][k], ends[1][k]), f"d-line {kind}")
            drawing.dot(at + shift, height, kind, 4)
        return
    if ends is not None:
        drawing.area(x, *ends)
    drawing.path(x, y, f"d-line {kind}")


def _escaped(said: object) -> str:
    return html.escape(label(said))
