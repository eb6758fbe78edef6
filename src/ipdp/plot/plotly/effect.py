"""What one curve hides: partial dependence, local effects and single observations together."""

from __future__ import annotations

from ipdp.plot.plotly.overlaid import overlaid
from ipdp.plot.plotly.style import Figure
from ipdp.plot.shown.effect import ShownEffect


def figure(shown: ShownEffect) -> Figure:
    """The figure of an effect."""
    curves = [(curve, name, {**options, "rug": False}) for curve, name, options in shown.curves]
    return overlaid(curves, shown.sentence, shown.label, shown.parts)
