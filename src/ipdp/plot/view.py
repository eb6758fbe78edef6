"""What of a curve is shown, for whatever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Label
from ipdp.plot.context import checked_compare, checked_trail
from ipdp.plot.outputs import are_probabilities, chosen, y_label
from ipdp.plot.support import about_its_mean

# An axis of probabilities shows at least this much, so that noise does not look like an effect.
_LEAST_SPAN = 0.2


@dataclass(frozen=True)
class View:
    """A curve with the outputs that are to be seen, and what stands beside it.

    Attributes
    ----------
    curve
        The curve, centred if that was asked for.
    label
        What its values are, for the axis.
    span
        Values that the axis must show; None where it may show less.
    trail, compare
        Earlier curves, oldest first, and a curve to compare with; centred likewise.
    centred
        Whether the mean was taken off.
    """

    curve: Curve
    label: str
    span: tuple[float, float] | None
    trail: list[Curve]
    compare: Curve | None
    centred: bool

    @classmethod
    def of(
        cls,
        whole: Curve,
        *,
        output: Label | None = None,
        centred: bool = False,
        trail: Sequence[Curve] = (),
        compare: Curve | None = None,
    ) -> View:
        """The view that the arguments of `PDPDisplay.plot` ask for."""
        curve = chosen(whole, output)
        label = y_label(whole, curve)
        earlier = checked_trail(curve, trail)
        other = checked_compare(curve, compare)
        if other is not None and not set(other.outputs) & set(curve.outputs):
            raise ValueError(
                f"compare has the outputs {list(other.outputs)}, none of {list(curve.outputs)}"
            )
        if centred:
            curve, label = about_its_mean(curve), f"{label}, centred"
            earlier = [about_its_mean(item) for item in earlier]
            other = None if other is None else about_its_mean(other)
        span = _span(curve, bounded=not centred) if are_probabilities(whole) else None
        return cls(curve, label, span, earlier, other, centred)

    @property
    def name(self) -> str:
        """The curve's own name among those beside it."""
        return "now" if self.curve.t is None else f"t = {self.curve.t:,.10g}"


def _span(curve: Curve, *, bounded: bool) -> tuple[float, float] | None:
    known = curve.average[np.isfinite(curve.average)]
    if not known.size:
        return None
    low = float(known.min() + known.max() - _LEAST_SPAN) / 2
    if bounded:
        low = min(max(low, 0.0), 1.0 - _LEAST_SPAN)
    return low, low + _LEAST_SPAN
