"""ICE curves of river's trees and of ensembles of them, by one walk for all points."""

from ipdp.models.base import SlowPathWarning
from ipdp.models.trees.engine import Checker, TreeEngine, walk_of

__all__ = ["Checker", "SlowPathWarning", "TreeEngine", "walk_of"]
