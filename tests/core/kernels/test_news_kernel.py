"""What is news, one by one (as written and compiled) and by numpy: the same to rounding."""

import importlib
import importlib.util

import numpy as np
import pytest
from tests.core.kernels.test_differences_kernel import FEATURES, OUTPUTS, refused, same_as

from ipdp.core import kernels
from ipdp.core.kernels import news, news_array

BUILDS = [news]
if importlib.util.find_spec("ipdp.core.kernels._news") is not None:  # not in the pure wheel
    BUILDS.append(importlib.import_module("ipdp.core.kernels._news"))


def sizes(rng, n_windows=4):
    return rng.random((3, n_windows, FEATURES, OUTPUTS)) * np.array([1, 1, 8])[:, None, None, None]


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("tolerance", [0.1, 3.0])
def test_what_is_news(build, seed, tolerance):
    def made():
        rng = np.random.default_rng(seed)
        usual, std = rng.random((2, 3, FEATURES, OUTPUTS)), rng.random((FEATURES, OUTPUTS))
        usual[:, :, 0], own = 0.0, sizes(rng)
        own[:, :, 2] = 0.0
        found = np.empty((2, FEATURES)), np.empty((3, FEATURES), dtype=np.intp)
        return [own, usual, std, tolerance, found]

    same_as(news_array, build, "weigh", made)


@pytest.mark.parametrize("build", BUILDS)
def test_scores_and_what_becomes_usual(build):
    def scored():
        score = np.array([0.0, 500.0, 100.0, 3.0])
        going_on = np.array([0, 0, 0, 1], dtype=np.uint8)
        return [np.array([0.5, 0.2, 99.0, 4.0]), going_on, 32, score]

    wanted = [0.0, 500 - 0.8 * 4 * 32, 452.0, 0.0]
    assert same_as(news_array, build, "add_up", scored)[-1].tolist() == wanted

    def becoming():
        rng, n = np.random.default_rng(9), np.full((4, FEATURES), 9.0)
        n[-1, 1] = n[2, 2] = 3.0
        factors = np.array([9.0, 9.0, 9.0, 1.0])[:, None, None]
        most, known = np.empty((2, 3, 3, OUTPUTS)), np.empty(FEATURES, dtype=np.uint8)
        return [sizes(rng) * factors, n, np.zeros(FEATURES, dtype=np.uint8), most, known]

    most, known = same_as(news_array, build, "becoming", becoming)[-2:]
    assert known.tolist() == [1, 1, 0]

    def learnt():
        usual, n_usual = np.ones((2, 3, FEATURES, OUTPUTS)), np.array([0, 3, 3], dtype=np.intp)
        return [usual, n_usual, most, known, np.zeros(FEATURES, dtype=np.uint8), 0.5, 0.01]

    usual, n_usual, *_ = same_as(news_array, build, "learn", learnt)
    assert n_usual.tolist() == [1, 4, 3]
    np.testing.assert_array_equal(usual[:, :, 0], most[:, :, 0])
    assert (usual[:, :, 2] == 1).all()


@pytest.mark.parametrize("build", [*BUILDS, news_array])
def test_nothing_becomes_usual_while_a_change_goes_on(build):
    going_on, known = np.array([1, 0, 0], dtype=np.uint8), np.ones(FEATURES, dtype=np.uint8)
    usual, n_usual = np.zeros((2, 3, FEATURES, OUTPUTS)), np.zeros(FEATURES, dtype=np.intp)
    ones = np.ones((3, 4, FEATURES, OUTPUTS))
    build.learn(usual, n_usual, ones[:2, :3].copy(), known, going_on, 0.5, 0.5)
    assert n_usual.tolist() == [0, 1, 1]
    assert not usual[:, :, 0].any()
    build.becoming(ones, np.full((4, FEATURES), 9.0), going_on, usual, known)
    assert known.tolist() == [0, 1, 1]


@pytest.mark.parametrize("build", BUILDS)
def test_what_does_not_fit_is_refused(build):
    """Each array one shorter than it should be."""
    rng, n = np.random.default_rng(3), np.full((4, FEATURES), 9.0)
    std, each = rng.random((FEATURES, OUTPUTS)), np.zeros(3, dtype=np.uint8)
    usual, which = rng.random((2, 3, FEATURES, OUTPUTS)), np.empty((3, FEATURES), dtype=np.intp)
    calls = {
        "weigh": [sizes(rng), usual, std, 0.1, (np.empty((2, FEATURES)), which)],
        "add_up": [np.ones(3), each, 32, np.zeros(3)],
        "becoming": [sizes(rng), n, each, usual, each],
        "learn": [usual, np.zeros(3, dtype=np.intp), usual, each, each, 0.5, 0.5],
    }
    # Of fewer windows, or without the errors.
    may_be = {("becoming", 0, 0), ("becoming", 0, 1), ("becoming", 3, 1), ("weigh", 1, 1)}
    refused(build, calls, may_be)


def test_the_build_that_runs(monkeypatch):
    assert kernels.news_kernel().weigh is not None
    monkeypatch.setattr(kernels, "current", kernels.array)
    assert kernels.news_kernel() is news_array
