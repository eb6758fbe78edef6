"""Memory does not grow with the stream."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import ipdp

CHUNK = 1_000
GRIDS = {
    "a": ipdp.grid.MinMax(5, window=500),
    "b": ipdp.grid.QuantileRange(5, window=2_000, storage_size=200),
    "colour": ipdp.grid.Categories(5, window=300),
    "k": ipdp.grid.Auto(5, window=500),
}


@pytest.fixture(autouse=True, scope="module")
def _one_by_one():
    """Not here: no bits are compared, and as it is for a user it takes a seventh of the time."""


def chunk(rng: np.random.Generator, start: int) -> list[dict[str, object]]:
    """Drifting numbers, and categories of which new ones appear for ever."""
    where = np.sin(start / 50_000)
    numbers = (where + rng.normal(size=(CHUNK, 2))).tolist()
    colours = ((start + rng.integers(0, 5_000, CHUNK)) // 1_000).tolist()
    counts = rng.integers(0, 50, CHUNK).tolist()
    return [
        {"a": a, "b": b, "colour": f"colour {colour}", "k": k}
        for (a, b), colour, k in zip(numbers, colours, counts, strict=True)
    ]


def grown(estimator: str, settled: int, n: int) -> int:
    """Bytes that an explainer needs more in the second half of the stream than in the first."""
    rng = np.random.default_rng(0)
    engine = ipdp.models.engine(lambda X: X[:, 0].astype(float), takes="array")
    pdp = ipdp.IncrementalPDP(engine, grid=GRIDS, estimator=estimator, n_ice=3, seed=0)
    sizes = []
    tracemalloc.start()
    for start in range(0, n, CHUNK):
        rows = chunk(rng, start)
        pdp.explain_many(rows[:-10])
        for x in rows[-10:]:
            pdp.explain_one(x)
        del rows
        if start >= settled:
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    half = len(sizes) // 2
    return max(sizes[half:]) - max(sizes[:half])


# The numbers of categories and knots in use go up and down, which is worth some kilobytes; a
# single float kept of each observation would be 24 bytes x 10,000 in the short run.
ROOM = 60_000


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_memory_is_bounded(estimator):
    assert grown(estimator, settled=5_000, n=25_000) < ROOM


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_memory_is_bounded_over_a_million_observations(estimator):
    assert grown(estimator, settled=50_000, n=1_000_000) < ROOM
