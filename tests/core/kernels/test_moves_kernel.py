"""Moves of the data, one by one (as written and compiled) and by numpy: the same to rounding."""

import importlib
import importlib.util
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.core import kernels
from ipdp.core.kernels import moves, moves_array
from ipdp.monitor.data.block_scales import BlockScales, Series

BUILDS = [moves]
if importlib.util.find_spec("ipdp.core.kernels._moves") is not None:  # not in the pure wheel
    BUILDS.append(importlib.import_module("ipdp.core.kernels._moves"))
number = st.floats(-1e6, 1e6) | st.integers(-3, 3) | st.none() | st.just(math.inf)


@pytest.mark.parametrize("build", BUILDS)
@settings(max_examples=60)
@given(
    st.lists(st.lists(number | st.booleans() | st.just("a"), min_size=3, max_size=3), min_size=1),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_numbers_of_rows(build, rows, is_category):
    wanted, found = np.empty((len(rows), 3)), np.empty((len(rows), 3))
    assert moves_array.take_numbers([[1, 2.5, None]], [False, True, False], wanted[:1])
    np.testing.assert_equal(wanted[0], [1.0, np.nan, np.nan])
    if build.take_numbers(rows, is_category, found):
        assert moves_array.take_numbers(rows, is_category, wanted)
        np.testing.assert_equal(found, wanted)
    else:
        own = [v for row in rows for v, c in zip(row, is_category, strict=True) if not c]
        assert any(isinstance(value, (str, bool)) for value in own)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("has_season", [False, True])
def test_what_a_block_says(build, missing, has_season):
    rng = np.random.default_rng(7)
    values = rng.normal(3, 2, size=(32, 6)).round(1)
    values[rng.random((32, 6)) < missing] = np.nan
    values[:, 5] = 4.0
    scale, periods = np.array([[3.0] * 6, [2.0] * 6]), np.array([0.0, 24.0] * 3) * has_season
    season = rng.normal(size=(32, 6)) if has_season else values[:0]
    one, other = np.empty((6, 4)), np.empty((6, 4))
    for kernel, read in ((build, one), (moves_array, other)):
        kernel.read_block(values, scale, periods, season, read)
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    assert np.isnan(one[:, 3]).all()


@pytest.mark.parametrize("build", BUILDS)
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, math.nan]), min_size=1, max_size=40))
def test_runs(build, values):
    block, results = np.column_stack([values, values[::-1]]), []
    for kernel in (build, moves_array):
        last, said = np.full(2, np.nan), np.zeros((2, 2), np.intp)
        counts = np.array([[0, 1], [0, 2], [0, 60], [0, 0], [0, 40], [0, 100]], np.intp)
        news = [kernel.count_runs(own, last, counts, said) for own in np.array_split(block, 2)
                if len(own)]  # fmt: skip
        results.append([last, counts, said, np.array(news)])
    for one, other in zip(*results, strict=True):
        np.testing.assert_equal(one, other)


@pytest.mark.parametrize("build", [*BUILDS, moves_array])
def test_what_is_stuck_and_what_only_grows(build):
    rng = np.random.default_rng(3)
    last, counts, said = np.full(3, np.nan), np.zeros((6, 3), np.intp), np.zeros((2, 3), np.intp)
    values = np.column_stack([rng.normal(size=3200), np.arange(3200.0), -np.arange(3200.0)])
    news = [build.count_runs(own, last, counts, said) for own in values.reshape(100, 32, 3)]
    assert np.flatnonzero(news).tolist() == [95]  # the 96th block
    assert said.tolist() == [[0, 0, 0], [0, 1, -1]]
    same = np.full((32, 3), last)
    assert [build.count_runs(same, last, counts, said) for _ in range(3)] == [False, True, False]
    assert said.tolist() == [[1, 1, 1], [0, 1, -1]]
    assert build.count_runs(values[:32], last, counts, said)
    assert said.tolist() == [[0, 0, 0], [0, 0, 0]]


def series(n, rng):
    """Places and shares, of which some are bounded by how widely another one spreads."""
    width = np.where(np.arange(n) % 4 == 1, np.arange(n) - 1, -1)
    first, least = rng.integers(0, 3, n), np.full(n, 0.05)
    return Series(np.arange(n) % 4 == 3, least, first, width)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kind", ["steady", "jumps", "levels", "large"])
def test_series_at_all_scales(build, kind, monkeypatch):
    rng, n, found = np.random.default_rng(11), 8, []
    values = rng.normal(size=(300, n))
    shares = np.arange(n) % 4 == 3
    if kind == "jumps":
        values[200:] += rng.choice([0.0, 1.0, 4.0, 30.0], size=n)
    if kind == "levels":
        values = np.repeat(rng.integers(3, size=(60, n)), 5, axis=0) + 0.1 * values
        values[250:] += 4.0
    if kind == "large":
        values[150:] *= 1e150
    values[:, shares] = (np.abs(values[:, shares]) > 1.5) * 0.25
    values[rng.random(values.shape) < 0.1] = np.nan
    for kernel in (build, moves_array):
        monkeypatch.setattr(kernels, "moves_kernel", lambda own=kernel: own)
        scales = BlockScales(
            series(n, np.random.default_rng(3)), per_value=32, warm_up=50, bound=4.0
        )
        said = [scales.update(row) for row in values]
        found.append((np.array(said), scales))
    (one, own), (other, wanted) = found
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert kind == "steady" or (one[150:, 0] > 1).any()
    for name in ("_past", "_open", "_newest", "age"):
        np.testing.assert_allclose(getattr(own, name), getattr(wanted, name), rtol=1e-12)


@pytest.mark.parametrize("build", BUILDS)
def test_what_does_not_fit_is_refused(build):
    values, counts, none = np.zeros((32, 2)), np.zeros((6, 2), np.intp), np.zeros((0, 2))
    ones, said = np.ones((2, 2)), np.zeros((2, 2), np.intp)
    with pytest.raises(ValueError, match="do not fit"):
        build.take_numbers([[1.0, 2.0]], [False, False], values)
    for odd, read in [(values[:31], np.zeros((2, 3))), (values, np.zeros((2, 2)))]:
        with pytest.raises(ValueError, match="do not fit"):
            build.read_block(odd, ones, np.zeros(2), none, read)
    with pytest.raises(ValueError, match="season does not fit"):
        build.read_block(values, ones, np.zeros(2), np.zeros((3, 2)), np.zeros((2, 3)))
    for parts in [(np.zeros(3), counts, said), (np.zeros(2), counts[:5], said)]:
        with pytest.raises(ValueError, match="do not fit"):
            build.count_runs(values, *parts)
    with pytest.raises(ValueError, match="do not fit"):
        build.count_runs(values, np.zeros(2), counts, said[:1])
    scales = BlockScales(series(4, np.random.default_rng(3)), per_value=32, warm_up=50, bound=4.0)
    for short in ("_past", "_open", "_newest", "_means", "_kinds", "_ages", "_lags"):
        whole = getattr(scales, short)
        setattr(scales, short, np.ascontiguousarray(whole[..., :-1]))
        with pytest.raises(ValueError, match="do not fit"):
            build.advance(scales, np.zeros(4), np.zeros(4), np.zeros(4, np.intp))
        setattr(scales, short, whole)
    build.advance(scales, np.zeros(4), np.zeros(4), np.zeros(4, np.intp))


def test_the_build_that_runs(monkeypatch):
    assert kernels.moves_kernel().advance is not None
    monkeypatch.setattr(kernels, "current", kernels.array)
    assert kernels.moves_kernel() is moves_array
