"""The curves of groups in one picture."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from ipdp.plot.matplotlib.style import PLAIN
from ipdp.plot.shown.display import PDPDisplay
from ipdp.plot.shown.segments import ShownSegments
from ipdp.plot.shown.style import named


def draw(shown: ShownSegments, ax: Axes | None) -> dict[str, Any]:
    """Draw the curves; gives the artists by name."""
    display = PDPDisplay(shown.curve).plot(ax=ax, **shown.options)
    display.ax_.set_ylabel(named(shown.output), **PLAIN)
    legend = display.ax_.get_legend()
    if legend is not None:
        legend.set_title(named(shown.by, 24))
        legend.get_title().set(**PLAIN)
    return {name[:-1]: value for name, value in vars(display).items() if name.endswith("_")}
