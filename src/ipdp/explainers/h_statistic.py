"""Friedman's H of a pair, asked of the model itself.

A surface is known at the points of its grid, and between them the model may have steps: much of
what two features do together is then between the points. So the model is asked about some past
observations once more: at the values that the pair had in other observations, and at the points of
the grid. What the former say beyond the lines between the latter is added to the surface. It is
small, so that few answers are enough, and their noise is taken out of the variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.h_statistic import Effect, ratio, variance
from ipdp.core.observations import arranged
from ipdp.core.typing import Array, FloatArray, Observation
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.snapshot import Snapshot
from ipdp.models import Engine
from ipdp.models.base import Probe

# So many values of the pair, each in so many of so many observations.
_VALUES, _EACH, _ASKED = 2048, 8, 144
_FEWEST = 30


def asked_h(memory: CurveMemory, engine: Engine, number: int) -> FloatArray:
    """H² of the pair with this number, for each output; NaN where the pair does nothing."""
    target, snapshot = memory.targets[number], Snapshot(memory, engine)
    effects = snapshot.effects(number) if target.n else []
    if effects is None:
        first, second = target.names
        raise ValueError(
            f"H needs the curves of {first!r} and {second!r} too: give both as features"
        )
    own, weights = memory.joint_values.of(memory.places_of(target.names), memory.t or 0.0)
    if not effects or min(len(weights), len(memory.pool.kept)) < _FEWEST:
        raise NotEnoughSamples(f"too few observations yet for H of {target.feature!r}")
    step = -(-len(weights) // _VALUES)
    own, weights = [values[::step] for values in own], weights[::step]
    questions = _Questions(memory, engine, number, effects, own)
    said, beyond = questions.lines(effects, range(len(weights))), questions.beyond()
    # Of the surface, and of what is not the sum of the two curves.
    parts = [
        (values[..., 0, :, :], values[..., 0, :, :] - values[..., 1, :, :] - values[..., 2, :, :])
        for values in (said, beyond)
    ]
    whole, rest = (
        _variance(lines, more, weights / weights.sum()) for lines, more in zip(*parts, strict=True)
    )
    return ratio(whole, np.maximum(rest, 0.0), effects[0].values)


def _variance(lines: FloatArray, more: FloatArray, share: FloatArray) -> FloatArray:
    """Variance over observations of lines, (n_outputs, n), and the mean of some answers to them.

    `more` has the shape (n_answers, n_outputs, n).
    """
    known = np.isfinite(lines).all(axis=0)
    share = share[known] / share[known].sum()
    noise = more.var(axis=0, ddof=1)[:, known] / len(more)
    return np.asarray(variance((lines + more.mean(axis=0))[:, known], share) - noise @ share)


class _Questions:
    """What the model is asked about a pair: `own` are the values of its two features."""

    def __init__(
        self,
        memory: CurveMemory,
        engine: Engine,
        number: int,
        effects: Sequence[Effect],
        own: Sequence[Sequence[Any]],
    ) -> None:
        self.memory, self.engine, self.own = memory, engine, own
        self.names = memory.targets[number].names
        self.whole = memory.targets[number].whole
        self.axes = [effect.axes for effect in effects]
        known = memory.means.outputs
        self.outputs = [known.index(label) for label in in_order(known)]

    def lines(self, effects: Sequence[Effect], chosen: Sequence[int]) -> FloatArray:
        """What surface and curves say of some of the values, (3, n_outputs, n)."""
        first, second = ([values[k] for k in chosen] for values in self.own)
        places = [first, second], [first], [second]
        return np.array([effect.at(at) for effect, at in zip(effects, places, strict=True)])

    def beyond(self) -> FloatArray:
        """What the model says beyond the lines, (n_answers, 3, n_outputs, n)."""
        kept, weights = self.memory.pool.kept, self.memory.pool.weights(self.memory.t or 0.0)
        draws, n = np.random.default_rng(0), len(self.own[0])
        n_asked = min(_ASKED, n, len(kept))
        # At even distances along their weights, so that hardly one is asked about twice.
        ends = np.cumsum(weights) / weights.sum()
        chosen = np.searchsorted(ends, (np.arange(n_asked) + 0.5) / n_asked)
        parts = [np.array_split(draws.permutation(n), n_asked) for _ in range(_EACH)]
        found = np.zeros((_EACH, 3, len(self.outputs), n))
        for r, number in enumerate(chosen.tolist()):
            at = [part[r] for part in parts]
            answers = self._beyond_of(kept[number].record.x, np.concatenate(at))
            ends = np.cumsum([len(one) for one in at])[:-1]
            for k, own in enumerate(np.split(answers, ends, axis=2)):
                found[k][..., at[k]] = own
        return found

    def _beyond_of(self, x: Observation, chosen: Array) -> FloatArray:
        """The same of one observation at some of the values, (3, n_outputs, n)."""
        probes, positions = self._probes(chosen.tolist())
        x = arranged(x, self.memory.columns) if self.engine.ordered else x
        answer = self.engine.ice_again([x], probes, positions[None])
        values, n_outputs = self.memory.means.aligned(answer)[1][0], len(self.outputs)
        values = values[self.outputs]
        effects, asked = [], []
        for probe, axes in zip(probes, self.axes, strict=True):
            on_grid, own = np.split(values[:, probe.start : probe.stop], [-len(chosen)], axis=1)
            effects.append(Effect(axes, on_grid.reshape(n_outputs, *map(len, axes))))
            asked.append(own)
        return np.array(asked) - self.lines(effects, chosen.tolist())

    def _probes(self, chosen: Sequence[int]) -> tuple[list[Probe], FloatArray]:
        """The points of the grid, then some of the values: of both features, and of each."""
        own = [[values[k] for k in chosen] for values in self.own]
        first, second = (axis.tolist() for axis in self.axes[0])
        pairs = zip(*product(first, second), strict=True)
        columns = [
            [list(grid) + more for grid, more in zip(pairs, own, strict=True)],
            *([self.axes[k + 1][0].tolist() + own[k]] for k in (0, 1)),
        ]
        probes, start = [], 0
        positions = np.zeros((2, sum(len(part[0]) for part in columns)))
        for part, which in zip(columns, ((0, 1), (0,), (1,)), strict=True):
            stop = start + len(part[0])
            categories: list[Array | None] = []
            for axis, (values, k) in enumerate(zip(part, which, strict=True)):
                categories.append(_categories(values, self.axes[0][k]))
                if categories[-1] is None:
                    numbers = np.array(values, dtype=float)
                    positions[axis, start:stop] = np.rint(numbers) if self.whole[k] else numbers
            names, whole = tuple(self.names[k] for k in which), tuple(self.whole[k] for k in which)
            probes.append(Probe(names, start, stop, whole, tuple(categories)))
            start = stop
        return probes, positions


def _categories(values: Sequence[Any], axis: Array) -> Array | None:
    if axis.dtype != object:
        return None
    categories = np.empty(len(values), dtype=object)
    categories[:] = values
    return categories
