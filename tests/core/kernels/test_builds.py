"""The kernels in both builds, and as they are written: the same, where said to rounding."""

from __future__ import annotations

import copy
import importlib.util
import json
import math
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.builds import nothing_compiled

import ipdp
from ipdp.core import kernels
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.kernels import array, bins, loop, storages, sums
from ipdp.core.random import Uniforms
from ipdp.core.reservoir import Reservoir
from ipdp.core.smoothing import Smoothing
from ipdp.grid.base import LARGEST
from ipdp.grid.ranges import MinMax, QuantileRange

NUMBERS = st.floats(-1e6, 1e6)
FEW_VALUES = ipdp.grid.Quantiles(4, window=50)


def compiled():
    """The compiled kernels."""
    found = None if kernels.installed() is array else kernels.installed()
    return nothing_compiled() if found is None else found


@pytest.fixture(params=["compiled", "as Python"], name="built")
def _built(request, monkeypatch):
    """The kernels, compiled and as they are written."""
    if request.param == "compiled":
        return compiled()
    if importlib.util.find_spec("ipdp.core.kernels._spread") is None:  # in the pure wheel
        monkeypatch.setattr(kernels, "_compiled", lambda _, source, __: source)
    return loop


def with_kernels(current, task):
    """What a task returns under some kernels."""
    before, kernels.current = kernels.current, current
    try:
        return task()
    finally:
        kernels.current = before


def assert_close(one, other):
    """Whether two states are the same to rounding; all but their numbers to the last bit."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert_close(value, other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_close(mine, theirs)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    else:
        assert one == other


def bits(smoothing):
    """Everything that a smoothing remembers."""
    return json.dumps(smoothing.state)


@settings(deadline=None, max_examples=60)
@given(
    alpha=st.sampled_from([None, 0.001, 0.3, 1.0]),
    rows=st.lists(
        st.tuples(
            arrays.arrays(float, (2, 3), elements=NUMBERS),
            st.sampled_from([1.0, 0.25, 3]),
            st.sampled_from([1, 0, 2.5]),
        ),
        min_size=1,
        max_size=8,
    ),
    late=st.booleans(),
)
@pytest.mark.parametrize("make", [compiled, lambda: loop], ids=["compiled", "as Python"])
def test_smoothing_is_the_same(make, alpha, rows, late):
    def smooth():
        smoothing, t = Smoothing(alpha=alpha, n_rows=2, n_columns=3), 0.0
        for k, (values, w, gap) in enumerate(rows):
            if late and k == 1:
                smoothing = smoothing.take([0, -1, 2])  # columns of different weights
            t += gap
            smoothing.update(values, w, t)
        return bits(smoothing)

    assert with_kernels(make(), smooth) == with_kernels(array, smooth)


@pytest.mark.parametrize("alpha", [None, 0.05, 1.0])
@pytest.mark.parametrize("late", [False, True])
def test_many_observations_are_those_one_by_one(built, alpha, late):
    rng = np.random.default_rng(0)
    rows = [(rng.normal(size=(1, 3)), rng.normal(size=(2, 3))) for _ in range(9)]
    w, t = rng.choice([0.0, 0.5, 1.0], 9).tolist(), np.cumsum([1, 1, 1, 2.5, 0, 1, 1, 1, 1.0])
    found = []
    for current in (built, array, None):
        smoothing = Smoothing(alpha=alpha, n_rows=3, n_columns=3)
        smoothing.update(np.ones((3, 3)), t=0.5)
        if late:
            smoothing = smoothing.take([0, -1, 2])  # columns of different weights
            smoothing.update(np.zeros((3, 3)), t=0.75)
        if current is None:  # by the formula: what each weighs at the end
            decay = 1.0 if alpha is None else 1 - alpha
            k = np.array(w) * decay ** (t[-1] - t)
            past = smoothing.weight * decay ** (t[-1] - smoothing.t)
            values = np.array([np.concatenate(row) for row in rows])
            total = past + k.sum()
            mean = (past * smoothing.mean + np.tensordot(k, values, axes=1)) / total
            found.append([mean.tolist(), total.tolist()])
            continue
        parts = tuple(np.array(part) for part in zip(*rows, strict=True))
        with_kernels(current, lambda: smoothing.update_many_rows(parts, w, t.tolist()))  # noqa: B023
        found.append([smoothing.mean.tolist(), smoothing.weight.tolist()])
        assert smoothing.t == t[-1]
    assert_close(found[0], found[2])
    assert_close(found[1], found[2])


def test_strata_are_the_same(built):
    tables = np.zeros((2, 2, 6))
    draws = np.random.default_rng(1).uniform(0.1, 1, size=(30, 4)).tolist()
    n = 0
    for factor, other, *last in draws:
        ends = [
            current.close_stratum(table, n, (factor, other), tuple(last))
            for current, table in zip((built, array), tables, strict=True)
        ]
        assert ends[0] == ends[1]
        n += 1
        at, total = ends[0]
        assert total == pytest.approx(tables[0, 1, :n].sum())
        if n > 5:
            pairs = tables[0, 1, : n - 1] + tables[0, 1, 1:n]
            assert at == pairs.argmin()
            sums = tables[0, :, :n].sum(axis=1)
            for current, table in zip((built, array), tables, strict=True):
                current.join_strata(table, n, at)
            n -= 1
            assert tables[0, :, :n].sum(axis=1) == pytest.approx(sums)
        assert tables[0, :, :n].tobytes() == tables[1, :, :n].tobytes()


def test_blocks_are_closed_alike(built):
    rng = np.random.default_rng(2)
    now, start = [(rng.uniform(1, 2, 4), rng.normal(size=(2, 4))) for _ in range(2)]
    start[0][1] = now[0][1] / 0.9  # nothing came
    start[0][2] = 0.0
    found = []
    for current in (built, array):
        block = np.empty(4), np.empty((2, 4))
        current.close_block(now, start, block, 0.9, 0.8)
        found.append(block)
    assert found[0][0].tolist() == found[1][0].tolist()
    assert found[0][1].tolist() == found[1][1].tolist()
    assert found[0][1][:, 1].tolist() == start[1][:, 1].tolist()
    assert found[0][1][:, 2] == pytest.approx(now[1][:, 2])
    with pytest.raises(ValueError, match="shape"):
        compiled().close_block(now, (np.zeros(3), start[1]), block, 0.9, 0.8)


def test_a_value_for_all_series_and_arrays_of_other_kinds(built):
    def smooth():
        smoothing = Smoothing(alpha=0.1, n_rows=2, n_columns=3)
        smoothing.update(4.0)
        smoothing.update([1, 2, 3])
        smoothing.update(np.arange(6, dtype=np.float32).reshape(3, 2).T)
        return bits(smoothing)

    assert with_kernels(built, smooth) == with_kernels(array, smooth)


def test_values_of_another_shape_are_refused(built):
    def smooth():
        Smoothing(alpha=0.1, n_rows=2, n_columns=3).update(np.zeros((2, 4)))

    for current in (built, array):
        with pytest.raises(ValueError, match="shape"):
            with_kernels(current, smooth)


class Span:
    """A range that was given."""

    def __init__(self, low, high):
        self.low, self.high, self.version = low, high, 0

    def ends(self):
        return self.low, self.high


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(2, 7)), min_size=1, max_size=4))
@pytest.mark.parametrize(
    "make", [compiled, lambda: loop, lambda: array], ids=["compiled", "as Python", "array"]
)
def test_points_divide_ranges_as_numpy_does(make, ranges):
    sizes = [size for _, _, size in ranges]
    stops = np.cumsum(sizes).tolist()
    columns = [(stop - size, stop) for size, stop in zip(sizes, stops, strict=True)]
    spans = [Span(low, high) for low, high, _ in ranges]
    row = np.zeros(stops[-1])
    points = make().EvenPoints(spans, columns)
    assert points.moved()
    assert not points.moved()
    points.write(row)
    expected = [np.arange(size) / (size - 1) * (high - low) + low for low, high, size in ranges]
    assert row.tobytes() == np.concatenate(expected).tobytes()
    spans[0].low, spans[0].version = -5.0, 1
    assert points.moved()
    points.write(row)
    assert row[0] == -5.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e308, -LARGEST, LARGEST])
def test_what_cannot_be_averaged_is_found(built, bad):
    values = np.zeros((2, 3, 4))
    for current in (built, array):
        assert current.are_below(values, LARGEST)
        assert current.are_below(np.zeros((2, 0, 3)), LARGEST)
    for place in np.ndindex(values.shape):
        values[:] = 0
        values[place] = bad
        for current in (built, array):
            assert not current.are_below(values, LARGEST)


def test_both_builds_have_the_same_names():
    def names(module):
        own = (name for name, value in vars(module).items() if callable(value))
        return {name for name in own if not name.startswith("_")} - {"Any", "NotEnoughSamples"}

    rooms = {room.__name__ for room in (loop, sums, bins, storages)}
    written = {n for n in names(loop) if getattr(loop, n).__module__ in rooms}
    assert set(array.__all__) == written
    assert written <= names(compiled())


@settings(deadline=None, max_examples=150)
@given(xs=st.lists(st.one_of(NUMBERS, st.integers(-3, 3)), max_size=60), window=st.integers(1, 8))
def test_extremes_hold_the_same(xs, window):
    both = [make.Extremes(window) for make in (compiled(), loop)]
    for k, x in enumerate(xs):
        for extremes in both:
            extremes.offer(x)
        kept = xs[max(0, k + 1 - window) : k + 1]
        assert [extremes.ends() for extremes in both] == [(min(kept), max(kept))] * 2
        assert [e.version for e in both] == [both[0].version] * 2
        whole = all(type(value) is int for value in xs[: k + 1])
        assert [e.whole for e in both] == [whole] * 2


@pytest.mark.parametrize(
    "damage",
    [
        {"spread": np.zeros((2, 2))},
        {"spread": np.zeros((1, 3))},
        {"_squares": np.zeros(2)},
        {"_weight": np.zeros(2), "_squares": np.zeros(2)},
    ],
)
def test_a_smoothing_whose_arrays_differ_is_refused(damage):
    smoothing = Smoothing(alpha=0.1, n_rows=2, n_columns=3)
    vars(smoothing).update(damage)
    with pytest.raises(ValueError, match="differ in shape"):
        compiled().fold_in(smoothing, (np.zeros((2, 3)),), 0.9, 1.0)


@pytest.mark.parametrize(
    "bad", [None, math.nan, math.inf, np.float64("nan"), LARGEST, True, "1", np.int64(1), 10**400]
)
def test_numbers_are_those_that_grids_admit_as_they_are(built, bad):
    good = {"a": 1.0, "b": 3, "c": -2.5, "d": 10**30}
    assert built.numbers_of(good, ("d", "a", "b"), LARGEST) == [10**30, 1.0, 3]
    assert built.numbers_of({**good, "b": bad}, tuple(good), LARGEST) is None
    assert built.numbers_of({**good, "b": bad}, ("a", "c"), LARGEST) == [1.0, -2.5]
    assert built.numbers_of(good, ("a", "absent"), LARGEST) is None
    grid = MinMax()
    assert [grid.admit(value) for value in good.values()] == list(good.values())


def test_numbers_of_numpy_with_64_bits_are_those_of_python(built):
    [value] = built.numbers_of({"a": np.float64(1.5)}, ("a",), LARGEST)
    assert type(value) is float is type(MinMax().admit(np.float64(1.5)))
    assert value == 1.5


@pytest.mark.parametrize("x", [0, -3, 2**53, -(2**53), 2**53 + 1, 10**40, 3.0, math.nan, True])
def test_whole_numbers_are_ints_that_floats_can_hold(built, x):
    assert built.is_whole(x) == (type(x) is int and int(float(x)) == x and abs(x) <= 2**53)


@settings(deadline=None, max_examples=150)
@given(
    xs=st.lists(st.one_of(NUMBERS, st.integers(-3, 3), st.just(2**60 + 1)), max_size=60),
    size=st.integers(1, 8),
    probability=st.sampled_from([1.0, 0.5]),
    select=st.sampled_from(["oldest", "age", "uniform"]),
)
def test_a_sample_holds_the_same(xs, size, probability, select):
    """Algorithm 3 as one would write it down, with the same random numbers."""
    samples = [
        make.Sample(size, probability, select, Uniforms(seed=7)) for make in (compiled(), loop)
    ]
    uniforms, kept = Uniforms(seed=7), []
    for x in xs:
        if len(kept) < size:
            kept.append(x)
        elif probability == 1 or uniforms.draw() <= probability:
            draws = {"oldest": [], "uniform": [0], "age": [0, 0]}[select]
            kept.pop(min([int(uniforms.draw() * size) for _ in draws], default=0))
            kept.append(x)
        for sample in samples:
            sample.offer(x)
            assert sample.by_age == kept
            assert sample.ordered == sorted(kept)
            low, high = sample.interval(0.05, 0.95)
            expected = np.quantile(np.array(kept, dtype=float), [0.05, 0.95])
            assert [low, high] == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-9)
    assert [(sample.n, sample.version) for sample in samples] == [
        (len(xs), samples[0].version),
    ] * 2


@pytest.mark.parametrize("whole", [True, False])
def test_a_large_sample_holds_all_and_goes_on_as_a_pickle(built, whole):
    rng = np.random.default_rng(2)
    xs = rng.integers(0, 50, 400).tolist() if whole else rng.normal(size=400).round(1).tolist()
    sample = built.Sample(100, 1.0, "oldest", Uniforms(seed=1))
    for n, x in enumerate(xs, start=1):
        sample.offer(x)
        if n == 150:
            sample = pickle.loads(pickle.dumps(sample))
        last = xs[max(0, n - 100) : n]
        low, high = sample.interval(0.0, 0.5)
        assert [low, high] == [min(last), pytest.approx(np.median(last), rel=1e-14)]
        assert type(low) is type(x)
    assert sample.ordered == sorted(xs[-100:])
    assert bool(sample.whole) is whole


def test_a_sample_refuses_what_it_does_not_have(built):
    sample = built.Sample(3, 1.0, "oldest", Uniforms(seed=1))
    with pytest.raises(NotEnoughSamples, match="no value yet"):
        sample.interval(0.1, 0.9)
    sample.offer(1.0)
    for bad in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="a quantile is in"):
            sample.interval(bad, 0.9)
        with pytest.raises(ValueError, match="a quantile is in"):
            sample.interval(0.1, bad)


def test_a_grid_without_values_has_no_range(built):
    for kernel in (built.Extremes(3), built.Sample(3, 1.0, "oldest", Uniforms(seed=1))):
        span = kernel if hasattr(kernel, "ends") else built.QuantileSpan(kernel, 0.1, 0.9)
        with pytest.raises(NotEnoughSamples, match="no value yet"):
            built.EvenPoints([span], [(0, 2)]).moved()


@pytest.mark.parametrize("used", [-5, 256, 10_000])
def test_random_numbers_go_on_after_any_state(built, used):
    uniforms = Uniforms(seed=1)
    uniforms.block.used = used
    assert 0 <= built.draw(uniforms.block, uniforms) < 1


@pytest.mark.parametrize("late", [False, True])
def test_a_step_folds_in_what_a_smoothing_does(built, late):
    rng = np.random.default_rng(1)
    found = []
    for current in (built, array, None):
        smoothing, step = Smoothing(alpha=0.05, n_rows=3, n_columns=4), None
        for k, (w, gap) in enumerate([(1.0, 1), (0.5, 2.5), (0.0, 1), (1.0, 0), (2.0, 1)] * 3):
            if late and k == 4:
                smoothing = smoothing.take([0, -1, 2, 3])  # columns of different weights
            t = 1 if smoothing.t is None else smoothing.t + gap
            positions, values = rng.normal(size=(1, 4)), rng.normal(size=(2, 4))
            if current is None:
                smoothing.update_rows(positions, values, w=w, t=t)
                continue
            if step is None or not step.serves(smoothing):
                step = current.SmoothingStep(smoothing)
            step.fold(positions, values, w, t)
        found.append(bits(smoothing))
        rng = np.random.default_rng(1)
    assert found[0] == found[1] == found[2]


def test_columns_of_smoothings_side_by_side_are_the_same(built):
    rng = np.random.default_rng(2)
    even, uneven, empty = (Smoothing(alpha=0.1, n_rows=2, n_columns=n) for n in (3, 2, 0))
    for k in range(5):
        even.update(rng.normal(size=(2, 3)), t=k)
        uneven.update(rng.normal(size=(2, 2)), w=np.array([1.0, k]), t=k / 2)
    taken = [[0, 4, -1, 2], [2, 1], [-1, -1], [], [3, 3], [4, 3, 0]]
    for parts in [(even, uneven, empty), (empty, uneven, even), (uneven, even)]:
        for columns in [np.array(own, dtype=np.intp) for own in taken]:
            found = [
                bits(with_kernels(current, lambda: parts[0].beside(*parts[1:], columns=columns)))  # noqa: B023
                for current in (built, array)
            ]
            assert found[0] == found[1]
    for current in (built, array):
        with pytest.raises(IndexError):
            with_kernels(current, lambda: even.beside(uneven, columns=np.array([0, 5])))
    both = even.beside(uneven, columns=np.array([4, 0], dtype=np.intp))
    assert both.mean.tolist() == np.stack((uneven.mean[:, 1], even.mean[:, 0]), axis=1).tolist()
    assert both.weight == pytest.approx([uneven.weight[1] * 0.9**2, even.weight[0]])


def test_a_step_refuses_what_does_not_fit(built):
    smoothing = Smoothing(alpha=0.1, n_rows=3, n_columns=4)
    step = built.SmoothingStep(smoothing)
    for shapes in [((1, 4), (1, 4)), ((1, 3), (2, 4)), ((1, 4), (2, 3))]:
        with pytest.raises(ValueError, match="another shape"):
            step.fold(*map(np.zeros, shapes), 1.0, 1)
    assert (smoothing.n, smoothing.t, smoothing.weight.tolist()) == (0, None, [0.0] * 4)
    smoothing.spread = np.zeros((3, 3))
    assert not step.serves(smoothing)
    with pytest.raises(ValueError, match="differ in shape"):
        built.SmoothingStep(smoothing)


@pytest.mark.parametrize("shapes", [((1, 3),), ((1, 3), (2, 3)), ((1, 3), (1, 4)), ((2, 2),)])
def test_rows_of_another_shape_are_refused(built, shapes):
    def smooth():
        rows = [np.zeros(shape) for shape in shapes]
        Smoothing(alpha=0.1, n_rows=2, n_columns=3).update_rows(*rows, w=1.0, t=1)

    for current in (built, array):
        with pytest.raises(ValueError, match=r"shape|dimension"):
            with_kernels(current, smooth)


def test_a_grid_learns_that_its_values_are_not_whole(built):
    def grids():
        return [QuantileRange(size=3, window=10), MinMax(size=3)]

    made = with_kernels(built, grids)
    intakes, updates = [grid.intake for grid in made], [grid.update for grid in made]
    whole = []
    for x in (1, 2, None, 3, 2.5, None):
        built.take_in([x, x], intakes, updates)
        assert len({grid.whole for grid in made}) == 1
        whole.append(made[0].whole)
    assert whole == [True, True, True, True, False, False]
    assert made[0].storage.values == [1, 2, 2.5, 3]
    assert made[1].range == (1, 3)


def test_an_explainer_remembers_the_same(built):
    rng = np.random.default_rng(0)
    stream = [
        {"a": float(a), "b": int(b), "c": float(c) if c > 0 else None}
        for a, b, c in zip(
            rng.normal(size=300), rng.integers(0, 9, 300), rng.normal(size=300), strict=True
        )
    ]

    def explain():
        pdp = ipdp.IncrementalPDP(
            lambda x: x["a"] * x["b"] + (x["c"] or 0.0), ["a", "b", "c", ("a", "c")], seed=1
        )
        for x in stream:
            pdp.explain_one(x)
        return json.loads(json.dumps(pdp.state))

    assert_close(with_kernels(built, explain), with_kernels(array, explain))


@pytest.mark.parametrize("select", ["oldest", "age"])
def test_ranges_are_the_same(built, select):
    rng = np.random.default_rng(1)
    stream = [
        {"a": a, "b": int(b), "c": c if t > 60 else int(c), "d": a}
        for t, (a, b, c) in enumerate(rng.normal(scale=9, size=(400, 3)).tolist())
    ]

    def explain():
        quantiles = ipdp.grid.QuantileRange(5, window=60, storage_size=30, select=select)
        grid = {"a": quantiles, "b": quantiles, "c": quantiles, "d": ipdp.grid.MinMax(4)}
        pdp = ipdp.IncrementalPDP(lambda x: x["a"] + x["b"], list("abcd"), grid=grid, seed=1)
        for x in stream:
            pdp.explain_one(x)
        return json.loads(json.dumps(pdp.state))

    assert_close(with_kernels(built, explain), with_kernels(array, explain))


@pytest.mark.parametrize("estimator", ["regrid", "pointwise"])
def test_many_at_once_are_the_same(built, estimator):
    table = np.random.default_rng(2).normal(scale=9, size=(300, 3))
    table[40:50, 2] = np.nan
    grid = {0: ipdp.grid.QuantileRange(5, window=60), 1: ipdp.grid.MinMax(4, 50), 2: FEW_VALUES}

    def explain():
        model = ipdp.models.engine(lambda X: X[:, 0] * X[:, 1], takes="array")
        pdp = ipdp.IncrementalPDP(model, grid=grid, estimator=estimator, seed=1, every=2)
        pdp.explain_many(table[:101])
        pdp.explain_many(table[101:], w=np.where(np.arange(199) % 3, 1.0, 0.0))
        return json.loads(json.dumps(pdp.state))

    assert_close(with_kernels(built, explain), with_kernels(array, explain))


@pytest.mark.parametrize("bad", [None, "x", np.nan, 1e80, 10**80, True])
def test_whether_all_are_numbers(built, bad):
    assert built.are_numbers([1.0, -2, 10**30], LARGEST)
    assert not built.are_numbers([1.0, bad], LARGEST)


def test_a_pickle_is_not_about_the_build(built):
    def make():
        reservoir = Reservoir(size=5, probability=0.5, select="age", seed=3)
        for x in range(40):
            reservoir.update(x / 7)
        return reservoir

    reservoir = with_kernels(built, make)
    twin = with_kernels(array, lambda: pickle.loads(pickle.dumps(reservoir)))
    assert type(twin.kernel) is loop.Sample
    assert twin.state == reservoir.state
    for x in range(40):
        reservoir.update(x)
        twin.update(x)
    assert twin.state == copy.deepcopy(reservoir).state == reservoir.state


@pytest.mark.parametrize("window", [5, 100])
def test_a_pickle_of_extremes_is_not_about_the_build(built, window):
    def make():
        grid = MinMax(window=window)
        for x in range(40):
            grid.update(x % 7 / 7)
        return grid

    grid = with_kernels(built, make)
    twin = with_kernels(array, lambda: pickle.loads(pickle.dumps(grid)))
    assert type(twin.storage.kernel) is loop.Extremes
    for x in (0.5, 3.25):
        grid.update(x)
        twin.update(x)
    assert twin.state == copy.deepcopy(grid).state == grid.state


def test_without_the_extension_arrays_do_it(monkeypatch):
    monkeypatch.setenv("IPDP_PURE", "1")
    assert kernels.installed() is array
    monkeypatch.delenv("IPDP_PURE")
    monkeypatch.setattr(kernels, "build", lambda: "compiled")
    monkeypatch.setitem(sys.modules, "ipdp.core.kernels._loop", None)
    assert kernels.installed() is array


def test_a_build_of_an_older_source_is_not_run(monkeypatch):
    def added():
        """A kernel that was written after the others had been compiled."""

    added.__module__ = loop.__name__
    built = compiled()
    monkeypatch.setattr(loop, "added", added, raising=False)
    with pytest.warns(RuntimeWarning, match=r"it has no added.*build_ext --inplace"):
        assert kernels.installed() is array
    monkeypatch.undo()
    assert kernels.installed() is built


def mixed_stream(n):
    """Numbers that wander, some missing, and categories that come and go."""
    rng = np.random.default_rng(7)
    level = np.cumsum(rng.normal(size=n)) / 5
    for k in range(n):
        kinds = "uvw" if k < n // 2 else "vwxyz"
        yield {
            "a": float(level[k] + rng.normal()),
            "b": None if rng.random() < 0.1 else float(rng.normal()),
            "c": str(rng.choice(list(kinds))),
        }


def two_outputs(x):
    """A model of two classes, with an interaction."""
    share = 1 / (1 + math.exp(-x["a"] * (x["b"] or -1.0) - "uvwxyz".index(x["c"])))
    return {"no": 1 - share, "yes": share}


@pytest.mark.parametrize(
    "grid", [None, ipdp.grid.Auto(4, ends="extremes")], ids=["default", "extremes"]
)
def test_an_explainer_of_a_mixed_stream_is_the_same(grid):
    def explain():
        pdp = ipdp.IncrementalPDP(two_outputs, grid=grid, alpha=0.02, n_past=12, seed=1)
        for k, x in enumerate(mixed_stream(250)):
            pdp.explain_one(x, w=1.0 if k % 5 else 2.5, t=k + 0.25 * (k % 3))
        return json.loads(json.dumps(pdp.state))

    assert_close(with_kernels(compiled(), explain), with_kernels(array, explain))


def test_a_model_that_has_no_outputs_yet_is_explained(built):
    """A river classifier before its first label, as when labels come later."""

    def explain():
        classes = {}
        pdp = ipdp.IncrementalPDP(lambda _: classes, ["a", "b"], alpha=0.05, seed=1)
        for k in range(80):
            if k == 50:
                classes.update({"no": 0.25, "yes": 0.75})
            pdp.explain_one({"a": k % 7, "b": float(k * k % 11)})
        return json.loads(json.dumps(pdp.state))

    assert_close(with_kernels(built, explain), with_kernels(array, explain))


@pytest.mark.parametrize("value", [None, -3.0, 0.0, 0.25, 1.0, 1.5, 2.0, 2.1, 1])
@pytest.mark.parametrize("category", [None, 7, 3, 5, 4, "x"])
def test_bins_are_those_of_their_definition(built, value, category):
    edges, order = [0.0, 1.0, 2.0], [7, 3, 5]
    axes = [(1, edges, 10)], [(0, order, 20, 30)]
    for current in (built, array):
        positions, slots, some = current.Locator(*axes, (2, 6), 4, 6).locate([category, value])
        inside = value is not None and 0 <= value <= 2
        k = next(k for k in range(2) if value <= edges[k + 1]) if inside else 0
        at = order.index(category) if category in order else None
        near = [7, 7, 7] if at is None else [order[max(at - 1, 0)], category, order[min(at + 1, 2)]]
        assert positions.tolist() == [[*edges[k : k + 2], *map(float, near), 0.0], [0.0] * 6]
        steps = [-1, -1] if at is None else [19 + at if at else -1, 20 + at if at < 2 else -1]
        count = -1 if at is None else 30 + at
        assert slots.tolist() == [10 + k if inside else -1, *steps, -1, count, -1]
        assert some == (inside or at is not None)


def test_bins_that_do_not_fit_are_refused(built):
    for current in (built, array):
        for shape, n_effects, n_slots in (((1, 4), 3, 4), ((1, 5), 2, 4), ((1, 5), 3, 3)):
            with pytest.raises(ValueError, match="do not fit"):
                current.Locator([(0, [0, 1], 0)], [(1, [1, 2], 1, 2)], shape, n_effects, n_slots)
