"""Laws that every part obeys, as functions to test a part of your own with."""

from ipdp.checks.engine import check_engine
from ipdp.checks.explainer import check_explainer
from ipdp.checks.grid import check_grid

__all__ = ["check_engine", "check_explainer", "check_grid"]
