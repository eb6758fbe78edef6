"""Figures of curves. matplotlib and plotly are imported when something is drawn, not before."""

from ipdp.plot.notebook import curve_html, explainer_html
from ipdp.plot.shown.carpet import CarpetDisplay
from ipdp.plot.shown.change import ChangeDisplay
from ipdp.plot.shown.comparison import ComparisonDisplay
from ipdp.plot.shown.display import PDPDisplay
from ipdp.plot.shown.effect import EffectDisplay
from ipdp.plot.shown.interactions import InteractionDisplay
from ipdp.plot.shown.overview import OverviewDisplay
from ipdp.plot.shown.regions import RegionsDisplay
from ipdp.plot.shown.score_move import ScoreMoveDisplay
from ipdp.plot.shown.segments import SegmentsDisplay
from ipdp.plot.shown.timeline import TimelineDisplay

__all__ = [
    "CarpetDisplay",
    "ChangeDisplay",
    "ComparisonDisplay",
    "EffectDisplay",
    "InteractionDisplay",
    "OverviewDisplay",
    "PDPDisplay",
    "RegionsDisplay",
    "ScoreMoveDisplay",
    "SegmentsDisplay",
    "TimelineDisplay",
    "curve_html",
    "explainer_html",
]
