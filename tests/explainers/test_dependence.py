"""Explainers that keep no blocks of time: small states, bands of independent observations."""

from __future__ import annotations

import numpy as np
import pytest

import ipdp

SETTINGS = {"alpha": 0.01, "grid": ipdp.grid.MinMax(5), "n_ice": 0, "n_past": 0, "seed": 1}


def model(x):
    return x["a"] * x["b"]


def rows(n, seed=0):
    """A stream with memory."""
    rng, level, made = np.random.default_rng(seed), np.zeros(2), []
    for _ in range(n):
        level = 0.9 * level + rng.normal(size=2)
        made.append(dict(zip("ab", level.tolist(), strict=True)))
    return made


def explained(n=1_000, **settings):
    pdp = ipdp.IncrementalPDP(model, **SETTINGS, **settings)
    for x in rows(n):
        pdp.explain_one(x)
    return pdp


def test_only_the_errors_are_others():
    with_blocks, without = explained().curve("a"), explained(dependence=False).curve("a")
    np.testing.assert_array_equal(without.average, with_blocks.average)
    assert (without.std_error < 0.6 * with_blocks.std_error).all()
    assert without.provisional
    assert not with_blocks.provisional


def test_the_errors_are_those_of_independent_observations():
    fixed = {**SETTINGS, "grid": ipdp.grid.Fixed([0.0, 1.0]), "dependence": False}
    pdp = ipdp.IncrementalPDP(model, "a", **fixed)
    stream = rows(300)
    for x in stream:
        pdp.explain_one(x)
    weights = 0.99 ** np.arange(300)[::-1]
    weights /= weights.sum()
    values = np.array([x["b"] for x in stream])
    variance = weights @ (values - weights @ values) ** 2
    squares = weights @ weights
    expected = np.sqrt(variance * squares / (1 - squares))
    np.testing.assert_allclose(pdp.curve("a").std_error, [[0.0, expected]], rtol=1e-12)


def test_the_state_goes_on_bit_for_bit_and_is_small():
    pdp, again = (explained(n, dependence=False) for n in (600, 0))
    data = pdp.state_bytes()
    assert len(data) < 0.7 * len(explained(600).state_bytes())
    again = again.from_bytes(data)
    for x in rows(200, seed=1):
        pdp.explain_one(x)
        again.explain_one(x)
    assert again.state == pdp.state


def test_parts_merge_to_the_whole():
    whole, first = explained(800, dependence=False), explained(500, dependence=False)
    later = first.successor()
    for x in rows(800)[500:]:
        later.explain_one(x)
    joined = first.merge(later)
    for feature in "ab":
        for name in ("average", "std_error"):
            np.testing.assert_allclose(
                getattr(joined.curve(feature), name),
                getattr(whole.curve(feature), name),
                rtol=1e-12,
            )


def test_a_state_with_blocks_is_refused_and_so_is_one_without():
    for mine, theirs in (({"dependence": False}, {}), ({}, {"dependence": False})):
        pdp = explained(100, **mine)
        before = pdp.state
        with pytest.raises(ValueError, match="dependence"):
            pdp.state = explained(100, **theirs).state
        assert pdp.state == before
