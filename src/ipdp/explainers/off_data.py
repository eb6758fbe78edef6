"""How much of what a partial dependence asks is about observations that do not occur.

Where features depend on each other, a value of one is not to be found together with any value of
the others. The value that the others suggest is estimated by least squares on past observations;
a question is off the data if its value is farther from that than nearly all real ones are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.curve_memory import CurveMemory

# From fewer observations nothing is said; so many are needed for each other feature.
_FEWEST, _EACH = 50, 5
# Real values are closer to what the others suggest than so many standard deviations: 99 % of
# normal ones. (A quantile itself is too uncertain, of so few.)
_NEAR = 2.576


def off_data(memory: CurveMemory, curve: Curve) -> FloatArray | None:
    """For each point of a curve the share of observations that it does not occur with.

    None for a category, for too few observations, and where no other feature is a number.
    """
    rows = [kept.record.x for kept in memory.pool.kept]
    name = curve.feature
    if len(curve.grid_values) != 1 or curve.categorical[0] or len(rows) < _FEWEST:
        return None
    weights = memory.pool.weights(memory.t or 0.0)
    own = _numbers([x.get(name) for x in rows])
    columns = [_numbers([x.get(n) for x in rows]) for n in memory.columns if n != name]
    others = [column for column in columns if column is not None and np.ptp(column) > 0]
    if own is None or not others:
        return None
    table = _strongest(own, others, len(rows) // _EACH)
    root = np.sqrt(weights)
    slopes = np.linalg.lstsq(table * root[:, None], own * root, rcond=None)[0]
    suggested = table @ slopes
    near = _NEAR * np.sqrt(weights @ (own - suggested) ** 2 / weights.sum())
    points = np.asarray(curve.grid_values[0], dtype=float)
    off = np.abs(points - suggested[:, None]) > near
    return np.asarray(weights @ off / weights.sum())


def _strongest(own: FloatArray, others: Sequence[FloatArray], most: int) -> FloatArray:
    """A constant, and the columns that are most correlated with this one, at most so many."""
    sizes = [-abs(np.corrcoef(own, column)[0, 1]) for column in others]
    chosen = np.argsort(sizes, kind="stable")[:most]
    scaled = [(others[k] - others[k].mean()) / others[k].std() for k in chosen]
    return np.column_stack([np.ones(len(own)), *scaled])


def _numbers(values: Sequence[Any]) -> FloatArray | None:
    """The values as numbers, missing ones as the mean of the others; None if they are none."""
    if not all(value is None or isinstance(value, (int, float, np.number)) for value in values):
        return None
    column: Array = np.array([np.nan if value is None else value for value in values], dtype=float)
    known = np.isfinite(column)
    return np.where(known, column, column[known].mean()) if known.any() else None
