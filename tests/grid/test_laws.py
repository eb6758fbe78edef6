"""Laws that every grid obeys, whatever it is made of."""

import json
import math
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from ipdp import NotEnoughSamples
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles, Thresholds
from ipdp.grid.lattice import Lattice


def numbers(n, seed=0):
    """Numbers whose range jumps, narrows and widens."""
    rng = np.random.default_rng(seed)
    where = np.repeat(rng.normal(0, 20, 8), math.ceil(n / 8))[:n]
    wide = np.repeat(np.exp(rng.normal(0, 1, 8)), math.ceil(n / 8))[:n]
    return (where + wide * rng.normal(size=n)).tolist()


def integers(n, seed=0):
    return [round(20 * x) for x in numbers(n, seed)]


def letters(n, seed=0):
    rng = np.random.default_rng(seed)
    # The later letters replace the earlier ones.
    return [chr(ord("a") + int(k)) for k in rng.integers(0, 6, n) + np.arange(n) * 6 // n]


def booleans(n, seed=0):
    return (np.random.default_rng(seed).random(n) < 0.3).tolist()


STORED = {"window": 200, "storage_size": 50}
CASES = {
    "MinMax": (MinMax(8, 100), numbers),
    "MinMax of integers": (MinMax(8, 100), integers),
    "QuantileRange": (QuantileRange(8, **STORED), numbers),
    "QuantileRange of integers": (QuantileRange(8, **STORED), integers),
    "QuantileRange by age": (QuantileRange(8, **STORED, select="age"), numbers),
    "Quantiles": (Quantiles(8, **STORED), numbers),
    "Quantiles of integers": (Quantiles(8, **STORED), integers),
    "Quantiles by chance": (Quantiles(8, **STORED, select="uniform"), numbers),
    "Fixed": (Fixed([0.0, 1.0, 2.0]), numbers),
    "Thresholds": (Thresholds([0.0, 1.0, 1.0, 2.0]), numbers),
    "Fixed categories": (Fixed(["a", "b"]), letters),
    "Categories": (Categories(window=100), letters),
    "few Categories": (Categories(3, 100), letters),
    "Categories of booleans": (Categories(window=100), booleans),
    "Categories of integers": (Categories(window=100), integers),
    "Auto of numbers": (Auto(8, 100), numbers),
    "Auto of integers": (Auto(8, 100), integers),
    "Auto of letters": (Auto(8, 100), letters),
    "Auto of booleans": (Auto(8, 100), booleans),
}
for name in ("MinMax", "MinMax of integers", "QuantileRange", "Quantiles", "Quantiles of integers"):
    CASES[f"Lattice of {name}"] = (Lattice(CASES[name][0]), CASES[name][1])
for name in ("Fixed", "Categories", "Auto of numbers", "Auto of letters"):
    CASES[f"Lattice of {name}"] = (Lattice(CASES[name][0]), CASES[name][1])

every_grid = pytest.mark.parametrize(
    ("pattern", "values"), [pytest.param(*case, id=name) for name, case in CASES.items()]
)


def offered(grid, xs):
    """Let the grid have the values as an explainer does."""
    for x in xs:
        value = grid.admit(x)
        if value is not None:
            grid.update(value)
    return grid


def reading(grid):
    """All that can be read off a grid, in a form that compares."""
    points = grid.points
    return {
        "points": points.tolist(),
        "type": points.dtype,
        "keys": grid.keys,
        "rug": grid.rug.tolist(),
        "n": grid.n_values,
        "ready": grid.ready,
        "limits": grid.limits,
        "categorical": grid.categorical,
    }


@every_grid
def test_points_are_distinct_in_order_and_have_keys(pattern, values):
    grid = pattern.fresh(seed=0)
    for n, x in enumerate(values(600), start=1):
        offered(grid, [x])
        if n < grid.warm_up:
            continue
        points, keys = grid.points, grid.keys
        assert points.ndim == 1
        assert 1 <= len(points) == len(keys) == len(set(keys))
        if not grid.categorical:
            assert np.isfinite(points).all()
            assert (np.diff(points) > 0).all()


@every_grid
def test_points_and_keys_are_the_same_objects_until_they_change(pattern, values):
    grid = pattern.fresh(seed=0)
    before = None
    for x in values(600):
        offered(grid, [x])
        points, keys = grid.points, grid.keys
        assert grid.points is points
        assert grid.keys is keys
        if before is not None and points is before[0]:
            # An explainer that finds the same points looks no further.
            assert (points.tolist(), keys, grid.whole) == before[1:]
        before = (points, points.tolist(), keys, grid.whole)


@every_grid
def test_points_are_others_when_whole_numbers_end(pattern, values):
    grid = offered(pattern.fresh(seed=0), integers(100))
    points, was_whole = grid.points, grid.whole
    if not grid.categorical:
        offered(grid, [float(points[0])])  # where a point is already, but no longer whole
    assert grid.whole == was_whole or grid.points is not points


@every_grid
def test_the_same_seed_repeats(pattern, values):
    one, other = (offered(pattern.fresh(seed=7), values(600)) for _ in range(2))
    assert reading(one) == reading(other)
    assert one.state == other.state


@every_grid
def test_the_pattern_is_not_touched(pattern, values):
    before = repr(pattern)
    fresh = pattern.fresh(seed=0)
    offered(fresh, values(100))
    assert pattern.n_values == 0
    assert repr(pattern) == before
    assert fresh.fresh().n_values == 0


@every_grid
def test_state_goes_through_json_and_goes_on_as_before(pattern, values):
    xs = values(600)
    grid = offered(pattern.fresh(seed=7), xs[:300])
    restored = pattern.fresh(seed=7)
    restored.state = json.loads(json.dumps(grid.state, allow_nan=False))
    for x in xs[300:]:
        assert reading(restored) == reading(grid)
        offered(grid, [x])
        offered(restored, [x])
    assert restored.state == grid.state


@every_grid
def test_an_empty_state_goes_through_json(pattern, values):
    restored = pattern.fresh(seed=7)
    restored.state = json.loads(json.dumps(pattern.fresh(seed=7).state))
    assert reading(offered(restored, values(50))) == reading(
        offered(pattern.fresh(seed=7), values(50))
    )


@every_grid
def test_a_copy_goes_on_as_before_and_is_independent(pattern, values):
    xs = values(600)
    grid = offered(pattern.fresh(seed=7), xs[:300])
    twin, still = grid.copy(), reading(grid)
    offered(twin, xs[300:])
    assert reading(grid) == still
    offered(grid, xs[300:])
    assert reading(grid) == reading(twin)


@every_grid
def test_it_can_be_pickled(pattern, values):
    xs = values(600)
    grid = offered(pattern.fresh(seed=7), xs[:300])
    twin = pickle.loads(pickle.dumps(grid))
    assert reading(offered(twin, xs[300:])) == reading(offered(grid, xs[300:]))


@every_grid
def test_numbers_are_taken_as_they_are(pattern, values):
    grid = offered(pattern.fresh(seed=0), values(100))
    if grid.admits_numbers:
        for x in (0.5, -3, 10**30, -1e69):
            admitted = grid.admit(x)
            assert (admitted, type(admitted)) == (x, type(x))


def assert_never_enters(missing, pattern, values):
    xs = values(120)
    with_gaps = [item for x in xs for item in (missing, x, missing)]
    gaps = offered(pattern.fresh(seed=7), with_gaps)
    assert reading(gaps) == reading(offered(pattern.fresh(seed=7), xs))


@every_grid
@pytest.mark.parametrize(
    "missing",
    [None, math.nan, np.float32("nan"), pd.NA, pd.NaT],
    ids=["None", "nan", "f4", "NA", "NaT"],
)
def test_missing_values_never_enter(pattern, values, missing):
    assert_never_enters(missing, pattern, values)


@every_grid
def test_infinity_never_enters(pattern, values):
    for infinity in (math.inf, -math.inf, np.float32("inf")):
        assert_never_enters(infinity, pattern, values)


@every_grid
def test_the_warm_up_counts_values(pattern, values):
    grid = pattern.fresh(seed=7)
    no_warm_up = isinstance(getattr(grid, "grid", grid), Fixed)
    for n, x in enumerate(values(60), start=1):
        assert grid.ready is (no_warm_up or n > grid.warm_up)
        offered(grid, [x])
        assert grid.n_values == n


@every_grid
def test_there_are_no_points_before_the_first_value(pattern, values):
    grid = pattern.fresh(seed=7)
    if isinstance(getattr(grid, "grid", grid), Fixed):
        assert len(grid.points) > 0
        return
    for name in ("points", "keys"):
        with pytest.raises(NotEnoughSamples):
            getattr(grid, name)


@every_grid
def test_the_rug_holds_recent_values(pattern, values):
    xs = values(2000)
    grid = pattern.fresh(seed=7)
    assert len(grid.rug) == 0
    offered(grid, xs)
    rug = grid.rug.tolist()
    assert 0 < len(rug) <= 200
    # The reservoirs hold 50 values with an entrance probability of 1/4: the oldest is 200 old on
    # average with a standard deviation of sqrt(50 * 12) = 25 (a sum of 50 geometric gaps); drawn
    # out by chance, ages have a mean of 200 and e^-5 of them, one in 150, are above 1,000.
    assert set(rug) <= set(xs[-1500:])


@every_grid
def test_memory_does_not_grow(pattern, values):
    xs = values(20_000)
    grid = offered(pattern.fresh(seed=7), xs[:5000])
    sizes = [len(pickle.dumps(grid))]
    for part in np.split(np.arange(5000, 20_000), 30):
        offered(grid, [xs[k] for k in part])
        grid.points, grid.keys, grid.rug  # noqa: B018  # caches count, too
        sizes.append(len(pickle.dumps(grid)))
    # Nothing holds more than the window, the rug and the storage: some 400 values, which take 10
    # bytes each and 20 with the number of an extreme. Categories of integers may be as many
    # as the window is long, and are kept three times: value, count, point.
    assert max(sizes) < 12_000


def splits(pattern, values, cuts=(0, 0, 130, 400, 600)):
    xs = values(600)
    return xs, [offered(pattern.fresh(seed=7), xs[a:b]) for a, b in pairwise(cuts)]


# The lattice is left out where it remembers which knots it has held on to: there the way matters.
EXACT = [
    pytest.param(*CASES[name], id=name)
    for name in (
        *("MinMax", "MinMax of integers", "Fixed", "Fixed categories", "Categories"),
        *("Categories of booleans", "Auto of numbers", "Auto of integers", "Auto of letters"),
        *("Lattice of Fixed", "Lattice of Categories", "Lattice of Auto of letters"),
    )
]


@pytest.mark.parametrize(("pattern", "values"), EXACT)
def test_merge_of_segments_is_the_whole(pattern, values):
    xs, parts = splits(pattern, values)
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.merge(part)
    whole = offered(pattern.fresh(seed=7), xs)
    more = values(100, seed=1)
    for x in more:
        assert reading(joined) == reading(whole)
        offered(joined, [x])
        offered(whole, [x])


@every_grid
def test_merge_leaves_its_parts_alone_and_can_go_on(pattern, values):
    _, parts = splits(pattern, values, cuts=(0, 300, 600))
    before = [reading(part) for part in parts]
    states = [part.state for part in parts]
    joined = parts[0].merge(parts[1])
    assert type(joined) is type(pattern)
    assert joined.n_values == 600
    offered(joined, values(300, seed=1))
    assert joined.n_values == 900
    assert [reading(part) for part in parts] == before
    assert [part.state for part in parts] == states


@every_grid
def test_merge_with_an_empty_part_is_the_other_part(pattern, values):
    grid = offered(pattern.fresh(seed=7), values(300))
    assert reading(grid.merge(pattern.fresh(seed=7))) == reading(grid)
    assert reading(pattern.fresh(seed=7).merge(grid)) == reading(grid)
