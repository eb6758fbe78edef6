"""Which grid Auto chooses, and when."""

import datetime
import decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.grid import Auto, Categories, MinMax, QuantileRange
from ipdp.grid.auto import as_now, with_extremes

PROPERTY = settings(deadline=None, derandomize=True)


def offered(grid, xs):
    """Let the grid have the values as an explainer does."""
    for x in xs:
        value = grid.admit(x)
        if value is not None:
            grid.update(value)
    return grid


def day(k):
    return datetime.date(2020, 1, 1 + k % 3)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        pytest.param(QuantileRange, lambda k: k / 7, id="numbers"),
        pytest.param(QuantileRange, lambda k: float(k % 2), id="two numbers that are not whole"),
        pytest.param(QuantileRange, lambda k: 2.5, id="a constant number"),
        pytest.param(QuantileRange, np.float64, id="numpy's numbers"),
        pytest.param(QuantileRange, lambda k: decimal.Decimal(k) / 7, id="decimals"),
        pytest.param(QuantileRange, lambda k: k * k, id="many whole numbers"),
        pytest.param(QuantileRange, lambda k: np.int64(k * k), id="many of numpy's whole numbers"),
        pytest.param(QuantileRange, lambda k: k % 11, id="eleven whole numbers"),
        pytest.param(QuantileRange, lambda k: k % 3 if k < 15 else k / 7, id="few, then fractions"),
        pytest.param(QuantileRange, lambda k: k / 7 if k % 5 else None, id="numbers with gaps"),
        pytest.param(
            QuantileRange, lambda k: k / 7 if k % 5 else float("inf"), id="infinite numbers"
        ),
        pytest.param(Categories, lambda k: k % 10, id="ten whole numbers"),
        pytest.param(Categories, lambda k: 1, id="a constant whole number"),
        pytest.param(Categories, lambda k: np.int64(k % 3), id="few of numpy's whole numbers"),
        pytest.param(Categories, lambda k: k % 3 if k % 5 else None, id="few with gaps"),
        pytest.param(Categories, lambda k: k % 2 == 0, id="booleans"),
        pytest.param(Categories, lambda k: np.bool_(k % 2), id="numpy's booleans"),
        pytest.param(Categories, lambda k: "red" if k % 2 else "blue", id="strings"),
        pytest.param(Categories, lambda k: np.str_(k % 2), id="numpy's strings"),
        pytest.param(Categories, str, id="many strings"),
        pytest.param(Categories, lambda k: "?" if k == 7 else k / 7, id="numbers and a string"),
        pytest.param(Categories, lambda k: k % 2 == 0 if k % 3 else k, id="booleans and numbers"),
        pytest.param(QuantileRange, day, id="dates"),
    ],
)
def test_the_choice(kind, value):
    grid = offered(Auto(size=10), [value(k) for k in range(25)])
    assert grid.ready
    assert type(grid.chosen) is kind
    assert grid.categorical is (kind is Categories)
    assert grid.points is grid.chosen.points
    assert grid.keys is grid.chosen.keys


@PROPERTY
@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=40), st.integers(2, 8))
def test_numbers_get_exactly_min_max_where_the_ends_are_extremes(xs, size):
    auto, plain = offered(Auto(size, 30, ends="extremes"), xs), offered(MinMax(size, 30), xs)
    assert auto.points.tolist() == plain.points.tolist()
    assert auto.keys == plain.keys
    assert auto.rug.tolist() == plain.rug.tolist()


@PROPERTY
@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=40), st.integers(2, 8))
def test_numbers_get_exactly_the_middle_98_percent(xs, size):
    auto = offered(Auto(size, 30), xs)
    plain = offered(QuantileRange(size, 0.01, 0.99, window=30), xs)
    assert auto.points.tolist() == plain.points.tolist()
    assert auto.keys == plain.keys
    assert auto.rug.tolist() == plain.rug.tolist()


@PROPERTY
@given(st.lists(st.sampled_from("abcdefgh"), min_size=20, max_size=40))
def test_strings_get_exactly_categories(xs):
    auto, plain = offered(Auto(5, 30), xs), offered(Categories(window=30), xs)
    assert auto.points.tolist() == plain.points.tolist()
    assert auto.keys == plain.keys
    assert auto.rug.tolist() == plain.rug.tolist()


def test_strings_may_have_twenty_categories_whatever_the_size():
    grid = offered(Auto(size=3), [chr(ord("a") + k % 26) for k in range(100)])
    assert len(grid.points) == 20


def test_the_choice_is_made_at_the_end_of_the_warm_up():
    grid = Auto(size=10, warm_up=30)
    for k in range(30):
        assert not grid.ready
        offered(grid, [k % 11])
    assert grid.ready
    assert not grid.categorical


def test_missing_values_do_not_count_for_the_warm_up():
    grid = offered(Auto(warm_up=20), [None] * 50 + [1.5] * 19)
    assert not grid.ready
    assert offered(grid, [2.5]).ready


def test_few_whole_numbers_may_become_twice_as_many():
    grid = offered(Auto(size=5), [k % 5 for k in range(50)])
    offered(grid, range(10))
    assert grid.categorical
    assert grid.points.tolist() == list(range(10))
    offered(grid, [10])
    assert not grid.categorical
    assert grid.points.tolist() == [0, 2, 5, 7, 9]  # up to the 99 % quantile, 9.4


def test_a_range_stays_a_range():
    grid = offered(Auto(size=5, window=30), range(50))
    assert not grid.categorical
    offered(grid, [1, 2] * 30)
    assert not grid.categorical
    assert grid.points.tolist() == [1, 2]


def test_few_whole_numbers_and_then_a_fraction_become_a_range():
    grid = offered(Auto(size=5), [k % 5 for k in range(50)])
    offered(grid, [2.5])
    assert not grid.categorical
    assert grid.points.tolist() == [0, 1, 2, 3, 4]
    assert grid.points.dtype == float


def test_a_range_refuses_strings_and_takes_booleans_as_numbers():
    grid = offered(Auto(size=5), range(50))
    with pytest.raises(TypeError, match="'red' is not a number"):
        grid.admit("red")
    assert grid.admit(True) == 1
    assert type(grid.admit(True)) is int


def test_categories_take_numbers_as_one_more_category():
    grid = offered(Auto(), ["red"] * 30)
    offered(grid, [3])
    assert grid.points.tolist() == [3, "red"]


def test_parts_of_different_kind_do_not_merge():
    with pytest.raises(ValueError, match="numbers in one part holds categories in the other"):
        offered(Auto(), ["red"] * 30).merge(offered(Auto(), np.arange(30) / 7))


def test_few_whole_numbers_merged_with_a_range_are_a_range():
    few, many = offered(Auto(size=5), [1, 2] * 20), offered(Auto(size=5), range(40))
    for joined in (few.merge(many), many.merge(few)):
        assert not joined.categorical
        # Of the 80 values, the middle 98 % are from 0.79 to 38.21.
        assert joined.points.tolist() == [1, 10, 19, 29, 38]


def test_an_outlier_does_not_stretch_the_points():
    xs = [k % 100 / 100 for k in range(1000)]
    assert offered(Auto(), [*xs, 1e6]).points[-1] < 1
    assert offered(Auto(ends="extremes"), [*xs, 1e6]).points[-1] == 1e6


def test_without_a_seed_the_same_values_are_stored_every_time():
    xs = np.random.default_rng(1).normal(size=3000).tolist()
    assert offered(Auto(), xs).state == offered(Auto(), xs).state
    assert offered(Auto().fresh(seed=5), xs).state != offered(Auto(), xs).state


def test_other_ends_are_refused():
    with pytest.raises(ValueError, match="ends must be quantiles or extremes"):
        Auto(ends="medians")


def test_a_state_from_before_there_were_ends_goes_on_with_extremes():
    old = offered(Auto(5, ends="extremes"), np.arange(50) / 7)
    grid = Auto(5)
    grid.state = old.state
    assert type(grid.chosen) is MinMax
    assert offered(grid, [100.5]).points.tolist() == offered(old, [100.5]).points.tolist()


def test_settings_from_before_there_were_ends_are_those_of_extremes():
    old = "{'a': Auto(size=10, window=1000, warm_up=20, missing=False), 'b': MinMax(size=3)}"
    assert f"{Auto(10, ends='extremes')!r}, 'b'" in as_now(old)
    assert as_now(repr(Auto())) == repr(Auto())


@pytest.mark.parametrize("spec", ["Auto", "Auto()", " Auto( ) ", "Auto(10)", "Auto(10, 1000,)"])
def test_a_run_from_before_there_were_ends_goes_on_with_extremes(spec):
    assert eval(with_extremes(spec), {"Auto": Auto}) == Auto(ends="extremes")
    assert with_extremes({"a": spec})["a"] == with_extremes(spec)
