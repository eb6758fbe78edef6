"""Laws that every part obeys, as functions to test a part of your own with."""

from ipdp.checks.engine import check_engine

__all__ = ["check_engine"]
