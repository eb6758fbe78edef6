"""Figures of curves. matplotlib is imported when something is drawn, not before."""

from ipdp.plot.display import PDPDisplay

__all__ = ["PDPDisplay"]
