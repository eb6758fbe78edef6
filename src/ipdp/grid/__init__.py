"""Grids: where on a feature's axis the model is evaluated.

A grid keeps what it needs of the recent values of one feature (its storage) and gives out the
evaluation points x~_t,k. Pass one to `ipdp.IncrementalPDP` for all features, or a dict by feature.
"""

from ipdp.grid.auto import Auto
from ipdp.grid.base import Grid, NumberGrid, need_points
from ipdp.grid.categories import Categories
from ipdp.grid.fixed import Fixed
from ipdp.grid.ranges import MinMax, QuantileRange, Quantiles
from ipdp.grid.thresholds import Thresholds

__all__ = [
    "Auto",
    "Categories",
    "Fixed",
    "Grid",
    "MinMax",
    "NumberGrid",
    "QuantileRange",
    "Quantiles",
    "Thresholds",
    "need_points",
]
