"""Small multiples of the parts of the observations in which the effect of a feature is another."""

from __future__ import annotations

from collections.abc import Sequence

from ipdp.core.curve import Curve
from ipdp.plot.shown.regions import ALL, parts_of_feature
from ipdp.plot.shown.style import named
from ipdp.web.drawings import Common, curve_drawing

CAPTION = f"Dashes: {ALL}. All have one axis."
"""What the panels have in common."""


def part_drawings(whole: Curve, curves: Sequence[Curve], target: str | None = None) -> list[str]:
    """A drawing for each part of a feature's observations, with the curve of all beside it."""
    if len(whole.grid_values) != 1:
        return []
    parts = parts_of_feature(curves, whole)
    if not parts:
        return []
    common = Common.of([whole, *(curve for curve, _ in parts)], target)
    return [
        curve_drawing(curve, common, title=named(f"{curve.where}: {size}", 52), beside=whole)
        for curve, size in parts
    ]
