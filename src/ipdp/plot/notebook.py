"""How curves and explainers show themselves in a notebook: plain HTML, every name escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.plot.outputs import are_probabilities
from ipdp.plot.series import importance_of
from ipdp.plot.style import named, tints
from ipdp.plot.support import known
from ipdp.plot.svg import curve_svg, limits, number
from ipdp.plot.view import View

if TYPE_CHECKING:
    from ipdp.explainers.pdp import IncrementalPDP

_ROWS = 30
_SMALL, _LARGE = (150, 36), (380, 190)
_CELL = 'style="text-align:left;padding:2px 10px"'
_QUIET = 'style="opacity:0.7"'


def curve_html(curve: Curve) -> str:
    """A curve as a small drawing with the ends of its axes."""
    view = View.of(curve)
    shown = view.curve
    what = f"{_text(view.label)} by <b>{_text(curve.feature)}</b>"
    drawing = "nothing yet"
    if np.isfinite(known(shown)).any():
        title = f"{named(view.label)} by {named(curve.feature)}"
        drawing = curve_svg(shown, _LARGE, _limits([view]), title=title, framed=True)
    notes = [_text(_state(curve), 100)]
    if len(curve.grid_values) == 2:
        low, high = map(number, limits([shown]))
        notes.append(f"from {low} (dark) to {high} (light)")
    if shown.missing is not None:
        notes.append(f"when missing: {', '.join(map(number, shown.missing.tolist()))}")
    return (
        f"<div>{what}<br>{drawing}<br><small {_QUIET}>{'; '.join(notes)}</small>{_key(shown)}</div>"
    )


def explainer_html(pdp: IncrementalPDP) -> str:
    """An explainer as a table: its curves, the most important one first."""
    curves = sorted(pdp.curves.values(), key=importance_of, reverse=True)
    head = f"<b>IncrementalPDP</b> of <code>{_text(repr(pdp.engine), 120)}</code>"
    facts = [f"{pdp.n_seen:,} observations seen", f"alpha = {pdp.alpha}", pdp.estimator]
    head += f"<br><small {_QUIET}>{_text(', '.join(facts), 200)}</small>"
    if not curves:
        return f"<div>{head}<br>No curve yet: call <code>explain_one</code>.</div>"
    views = [View.of(curve) for curve in curves]
    single = [view for view in views if len(view.curve.grid_values) == 1]
    ends = _limits(single)  # one axis for all: a flat curve looks flat
    rows = [_row(view, ends) for view in views[:_ROWS]]
    more = len(curves) - len(rows)
    rest = f"<small {_QUIET}>and {more} more</small>" if more else ""
    titles = ("feature", "curve", "importance", "where")
    heads = "".join(f"<th {_CELL}>{title}</th>" for title in titles)
    key = _key(single[0].curve) if single else ""
    return (
        f"<div>{head}<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"{rest}{key}</div>"
    )


def _row(view: View, ends: tuple[float, float]) -> str:
    curve = view.curve
    label = f"{named(view.label)} by {named(curve.feature)}"
    if len(curve.grid_values) == 2:
        ends = limits([curve])
    cells = (
        _text(curve.feature),
        curve_svg(curve, _SMALL, ends, title=label),
        number(importance_of(curve)),
        "; ".join(_axis(curve, k) for k in range(len(curve.grid_values))),
    )
    return f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in cells)}</tr>"


def _axis(curve: Curve, k: int) -> str:
    """The ends of a feature's axis, or its categories."""
    values = curve.grid_values[k].tolist()
    pair = len(curve.grid_values) > 1
    name = f"{_text(curve.features[k])}: " if pair else ""
    if not values:
        return f"{name}nothing yet"
    if curve.categorical[k]:
        few = ", ".join(_text(value, 16) for value in values[:6])
        return f"{name}{few}{f', … ({len(values)} in all)' if len(values) > 6 else ''}"
    return f"{name}{number(values[0])} to {number(values[-1])}"


def _limits(views: Sequence[View]) -> tuple[float, float]:
    """Ends of an axis that shows these curves, and no less than is worth looking at."""
    ends = [limits([view.curve]) for view in views] + [view.span for view in views if view.span]
    return min((low for low, _ in ends), default=0.0), max((high for _, high in ends), default=1.0)


def _key(curve: Curve) -> str:
    """Names of the outputs in their colours, where there are several."""
    if len(curve.outputs) < 2:
        return ""
    colours: Iterable[Any] = (colour for colour, _ in tints(dark=False, n=len(curve.outputs)))
    marks = (
        f'<span style="color:{colour}">&#9632;</span> {_text(output)}'
        for colour, output in zip(colours, curve.outputs, strict=True)
    )
    what = "probability of" if are_probabilities(curve) else "prediction of"
    return f"<br><small>{what} {' '.join(marks)}</small>"


def _state(curve: Curve) -> str:
    when = "" if curve.t is None else f", t = {curve.t:,.10g}"
    return f"{curve.n_samples:,} observations explained{when}"


def _text(name: object, width: int = 48) -> str:
    return escape(named(name, width))
