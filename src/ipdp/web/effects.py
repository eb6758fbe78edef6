"""Partial dependence and local effects of one feature together, for page and report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import BY_OUTPUT, Curve
from ipdp.core.importance import Result
from ipdp.core.typing import Label
from ipdp.log.beliefs import effect_text
from ipdp.plot.shown.curve import SPREAD
from ipdp.plot.shown.effect import ALE, PDP, ShownEffect, shown_effect
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import Axis, rug_of, spread_ends
from ipdp.web.drawings import (
    LEFT,
    LEVEL,
    RIGHT,
    SIZE,
    TOP,
    draw_rug,
    draw_spread,
    draw_x_axis,
    marks_along,
)
from ipdp.web.payload import curves_payload, label
from ipdp.web.svg import Drawing, Scale

if TYPE_CHECKING:
    from ipdp.log import SnapshotInfo

NAME, TITLE = "pdp+ale", "PDP and ALE together"
"""What the page calls the two, where a run has both."""


def both_kinds(newest: Mapping[str, Mapping[Any, Result]]) -> tuple[str, str] | None:
    """The first explainer of partial dependence and that of local effects; None without both."""
    of_kind: dict[str, str] = {}
    for explainer, results in newest.items():
        for result in results.values():
            if isinstance(result, Curve):
                of_kind.setdefault(result.kind, explainer)
                break
    return (of_kind["pdp"], of_kind["ale"]) if {"pdp", "ale"} <= of_kind.keys() else None


def joined(
    first: Iterable[tuple[SnapshotInfo, Result]], second: Iterable[tuple[SnapshotInfo, Result]]
) -> list[tuple[SnapshotInfo, Curve, Curve]]:
    """The curves of one feature by both, where both have one of it; none of a pair."""
    others = {info.n: result for info, result in second}
    return [
        (info, pdp, ale)
        for info, pdp in first
        if isinstance(pdp, Curve) and len(pdp.grid_values) == 1 and info.n in others
        for ale in (others[info.n],)
        if isinstance(ale, Curve) and ale.categorical == pdp.categorical
    ]


def effects_of(pdp: Curve, ale: Curve) -> dict[Label, ShownEffect]:
    """What is drawn of both, for each output that both know."""
    both = [output for output in pdp.outputs if output in ale.outputs]
    return {output: shown_effect(pdp, ale, output, None, spread=True) for output in both}


def effect_frames(
    items: Iterable[tuple[SnapshotInfo, Curve, Curve]], target: str | None = None
) -> dict[str, Any]:
    """Both of one feature, oldest first, as the page is sent curves."""
    known = [(info, effects_of(pdp, ale)) for info, pdp, ale in items]
    known = [(info, found) for info, found in known if found]
    times = {"id": [info.id for info, _ in known], "n": [info.n for info, _ in known]}
    first, second = (
        curves_payload([_together(found, k) for _, found in known], target) for k in (0, 1)
    )
    # What the numbers are is told by the local effects: the other one is at their level.
    said: dict[str, Any] = {
        name: second[name] for name in ("texts", "several", "chances") if name in second
    }
    return {
        **times,
        **first,
        **said,
        "beside": {**times, **second},
        "names": [PDP, ALE],
        "parts": [{label(o): _parts(one) for o, one in found.items()} for _, found in known],
        "sentences": [{label(o): label(one.sentence) for o, one in f.items()} for _, f in known],
    }


def _together(found: dict[Label, ShownEffect], k: int) -> Curve:
    """The k-th curve of each output as one curve of all of them."""
    ones = [one.curves[k][0] for one in found.values()]
    known = [name for name in BY_OUTPUT if getattr(ones[0], name) is not None]
    values: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in ones]) for name in known
    }
    return replace(ones[0], outputs=tuple(found), **values)


def _parts(shown: ShownEffect) -> list[Any]:
    """The stretches where the two part; of categories their names."""
    curve = shown.curves[0][0]
    if not curve.categorical[0]:
        return [list(part) for part in shown.parts]
    names = curve.grid_values[0].tolist()
    return [label(v) for k, v in enumerate(names) if any(a < k < b for a, b in shown.parts)]


def effect_drawing(pdp: Curve, ale: Curve) -> tuple[str, str]:
    """Both with their bands and the spread of single observations, and what is to be seen."""
    found = effects_of(pdp, ale)
    output = pdp.main_output
    if output is None or output not in found:
        return "", ""
    shown = found[output]
    drawing = Drawing(*SIZE, f"{PDP} and {ALE} of {named(pdp.feature)}")
    title = f"{shown.label[:1].upper()}{shown.label[1:]}, two ways"
    drawing.text(4, 12, named(title, 52), "d-title")
    _draw_both(drawing, shown, effect_text(pdp))
    drawing.text((LEFT + RIGHT) / 2, SIZE[1] - 6, named(pdp.feature, 44), anchor="middle")
    return str(drawing), shown.sentence


def _draw_both(drawing: Drawing, shown: ShownEffect, say: Callable[[float], str]) -> None:
    curves = [curve for curve, _, _ in shown.curves]
    first, is_category = curves[0], curves[0].categorical[0]
    axis = Axis(categorical=is_category)
    xs = [axis.positions(curve.grid_values[0]).tolist() for curve in curves]
    across = Scale.around(xs[0] + xs[1], LEFT + 4, RIGHT, 0.12 if is_category else 0.02)
    floor = draw_rug(drawing, across, rug_of(first, np.array(xs[0])))
    spread = [end[0] for end in spread_ends(first, within=False)]
    lines = [curve.average[0] for curve in curves]
    up = Scale.around(np.concatenate([*lines, *spread]), floor - 4, TOP, 0.06)
    for low, high in shown.parts:
        drawing.bar((max(across(low), LEFT), min(across(high), RIGHT)), (TOP, floor), "d-beyond")
    drawing.y_axis(up, (LEFT, RIGHT), say)
    ends = [[up(v) for v in end] for end in spread]
    draw_spread(drawing, [across(v) for v in xs[0]], ends, is_category=is_category)
    for k, (curve, x) in enumerate(zip(curves, xs, strict=True)):
        places = [across(v) + (6 * k - 3 if is_category else 0) for v in x]
        _draw_line(drawing, curve, places, (up, floor), f"d-c{k + 1}")
    draw_x_axis(drawing, across, axis.categories, marks_along(across, first, 0))
    _draw_names(drawing, with_spread=bool(np.isfinite(spread[0]).any()))


def _draw_line(
    drawing: Drawing, curve: Curve, places: list[float], to: tuple[Scale, float], kind: str
) -> None:
    up, floor = to
    heights = [up(v) for v in curve.average[0]]
    low, high = (
        [min(max(up(v), TOP), floor) for v in end[0]]
        for end in curve.band(LEVEL, simultaneous=True)
    )
    if not curve.categorical[0]:
        drawing.area(places, low, high, kind=f"d-area {kind}")
        drawing.path(places, heights, f"d-line {kind}")
        return
    for x, y, bottom, top in zip(places, heights, low, high, strict=True):
        drawing.line((x, x), (bottom, top), f"d-line {kind}")
        drawing.dot(x, y, kind, 4)


def _draw_names(drawing: Drawing, *, with_spread: bool) -> None:
    """What the two lines are, and the light band."""
    for k, said in enumerate(("PDP", "ALE")):
        drawing.dot(LEFT + 8 + 46 * k, TOP - 9, f"d-c{k + 1}", 3.5)
        drawing.text(LEFT + 15 + 46 * k, TOP - 5.5, said)
    if with_spread:
        drawing.bar((LEFT + 96, LEFT + 108), (TOP - 13, TOP - 5), "d-spread")
        drawing.text(LEFT + 112, TOP - 5.5, SPREAD)
