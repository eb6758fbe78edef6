"""Questions for the tests of the walk, and the comparison with plain calls."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from ipdp.models import Probe, RowEngine, engine
from ipdp.models.trees import Checker, TreeEngine


class Asker:
    """Puts questions about all features from what it has seen of them lately."""

    def __init__(self, size=7, window=200):
        self.size = size
        self.seen = defaultdict(lambda: deque(maxlen=window))

    def learn_one(self, x):
        for name, value in x.items():
            self.seen[name].append(value)

    def question(self, *, pair=False, missing=True):
        """Probes and positions: numbers far out too, whole numbers, categories, missing values."""
        asks_missing = missing
        probes, positions, start = [], [], 0
        for number, (name, seen) in enumerate(self.seen.items()):
            missing = asks_missing and number % 3 == 0
            if isinstance(seen[0], str):
                values = [*sorted(set(seen)), "never seen"] + [None] * missing
                categories = np.empty(len(values), dtype=object)
                categories[:] = values
                row, whole = np.zeros(len(values)), False
            else:
                low, high = min(seen), max(seen)
                margin = 0.5 * (high - low) + 0.001
                row = np.linspace(low - margin, high + margin, self.size)
                whole = isinstance(seen[0], int)
                row = np.append(np.floor(row) if whole else row, [0.0] * missing)
                categories = None
            stop = start + len(row)
            probes.append(Probe((name,), start, stop, (whole,), (categories,), missing))
            positions.append(row)
            start = stop
        table = np.zeros((1, 2, start))
        table[0, 0] = np.concatenate(positions)
        return self._with_pair(probes, table) if pair else (tuple(probes), table)

    def _with_pair(self, probes, table):
        """With a pair of each two kinds of features that there are."""
        by_kind = {}
        for name, seen in self.seen.items():
            by_kind.setdefault(type(seen[0]), []).append(name)
        firsts = [names[0] for names in by_kind.values()]
        lasts = [names[-1] for names in by_kind.values()]
        probes, parts, start = list(probes), [table], table.shape[2]
        for names in ((a, b) for a in firsts for b in lasts if a != b):
            axes = [self._axis(name, n) for name, n in zip(names, (2, 3), strict=True)]
            n, m = map(len, axes)
            values = np.repeat(axes[0], m), np.tile(axes[1], n)
            whole = tuple(isinstance(self.seen[name][0], int) for name in names)
            categories = tuple(v if v.dtype == object else None for v in values)
            probes.append(Probe(names, start, start + n * m, whole, categories))
            parts.append(
                np.stack(
                    [
                        np.zeros(n * m) if c is not None else v
                        for v, c in zip(values, categories, strict=True)
                    ]
                )[None]
            )
            start += n * m
        return tuple(probes), np.concatenate(parts, axis=2)

    def _axis(self, name, n):
        seen = list(self.seen[name])
        if isinstance(seen[0], str):
            axis = np.empty(n, dtype=object)
            axis[:] = [*sorted(set(seen)), "never seen", "nor this"][:n]
            return axis
        axis = np.quantile(seen, np.linspace(0.1, 0.9, n))
        return np.unique(np.floor(axis)) if isinstance(seen[0], int) else axis


def unchecked(model):
    """The engine of a model; it is not to compare anything itself."""
    ours = engine(model)
    assert isinstance(ours, TreeEngine)
    ours.checker = Checker(first=0)
    return ours


def plain_engine(model):
    ours = engine(model)
    return RowEngine(ours.call, description="plain calls", leave_out=True)


def worst_difference(ours, plain, x, probes, positions):
    """The largest relative difference, and the number of values that were compared."""
    answer = ours.ice([x], probes, positions)
    expected = plain.ice([x], probes, positions)
    assert set(answer.labels) == set(expected.labels)
    order = [expected.labels.index(label) for label in answer.labels]
    theirs = expected.values[:, order]
    # A share of 1e-280 or less has lost digits, and is nothing to all purposes.
    size = np.maximum(np.abs(theirs), 1e-280)
    return float((np.abs(answer.values - theirs) / size).max(initial=0.0)), theirs.size


def asked_along(model, stream, n=300):
    """The worst difference along a stream, and the engine at the end of it."""
    ours, plain = unchecked(model), plain_engine(model)
    asker = Asker()
    worst = 0.0
    for t, (x, y) in enumerate(stream(n)):
        if t % 40 == 39:
            worst = max(worst, worst_difference(ours, plain, x, *asker.question())[0])
        asker.learn_one(x)
        model.learn_one(x, y)
    return worst, ours
