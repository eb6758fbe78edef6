"""Accumulated local effects against brute force, and the laws of explainers."""

import math
import pickle

import numpy as np
import pytest
from tests.explainers import ale_oracle as oracle

import ipdp
from ipdp.checks import check_explainer
from ipdp.grid import Auto, Categories, Fixed, MinMax, Quantiles

# The sums are the same ones, added up in another order.
CLOSE = {"rtol": 0, "atol": 1e-9}
BUMP = {"w": 0.0, "x": 1.0, "y": -1.0, "z": 0.5}


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = 0.9 * a + 0.4 * rng.normal(size=n)
    names, whole = rng.choice(list(BUMP), size=n), rng.integers(0, 4, size=n)
    columns = zip(a.tolist(), b.tolist(), names.tolist(), whole.tolist(), strict=True)
    return [dict(zip("abcn", row, strict=True)) for row in columns]


def model(x):
    wave = math.sin(x["b"]) * BUMP[x["c"]]
    return x["a"] ** 2 + x["a"] * x["b"] + wave + x["n"] ** 2 * x["a"]


ROWS = table()
QUANTILES = np.quantile([x["a"] for x in ROWS], np.linspace(0, 1, 9)).tolist()
EDGES = {"a": QUANTILES, "b": np.linspace(-2, 2, 7).tolist(), "n": [0, 1, 2, 3]}
GRID = {name: Fixed(edges) for name, edges in EDGES.items()} | {"c": Fixed(["w", "y", "x", "z"])}


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_brute_force_gives(weighted):
    weights = np.random.default_rng(1).uniform(0, 2, size=len(ROWS)) if weighted else [1] * 400
    ale = ipdp.IncrementalALE(model, alpha=None, grid=GRID)
    for x, w in zip(ROWS, weights, strict=True):
        ale.explain_one(x, w=w)
    for name, edges in EDGES.items():
        curve = ale.curve(name)
        np.testing.assert_array_equal(curve.grid_values[0], edges)
        expected = oracle.first_order(model, ROWS, name, edges, weights)
        np.testing.assert_allclose(curve.average[0], expected, **CLOSE)
    expected = oracle.of_categories(model, ROWS, "c", ["w", "y", "x", "z"], weights)
    assert ale.curve("c").grid_values[0].tolist() == ["w", "y", "x", "z"]
    np.testing.assert_allclose(ale.curve("c").average[0], expected, **CLOSE)


def test_it_forgets():
    ale = ipdp.IncrementalALE(model, "a", alpha=0.01, grid=GRID["a"])
    ale.explain_many(ROWS)
    weights = 0.99 ** np.arange(len(ROWS))[::-1]
    expected = oracle.first_order(model, ROWS, "a", EDGES["a"], weights)
    np.testing.assert_allclose(ale.curve("a").average[0], expected, **CLOSE)


def test_a_pair_is_the_second_order_effect():
    ale = ipdp.IncrementalALE(
        model, [("a", "b")], alpha=None, grid={name: GRID[name] for name in "ab"}
    )
    ale.explain_many(ROWS)
    expected = oracle.second_order(model, ROWS, ("a", "b"), (EDGES["a"], EDGES["b"]))
    np.testing.assert_allclose(ale.curve(("a", "b")).average[0], expected, **CLOSE)


def test_a_pair_with_categories_has_no_part_of_one_feature_alone():
    def additive(x):
        return x["a"] ** 3 + BUMP[x["c"]] + x["n"]

    def together(x):
        return x["a"] * BUMP[x["c"]]

    pairs = [("a", "c"), ("c", "n"), ("c", "a")]
    for function in (additive, together):
        ale = ipdp.IncrementalALE(function, pairs, alpha=None, grid={n: GRID[n] for n in "acn"})
        ale.explain_many(ROWS)
        found = ale.curves
        if function is additive:
            assert all(np.abs(curve.average).max() < 1e-12 for curve in found.values())
    surface = found["a", "c"].average[0]
    np.testing.assert_allclose(surface, found["c", "a"].average[0].T, atol=1e-12)
    # a times the bump, each minus its mean, up to what depends on one of both alone.
    bump = np.array([BUMP[c] for c in found["a", "c"].grid_values[1]])
    mixed = np.diff(np.diff(surface, axis=0), axis=1)
    np.testing.assert_allclose(mixed, np.multiply.outer(np.diff(QUANTILES), np.diff(bump)))


def irregular(k):
    """An observation of a stream whose range moves, with missing values and late categories."""
    a = math.sin(k / 5) + k / 40
    x = {"a": a, "n": k * k % 7, "c": "wxyz"[int(abs(a) * 3 + k) % (3 + (k > 40))], "b": k % 3 == 0}
    if k % 11 == 3:
        x["a"] = None
    if k % 13 == 5:
        x["c"] = None
    if k % 17 == 4:
        del x["n"]
    return x


def classes(x):
    """A classifier that has met a third class since its n is above 3."""
    a, n = x.get("a") or 0.0, x.get("n", 0)
    p = 1 / (1 + math.exp(-a * BUMP.get(x.get("c"), 0.2) - n / 5))
    return {0: 1 - p, 1: p} if n < 4 else {0: 1 - p, 1: p / 2, 2: p / 2}


FEW = ["a", "b", "c", "n", ("a", "b")]
FEATURES = ["a", "n", "c", "b", ("a", "n"), ("c", "a")]


@pytest.mark.parametrize(
    ("alpha", "grid", "every"),
    [
        (0.05, None, 1),
        (0.05, Auto(4, window=20, warm_up=5), 2),
        (None, {"a": Quantiles(4, window=15, warm_up=5), "c": Categories(2, 12, warm_up=3)}, 1),
        (0.02, {"a": MinMax(3, 8, warm_up=2), "n": Fixed([0, 2, 4])}, 1),
    ],
)
def test_it_keeps_the_laws(alpha, grid, every):
    def make():
        return ipdp.IncrementalALE(classes, FEATURES, alpha=alpha, grid=grid, every=every, seed=1)

    check_explainer(make, [irregular(k) for k in range(90)])


def test_many_at_once_are_the_same_to_the_last_bit():
    rows = [irregular(k) for k in range(200)]
    one, many = (ipdp.IncrementalALE(classes, FEATURES, alpha=0.02) for _ in range(2))
    for x in rows:
        one.explain_one(x)
    many.explain_many(rows[:70])
    many.explain_many(rows[70:])
    assert one.state == many.state


def test_nothing_is_lost_when_the_bins_become_coarser_or_finer():
    """A range that grows and shrinks: of a quadratic function every bin tells the slope exactly."""
    ale = ipdp.IncrementalALE(
        lambda x: x["a"] ** 2, alpha=0.001, grid=MinMax(5, window=60, warm_up=5)
    )
    rng = np.random.default_rng(0)
    for reach in (1.0, 4.0, 1.5):
        for value in rng.uniform(-reach, reach, size=150):
            ale.explain_one({"a": value})
        curve = ale.curve("a")
        x = curve.grid_values[0]
        np.testing.assert_allclose(np.diff(curve.average[0]), np.diff(x**2), atol=0.35 * reach)
    widths = {high - low for _, (low, high) in ale.memory.means.dormant}
    assert len(widths) > 1  # there are bins with other edges, and they count
    merged = ale.merge(ale.successor())
    np.testing.assert_array_equal(merged.curve("a").average, ale.curve("a").average)


def test_bands_know_the_memory_of_a_stream_whose_bins_have_changed():
    """Both features remember some ten observations: their product is much less sure than i.i.d."""
    rng = np.random.default_rng(4)
    z = rng.normal(size=(4_000, 2))
    for t in range(1, len(z)):
        z[t] = 0.9 * z[t - 1] + math.sqrt(1 - 0.81) * z[t]
    z[3_950, 0] = 8.0  # the bins become wider
    moving, fixed = (
        ipdp.IncrementalALE(lambda x: x["a"] * x["b"], "a", alpha=0.005, grid=grid)
        for grid in (MinMax(8, window=150), Fixed(np.linspace(-2.5, 2.5, 8)))
    )
    for ale in (moving, fixed):
        ale.explain_many(z, names=["a", "b"])
    weight = moving.memory.means.everything.weight
    n_active = moving.memory.means.layout.n_points
    assert weight[n_active:].sum() > weight[:n_active].sum()  # most was told by other bins
    curve, other = moving.curve("a"), fixed.curve("a")
    assert not curve.provisional
    assert curve.inflation[0] > 3
    # Other bins, and bands that are estimates themselves: about the same. Errors of independent
    # observations would be a quarter of it.
    there = np.interp(curve.grid_values[0], other.grid_values[0], other.std_error[0])
    assert 0.5 < np.mean(curve.std_error[0] / there) < 1.5
    # Segments of the stream know it as well.
    first = ipdp.IncrementalALE(
        lambda x: x["a"] * x["b"], "a", alpha=0.005, grid=MinMax(8, window=150)
    )
    first.explain_many(z[:3_700], names=["a", "b"])
    second = first.successor()
    second.explain_many(z[3_700:], names=["a", "b"])
    merged = first.merge(second).curve("a")
    np.testing.assert_allclose(merged.std_error, curve.std_error, rtol=1e-6)


def test_the_band_of_a_place_that_was_left_long_ago_is_that_of_its_observations():
    rng = np.random.default_rng(2)
    a = np.append(rng.uniform(-3, -2, size=200), rng.uniform(-2, 2, size=800))
    ale = ipdp.IncrementalALE(
        lambda x: x["a"] * x["b"], "a", alpha=0.01, grid=Fixed([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0])
    )
    ale.explain_many(np.c_[a, rng.normal(size=1_000)], names=["a", "b"])
    # The effect of the first bin is a mean of 200 draws of b, of which 100 count by their weights.
    rise = ale.curve("a").std_error[0, :2]
    assert 0.05 < rise[0] < 0.4
    assert rise[1] < rise[0]


def test_an_observation_without_a_value_says_nothing_of_that_feature():
    ale = ipdp.IncrementalALE(
        lambda x: (x["a"] or 0.0) + x["b"], alpha=None, grid=Fixed([0.0, 1.0, 2.0])
    )
    ale.explain_one({"a": 0.5, "b": 0.5})
    before = ale.memory.means.smoothing.weight.tolist()
    ale.explain_one({"a": None, "b": 1.5})
    ale.explain_one({"a": 7.0, "b": 1.5})
    after = ale.memory.means.smoothing.weight.tolist()
    assert before == [1, 0, 1, 0]
    assert after == [1, 0, 1, 2]


def test_the_model_is_asked_twice_a_number():
    asked = []

    def counting(x):
        asked.append(x)
        return x["a"] * x["b"]

    ale = ipdp.IncrementalALE(counting, ["a", "b"], grid=Fixed([0.0, 1.0, 2.0, 3.0]))
    ale.explain_one({"a": 1.5, "b": 2.5})
    assert [(x["a"], x["b"]) for x in asked] == [(1, 2.5), (2, 2.5), (1.5, 2), (1.5, 3)]


def test_it_is_right_where_features_depend_on_each_other():
    rng = np.random.default_rng(3)
    a = rng.normal(size=4000)
    b = 0.97 * a + math.sqrt(1 - 0.97**2) * rng.normal(size=4000)

    def learned(x):  # right where there are data, and wrong elsewhere
        near = abs(x["a"] - x["b"]) < 1
        return x["a"] + (x["b"] ** 2 if near else 20.0)

    rows = [{"a": float(u), "b": float(v)} for u, v in zip(a, b, strict=True)]
    errors = []
    for kind in (ipdp.IncrementalPDP, ipdp.IncrementalALE):
        explainer = kind(learned, "a", alpha=None)
        explainer.explain_many(rows)
        curve = explainer.curve("a")
        rest = curve.average[0] - curve.grid_values[0]
        errors.append(np.std(rest))
    assert errors[1] < errors[0] / 5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"gradient": True}, "gradient=True needs a model with gradients"),
        ({"grid": 5}, "grid must be one of ipdp.grid"),
        ({"alpha": 2}, "alpha must be in"),
    ],
)
def test_errors_of_arguments(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        ipdp.IncrementalALE(model, **arguments)


def test_errors_of_reading():
    ale = ipdp.IncrementalALE(lambda x: x["a"])
    with pytest.raises(ipdp.NotEnoughSamples):
        ale.curve("a")
    ale.explain_many([{"a": 1.0}] * 30)  # one value has no bins
    with pytest.raises(ipdp.NotEnoughSamples, match="one value only"):
        ale.curve("a")
    assert ale.results() == {}
    with pytest.raises(ValueError, match="curve for"):
        ale.curve("b")


def test_an_answer_that_is_no_number_changes_nothing():
    ale = ipdp.IncrementalALE(lambda x: math.nan if x["a"] > 2 else x["a"], grid=Fixed([0, 1, 3]))
    ale.explain_one({"a": 0.5})
    before = ale.state
    with pytest.raises(ValueError, match="NaN"):
        ale.explain_one({"a": 1.5})
    assert ale.state == before


def test_curves_say_what_they_are():
    ale = ipdp.IncrementalALE(classes, ["a", "n"], alpha=0.05)
    ale.explain_many([irregular(k) for k in range(200)])
    curve = ale.curve("a")
    assert curve.kind == "ale"
    assert ipdp.Curve.from_dict(curve.to_dict()).kind == "ale"
    assert curve.are_probabilities
    assert curve.output_text(1) == "effect on the chance of class 1"


def test_a_table_gives_the_same_as_a_stream_that_does_not_forget():
    ale = ipdp.IncrementalALE(model, FEW, alpha=None, grid=GRID)
    ale.explain_many(ROWS)
    for curve in ipdp.accumulated_local_effects(model, ROWS, FEW, grid=GRID):
        mine = ale.curve(curve.feature)
        np.testing.assert_allclose(curve.average, mine.average, **CLOSE)
        assert not curve.provisional


def test_the_bins_of_a_table_are_those_of_all_rows():
    curves = ipdp.accumulated_local_effects(model, ROWS, weights=[1.0] * len(ROWS))
    edges = curves[0].grid_values[0]
    low, high = np.quantile([x["a"] for x in ROWS], [0.01, 0.99])
    assert edges[0] == pytest.approx(low, abs=0.1)
    assert edges[-1] == pytest.approx(high, abs=0.1)
    expected = oracle.first_order(model, ROWS, "a", edges.tolist(), [1] * len(ROWS))
    np.testing.assert_allclose(curves[0].average[0], expected, **CLOSE)


@pytest.mark.parametrize(
    ("rows", "weights", "sentence"),
    [([], None, "no rows"), (ROWS[:3], [1.0], "3 rows"), ([{"a": None}], None, "only missing")],
)
def test_errors_of_a_table(rows, weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        ipdp.accumulated_local_effects(model, rows, weights=weights)


def test_it_does_not_depend_on_who_reads_when():
    watched, alone = (ipdp.IncrementalALE(model, alpha=0.01, seed=1) for _ in range(2))
    for k, x in enumerate(ROWS):
        watched.explain_one(x)
        alone.explain_one(x)
        if k > 30 and k % 7 == 0:
            watched.curves  # noqa: B018
    assert watched.state == alone.state


def test_what_is_pickled_has_all_observations():
    ale = ipdp.IncrementalALE(model, alpha=0.01, seed=1)
    ale.explain_many(ROWS[:390])
    twin = pickle.loads(pickle.dumps(ale))
    for x in ROWS[390:]:
        ale.explain_one(x)
        twin.explain_one(x)
    assert twin.state == ale.state


def test_classes_that_come_late_begin_with_nothing():
    def classes(x):
        return {"a": 1.0} if x["n"] == 0 and x["b"] < 0 else {"a": x["a"], "b": 1 - x["a"]}

    rows = sorted(ROWS, key=lambda x: x["n"])
    ale = ipdp.IncrementalALE(classes, "a", alpha=None, grid=GRID["a"])
    ale.explain_many(rows)
    one = ipdp.IncrementalALE(lambda x: classes(x).get("b", 0.0), "a", alpha=None, grid=GRID["a"])
    one.explain_many(rows)
    curve = ale.curve("a")
    np.testing.assert_allclose(
        curve.average[list(curve.outputs).index("b")], one.curve("a").average[0], **CLOSE
    )
