"""ICE curves of river's trees and of ensembles of them, by one walk for all points."""

from ipdp.models.trees.check import Checker, SlowPathWarning
from ipdp.models.trees.engine import TreeEngine
from ipdp.models.trees.find import tree_engine

__all__ = ["Checker", "SlowPathWarning", "TreeEngine", "tree_engine"]
