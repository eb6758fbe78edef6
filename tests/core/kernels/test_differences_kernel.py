"""Answers against earlier ones, one by one (as written and compiled) and by numpy: to rounding."""

import importlib
import importlib.util

import numpy as np
import pytest

from ipdp.core import kernels
from ipdp.core.kernels import differences, differences_array

BUILDS = [differences]
if importlib.util.find_spec("ipdp.core.kernels._differences") is not None:  # not in the pure wheel
    BUILDS.append(importlib.import_module("ipdp.core.kernels._differences"))
N, OUTPUTS, FEATURES, WIDTH = 5, 2, 3, 4
WINDOWS = (2, 0), (5, 1), (50, 0)


def same(build, name, made):
    return same_as(differences_array, build, name, made)


def same_as(by_numpy, build, name, made):
    """Call a step of both builds with the same, and compare everything that it wrote."""
    own, other = made(), made()
    said = getattr(build, name)(*own), getattr(by_numpy, name)(*other)
    assert said[0] == said[1]
    for one, wanted in zip(flat(own), flat(other), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-11, atol=1e-13)
    return own


def flat(parts):
    for part in parts:
        if isinstance(part, np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from flat(part)


def weights(rng, width=WIDTH):
    own = rng.random((FEATURES, width))
    own[1, 2:] = 0.0  # fewer knots than others
    return own / own.sum(axis=1, keepdims=True)


def asked(rng, odd=None):
    """What `compare` takes; five of nine rows are asked about."""
    cells = np.array([0, 1, 2, 3, 4, 5, 8, 9, 10, 11], dtype=np.intp)
    earlier = rng.normal(size=(N, OUTPUTS + 1, len(cells)))
    answer = earlier + rng.normal(size=earlier.shape) * (rng.random(earlier.shape) < 0.7)
    answer[2] = earlier[2] + 1e-12
    if odd is not None:
        answer[1, 2, 3], earlier[4, 0, 7] = odd, odd
    shape = 9, OUTPUTS, FEATURES, WIDTH
    counts = np.ones((9, FEATURES), dtype=np.uint8)
    counts[3, 0] = 0
    rows, outputs = np.array([0, 2, 3, 5, 8], dtype=np.intp), np.array([2, 0], dtype=np.intp)
    parts = np.zeros(shape), np.zeros(shape), counts
    return [earlier, answer, cells, outputs, weights(rng), rows, *parts]


def gathered(rng):
    """Three observations, one of which knew one label less."""
    records = [(rng.normal(size=(1, 6)), rng.normal(size=(n, 6))) for n in (3, 2, 3)]
    columns = rng.integers(0, 6, (3, 8)).astype(np.intp)
    return [records, columns, np.empty((3, 8)), np.empty((3, 3, 8))]


@pytest.mark.parametrize("build", BUILDS)
def test_what_was_said_at_some_points(build):
    records, columns, at, earlier = same(
        build, "gather", lambda: gathered(np.random.default_rng(2))
    )
    assert not earlier[1, 2].any()
    np.testing.assert_array_equal(earlier[2], records[2][1][:, columns[2]])
    np.testing.assert_array_equal(at[0], records[0][0][0, columns[0]])


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("limits", [(64, 4096), (64, 300), (0, 10_000)])
def test_which_answers_count_and_how_old_they_are(build, limits):
    since, renewed = [0, 700, 700, 950], [False, False, True, True]

    def made():
        numbers = np.array([1, 500, 701, 900, 960], dtype=np.intp)
        counts = np.ones((5, 4), dtype=np.uint8)
        counts[2] = 0
        return [numbers, 1_000, since, renewed, limits, np.empty((5, 4), dtype=np.intp), counts]

    ages, counts = same(build, "count_in", made)[-2:]
    assert ages[0].tolist() == [999, 999, 300, 50]
    assert counts[0].tolist() == [limits[1] > 999, 0, limits[1] >= 300, limits[0] <= 50]
    assert not counts[2].any()


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("odd", [None, np.inf, np.nan])
def test_answers_against_earlier_ones(build, odd):
    found = same(build, "compare", lambda: asked(np.random.default_rng(5), odd))
    difference, then, counts = found[-3:]
    assert (counts.sum() == 26) == (odd is None)
    assert not difference[[1, 4, 6, 7]].any()
    np.testing.assert_allclose((difference * found[4]).sum(axis=3), 0.0, atol=1e-14)
    if odd is None:
        assert not difference[3].any()  # rounding, and where nobody is in range
        assert then[3, :, 1:].any()


def looked_at(rng):
    """Three curves, of which the second has fewer points and knew one label less."""
    columns, axis = np.array([[2, 3, 4, 5, 6]] * 3, dtype=np.intp), np.arange(9.0)
    records = [((axis + k / 3)[None], rng.normal(size=(2 - (k == 1), 9))) for k in range(3)]
    columns[1, 3:] = 4  # its last one is there several times
    places = np.array([1.0, 2.0, 3.1, 4.5, 4.5, 3.2, 6.0, 9.0])
    room = np.empty((3, 2, 8)), np.empty((3, 2, 8))
    return [records, columns, np.array([5, 3, 5]), rng.normal(size=(3, 2, 5)), places, *room]


@pytest.mark.parametrize("build", BUILDS)
def test_curves_are_read_as_numpy_reads_them(build):
    then = same(build, "read_at", lambda: looked_at(np.random.default_rng(4)))[-2]
    assert not then[1, 1].any()
    assert then[1, 0].any()


def check(rng, size=1.0):
    """What was asked at a check, as `sum_up` takes it."""
    difference = size * rng.normal(size=(N, OUTPUTS, FEATURES, WIDTH))
    counts = (rng.random((N, FEATURES)) < 0.8).astype(np.uint8)
    ages = rng.integers(0, 1000, (N, FEATURES)).astype(np.intp)
    is_young = np.array([0, 0, 0, 1, 1], dtype=np.uint8)
    return difference, counts, ages, is_young


def sums(*shape):
    return np.full((*shape, FEATURES), 7.0), np.full((*shape, 2, OUTPUTS, FEATURES, WIDTH), 7.0)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e200])
def test_sums_of_a_check(build, size):
    made = lambda: [*check(np.random.default_rng(6), size), 512, *sums(2)]  # noqa: E731
    own = same(build, "sum_up", made)
    assert build.sum_up(*own) == (size > 0, True)
    own[1][:] = 0
    assert build.sum_up(*own) == (size > 0, False)


@pytest.mark.parametrize("build", BUILDS)
def test_moments_of_the_outputs(build):
    def made():
        rng = np.random.default_rng(7)
        then, counts, _, _ = check(rng)
        counts[:, 2] = 0
        moments, std = np.ones((2, FEATURES, OUTPUTS)), np.empty((FEATURES, OUTPUTS))
        moments[1] = 3.0
        return [then, counts, weights(rng), 0.25, moments, std]

    moments, std = same(build, "fold_outputs", made)[-2:]
    assert (moments[:, 2] == [[1.0], [3.0]]).all()
    assert std[2] == pytest.approx(2**0.5)


def measured(seed=8, n_checks=7, size=1.0):
    """Sums of some checks in a ring, and what is needed to measure them."""
    rng = np.random.default_rng(seed)
    kept_n, kept = sums(9, 2)
    for k in range(9):
        differences_array.sum_up(*check(rng, size), 512, kept_n[k], kept[k])
    ages = np.array([(3 - k) % 9 for k in range(n_checks)], dtype=np.intp)
    return rng, [kept_n, kept, ages, WINDOWS, *sums(len(WINDOWS))]


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("n_checks", [0, 1, 7])
def test_windows(build, n_checks):
    same(build, "add_windows", lambda: measured(n_checks=n_checks)[1])


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e140])
def test_sizes(build, size):
    def made():
        rng, parts = measured(size=size)
        differences_array.add_windows(*parts)
        parts[-2][1, 0] = 2.0  # too few
        std = 0.5 + rng.random((FEATURES, OUTPUTS))
        room = np.full((3, len(WINDOWS), FEATURES, OUTPUTS), 7.0)
        return [parts[-2], parts[-1].copy(), weights(rng), std, room]

    own, other = made(), made()
    build.measure(*own)
    differences_array.measure(*other)
    np.testing.assert_allclose(own[-1], other[-1], rtol=1e-9, atol=1e-12)
    assert not own[-1][:, 1, 0].any()
    assert own[-1].any() == (size > 0)


def refused(build, calls, may_be):
    """Each array must not be one shorter, but for those that may be."""
    for name, given in calls.items():
        axes = [(k, n) for k, part in enumerate(given) for n in range(getattr(part, "ndim", 0))]
        for k, axis in axes:
            if (name, k, axis) not in may_be:
                short = given[k].take(range(given[k].shape[axis] - 1), axis)
                with pytest.raises(ValueError, match="fit"):
                    getattr(build, name)(*given[:k], np.ascontiguousarray(short), *given[k + 1 :])


@pytest.mark.parametrize("build", BUILDS)
def test_what_does_not_fit_is_refused(build):
    """Each array one shorter than it should be."""
    rng = np.random.default_rng(3)
    std, kept = rng.random((FEATURES, OUTPUTS)), measured()[1]
    room_of_sizes = np.empty((3, 3, FEATURES, OUTPUTS))
    calls = {
        "compare": asked(rng),
        "gather": gathered(rng),
        "read_at": looked_at(rng),
        "count_in": [
            np.ones(5, np.intp),
            9,
            [0] * 3,
            [False] * 3,
            (0, 9),
            np.ones((5, 3), np.intp),
            np.ones((5, 3), np.uint8),
        ],
        "sum_up": [*check(rng), 512, *sums(2)],
        "fold_outputs": [*check(rng)[:2], weights(rng), 0.5, np.ones((2, FEATURES, OUTPUTS)), std],
        "add_windows": kept,
        "measure": [*kept[-2:], weights(rng), std, room_of_sizes],
    }
    may_be = {("add_windows", 2, 0), ("read_at", 4, 0)}  # the number of checks, and of places
    refused(build, calls, may_be)
    records, columns, *room = gathered(rng)
    for given in [(records[:2], columns, *room), (records, columns + 6, *room)]:
        with pytest.raises(ValueError, match="fit"):
            build.gather(*given)
    records[0] = (records[0][0], np.zeros((4, 6)))  # more labels than there are
    with pytest.raises(ValueError, match="fit"):
        build.gather(records, columns, *room)
    with pytest.raises(ValueError, match="no such check"):
        build.add_windows(*kept[:2], np.array([9], dtype=np.intp), *kept[3:])


def test_the_build_that_runs(monkeypatch):
    assert kernels.differences_kernel().compare is not None
    monkeypatch.setattr(kernels, "current", kernels.array)
    assert kernels.differences_kernel() is differences_array
