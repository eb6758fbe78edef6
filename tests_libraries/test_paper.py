"""The california experiment with its network of torch."""

from __future__ import annotations

import numpy as np
import torch

from ipdp.paper import networks


def test_the_network_of_torch_learns_and_repeats():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1_000, 3))
    y = x[:, 0] - 0.5 * np.abs(x[:, 1])
    before = torch.random.get_rng_state()
    fit = networks.fitter("torch")
    first, second, other = (networks.predict(fit(x, y, seed), x) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    assert 1 - np.mean((first - y) ** 2) / y.var() > 0.9
    # The caller's own random numbers go on as if nothing had been.
    assert torch.equal(torch.random.get_rng_state(), before)
