"""How much the curves tell of the model: the share of the variance of its predictions.

The smoothed variance of what the curves do not say compares each observation with the curves of its
own time. Those of a model that learns lag behind it, and what is missing then is no interaction.
Such a model is therefore asked again about some past observations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.observations import arranged
from ipdp.core.typing import Array, FeatureName, FloatArray
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.records import IceRecord
from ipdp.explainers.state.spread import Spread
from ipdp.models import Engine

# Of how many past observations the share is computed, at most.
_PREDICTED = 144
# What is left of a constant prediction is rounding: so much of its square.
_ROUNDING = 1e-18


def smoothed_share(spread: Spread) -> FloatArray:
    """The share of the variance of what the model said that its curves told, (n_outputs,).

    NaN for an output that does not vary.
    """
    return _share(*spread.variances)


def share_now(
    memory: CurveMemory, engine: Engine, mean: FloatArray, positions: FloatArray
) -> FloatArray:
    """The share of the variance of what the model says now that curves tell, (n_outputs,).

    One prediction for each of some of the pool. NaN for an output that does not vary.

    Parameters
    ----------
    memory
        What an explainer remembers.
    engine
        Its model.
    mean
        The curves, (n_outputs, n_columns); the columns are those of the layout.
    positions
        Where their points are.
    """
    kept, weights = memory.pool.kept, memory.pool.weights(memory.t or 0.0)
    step = -(-len(kept) // _PREDICTED)
    rows = [one.record.x for one in kept[::step]]
    weights = weights[::step] / weights[::step].sum()
    own = [memory.admit(x) for x in rows]
    asked = [arranged(x, memory.columns) for x in rows] if engine.ordered else rows
    n_outputs = len(memory.means.outputs)
    said = memory.means.aligned(engine.predict(asked))[1][:, :n_outputs, 0]
    left = said.copy()
    for place, curve in effects(memory.spreads.own, mean, positions):
        left -= curve.at([values[place] for values in own])
    whole, rest = (weights @ (v - weights @ v) ** 2 for v in (said, left))
    return _share(weights @ said, whole, rest)


def read_off(record: IceRecord, own: Mapping[FeatureName, Any]) -> list[float] | None:
    """The outputs for an observation, off the curve that is flattest where it is; None: unknown."""
    best, least = None, np.inf
    for probe, keys in zip(record.layout.probes, record.layout.keys, strict=True):
        value = own.get(probe.names[0])
        if len(probe.names) > 1 or value is None:
            continue
        values = record.values[:, probe.start : probe.stop - probe.missing]
        if probe.categories[0] is not None:
            if (value,) in keys:
                return list(values[:, keys.index((value,))].tolist())
            continue
        at = record.positions[0, probe.start : probe.stop - probe.missing]
        left = int(np.clip(np.searchsorted(at, value, side="right") - 1, 0, max(len(at) - 2, 0)))
        rise = float(np.abs(np.diff(values[:, left : left + 2])).max(initial=0.0))
        doubt = rise if at[0] <= value <= at[-1] else 1e100 * (1 + rise)
        if doubt < least:
            best, least = _on_lines(at, values, np.array([float(value)]))[0].tolist(), doubt
    return best


def _share(mean: FloatArray, whole: FloatArray, rest: FloatArray) -> FloatArray:
    known = whole > _ROUNDING * (1.0 + mean**2)
    return np.where(known, 1 - rest / np.where(known, whole, 1.0), np.nan)


def effects(
    spread: Spread, mean: FloatArray, positions: FloatArray
) -> Iterator[tuple[int, Curves]]:
    """For each curve which value of an observation is its feature's, and the curve."""
    for group in spread.groups():
        known = group.known
        column = {c: k for k, c in enumerate(known.tolist())}
        categories = {v: column[c] for v, c in (group.lookup or {}).items() if c in column}
        at = positions[known] if group.lookup is None else None
        missing = None if group.missing is None else mean[:, group.missing]
        yield group.place, Curves(mean[:, known], at, categories, missing)


class Curves:
    """One curve, all outputs, to be read off at the values of observations.

    Parameters
    ----------
    values
        Of shape (n_outputs, n_points).
    positions
        Of the points, ascending; None for categories.
    categories
        The number of each category's point.
    missing
        The outputs for a missing value; None if they are not known.
    """

    def __init__(
        self,
        values: FloatArray,
        positions: FloatArray | None,
        categories: Mapping[Any, int],
        missing: FloatArray | None,
    ) -> None:
        self.values = values
        self.positions = positions
        self.categories = categories
        self.missing = missing

    def at(self, own: Sequence[Any]) -> FloatArray:
        """The curve at some values, (n, n_outputs); where it says nothing, the mean of the rest."""
        found = np.full((len(own), len(self.values)), np.nan)
        numbers = self.positions is not None
        known = [
            k for k, v in enumerate(own) if v is not None and (numbers or v in self.categories)
        ]
        if known and self.values.shape[1]:
            if self.positions is not None:
                found[known] = _on_lines(
                    self.positions, self.values, np.array([own[k] for k in known], dtype=float)
                )
            else:
                found[known] = self.values[:, [self.categories[own[k]] for k in known]].T
        if self.missing is not None:
            found[[k for k, v in enumerate(own) if v is None]] = self.missing
        unknown = np.isnan(found).any(axis=1)
        found[unknown] = found[~unknown].mean(axis=0) if not unknown.all() else 0.0
        return found


def _on_lines(at: FloatArray, values: FloatArray, x: Array) -> FloatArray:
    """Values between the points, and as far beyond them as the kernel goes, (n, n_outputs)."""
    if len(at) < 2:
        return np.repeat(values.T, len(x), axis=0)
    right = np.clip(np.searchsorted(at, x, side="right"), 1, len(at) - 1)
    left = right - 1
    width = at[right] - at[left]
    share = np.where(width > 0, (x - at[left]) / np.where(width > 0, width, 1.0), 0.0)
    share = share.clip(-1.0, 2.0)[:, None]
    return values.T[left] + share * (values.T[right] - values.T[left])
