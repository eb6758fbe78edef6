"""Search for the strongest interactions, by asking the model about a few past observations.

Of two observations x and x', let x_j be x with the feature j of x', and x_jk with both. What two
features do together is the mixed difference f(x_jk) - f(x_j) - f(x_k) + f(x): it is zero, exactly,
for features whose effects add up, whatever else the model does. A quarter of its mean square is the
variance of all that the two do together (Liu and Owen 2006), for features that do not depend on
each other; for others it is still zero only without an interaction.

First each feature is compared with all others at once, which tells whether it takes part in any
interaction, then pairs: after each round the weaker half is left out, and the others are
asked about in more observations (successive halving).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.interactions import Interaction, Interactions
from ipdp.core.observations import arranged
from ipdp.core.typing import Array, FeatureName, FloatArray, Label, Observation
from ipdp.core.validation import unknown
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.grid.base import LARGEST
from ipdp.models import Engine
from ipdp.models.base import Probe

# From fewer past observations nothing is said.
_FEWEST = 20
# How many pairs of observations are asked about: for each feature at first, for each pair of
# features in a round at least, and in all at most.
_FIRST, _LEAST, _MOST = 32, 16, 1024
# Rounds go on until so many times the pairs that are wanted are left, or so many.
_SPARE, _LEFT = 2, 8
# What may be rounding, as a share of the size of the predictions.
_ROUNDING = 1e-9
# So many predictions are asked for in one call.
_CALL = 20_000

Names = tuple[FeatureName, ...]


def strongest_pairs(
    memory: CurveMemory, engine: Engine, *, n: int, output: Label | None, budget: int | None
) -> Interactions:
    """The n strongest pairs of all features, for at most so many predictions."""
    if len(memory.pool.kept) < _FEWEST:
        raise NotEnoughSamples(f"interactions need at least {_FEWEST} past observations")
    asked = Asked(memory, engine)
    search = _Search(asked, n, _default_budget(memory) if budget is None else budget)
    search.run(asked.output(output))
    return search.result(memory.t)


def _default_budget(memory: CurveMemory) -> int:
    """What the curves of single features cost of as many observations as are kept."""
    layout, targets = memory.means.layout, memory.targets
    single = [len(layout.columns_of(k)) for k in layout.targets if not targets[k].is_pair]
    return len(memory.pool.kept) * (sum(single) or layout.n_points)


class Asked:
    """Past observations, and what the model says of them with values of each other."""

    def __init__(self, memory: CurveMemory, engine: Engine) -> None:
        self.engine, self.means = engine, memory.means
        self.columns = memory.columns
        self.rows = [arranged(kept.record.x, memory.columns) for kept in memory.pool.kept]
        self.weights = memory.pool.weights(memory.t or 0.0)
        self.n_predictions = 0
        self._draws = np.random.default_rng(0)
        # Then all swaps of values fit one question about ICE curves, which is quicker.
        self._numbers = {
            name: [row[name] for row in self.rows]
            for name in self.columns
            if {type(row[name]) for row in self.rows} <= {int, float}
        }
        self._said = self._predict(self.rows)
        self._k = 0

    def output(self, wanted: Label | None) -> Label:
        """Choose an output; by default the second of two classes, or what varies most."""
        known = self.means.outputs
        if wanted is not None and wanted not in known:
            raise ValueError(unknown("output", wanted, known))
        share = self.weights / self.weights.sum()
        away = self._said - share @ self._said
        variances = share @ away**2
        if wanted is None:
            two_classes = len(known) == 2 and np.allclose(self._said.sum(axis=1), 1.0)
            wanted = max(known, key=str) if two_classes else known[int(np.argmax(variances))]
        self._k = known.index(wanted)
        self.variance = float(variances[self._k])
        self.size = float(np.abs(self._said[:, self._k]).max())
        return wanted

    def draw(self, n: int) -> tuple[Array, Array]:
        """Numbers of n observations, by weight, and of another one for each."""
        ends = np.cumsum(self.weights) / self.weights.sum()
        spread = (np.arange(n) + self._draws.random(n)) / n
        first, second = (
            np.searchsorted(ends, self._draws.permutation(spread)).clip(max=len(ends) - 1)
            for _ in range(2)
        )
        same = first == second
        return first, np.where(same, (second + len(ends) // 2) % len(ends), second)

    def plain(self, rows: Array) -> FloatArray:
        """What it says of observations as they are, (n,)."""
        return np.asarray(self._said[rows, self._k])

    def swapped(self, rows: Array, others: Array, swaps: Sequence[Names]) -> FloatArray:
        """What it says of observations with some values of others, (n, n_swaps)."""
        step = max(1, _CALL // max(len(swaps), 1))
        ask = self._ice if all(n in self._numbers for s in swaps for n in s) else self._by_row
        parts = [
            ask(rows[k : k + step], others[k : k + step], swaps) for k in range(0, len(rows), step)
        ]
        return np.concatenate(parts)

    def _ice(self, rows: Array, others: Array, swaps: Sequence[Names]) -> FloatArray:
        probes, positions = [], np.zeros((len(rows), 2, len(swaps)))
        whole = {n: {type(v) for v in self._numbers[n]} == {int} for s in swaps for n in s}
        columns = {name: np.array(self._numbers[name], dtype=float)[others] for name in whole}
        for k, names in enumerate(swaps):
            probes.append(
                Probe(names, k, k + 1, tuple(whole[n] for n in names), (None,) * len(names))
            )
            for axis, name in enumerate(names):
                positions[:, axis, k] = columns[name]
        given = [self.rows[k] for k in rows.tolist()]
        answer = self.engine.ice_again(given, probes, positions)
        self.n_predictions += positions.shape[0] * positions.shape[2]
        return _finite(self.means.aligned(answer)[1][:, self._k])

    def _by_row(self, rows: Array, others: Array, swaps: Sequence[Names]) -> FloatArray:
        given = [
            {**self.rows[k], **{name: self.rows[other][name] for name in names}}
            for k, other in zip(rows.tolist(), others.tolist(), strict=True)
            for names in swaps
        ]
        return self._predict(given)[:, self._k].reshape(len(rows), len(swaps))

    def _predict(self, rows: Sequence[Observation]) -> FloatArray:
        """Outputs of some rows, (n, n_outputs)."""
        answer = self.engine.predict(rows)
        self.n_predictions += len(rows)
        return _finite(self.means.aligned(answer)[1][:, : len(self.means.outputs), 0])


def _finite(values: FloatArray) -> FloatArray:
    if not (np.abs(values) < LARGEST).all():
        raise ValueError(
            "asked about past observations with values of each other, the model answered with NaN, "
            f"infinity or a number beyond {LARGEST:g}: its interactions are not known"
        )
    return values


class _Search:
    """Pairs that are still in question, and what was found of all that were."""

    def __init__(self, asked: Asked, n: int, budget: int) -> None:
        self.asked, self.n, self.budget = asked, n, budget
        # For each pair the number of questions, and sums of squares and of fourth powers.
        self.sums: dict[Names, FloatArray] = {}
        self.output: Label = ""

    def run(self, output: Label) -> None:
        """Find the strongest pairs of an output."""
        self.output = output
        pairs = list(combinations(self._features(), 2))
        wanted = max(_SPARE * self.n, _LEFT)
        rounds = 1 + max(0, math.ceil(math.log2(max(len(pairs), 1) / wanted)))
        for left in range(rounds, 0, -1):
            share = (self.budget - self.asked.n_predictions) // left
            self._ask(pairs, share)
            pairs = sorted(pairs, key=self._bound, reverse=True)
            pairs = pairs[: max(wanted, -(-len(pairs) // 2))]

    def _features(self) -> list[FeatureName]:
        """The features that take part in interactions, as many as there is room for pairs of."""
        asked = self.asked
        rows, others = asked.draw(_FIRST)
        single: list[Names] = [(name,) for name in asked.columns]
        both = asked.swapped(rows, others, single) + asked.swapped(others, rows, single)
        differences = both - (asked.plain(rows) + asked.plain(others))[:, None]
        total = (differences**2).mean(axis=0)
        least = (_ROUNDING * asked.size) ** 2
        order = [k for k in np.argsort(-total, kind="stable").tolist() if total[k] > least]
        # So many that each pair can be asked about in half of the budget.
        room = max(0, self.budget - asked.n_predictions) // (2 * _LEAST)
        most = max(2, int((1 + math.sqrt(1 + 8 * room)) / 2))
        return [asked.columns[k] for k in sorted(order[:most])]

    def _ask(self, pairs: Sequence[Names], budget: int) -> None:
        """Ask about these pairs in as many observations as the budget allows."""
        single = list(dict.fromkeys((name,) for pair in pairs for name in pair))
        n = min(budget // max(len(pairs) + len(single), 1), _MOST)
        if not pairs or n < 2:
            return
        rows, others = self.asked.draw(n)
        said = self.asked.swapped(rows, others, [*single, *pairs])
        place = {swap[0]: k for k, swap in enumerate(single)}
        first, second = (said[:, [place[pair[k]] for pair in pairs]] for k in (0, 1))
        plain = self.asked.plain(rows)[:, None]
        squares = ((said[:, len(single) :] - first) - (second - plain)) ** 2 / 4
        for k, pair in enumerate(pairs):
            more = np.array([n, squares[:, k].sum(), (squares[:, k] ** 2).sum()])
            self.sums[pair] = self.sums.get(pair, 0.0) + more

    def _mean(self, pair: Names) -> tuple[float, float]:
        """Mean of the squares, and its standard error."""
        n, total, squares = self.sums[pair].tolist()
        mean = total / n
        return mean, math.sqrt(max(squares / n - mean**2, 0.0) / (n - 1))

    def _bound(self, pair: Names) -> float:
        """How strong the pair may be: of two that look alike, the one less is known of."""
        return sum(self._mean(pair)) if pair in self.sums else 0.0

    def result(self, t: float | None) -> Interactions:
        """What was found, the strongest first."""
        least = _ROUNDING * self.asked.size
        found = [one for one in map(self._record, self.sums) if one.strength > least]
        # Those that were given up rest on few questions; what is left counts.
        most = max((one.n_asked for one in found), default=0)
        found.sort(key=lambda one: (one.n_asked == most, one.strength), reverse=True)
        best, others = tuple(found[: self.n]), tuple(found[self.n :])
        return Interactions(best, others, self.output, self.asked.n_predictions, t)

    def _record(self, pair: Any) -> Interaction:
        mean, error = self._mean(pair)
        strength = math.sqrt(mean)
        variance = self.asked.variance
        return Interaction(
            pair,
            strength,
            error / (2 * strength) if strength else 0.0,
            mean / variance if variance else math.nan,
            int(self.sums[pair][0]),
        )
