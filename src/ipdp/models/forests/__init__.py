"""Trees that were trained on a table, as flat arrays, and one walk of each for all points."""

from ipdp.models.forests.engine import ForestEngine, with_walk

__all__ = ["ForestEngine", "with_walk"]
