"""Figures of curves. matplotlib and plotly are imported when something is drawn, not before."""

from ipdp.plot.carpet import CarpetDisplay
from ipdp.plot.change import ChangeDisplay
from ipdp.plot.display import PDPDisplay
from ipdp.plot.notebook import curve_html, explainer_html
from ipdp.plot.overview import OverviewDisplay
from ipdp.plot.timeline import TimelineDisplay

__all__ = [
    "CarpetDisplay",
    "ChangeDisplay",
    "OverviewDisplay",
    "PDPDisplay",
    "TimelineDisplay",
    "curve_html",
    "explainer_html",
]
