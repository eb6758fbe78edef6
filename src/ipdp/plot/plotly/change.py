"""A change: the curves before and after it."""

from __future__ import annotations

from ipdp.plot.plotly.overlaid import overlaid
from ipdp.plot.plotly.style import Figure
from ipdp.plot.shown.change import ShownChange


def figure(shown: ShownChange) -> Figure:
    """The figure of a change."""
    curves = [(curve, name, shown.options) for curve, name in shown.curves]
    return overlaid(curves, shown.sentence, shown.label, shown.parts)
