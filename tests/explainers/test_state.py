"""An explainer can be put aside and taken up again bit for bit: as JSON, by pickle, as a copy."""

import copy
import json
import math
import pickle
from dataclasses import fields
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import naive_bayes
from tests.explainers import oracle

from ipdp import Curve, IncrementalPDP, models
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)
FEATURES = ["a", "n", "c", ("a", "c"), "b"]
GRIDS = {
    "minmax": {"a": MinMax(4, 9, warm_up=3), "n": MinMax(3, 7, warm_up=2, missing=True)},
    "range": {
        "a": QuantileRange(4, window=12, storage_size=6, warm_up=3, missing=True),
        "n": QuantileRange(3, window=9, storage_size=4, select="age", warm_up=2),
    },
    "quantiles": {
        "a": Quantiles(4, window=12, storage_size=5, select="uniform", warm_up=4),
        "n": Quantiles(3, window=6, warm_up=2, integers=False),
    },
    "fixed": {
        "a": Fixed([-1.0, 0.5, 2.0], missing=True),
        "n": Fixed([4, 0]),
        "c": Fixed(["y", "v"]),
        "b": Fixed([True, False]),
    },
    "categories": {
        "n": Categories(size=3, window=10, warm_up=2, missing=True),
        "c": Categories(size=2, window=8, warm_up=2, missing=True),
        "b": Categories(window=5, warm_up=1),
    },
    "auto": Auto(size=3, window=15, warm_up=6, missing=True),
}
CUTS = [0, 1, 5, 40, 70]


def explainer(name="minmax", model=oracle.classifier, features=FEATURES, **setup):
    return IncrementalPDP(
        model, features, **{"alpha": 0.05, "seed": 3, "grid": GRIDS[name]} | setup
    )


def explained(rows, pdp):
    for x in rows:
        pdp.explain_one(x)
    return pdp


def dumped(pdp):
    # allow_nan=False: NaN is no JSON, and other readers than Python's refuse it.
    return json.dumps(pdp.state, allow_nan=False)


def restored(pdp, into):
    into.state = json.loads(dumped(pdp))
    return into


def assert_same_curves(one, other):
    assert list(one.curves) == list(other.curves)
    for feature, curve in one.curves.items():
        assert_same_curve(curve, other.curve(feature))


def assert_same_curve(curve, twin):
    for item in fields(Curve):
        mine, theirs = getattr(curve, item.name), getattr(twin, item.name)
        assert type(mine) is type(theirs), item.name
        if isinstance(mine, list):
            assert len(mine) == len(theirs), item.name
        else:
            mine, theirs = [mine], [theirs]
        for a, b in zip(mine, theirs, strict=True):
            assert_same_value(a, b, item.name)


def assert_same_value(mine, theirs, name):
    if not isinstance(mine, np.ndarray):
        assert mine == theirs, name
    elif mine.dtype == object:
        assert theirs.dtype == object, name
        assert mine.tolist() == theirs.tolist(), name
    else:
        assert theirs.dtype.kind in "if", name
        np.testing.assert_array_equal(mine, theirs, err_msg=name)


# Out and in.


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("name", GRIDS)
def test_going_on_from_a_state_is_not_having_stopped(name, estimator):
    rows = oracle.stream(seed=21)
    whole = explainer(name, estimator=estimator)
    for first, last in pairwise([*CUTS, len(rows)]):
        # Another seed: the random numbers go on where the first one's were.
        twin = restored(whole, explainer(name, estimator=estimator, seed=99 if first else 3))
        assert dumped(twin) == dumped(whole)
        explained(rows[first:last], whole)
        assert dumped(explained(rows[first:last], twin)) == dumped(whole)
    assert_same_curves(twin, whole)


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("name", GRIDS)
def test_going_on_with_many_from_a_state(name, estimator):
    rows = oracle.stream(seed=22)
    whole = explainer(name, estimator=estimator, alpha=None, every=2)
    whole.explain_many(rows[:50])
    twin = restored(whole, explainer(name, estimator=estimator, alpha=None, every=2))
    for pdp in (whole, twin):
        pdp.explain_many(rows[50:])
    assert dumped(twin) == dumped(whole)


lost = st.sampled_from([None, math.nan])


@PROPERTY
@given(
    values=st.lists(
        st.fixed_dictionaries(
            {
                "a": st.floats(-1e6, 1e6) | st.integers(-3, 3) | lost,
                "n": st.integers(-20, 20) | lost,
                "c": st.sampled_from("wxyz") | lost,
                "b": st.booleans() | lost,
            }
        ),
        min_size=20,
        max_size=40,
    ),
    place=st.integers(0, 40),
    name=st.sampled_from(sorted(GRIDS)),
    estimator=st.sampled_from(["pointwise", "regrid"]),
)
def test_any_stream_can_be_stopped_anywhere(values, place, name, estimator):
    rows = [{**x, "clock": 2 * i} for i, x in enumerate(values)]
    whole = explained(rows[:place], explainer(name, estimator=estimator))
    twin = restored(whole, explainer(name, estimator=estimator))
    assert dumped(explained(rows[place:], twin)) == dumped(explained(rows[place:], whole))
    assert_same_curves(twin, whole)


def test_numbers_as_names_and_as_classes():
    def model(x):
        return {0: x[0], True: x[1], "two": 1.0, 2.5: 0.0}

    X = np.linspace(0, 3, 60).reshape(30, 2)
    whole = IncrementalPDP(model, grid=MinMax(3, warm_up=2))
    whole.explain_many(X[:15])
    twin = restored(whole, IncrementalPDP(model, grid=MinMax(3, warm_up=2)))
    for pdp in (whole, twin):
        pdp.explain_many(X[15:])
    assert dumped(twin) == dumped(whole)
    assert_same_curves(twin, whole)


def test_a_state_from_before_the_first_observation():
    pdp = explained(oracle.stream(seed=23, n=20), explainer())
    restored(explainer(), into=pdp)
    assert (pdp.n_seen, pdp.t, pdp.curves) == (0, None, {})
    assert dumped(pdp) == dumped(explainer())


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_segments_can_be_saved_before_they_are_merged(estimator):
    # Among the visitors, x is away for so long that the second segment forgets it.
    visitors = [{"c": c, "clock": 50} for c in "xxqrstuvwxx"]
    for grid, rows, places in (
        (Categories(window=1, warm_up=1), visitors, (2, 9)),
        (Auto(size=3, window=15, warm_up=6), oracle.stream(seed=24), (30, 60)),
    ):
        setup = {"features": ["c"], "grid": grid, "estimator": estimator}
        first = explained(rows[: places[0]], explainer(**setup))
        second = explained(rows[slice(*places)], first.successor())
        third = explained(rows[places[1] :], second.successor())
        one, two, three = (restored(part, explainer(**setup)) for part in (first, second, third))
        merged = first.merge(second.merge(third))
        assert dumped(one.merge(two.merge(three))) == dumped(merged)
        assert dumped(one.merge(two).merge(three)) == dumped(first.merge(second).merge(third))


def test_times_of_numpy_can_be_saved():
    rows = oracle.stream(seed=25, n=20)
    whole = explainer()
    for t, x in zip(np.arange(20), rows, strict=True):
        whole.explain_one(x, np.float64(0.5), t=t)
    whole.explain_many(rows, np.ones(20), t=np.arange(20, 40, dtype=np.int32))
    assert_same_curves(restored(whole, explainer()), whole)


def test_the_columns_of_an_array_keep_their_order():
    # The order is that of the first observation, also of one that was seen before the stop.
    def make():
        engine = models.engine(lambda X: X @ np.array([1.0, 10.0]), takes="array")
        return IncrementalPDP(engine, ["b"], grid=Fixed([1.0]))

    whole = make()
    whole.explain_one({"a": 3.0, "b": 2.0})
    twin = restored(whole, make())
    for pdp in (whole, twin):
        pdp.explain_one({"b": 2.0, "a": 3.0})
    assert whole.curve("b").average.tolist() == [[13.0]]
    assert dumped(twin) == dumped(whole)


def test_a_state_shares_nothing_with_the_explainer():
    rows = oracle.stream(seed=26, n=40)
    pdp = explained(rows[:30], explainer("auto"))
    state = pdp.state
    before = json.dumps(state)
    twin = explainer("auto")
    twin.state = state
    explained(rows[30:], pdp)
    explained(rows[30:], twin)
    assert json.dumps(state) == before
    assert dumped(pdp) == dumped(twin)


# What cannot be taken in.


@pytest.mark.parametrize(
    "state",
    [None, [], {}, {"version": 2}, {"version": "1"}, {"version": None, "fold": None}],
    ids=str,
)
def test_a_state_of_another_version(state):
    pdp = explained(oracle.stream(seed=27, n=20), explainer())
    before = dumped(pdp)
    with pytest.raises(ValueError, match="version"):
        pdp.state = state
    assert dumped(pdp) == before


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("alpha", {"alpha": 0.2}),
        ("alpha", {"alpha": None}),
        ("every", {"every": 2}),
        ("estimator", {"estimator": "pointwise"}),
        ("features", {"features": ["a", "n"]}),
        ("features", {"features": None, "grid": Auto()}),
        ("grid", {"grid": Auto()}),
        ("grid", {"grid": {**GRIDS["minmax"], "a": MinMax(4, 10, warm_up=3)}}),
    ],
)
def test_a_state_of_other_settings(name, other):
    rows = oracle.stream(seed=28, n=20)
    pdp = explained(rows, explainer())
    before = dumped(pdp)
    foreign = explainer(**other)
    for state in (foreign.state, explained(rows, foreign).state):
        with pytest.raises(ValueError, match=name):
            pdp.state = state
        assert dumped(pdp) == before


def test_the_same_grids_written_in_another_order_are_the_same():
    rows = oracle.stream(seed=29, n=20)
    whole = explained(rows, explainer())
    turned = dict(reversed(GRIDS["minmax"].items()))
    twin = restored(whole, explainer(grid=turned))
    assert_same_curves(twin, whole)
    assert explained(rows, twin).merge(explained(rows, whole)).n_seen == 80


@pytest.mark.parametrize("part", ["effects", "grids", "smoothing", "layouts", "recent"])
def test_a_damaged_state_leaves_the_explainer_alone(part):
    rows = oracle.stream(seed=30, n=30)
    pdp = explained(rows[:20], explainer())
    before = dumped(pdp)
    damaged = explained(rows, explainer()).state
    del damaged["fold"][part]
    with pytest.raises(ValueError, match=f"the state is damaged: '{part}' is missing"):
        pdp.state = damaged
    assert dumped(pdp) == before


def test_dates_as_categories_come_back():
    def make():
        return IncrementalPDP(lambda x: 1.0, ["c", ("c", "d")], grid=Categories(warm_up=1))

    pdp, twin = make(), make()
    for day in (29, 29, 28):
        pdp.explain_one({"c": date(2024, 2, day), "d": day % 2})
    twin.state = json.loads(json.dumps(pdp.state))
    assert dumped(twin) == dumped(pdp)
    for each in (pdp, twin):
        each.explain_one({"c": date(2024, 2, 27), "d": 1})
    for feature, curve in pdp.curves.items():
        assert_same_curve(twin.curve(feature), curve)


@pytest.mark.parametrize(
    "category", [int, len, object(), frozenset("x"), b"x", ("x", 1)], ids=lambda c: type(c).__name__
)
def test_categories_that_cannot_be_saved_are_refused_at_once(category):
    pdp = IncrementalPDP(lambda x: 1.0, ["c"], grid=Categories(warm_up=1))
    with pytest.raises(TypeError, match=r"feature 'c': .*(cannot be saved|cannot be a category)"):
        pdp.explain_one({"c": category})
    assert pdp.n_seen == 0


# Pickle and copy.

WAYS = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("name", GRIDS)
def test_explainers_and_curves(name, estimator, way):
    rows = oracle.stream(seed=31)
    whole = explained(rows[:50], explainer(name, estimator=estimator))
    twin = WAYS[way](whole)
    for feature, curve in whole.curves.items():
        assert_same_curve(WAYS[way](curve), curve)
        assert_same_curve(twin.curve(feature), curve)
    before = dumped(whole)
    explained(rows[50:], twin)
    assert dumped(whole) == before
    assert dumped(explained(rows[50:], whole)) == dumped(twin)


@pytest.mark.parametrize("way", WAYS)
def test_an_explainer_travels_with_its_model(way):
    model = naive_bayes.GaussianNB()
    whole = IncrementalPDP(model, ["a", "n"], grid=MinMax(3, warm_up=2))
    rows = [({"a": math.sin(i), "n": i % 5}, i % 3 == 0) for i in range(40)]
    for x, y in rows[:20]:
        whole.explain_one(x)
        model.learn_one(x, y)
    twin = WAYS[way](whole)
    assert twin.model is not model
    for pdp in (whole, twin):
        for x, y in rows[20:]:
            pdp.explain_one(x)
            pdp.model.learn_one(x, y)
    assert dumped(whole) == dumped(twin)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("grid", "values"),
    [
        (MinMax(4, 6), [0.5, 2.0, 7.0, 1.5, 3.0]),
        (QuantileRange(3, window=6, storage_size=2, seed=1), [3, 1, 4, 1, 5, 9, 2, 6]),
        (Quantiles(3, window=6, storage_size=3, select="age", seed=2), [3.5, 1, 4, 1, 5, 9, 2, 6]),
        (Fixed([3, 1]), [1, 2]),
        (Fixed(["low", "high"]), ["low"]),
        (Categories(2, 3), list("xyzzy")),
        (Auto(2, warm_up=3), [1, 2, 1, 2, 7, 8, 9]),
        (Auto(2, warm_up=3), list("xyzzy")),
    ],
    ids=str,
)
def test_grids(grid, values, way):
    for value in values:
        grid.update(value)
    twin = WAYS[way](grid)
    assert twin == grid
    assert repr(twin) == repr(grid)
    for value in values:
        assert twin.points.tolist() == grid.points.tolist()
        assert twin.state == grid.state
        grid.update(value)
        twin.update(value)
    assert twin.keys == grid.keys
    assert twin.rug.tolist() == grid.rug.tolist()


# Curves as dicts.


def there_and_back(curve):
    return Curve.from_dict(json.loads(json.dumps(curve.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("n_ice", [0, 30])
@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("name", GRIDS)
def test_curves_come_back_from_json(name, estimator, n_ice):
    features = [*FEATURES, ("b", "a"), ("n", "a")]
    pdp = explainer(name, features=features, estimator=estimator, n_ice=n_ice)
    explained(oracle.stream(seed=32, n=60), pdp)
    assert list(pdp.curves) == features
    for curve in pdp.curves.values():
        twin = there_and_back(curve)
        assert_same_curve(curve, twin)
        assert twin.to_dict() == curve.to_dict()


def test_what_is_not_known_comes_back_from_json():
    # Points of which some ICE curves know nothing, and a single observation, without a spread.
    late = explainer(features=["c"], grid=GRIDS["categories"]["c"], n_ice=60)
    curve = explained(oracle.stream(seed=33, n=60), late).curve("c")
    assert np.isnan(curve.ice).any()
    assert curve.missing is not None
    assert_same_curve(curve, there_and_back(curve))
    one = explainer("fixed", model=oracle.regressor)
    first = explained(oracle.stream(seed=33, n=1), one).curve("a")
    assert np.isnan(first.std_error).all()
    assert np.isnan(first.missing_std_error).all()
    assert_same_curve(first, there_and_back(first))


def test_a_curve_of_a_model_without_outputs_comes_back_from_json():
    pdp = IncrementalPDP(lambda x: {}, ["a", ("a", "b")], grid=Fixed([0.0, 1.0]))
    explained([{"a": 0.0, "b": 0.0}] * 3, pdp)
    for curve in pdp.curves.values():
        twin = there_and_back(curve)
        assert (twin.outputs, twin.n_samples) == ((), 3)
        assert twin.average.shape == curve.average.shape
        assert twin.to_dict() == curve.to_dict()


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_a_curve_of_another_version(version):
    state = explained(oracle.stream(seed=34, n=10), explainer("fixed")).curve("a").to_dict()
    with pytest.raises(ValueError, match="version"):
        Curve.from_dict({**state, "version": version})


@pytest.mark.parametrize(
    ("path", "damage"),
    [
        (("smoothing", "mean"), lambda rows: rows[:-1]),
        (("smoothing", "spread"), lambda rows: rows[:-1]),
        (("smoothing", "spread"), lambda rows: [row[:-1] for row in rows]),
        (("smoothing", "mean"), lambda rows: [row * 2 for row in rows]),
        (("smoothing", "weight"), lambda values: values[:-1]),
        (("smoothing", "weight"), lambda values: [-1.0 for _ in values]),
        (("smoothing", "squares"), lambda values: [*values, 1.0]),
        (("smoothing", "mean"), lambda rows: [[float("nan")] * len(row) for row in rows]),
        (("attic_smoothing", "mean"), lambda rows: [[1.0] for _ in rows]),
        (("outputs",), lambda labels: [*labels, "more"]),
        (("attic",), lambda slots: [*slots, [0, 99]]),
        (("layouts",), lambda layouts: layouts[:0]),
        (("layouts",), lambda layouts: 3),
        (("pool", "weight"), lambda weight: 1e300),
        # Each is finite, and their sum is not.
        (("pool", "weights"), lambda rows: [[9e299 for _ in row] for row in rows]),
    ],
)
def test_a_state_whose_arrays_do_not_fit_is_refused(path, damage):
    """A compiled loop would write beyond the end of an array that is too short."""
    pdp = IncrementalPDP(lambda x: {"no": x["a"], "yes": 1 - x["a"]}, ["a"])
    for k in range(40):
        pdp.explain_one({"a": k % 7 / 7})
    state = json.loads(json.dumps(pdp.state))
    *way, last = path
    part = state["fold"]
    for name in way:
        part = part[name]
    part[last] = damage(part[last])
    twin = IncrementalPDP(lambda x: x["a"], ["a"])
    with pytest.raises(ValueError, match=r"damaged|inhomogeneous"):
        twin.state = state
    assert twin.n_seen == 0


def test_a_reading_that_is_still_to_come_is_refused():
    # Beyond 64 bits it is an object in numpy, and failed when the curve was read.
    def explainer():
        return IncrementalPDP(lambda x: x["a"], ["a"], grid=MinMax(3))

    pdp = explainer()
    pdp.explain_many([{"a": k % 7} for k in range(200)])
    pdp.results()
    for reading in (10**30, 1e17):
        state = pdp.state
        state["fold"]["pool"]["asked"]["readings"][1] = reading
        with pytest.raises(ValueError, match="the state is damaged: somebody was asked about at a"):
            explainer().state = state
    explainer().state = pdp.state
