"""A memory of curves that follows one more pair from now on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ipdp.core.typing import FeatureName
from ipdp.explainers.state.joint_values import JointValues
from ipdp.explainers.state.pool import Pool
from ipdp.explainers.state.records import IceRecord, Kept, Record
from ipdp.explainers.state.spread import Spread
from ipdp.explainers.state.spreads import Spreads
from ipdp.explainers.state.targets import Target

if TYPE_CHECKING:
    from ipdp.explainers.state.curve_memory import CurveMemory

AnyRecord = TypeVar("AnyRecord", IceRecord, Record)

_BY_TARGET = ("frame", "effect", "effect_weight")


def following(memory: CurveMemory, pair: tuple[FeatureName, FeatureName]) -> CurveMemory:
    """A copy of a memory that follows a pair of its features, too.

    The pair has the grids of the two, and no observation yet; all else goes on as it was.
    """
    alone = memory.copy()
    grids = alone.grids
    own = Target(pair, pair, tuple(grids[name] for name in pair))
    targets = [replace(target) for target in alone.targets] + [own]
    alpha, n_ice = memory.means.smoothing.alpha, memory.recent.maxlen or 0
    wider = type(memory)(targets, memory.columns, alpha=alpha, n_ice=n_ice)
    wider.seen, wider.t, wider.starts_at = memory.seen, memory.t, memory.starts_at
    fixed = wider.means.fixed
    wider.means = alone.means.with_axes(2, fixed)
    wider.spreads = Spreads(
        _with_target(alone.spreads.own, pair, fixed),
        alone.spreads.whole and _with_target(alone.spreads.whole, pair, fixed),
        alone.spreads.begins_after,
    )
    wider.recent.extend(_padded(record) for record in alone.recent)
    wider.pool = _padded_pool(alone.pool)
    _take_joint(wider, alone)
    return wider


def _take_joint(wider: CurveMemory, alone: CurveMemory) -> None:
    """What is known of values that came together; of features in no pair before it is nothing."""
    if set(wider.joint_values.places) <= set(alone.joint_values.places):
        wider.joint.extend(alone.joint)
        wider.joint_values = alone.joint_values
    else:
        places, alpha = wider.joint_values.places, wider.joint_values.alpha
        wider.joint_values = JointValues(places, alpha=alpha)


def _with_target(spread: Spread, pair: tuple[FeatureName, ...], fixed: frozenset[int]) -> Spread:
    wider = Spread((*spread.targets, pair), spread.names, alpha=spread.alpha, fixed=fixed)
    wider.layout, wider.n, wider.t = spread.layout, spread.n, spread.t
    wider._fresh = set(spread._fresh)
    arrays = dict(spread._arrays)
    for name in _BY_TARGET:
        gap = [(0, 0)] * (arrays[name].ndim - 1) + [(0, 1)]
        arrays[name] = np.pad(arrays[name], gap)
    wider._put(arrays)
    return wider


def _padded(record: AnyRecord) -> AnyRecord:
    """The record with a position on a second axis, where it has none: 0."""
    if len(record.positions) > 1:
        return record
    return record._replace(positions=np.pad(record.positions, ((0, 1), (0, 0))))


def _padded_pool(pool: Pool) -> Pool:
    twin = pool.copy()
    twin._adopt_answers()
    twin._kept = [_with_padded(kept) for kept in twin._kept]
    twin._newest = twin._newest and _with_padded(twin._newest)
    return twin


def _with_padded(kept: Kept) -> Kept:
    return kept._replace(record=_padded(kept.record))
