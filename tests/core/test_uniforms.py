"""The stream of random numbers against numpy's own."""

import copy
import json
import subprocess
import sys

import numpy as np
import pytest

from ipdp.core.random import Uniforms, seed_for


@pytest.mark.parametrize("seed", [0, 42, 2**40])
def test_the_numbers_are_those_of_a_fresh_generator(seed):
    # 1,000 numbers are several blocks, and the last one is not used up.
    uniforms = Uniforms(seed=seed)
    drawn = [uniforms.draw() for _ in range(1000)]
    assert drawn == np.random.Generator(np.random.PCG64(seed)).random(1000).tolist()


@pytest.mark.parametrize("n_before", [0, 1, 255, 256, 257, 700])
def test_state_round_trip(n_before):
    uniforms = Uniforms(seed=1)
    for _ in range(n_before):
        uniforms.draw()
    restored = Uniforms(seed=2)
    restored.state = json.loads(json.dumps(uniforms.state))
    assert restored.state == uniforms.state
    assert [restored.draw() for _ in range(600)] == [uniforms.draw() for _ in range(600)]


def test_saving_draws_nothing():
    saved, other = Uniforms(seed=1), Uniforms(seed=1)
    _ = saved.state
    assert saved.draw() == other.draw()


def test_indices_are_in_range_and_even():
    # Each of 5 indices has 4,000 of 20,000 draws on average with a standard deviation of
    # sqrt(20,000 * 0.2 * 0.8) = 57; 4.5 of these are allowed to each.
    uniforms = Uniforms(seed=0)
    counts = np.bincount([uniforms.draw_below(5) for _ in range(20_000)], minlength=5)
    assert len(counts) == 5
    assert np.abs(counts - 4000).max() < 4.5 * 57


def test_without_a_seed_two_streams_differ():
    assert Uniforms().draw() != Uniforms().draw()


def test_every_name_has_a_seed_of_its_own():
    names = [*"abcdefgh", 1, "1", ("a", "b")]
    seeds = [seed_for(42, name) for name in names]
    assert len(set(seeds)) == len(names)
    assert seeds == [seed_for(42, name) for name in names]
    assert seed_for(43, "a") != seed_for(42, "a")


def test_no_seed_stays_no_seed():
    assert seed_for(None, "a") is None


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257])
def test_a_copy_goes_on_as_the_first_whenever_it_is_made(n):
    for seed in (None, 5):
        uniforms = Uniforms(seed=seed)
        for _ in range(n):
            uniforms.draw()
        others = [copy.deepcopy(uniforms), Uniforms(seed=9)]
        others[1].state = uniforms.state
        want = [uniforms.draw() for _ in range(300)]
        for other in others:
            assert [other.draw() for _ in range(300)] == want


def test_the_other_build_may_be_in_place_before_this_one_is_loaded():
    """Names of the package are loaded when they are first asked for."""
    code = (
        "from ipdp.core import kernels\n"
        "kernels.current = kernels.array\n"
        "from ipdp.core.reservoir import Reservoir\n"
        "kernels.current = kernels.installed()\n"
        "Reservoir(size=5, seed=1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
