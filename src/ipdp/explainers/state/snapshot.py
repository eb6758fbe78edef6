"""From the state of an explainer to a curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.means import Fold
from ipdp.explainers.state.targets import MISSING, Effect
from ipdp.grid.base import Key


class Means(NamedTuple):
    """What the smoothing says, computed once for all curves of a snapshot."""

    mean: FloatArray
    std_error: FloatArray
    n_effective: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, fold: Fold) -> Means:
        """Those of all effects of a fold."""
        smoothing = fold.smoothing
        return cls(smoothing.mean, smoothing.std_error, smoothing.n_effective, smoothing.weight)


def curve_of(
    fold: Fold, number: int, *, with_ice: bool = True, means: Means | None = None
) -> Curve:
    """A snapshot of one effect of the fold."""
    effect = fold.effects[number]
    if not effect.n:
        raise NotEnoughSamples(
            f"no curve for {effect.feature!r} yet: it is still warming up, or nothing was explained"
        )
    means = means or Means.of(fold)
    columns = _columns(means, effect)
    missing = [c for c in columns if effect.keys[c - effect.start] == MISSING]
    columns = [c for c in columns if c not in missing]
    outputs = in_order(fold.outputs)
    rows = [fold.n_axes + fold.outputs.index(label) for label in outputs]
    axes, order, shape = _arrange(means, effect, columns)
    columns = [columns[k] for k in order]

    def cut(values: FloatArray) -> FloatArray:
        return values[np.ix_(rows, columns)].reshape(len(rows), *shape)

    ice, positions = _ice(fold, columns, rows) if with_ice else (None, None)
    rugs = _joint_rug(fold, effect) if effect.is_pair else [grid.rug for grid in effect.grids]
    return Curve(
        feature=effect.feature,
        outputs=outputs,
        grid_values=axes,
        average=cut(means.mean),
        std_error=cut(means.std_error),
        n_samples=effect.n,
        n_effective_points=means.n_effective[columns].reshape(shape),
        categorical=tuple(axis.dtype == object for axis in axes),
        t=fold.t,
        ice=None if ice is None else ice.reshape(*ice.shape[:2], *shape),
        ice_grid_values=positions if len(axes) == 1 and axes[0].dtype != object else None,
        rug=rugs,
        missing=means.mean[rows, missing[0]] if missing else None,
        missing_std_error=means.std_error[rows, missing[0]] if missing else None,
    )


def _columns(means: Means, effect: Effect) -> list[int]:
    """The columns of the effect that have a value and are within the limits of its grid."""
    columns = np.arange(effect.start, effect.start + len(effect.keys))
    if effect.is_pair:
        return [int(c) for c in columns]
    limits = effect.grids[0].limits
    shown = means.weight[columns] > 0
    if limits is not None:
        position = means.mean[0, columns]
        is_missing = np.array([key is MISSING for key in effect.keys])
        within = is_missing | ((position >= limits[0]) & (position <= limits[1]))
        if (shown & within & ~is_missing).any():
            shown &= within
    return [int(c) for c in columns[shown]]


def _arrange(
    means: Means, effect: Effect, columns: list[int]
) -> tuple[list[Array], list[int], tuple[int, ...]]:
    """The axes, the order of the columns along them, and the shape that they fill."""
    keys = [effect.keys[c - effect.start] for c in columns]
    mean, weight = means.mean, means.weight
    if not effect.is_pair:
        axis, order = _ascending(_axis(keys, mean[0, columns]))
        return [axis], order, (len(axis),)
    pairs: list[Any] = keys
    firsts = list(dict.fromkeys(first for first, _ in pairs))
    seconds = list(dict.fromkeys(second for _, second in pairs))
    shape = (len(firsts), len(seconds))
    weights = weight[columns].reshape(shape) + np.finfo(float).tiny
    rows = mean[0, columns].reshape(shape), mean[1, columns].reshape(shape)
    # Cells of one line of the grid differ in position only if some of them were born later.
    along = (
        np.average(rows[0], axis=1, weights=weights),
        np.average(rows[1], axis=0, weights=weights),
    )
    axes, orders = zip(
        *(_ascending(_axis(k, p)) for k, p in zip((firsts, seconds), along, strict=True)),
        strict=True,
    )
    cells = np.arange(len(columns)).reshape(shape)[np.ix_(*orders)]
    return list(axes), cells.ravel().tolist(), shape


def _axis(keys: list[Key], positions: FloatArray) -> Array:
    if keys and isinstance(keys[0], tuple):
        axis = np.empty(len(keys), dtype=object)
        axis[:] = [key[0] for key in keys if isinstance(key, tuple)]
        return axis
    return positions.copy()


def _ascending(axis: Array) -> tuple[Array, list[int]]:
    """An axis of numbers in ascending order, and that order; categories keep theirs.

    Positions that are means over different times, because a point was born late, may overtake.
    """
    if axis.dtype == object:
        return axis, list(range(len(axis)))
    order: list[int] = np.argsort(axis, kind="stable").tolist()
    return axis[order], order


def _joint_rug(fold: Fold, effect: Effect) -> list[Array]:
    """Recent values of both features of a pair, those of one observation at the same place."""
    names = list(fold.grids)
    places = [names.index(name) for name in effect.names]
    rows = [[values[k] for k in places] for values in fold.together]
    columns = zip(*[row for row in rows if None not in row], strict=True)
    rugs = []
    for grid, column in zip(effect.grids, list(columns) or [(), ()], strict=True):
        rug = np.empty(len(column), dtype=object)
        rug[:] = column
        rugs.append(rug if grid.points.dtype == object else rug.astype(float))
    return rugs


def _ice(
    fold: Fold, columns: list[int], rows: list[int]
) -> tuple[FloatArray | None, list[FloatArray] | None]:
    """The recent ICE curves on the given columns, (n_outputs, n_ice, n), and their positions."""
    if not fold.recent:
        return None, None
    slots = fold.layout.slots
    wanted = [slots[c] for c in columns]
    n_outputs = len(fold.outputs)
    ice = np.full((n_outputs, len(fold.recent), len(wanted)), np.nan)
    positions = np.full((len(fold.recent), len(wanted)), np.nan)
    for row, record in enumerate(fold.recent):
        if record.layout is fold.layout:
            there = list(range(len(wanted)))
            at = columns
        else:
            column = {slot: c for c, slot in enumerate(record.layout.slots)}
            there = [k for k, slot in enumerate(wanted) if slot in column]
            at = [column[wanted[k]] for k in there]
        known = len(record.values)
        ice[:known, row, there] = record.values[:, at]
        ice[known:, row, there] = 0.0  # classes that had not been met
        positions[row, there] = record.positions[0, at]
    known_any = ~np.isnan(positions).all(axis=1)
    picked = [r - fold.n_axes for r in rows]
    return ice[picked][:, known_any], [positions[known_any]]
