"""What is drawn beside a curve to judge it by: earlier curves, and one to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import FloatArray, Label
from ipdp.plot.frame import Frame
from ipdp.plot.lines import dashes, spread
from ipdp.plot.series import time_of
from ipdp.plot.style import CONTEXT, fade
from ipdp.plot.support import known

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

# Opacity of the oldest and of the newest earlier curve.
FAINT, STRONG = 0.15, 0.6


def checked_trail(curve: Curve, trail: Sequence[Curve]) -> list[Curve]:
    """Earlier curves of the same feature, oldest first."""
    for earlier in trail:
        _must_match(curve, earlier, "trail")
    return sorted(trail, key=time_of)


def checked_compare(curve: Curve, compare: Curve | None) -> Curve | None:
    """A curve of the same feature, or None."""
    if compare is not None:
        _must_match(curve, compare, "compare")
    return compare


def _must_match(curve: Curve, other: Curve, name: str) -> None:
    if not isinstance(other, Curve):
        raise TypeError(f"{name} takes curves, got {type(other).__name__}")
    if len(curve.grid_values) > 1:
        raise ValueError(f"{name} is for single features, and {curve.feature!r} is a pair")
    if other.feature != curve.feature or other.categorical != curve.categorical:
        raise ValueError(
            f"{name} has a curve of {other.feature!r} that does not fit one of {curve.feature!r}"
        )


def ages(n: int) -> FloatArray:
    """Opacities of n earlier curves, oldest first."""
    return np.linspace(FAINT, STRONG, n) if n > 1 else np.full(n, STRONG)


def trail_label(trail: Sequence[Curve]) -> str:
    """From when to when the earlier curves are."""
    first, last = (f"{time_of(curve):,.10g}" for curve in (trail[0], trail[-1]))
    return f"t = {first}" if first == last else f"t = {first} to {last}"


def row_of(curve: Curve, output: Label) -> FloatArray | None:
    """The values of one output, None if the curve does not have it."""
    if output not in curve.outputs:
        return None
    return np.asarray(known(curve)[curve.outputs.index(output)])


def draw_trail(
    ax: Axes,
    trail: Sequence[Curve],
    outputs: Sequence[Label],
    looks: Sequence[Any],
    given: dict[str, Any],
) -> list[LineCollection]:
    """For each output a collection of its earlier curves: the older the fainter."""
    from matplotlib.collections import LineCollection

    drawn = []
    for output, colour, shift in zip(outputs, looks, spread(len(outputs), 0.4), strict=True):
        rows = [(curve, row_of(curve, output)) for curve in trail]
        paths, strengths = [], []
        for (curve, values), strength in zip(rows, ages(len(trail)), strict=True):
            if values is not None:
                paths.append(_path(ax, curve, values, shift))
                strengths.append(strength)
        label = trail_label(trail) if output == outputs[0] else ""
        look = {"color": colour, "linewidth": 1.2, "zorder": 1.7, "label": label, **given}
        lines = LineCollection(paths, **{"alpha": strengths or None, "gid": CONTEXT, **look})
        ax.add_collection(lines)
        drawn.append(lines)
    ax.autoscale_view()
    return drawn


def draw_compare(
    ax: Axes,
    compare: Curve,
    outputs: Sequence[Label],
    looks: Sequence[Any],
    given: dict[str, Any],
) -> list[Line2D]:
    """A dashed line for each output; hollow marks for categories."""
    drawn: list[Line2D] = []
    several = len(outputs) > 1
    for output, colour, shift in zip(outputs, looks, spread(len(outputs), 0.4), strict=True):
        values = row_of(compare, output)
        if values is None:
            continue
        own = {"color": colour if several else fade(ax, 0.8), "linewidth": 1.5, "zorder": 2.5}
        own["label"] = "" if drawn else "for comparison"
        if compare.categorical[0]:
            x = Frame.around(ax).places(compare.grid_values[0]) + shift
            own |= {"linestyle": "none", "marker": "D", "markersize": 8, "fillstyle": "none"}
        else:
            x = np.asarray(compare.grid_values[0], dtype=float)
            own["linestyle"] = (0, (4, 2))
        drawn += ax.plot(x, values, gid=CONTEXT, **{**own, **given})
    return drawn


def _path(ax: Axes, curve: Curve, values: FloatArray, shift: float) -> FloatArray:
    if curve.categorical[0]:
        return dashes(values, Frame.around(ax).places(curve.grid_values[0]) + shift)
    return np.column_stack([np.asarray(curve.grid_values[0], dtype=float), values])
