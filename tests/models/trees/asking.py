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
        names = [name for name, seen in self.seen.items() if isinstance(seen[0], float)][:2]
        start = table.shape[2]
        probe = Probe(tuple(names), start, start + 4, (False, False), (None, None))
        first, second = (np.quantile(list(self.seen[name]), [0.2, 0.8]) for name in names)
        more = np.stack([np.repeat(first, 2), np.tile(second, 2)])[None]
        return (*probes, probe), np.concatenate([table, more], axis=2)


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
