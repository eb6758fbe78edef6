"""A stream may be cut as one likes: `explain_many` and `merge` give what one pass gives.

Tolerance: as in `test_oracle.py`. The sums are the same ones, added up in another order.
"""

import json
import math
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explainers import oracle

from ipdp import IncrementalPDP, models
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)
FEATURES = ["a", "n", "c", ("a", "c")]
FEW = Categories(size=2, window=6, warm_up=2)
GRIDS = {
    "minmax": {"a": MinMax(4, 6, warm_up=3), "n": MinMax(3, 5, warm_up=2), "c": FEW},
    "range": {
        "a": QuantileRange(4, window=8, storage_size=4, warm_up=3),
        "n": QuantileRange(3, window=5, select="age", storage_size=3, warm_up=2),
        "c": Categories(window=4, warm_up=1, missing=True),
    },
    "quantiles": {
        "a": Quantiles(3, window=9, storage_size=5, select="uniform", warm_up=2),
        "n": Quantiles(4, window=6, warm_up=2, missing=True),
        "c": FEW,
    },
    "fixed": {
        "a": Fixed([-1.0, 0.5, 2.0], missing=True),
        "n": Fixed([4, 0]),
        "c": Fixed(["y", "v", "x"]),
    },
    "auto": Auto(size=2, window=7, warm_up=4),
}

# Multiples of 1/4, so that there are ties and trends; categories that not every part knows.
lost = st.sampled_from([None, math.nan])
values = st.fixed_dictionaries(
    {
        "a": st.integers(-12, 12).map(lambda k: k / 4) | lost,
        "n": st.integers(-2, 7) | lost,
        "c": st.sampled_from("wxyz") | lost,
    }
)


@st.composite
def streams(draw, max_size=36):
    """Observations with a clock, by which the classifier has a third class from the 13th on."""
    n = draw(st.integers(1, max_size))  # a list of its own would be short as a rule
    rows = draw(st.lists(values, min_size=n, max_size=n))
    return [{**x, "clock": 10 + 3 * i} for i, x in enumerate(rows)]


@st.composite
def setups(draw):
    """Settings of an explainer."""
    return {
        "grid": GRIDS[draw(st.sampled_from(sorted(GRIDS)))],
        "alpha": draw(st.sampled_from([0.02, 0.1, None])),
        "estimator": draw(st.sampled_from(["pointwise", "regrid"])),
        "every": draw(st.sampled_from([1, 1, 2, 3])),
        "n_ice": draw(st.sampled_from([0, 3, 50])),
        "seed": draw(st.integers(0, 50)),
    }


def cut(rows, places):
    """The parts of a list; some may be empty."""
    ends = [0, *sorted(place % (len(rows) + 1) for place in places), len(rows)]
    return [rows[first:last] for first, last in pairwise(ends)]


def explainer(model=oracle.classifier, features=FEATURES, **setup):
    return IncrementalPDP(model, features, **setup)


def explained(rows, pdp):
    for x in rows:
        pdp.explain_one(x)
    return pdp


def dumped(pdp):
    return json.dumps(pdp.state)


def assert_same(one, other, *, in_order=True):
    """Whether two explainers show the same; `in_order` is about the last observations."""
    assert (one.n_seen, one.t) == (other.n_seen, other.t)
    assert list(one.curves) == list(other.curves)
    for curve, twin in zip(one.curves.values(), other.curves.values(), strict=True):
        assert curve.outputs == twin.outputs
        assert curve.categorical == twin.categorical
        assert (curve.n_samples, curve.t) == (twin.n_samples, twin.t)
        for mine, theirs in zip(curve.grid_values, twin.grid_values, strict=True):
            assert_close(mine, theirs)
        for name in (
            "average",
            "std_error",
            "n_effective_points",
            "missing",
            "missing_std_error",
        ):
            assert_close(getattr(curve, name), getattr(twin, name))
        if in_order:
            assert_close(curve.ice, twin.ice)
            assert_close(curve.ice_grid_values, twin.ice_grid_values)
            for mine, theirs in zip(curve.rug, twin.rug, strict=True):
                assert mine.tolist() == theirs.tolist()


def assert_close(mine, theirs):
    if mine is None or theirs is None or np.asarray(mine).dtype == object:
        assert np.array_equal(mine, theirs)
    else:
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-11, equal_nan=True)


# Many at once.


@PROPERTY
@given(
    rows=streams(),
    setup=setups(),
    places=st.lists(st.integers(0, 100), max_size=4),
    weights=st.none() | st.lists(st.sampled_from([0, 0.5, 1, 3]), min_size=36, max_size=36),
    steps=st.none() | st.lists(st.sampled_from([0, 0.5, 1, 2]), min_size=36, max_size=36),
)
def test_many_is_one_by_one_on_any_split(rows, setup, places, weights, steps):
    n = len(rows)
    times = None if steps is None else np.cumsum(steps[:n]).tolist()
    one, many = explainer(**setup), explainer(**setup)
    for i, x in enumerate(rows):
        w = 1.0 if weights is None else weights[i]
        one.explain_one(x, w, t=None if times is None else times[i])
    for part in cut(range(n), places):
        many.explain_many(
            [rows[i] for i in part],
            None if weights is None else [weights[i] for i in part],
            t=None if times is None else [times[i] for i in part],
        )
    assert_same(one, many)


@pytest.mark.parametrize("estimator", ["regrid", "pointwise"])
@pytest.mark.parametrize("grid", [MinMax(4, 40), QuantileRange(4, window=40), Auto(3)])
@pytest.mark.parametrize("setup", [{}, {"every": 3}])
def test_parts_may_begin_with_observations_that_are_not_explained(grid, estimator, setup):
    rng = np.random.default_rng(0)
    table = np.cumsum(rng.normal(size=(2_500, 2)), axis=0)  # ranges move, points come and go
    weights = np.where(np.arange(2_500) % 5 < 2, 0.0, 1.0)
    setup = {"grid": grid, "estimator": estimator, "alpha": 0.02, "seed": 1, **setup}
    one, many = (explainer(lambda x: x[0] * x[1], None, **setup) for _ in range(2))
    for x, w in zip(table.tolist(), weights.tolist(), strict=True):
        one.explain_one(dict(enumerate(x)), w)
    for part in cut(range(2_500), [1_100, 1_101, 1_103, 2_390]):
        many.explain_many(table[part[0] : part[-1] + 1], weights[part[0] : part[-1] + 1])
    assert_same(one, many)
    kept, twins = one.memory.pool.kept, many.memory.pool.kept
    assert [own.record.x for own in kept] == [own.record.x for own in twins]
    for own, twin in zip(kept, twins, strict=True):
        assert_close(own.record.values, twin.record.values)
        assert_close(own.rest, twin.rest)


def plain_rows():
    """Observations that every kind of table can hold as they are."""
    return [
        {
            "a": math.nan if i % 7 == 3 else math.sin(i) * i,
            "n": i * i % 11,
            "c": "xyzw"[i * i % 5 % 4],
            "b": i % 3 == 0,
            "clock": i,
        }
        for i in range(40)
    ]


TABLES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pylist,
    "list of dicts": list,
    "generator of dicts": iter,
    "dicts of numpy's scalars": lambda rows: [
        {name: np.array([value])[0] for name, value in x.items()} for x in rows
    ],
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_every_kind_of_table(table, estimator):
    features = ["a", "n", "c", "b", ("b", "c")]
    rows = plain_rows()
    setup = {"alpha": 0.05, "grid": Auto(size=4, warm_up=5), "estimator": estimator}
    one = explained(rows, explainer(features=features, **setup))
    many = explainer(features=features, **setup)
    many.explain_many(TABLES[table](rows[:25]))
    many.explain_many(TABLES[table](rows[25:]))
    assert_same(one, many)


@pytest.mark.parametrize("names", [["a", "n", "clock"], None])
def test_an_array_with_names_or_without(names):
    known = ["a", "n", "clock"] if names is None else names
    X = np.array([[x[name] for name in known] for x in plain_rows()])
    columns = list(range(3)) if names is None else names

    def model(x):
        return oracle.regressor(
            {name: x[column] for name, column in zip(known, columns, strict=True)}
        )

    setup = {"model": model, "features": columns[:2], "grid": MinMax(4, 10, warm_up=3)}
    one, many = explainer(**setup), explainer(**setup)
    for row in X.tolist():
        one.explain_one(dict(zip(columns, row, strict=True)))
    many.explain_many(X, names=names)
    assert_same(one, many)


def of_frame(X):
    columns = {name: list(X[name]) for name in X.columns}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [oracle.regressor(x) for x in rows]


def of_array(X):
    columns = ("a", "n", "clock")
    rows = [dict(zip(columns, row, strict=True)) for row in X.tolist()]
    return np.array([oracle.two_targets(x) for x in rows])


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize(
    ("model", "kept", "features"),
    [
        (models.engine(of_frame, takes="frame"), "ancb", ["a", "c", ("n", "c"), "b"]),
        (models.engine(of_frame, takes="frame", backend="polars"), "ancb", ["a", "n", ("b", "c")]),
        (models.engine(of_array, takes="array"), "an", ["a", "n", ("a", "n")]),
    ],
    ids=["pandas", "polars", "array"],
)
def test_models_of_tables_are_asked_the_same(model, kept, features, estimator):
    rows = [{**{name: x[name] for name in kept}, "clock": x["clock"]} for x in plain_rows()]
    setup = {"grid": Auto(size=4, window=15, warm_up=5), "alpha": 0.05, "estimator": estimator}
    one = explained(rows, explainer(model, features, **setup))
    many = explainer(model, features, **setup)
    many.explain_many(rows[:22])
    many.explain_many(rows[22:])
    assert_same(one, many)


def test_many_rows_are_one_call_of_the_model():
    calls = []

    def model(X):
        calls.append(len(X))
        return X[:, 0]

    pdp = explainer(models.engine(model, takes="array"), ["a", "b"], grid=Fixed([0, 1, 2]))
    pdp.explain_many(np.ones((50, 2)), names=["a", "b"])
    assert calls == [50 * 6]


def test_times_and_weights_may_be_arrays():
    rows = plain_rows()[:10]
    setup = {"grid": Fixed([0, 1]), "features": ["n"], "alpha": 0.1}
    one, many = explainer(**setup), explainer(**setup)
    for i, x in enumerate(rows):
        one.explain_one(x, 0.5, t=i)
    many.explain_many(rows, np.full(10, 0.5), t=np.arange(10))
    assert_same(one, many)
    restored = explainer(**setup)
    restored.state = json.loads(dumped(many))
    assert_same(many, restored)


def test_no_rows_change_nothing():
    pdp = explained(plain_rows()[:30], explainer(grid=GRIDS["minmax"]))
    before = dumped(pdp)
    for nothing in ([], pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), np.empty((0, 2))):
        pdp.explain_many(nothing)
        assert dumped(pdp) == before


# Segments of a stream.


def chain(parts, setup, at_once):
    """An explainer for each part, each the successor of the one before."""
    pdp = explainer(**setup)
    segments = [pdp]
    for k, part in enumerate(parts):
        if k:
            segments.append(segments[-1].successor())
        if at_once[k % len(at_once)]:
            segments[-1].explain_many(part)
        else:
            explained(part, segments[-1])
    return segments


def joined(segments, choices):
    """The segments merged two neighbours at a time, in an order that the choices give."""
    segments = list(segments)
    for choice in choices:
        if len(segments) > 1:
            k = choice % (len(segments) - 1)
            segments[k : k + 2] = [segments[k].merge(segments[k + 1])]
    while len(segments) > 1:
        segments[:2] = [segments[0].merge(segments[1])]
    return segments[0]


@PROPERTY
@given(
    rows=streams(),
    setup=setups(),
    places=st.lists(st.integers(0, 100), min_size=2, max_size=4),
    choices=st.lists(st.integers(0, 3), max_size=4),
    at_once=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_segments_merge_to_the_whole_in_any_association(rows, setup, places, choices, at_once):
    *parts, rest = cut(rows, places)
    segments = chain(parts, setup, at_once)
    before = [dumped(segment) for segment in segments]
    merged = joined(segments, choices)
    assert [dumped(segment) for segment in segments] == before
    whole = explained([x for part in parts for x in part], explainer(**setup))
    assert_same(whole, merged)
    # It goes on as if it had never been apart.
    assert_same(explained(rest, whole), explained(rest, merged))
    assert [dumped(segment) for segment in segments] == before


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("alpha", [0.05, None])
@pytest.mark.parametrize("name", GRIDS)
def test_long_segments_of_a_drifting_stream(name, alpha, estimator):
    setup = {"grid": GRIDS[name], "alpha": alpha, "estimator": estimator, "seed": 3}
    rows = oracle.stream(seed=11, n=120)
    parts = cut(rows, [20, 55, 60, 95])
    segments = chain(parts[:-1], setup, [False, True])
    whole = explained(rows[:95], explainer(**setup))
    left = joined(segments, [0, 0, 0])
    right = joined(segments, [2, 1, 0])
    for merged in (left, right):
        assert_same(whole, merged)
    explained(parts[-1], whole)
    for merged in (left, right):
        assert_same(whole, explained(parts[-1], merged))


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("alpha", [0.05, None])
def test_segments_with_weights_and_times_of_the_user(alpha, estimator):
    setup = {"grid": GRIDS["minmax"], "alpha": alpha, "estimator": estimator, "every": 2}
    rows = oracle.stream(seed=16, n=60)
    weights = [(0, 0.5, 1, 3)[i * i % 7 % 4] for i in range(60)]
    times = np.cumsum([(0, 0.5, 2)[i % 3] for i in range(60)]).tolist()
    whole = explainer(**setup)
    segments = [explainer(**setup)]
    for i, x in enumerate(rows):
        if i in (15, 32, 47):
            segments.append(segments[-1].successor())
        for pdp in (whole, segments[-1]):
            pdp.explain_one(x, weights[i], t=times[i])
    for choices in ([0, 0], [2, 1], [0, 1]):
        assert_same(whole, joined(segments, choices))


def test_what_a_later_segment_forgot_stays_forgotten():
    # One point at a time and room for four that are away, as in test_oracle.py: x is forgotten
    # in the second part and comes back in the third.
    setup = {"features": ["c"], "grid": Categories(window=1, warm_up=1), "alpha": None}
    rows = [{"c": c, "clock": 50} for c in "xxqrstuvxx"]
    for places in ([2, 8], [2, 9], [3, 4], [5, 10], [1, 2]):
        segments = chain(cut(rows, places), setup, [False])
        whole = explained(rows, explainer(**setup))
        for choices in ([0], [1]):
            assert_same(whole, joined(segments, choices))


@PROPERTY
@given(
    rows=streams(max_size=24),
    owners=st.lists(st.integers(0, 2), min_size=24, max_size=24),
    order=st.permutations([0, 1, 2]),
    left=st.booleans(),
    alpha=st.sampled_from([0.02, 0.1, None]),
    estimator=st.sampled_from(["pointwise", "regrid"]),
)
def test_interleaved_partitions_on_one_clock_merge_in_any_order(
    *, rows, owners, order, left, alpha, estimator
):
    setup = {"grid": GRIDS["fixed"], "alpha": alpha, "estimator": estimator, "n_ice": 30}
    whole = explainer(**setup)
    partitions = [explainer(**setup) for _ in range(3)]
    for t, (x, owner) in enumerate(zip(rows, owners, strict=False)):
        whole.explain_one(x, t=t)
        partitions[owner].explain_one(x, t=t)
    first, second, third = (partitions[k] for k in order)
    merged = first.merge(second).merge(third) if left else first.merge(second.merge(third))
    assert_same(whole, merged, in_order=False)
    for feature, curve in whole.curves.items():
        assert ice_curves(curve) == ice_curves(merged.curve(feature))


def ice_curves(curve):
    """All ICE curves, each with all of its outputs, whatever their order; none is lost."""
    by_curve = curve.ice.swapaxes(0, 1).reshape(curve.ice.shape[1], -1)
    return sorted(map(tuple, by_curve.tolist()))


def test_ice_curves_of_classes_that_were_met_in_another_order():
    setup = {"model": lambda x: x["says"], "features": ["a"], "grid": Fixed([0])}
    first, second = explainer(**setup), explainer(**setup)
    first.explain_one({"a": 0, "says": {"p": 0.25, "q": 0.75}})
    second.explain_one({"a": 0, "says": {"q": 0.875, "p": 0.125}})
    curve = first.merge(second).curve("a")
    assert curve.outputs == ("p", "q")
    assert curve.ice[:, :, 0].tolist() == [[0.25, 0.125], [0.75, 0.875]]


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("name", ["minmax", "fixed", "auto"])
def test_storages_of_segments_that_knew_nothing_of_each_other_join_exactly(name, estimator):
    # Explained apart from the start, each with a warm-up of its own; windows are exact after it.
    setup = {"grid": GRIDS[name], "estimator": estimator, "alpha": 0.05}
    rows = oracle.stream(seed=12, n=60)
    whole = explained(rows[:50], explainer(**setup))
    first, second = explained(rows[:30], explainer(**setup)), explainer(**setup)
    for t, x in enumerate(rows[30:50], start=31):
        second.explain_one(x, t=t)
    merged = first.merge(second)
    assert (merged.n_seen, merged.t) == (50, 50)
    explained(rows[50:52], whole)
    explained(rows[50:52], merged)
    for feature, curve in whole.curves.items():
        twin = merged.curve(feature)
        for mine, theirs in zip(curve.rug, twin.rug, strict=True):
            assert mine.tolist() == theirs.tolist()
        if estimator == "pointwise":
            np.testing.assert_array_equal(curve.ice[:, -1], twin.ice[:, -1])


def test_merging_with_an_empty_explainer():
    rows = oracle.stream(seed=13, n=50)
    full = explained(rows[:40], explainer(grid=GRIDS["auto"], seed=1))
    empty = explainer(grid=GRIDS["auto"], seed=1)
    before = dumped(full)
    whole = explained(rows, explainer(grid=GRIDS["auto"], seed=1))
    for merged in (full.merge(empty), empty.merge(full), full.merge(full.successor())):
        assert_same(full, merged)
        assert_same(whole, explained(rows[40:], merged))
    assert dumped(full) == before
    assert empty.n_seen == 0
    assert empty.merge(explainer(grid=GRIDS["auto"])).n_seen == 0


def test_a_successor_has_explained_nothing_and_leaves_the_first_alone():
    rows = oracle.stream(seed=14, n=40)
    pdp = explained(rows[:30], explainer(grid=GRIDS["minmax"]))
    before = dumped(pdp)
    later = pdp.successor()
    assert later.curves == {}
    explained(rows[30:], later)
    assert dumped(pdp) == before
    assert {curve.n_samples for curve in later.curves.values()} == {10}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("alpha", {"alpha": 0.2}),
        ("alpha", {"alpha": None}),
        ("every", {"every": 2}),
        ("estimator", {"estimator": "pointwise"}),
        ("features", {"features": ["a"]}),
        ("grid", {"grid": GRIDS["auto"]}),
        ("grid", {"grid": {**GRIDS["minmax"], "a": MinMax(4, 7, warm_up=3)}}),
    ],
)
def test_settings_that_differ_cannot_be_merged(name, other):
    setup = {"features": FEATURES, "alpha": 0.1, "grid": GRIDS["minmax"]}
    if name == "features":
        setup["grid"] = other["grid"] = GRIDS["auto"]
    rows = oracle.stream(seed=15, n=20)
    one = explained(rows, explainer(**setup))
    two = explained(rows, explainer(**{**setup, **other}))
    before = dumped(one), dumped(two)
    for first, second in ((one, two), (two, one)):
        with pytest.raises(ValueError, match=name):
            first.merge(second)
    assert (dumped(one), dumped(two)) == before


def test_explainers_of_other_columns_or_other_outputs_cannot_be_merged():
    def followed(model, x):
        pdp = IncrementalPDP(model, grid=Fixed([0]))
        pdp.explain_one(x)
        return pdp

    number = followed(lambda x: 1.0, {"a": 0})
    with pytest.raises(ValueError, match="features"):
        number.merge(followed(lambda x: 1.0, {"b": 0}))
    for other in (lambda x: [1.0, 2.0], lambda x: {"yes": 1.0}):
        with pytest.raises(ValueError, match="outputs"):
            number.merge(followed(other, {"a": 0}))
