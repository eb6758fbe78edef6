"""The answers worked out the slow way: what `IncrementalPDP` has to agree with.

Straight from Algorithms 1 to 3 of the paper and from the documentation of the grids, in plain
Python, with no code of ipdp. Nothing is updated step by step: all observations are kept, and every
number is computed anew from the whole list. numpy provides uniform random numbers and nothing else.

At the end are a stream and models to compare on.
"""

import math
import random
import zlib
from collections import Counter
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any, NamedTuple

from numpy.random import PCG64, Generator

MISSING = "the point of the missing value"
# Points that have left the grid are remembered, for four times as many as are on it.
ROOM = 4
# An effective sample size below this is that of one value, which has no spread.
ONE_VALUE = 1 + 1e-9


# Values: what a storage takes.


def is_missing(x):
    return x is None or (isinstance(x, float) and not math.isfinite(x))


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def all_whole(values):
    return all(isinstance(x, int) for x in values)


# Storages: Algorithms 2 and 3, and what is read off them.


def extremes(values, window):
    return min(values[-window:]), max(values[-window:])


def reservoir(values, size, probability, select, seed):
    """The values that are kept, the oldest first."""
    draws = Generator(PCG64(seed))
    kept = []
    for x in values:
        if len(kept) == size:
            if probability < 1 and not draws.random() <= probability:
                continue
            at = {"oldest": 0, "uniform": 1, "age": 2}[select]
            kept.pop(min((int(draws.random() * size) for _ in range(at)), default=0))
        kept.append(x)
    return kept


def quantile(values, q):
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def own_seed(seed, name):
    """Each feature has random numbers of its own, whatever the order of the features."""
    return zlib.crc32(f"{seed}:{name!r}".encode())


# Points.


def equidistant(low, high, size):
    return [k / (size - 1) * (high - low) + low for k in range(size - 1)] + [high]


def rounded(x):
    return math.floor(x + 0.5)


def spread(low, high, size, whole):
    if not whole:
        return equidistant(low, high, size)
    if rounded(high) - rounded(low) < size:
        return list(range(rounded(low), rounded(high) + 1))
    return [rounded(x) for x in equidistant(low, high, size)]


def most_frequent(values, size, window):
    """The most frequent values of the window, in order; at a tie the first in that order."""
    counts = Counter(values[-window:])
    return sorted(sorted(counts, key=lambda x: (-counts[x], x))[:size])


class Point(NamedTuple):
    """A grid point: what it is remembered by, and what the model is asked about."""

    key: Any
    value: Any


def numbered(values):
    return [Point(k, value) for k, value in enumerate(values)]


def named(values):
    return [Point(("category", value), value) for value in values]


# Grids: from all values of a feature so far to its points.


@dataclass(frozen=True, kw_only=True)
class NumberRule:
    size: int = 10
    window: int = 1000
    integers: bool | None = None
    warm_up: int = 20
    missing: bool = False

    def admit(self, x):
        return None if is_missing(x) else x

    def ready(self, values):
        return len(values) >= self.warm_up

    def whole(self, values):
        return all_whole(values) if self.integers is None else self.integers


class MinMax(NumberRule):
    def points(self, values, seed):
        low, high = extremes(values, self.window)
        return numbered(spread(low, high, self.size, self.whole(values)))


@dataclass(frozen=True, kw_only=True)
class ReservoirRule(NumberRule):
    storage_size: int | None = None
    select: str = "oldest"
    seed: int | None = None

    def stored(self, values, seed):
        size = min(self.window, 500) if self.storage_size is None else self.storage_size
        seed = seed if self.seed is None else self.seed
        return reservoir(values, size, size / self.window, self.select, seed)


@dataclass(frozen=True, kw_only=True)
class QuantileRange(ReservoirRule):
    lower: float = 0.05
    upper: float = 0.95

    def points(self, values, seed):
        stored = self.stored(values, seed)
        low, high = quantile(stored, self.lower), quantile(stored, self.upper)
        return numbered(spread(low, high, self.size, self.whole(values)))


class Quantiles(ReservoirRule):
    def points(self, values, seed):
        stored = self.stored(values, seed)
        points = [quantile(stored, k / (self.size - 1)) for k in range(self.size)]
        return numbered(sorted({rounded(x) for x in points}) if self.whole(values) else points)


@dataclass(frozen=True, kw_only=True)
class Fixed:
    values: tuple
    missing: bool = False

    def admit(self, x):
        return None if is_missing(x) else x

    def ready(self, values):
        return True

    def points(self, values, seed):
        if any(isinstance(value, (str, bool)) for value in self.values):
            return named(self.values)
        return numbered(sorted(self.values))


@dataclass(frozen=True, kw_only=True)
class Categories:
    size: int = 20
    window: int = 1000
    warm_up: int = 20
    missing: bool = False

    def admit(self, x):
        return None if is_missing(x) else x

    def ready(self, values):
        return len(values) >= self.warm_up

    def points(self, values, seed):
        return named(most_frequent(values, self.size, self.window))


@dataclass(frozen=True, kw_only=True)
class Auto(Categories):
    size: int = 10
    ends: str = "quantiles"

    def points(self, values, seed):
        if self.has_categories(values):
            return named(most_frequent(values, max(self.size, 20), self.window))
        if self.ends == "extremes":
            low, high = extremes(values, self.window)
        else:
            stored = reservoir(values, self.window, 1.0, "oldest", seed=0)
            low, high = quantile(stored, 0.01), quantile(stored, 0.99)
        return numbered(spread(low, high, self.size, all_whole(values)))

    def has_categories(self, values):
        """Replay the choice: once numbers are a range, they stay one."""
        for n in range(self.warm_up, len(values) + 1):
            so_far = values[:n]
            if not all(is_number(x) for x in so_far):
                return True
            limit = self.size if n == self.warm_up else 2 * self.size
            if not all_whole(so_far) or len(set(so_far[-self.window :])) > limit:
                return False
        return True


# Algorithm 1.


class Answer(NamedTuple):
    """What the model said at one point: where that is on each axis, and each output."""

    place: tuple
    outputs: dict


class Explained(NamedTuple):
    """One observation that was explained: for each feature the answers by key."""

    t: float
    w: float
    curves: dict


@dataclass
class Expected:
    """A curve; arrays as lists, with all cells of a pair in one row."""

    outputs: tuple
    axes: list
    categorical: tuple
    average: list
    std_error: list
    n_effective: list
    n_samples: int
    t: float
    ice: list
    ice_places: list
    missing: list | None
    missing_std_error: list | None

    @property
    def median_n_effective(self):
        return median(self.n_effective)


class Oracle:
    """Sees a stream one observation at a time, forgets nothing, and computes when asked."""

    def __init__(self, model, features, rules, *, alpha, every=1, n_ice=20, seed=None):
        self.model = model
        self.features = features
        self.rules = rules
        self.alpha = alpha
        self.every = every
        self.n_ice = n_ice
        self.seed = seed
        self.seen = 0
        self.t = 0
        self.values = {name: [] for feature in features for name in names_of(feature)}
        self.explained = []
        self.labels = []

    def see(self, x, w=1.0, t=None):
        self.seen += 1
        self.t = self.t + 1 if t is None else t
        if w > 0 and self.seen % self.every == 0:
            curves = {f: self._ask(x, f) for f in self.features if self._is_ready(f)}
            if curves:
                self.explained.append(Explained(self.t, w, curves))
        for name, values in self.values.items():
            value = self.rules[name].admit(x.get(name))
            if value is not None:
                values.append(value)

    def _is_ready(self, feature):
        return all(self.rules[name].ready(self.values[name]) for name in names_of(feature))

    def _ask(self, x, feature):
        names = names_of(feature)
        axes = [
            self.rules[name].points(self.values[name], own_seed(self.seed, name)) for name in names
        ]
        answers = {}
        for cell in product(*axes):
            changed = {**x, **{name: point.value for name, point in zip(names, cell, strict=True)}}
            key = tuple(point.key for point in cell)
            answers[key] = Answer(tuple(point.value for point in cell), self._call(changed))
        if len(names) == 1 and self.rules[feature].missing:
            unknown = None if isinstance(axes[0][0].key, tuple) else math.nan
            answers[MISSING] = Answer((None,), self._call({**x, feature: unknown}))
        return answers

    def _call(self, x):
        answer = self.model(x)
        if isinstance(answer, list):
            answer = dict(enumerate(answer))
        if not isinstance(answer, dict):
            answer = {"prediction": answer}
        self.labels += [label for label in answer if label not in self.labels]
        return answer

    def remembered(self, feature):
        """For each key the (t, w, answer) that count; points that left long ago are forgotten."""
        memory, present, away = {}, [], []
        for t, w, curves in self.explained:
            if feature not in curves:
                continue
            answers = curves[feature]
            away = [key for key in away + present if key not in answers]
            present = list(answers)
            surplus = max(0, len(away) - ROOM * len(present))
            for key in away[:surplus]:
                del memory[key]
            away = away[surplus:]
            for key, answer in answers.items():
                memory.setdefault(key, []).append((t, w, answer))
        return {key: memory[key] for key in present}

    def smoothed(self, observed, value):
        """Mean and standard error of a value, and its total weight and effective sample size."""
        decay = 1.0 if self.alpha is None else 1.0 - self.alpha
        kernel = [w * decay ** (self.t - t) for t, w, _ in observed]
        values = [value(answer) for _, _, answer in observed]
        total = math.fsum(kernel)
        mean = math.fsum(k * y for k, y in zip(kernel, values, strict=True)) / total
        n_effective = total**2 / math.fsum(k * k for k in kernel)
        if n_effective <= ONE_VALUE:
            return mean, math.nan, total, n_effective
        spread = math.fsum(k * (y - mean) ** 2 for k, y in zip(kernel, values, strict=True))
        variance = spread / (total * (1 - 1 / n_effective))
        return mean, math.sqrt(variance / n_effective), total, n_effective

    def curve(self, feature):
        memory = self.remembered(feature)
        unknown = memory.pop(MISSING, None)
        axes, keys = self._arranged(memory)
        labels = tuple(sorted(self.labels))
        last = self._last(feature, keys)

        def output(label):
            return lambda answer: answer.outputs.get(label, 0.0)

        table = [[self.smoothed(memory[key], output(label)) for key in keys] for label in labels]
        aside = unknown and [self.smoothed(unknown, output(label)) for label in labels]
        return Expected(
            outputs=labels,
            axes=axes,
            categorical=tuple(isinstance(line, tuple) for line in keys[0]),
            average=[[cell[0] for cell in row] for row in table],
            std_error=[[cell[1] for cell in row] for row in table],
            n_effective=[self.smoothed(memory[key], lambda _: 0.0)[3] for key in keys],
            n_samples=sum(feature in record.curves for record in self.explained),
            t=self.t,
            ice=[[along(answers, keys, output(label)) for answers in last] for label in labels],
            ice_places=[along(answers, keys, lambda answer: answer.place[0]) for answers in last],
            missing=aside and [cell[0] for cell in aside],
            missing_std_error=aside and [cell[1] for cell in aside],
        )

    def _arranged(self, memory):
        """The axes in ascending order, and all keys along them."""
        axes, lines = [], []
        for axis in range(len(next(iter(memory)))):
            line_keys = list(dict.fromkeys(key[axis] for key in memory))
            if isinstance(line_keys[0], tuple):
                axes.append([category for _, category in line_keys])
            else:
                places = {line: self._place(memory, axis, line) for line in line_keys}
                line_keys.sort(key=places.get)
                axes.append([places[line] for line in line_keys])
            lines.append(line_keys)
        return axes, list(product(*lines))

    def _place(self, memory, axis, line):
        """Where a line of the grid is: the mean over its cells, each by its weight."""
        cells = [
            self.smoothed(observed, lambda answer: answer.place[axis])
            for key, observed in memory.items()
            if key[axis] == line
        ]
        total = math.fsum(weight for _, _, weight, _ in cells)
        return math.fsum(weight * place for place, _, weight, _ in cells) / total

    def _last(self, feature, keys):
        """The newest observations that were explained, as far as they have one of the points."""
        newest = self.explained[-self.n_ice :] if self.n_ice else []
        curves = [record.curves.get(feature, {}) for record in newest]
        return [curve for curve in curves if any(key in curve for key in keys)]


def along(answers, keys, value):
    return [value(answers[key]) if key in answers else math.nan for key in keys]


def names_of(feature):
    return feature if isinstance(feature, tuple) else (feature,)


# A stream and models to compare on.


def stream(seed, n=90):
    """Observations with trends, ties, drift, missing values, and categories that come and go.

    `a` is a number, `n` a whole number, `k` one of few whole numbers at first, `c` a category, `b`
    a boolean; `clock` counts, and lets the models below change without a memory of their own.
    """
    draws = random.Random(seed)
    rows = []
    for i in range(n):
        x = {
            "a": draws.choice([draws.gauss(i / 20, 1), round(draws.gauss(i / 20, 1))]) / 1.0,
            "n": draws.randint(i // 9, 4 + i // 4),
            "k": draws.randint(0, 2 if i < n / 2 else 14),
            "c": draws.choice("xyz" if i < n / 2 else "wxv"),
            "b": draws.random() < 0.5,
            "clock": i,
        }
        for name in "ankcb":
            if i and draws.random() < 0.1:
                lost = draws.choice([None, math.nan, "absent"])
                x[name] = lost
                if lost == "absent":
                    del x[name]
        rows.append(x)
    return rows


def effect(value):
    """A bounded, curved function of anything that can be in an observation."""
    if is_missing(value):
        return -1.25
    if isinstance(value, str):
        return (ord(value[0]) % 7) / 3
    return math.sin(value / 2) + value / 10


def regressor(x):
    a, c = effect(x.get("a")), effect(x.get("c"))
    n, k, b = effect(x.get("n")), effect(x.get("k")), effect(x.get("b"))
    return a + 0.5 * n - 0.25 * k + b * c + 2 * a * c + x["clock"] / 50


def two_targets(x):
    y = regressor(x)
    return [y, y * y / 10]


def classifier(x):
    """Knows no class at first, two classes soon, and a third one from the middle on."""
    if x["clock"] < 8:
        return {}
    p = (1 + math.tanh(regressor(x) / 2)) / 2
    if x["clock"] < 45:
        return {"yes": p, "no": 1 - p}
    return {"late": 0.25, "no": 0.75 * (1 - p), "yes": 0.75 * p}
