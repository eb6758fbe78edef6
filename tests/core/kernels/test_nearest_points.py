"""The points nearest to some knots, as written and compiled, against brute force."""

import importlib
import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipdp.core import kernels
from ipdp.core.kernels import nearest

BUILDS = [nearest]
if importlib.util.find_spec("ipdp.core.kernels._nearest") is not None:  # not in the pure wheel
    BUILDS.append(importlib.import_module("ipdp.core.kernels._nearest"))
number = st.integers(-40, 40).map(lambda k: k / 8)  # so that two points may be as near
several = st.lists(number, min_size=2, max_size=9)


def found(build, features, slack=0.05):
    """Columns and who is in range, by `find`; features are points and knots."""
    knots = [np.sort(np.array(own, dtype=float)) for _, own in features]
    stops = np.cumsum([len(points) for points, _ in features])
    sizes = [len(points) for points, _ in features]
    spans = [(k, int(b) - n, int(b)) for k, (b, n) in enumerate(zip(stops, sizes, strict=True))]
    columns = np.zeros(sum(map(len, knots)), dtype=np.intp)
    within = np.zeros(len(features), dtype=np.uint8)
    at = np.concatenate([np.array(points, dtype=float) for points, _ in features])
    build.NearestPoints(knots, slack).find([at[None]], [spans], columns[None], within[None])
    return at, knots, spans, columns, within


@pytest.mark.parametrize("build", BUILDS)
@given(st.lists(st.tuples(several, several), min_size=1, max_size=3), st.booleans())
def test_none_is_nearer(build, features, in_order):
    if in_order:
        features = [(sorted(points), knots) for points, knots in features]
    at, knots, spans, columns, within = found(build, features)
    parts = np.split(columns, np.cumsum([len(own) for own in knots])[:-1])
    for (row, start, stop), own, part in zip(spans, knots, parts, strict=True):
        assert ((part >= start) & (part < stop)).all()
        least = np.abs(at[start:stop] - own[:, None]).min(axis=1)
        np.testing.assert_array_equal(np.abs(at[part] - own), least)
        low, high = at[start], at[stop - 1]
        slack = 0.05 * (high - low)
        assert within[row] == (low - slack <= own[0] and own[-1] <= high + slack)


@given(st.lists(st.tuples(several, several), min_size=1, max_size=3))
def test_both_builds_find_the_same(features):
    for build in BUILDS[1:]:
        for one, other in zip(found(nearest, features), found(build, features), strict=True):
            np.testing.assert_equal(one, other)


@pytest.mark.parametrize("build", BUILDS)
def test_what_does_not_fit_is_refused(build):
    finder = build.NearestPoints([np.array([0.0, 1.0])], 0.05)
    at, columns, within = np.zeros(3), np.zeros(2, dtype=np.intp), np.zeros(1, dtype=np.uint8)
    for span in [(1, 0, 2), (-1, 0, 2), (0, 2, 4), (0, -1, 2), (0, 2, 2)]:
        with pytest.raises(ValueError, match="no such points"):
            finder.find([at[None]], [[span]], columns[None], within[None])
    for short in [(columns[:1], within), (columns, within[:0])]:
        with pytest.raises(ValueError, match="not the knots"):
            finder.find([at[None]], [[(0, 0, 2)]], *(own[None] for own in short))
    with pytest.raises(ValueError, match="not the knots"):
        finder.find([at[None]] * 2, [[(0, 0, 2)]] * 2, columns[None], within[None])


@pytest.mark.parametrize("build", BUILDS)
def test_a_feature_without_points_keeps_what_was_there(build):
    finder = build.NearestPoints([np.empty(0), np.array([0.0, 1.0])], 0.05)
    columns, within = np.zeros(2, dtype=np.intp), np.zeros(2, dtype=np.uint8)
    finder.find([np.array([[0.1, 0.9]])], [[(0, 0, 1)]], columns[None], within[None])
    assert not columns.any()
    assert not within.any()


def test_the_build_that_runs(monkeypatch):
    assert kernels.nearest_kernel().NearestPoints is not None
    monkeypatch.setattr(kernels, "current", kernels.array)
    assert kernels.nearest_kernel() is nearest
