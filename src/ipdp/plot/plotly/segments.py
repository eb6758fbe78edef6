"""The curves of groups in one picture."""

from __future__ import annotations

from ipdp.plot.plotly.style import Figure, name_text
from ipdp.plot.shown.display import PDPDisplay
from ipdp.plot.shown.segments import ShownSegments


def figure(shown: ShownSegments) -> Figure:
    """The figure of the curves."""
    drawn: Figure = PDPDisplay(shown.curve).plot(backend="plotly", **shown.options)
    drawn.update_layout(
        yaxis_title_text=name_text(shown.output), legend_title_text=name_text(shown.by, 24)
    )
    return drawn
