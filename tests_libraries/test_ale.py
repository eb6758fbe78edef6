"""Gradients of torch modules instead of differences."""

import numpy as np
import pytest
import torch

import ipdp
from ipdp.checks import check_explainer

RNG = np.random.default_rng(0)
ROWS = [dict(zip("abc", row, strict=True)) for row in RNG.uniform(-1, 1, size=(500, 3)).tolist()]


def network(n_outputs):
    torch.manual_seed(0)
    layers = torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, n_outputs)
    return torch.nn.Sequential(*layers).double()


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gradients_give_what_differences_give(n_outputs):
    net = network(n_outputs)
    grid = ipdp.grid.Fixed(np.linspace(-1, 1, 9))
    slopes, differences = (
        ipdp.IncrementalALE(net, ["a", "b"], alpha=None, grid=grid, gradient=gradient)
        for gradient in (True, False)
    )
    for ale in (slopes, differences):
        ale.explain_many(ROWS)
    for name in "ab":
        mine, theirs = slopes.curve(name), differences.curve(name)
        # Within a bin of an eighth of the range the slope changes by a few percent.
        reach = np.ptp(theirs.average)
        np.testing.assert_allclose(mine.average, theirs.average, atol=0.03 * reach)


def test_a_linear_module_is_explained_exactly():
    net = torch.nn.Linear(3, 1).double()
    ale = ipdp.IncrementalALE(net, alpha=None, grid=ipdp.grid.Fixed([-1, 0, 1]), gradient=True)
    for x in ROWS:
        ale.explain_one(x)
    for name, weight in zip("abc", net.weight[0].tolist(), strict=True):
        np.testing.assert_allclose(np.diff(ale.curve(name).average[0]), [weight, weight])


def test_pairs_are_asked_about_by_differences_beside_gradients():
    grid = ipdp.grid.Fixed([-1.0, 0.0, 1.0])
    make = lambda: ipdp.IncrementalALE(  # noqa: E731
        network(2), ["a", ("a", "b")], alpha=0.05, grid=grid, gradient=True
    )
    check_explainer(make, ROWS[:60])


@pytest.mark.parametrize("training", [True, False])
def test_the_module_is_left_in_its_mode(training):
    net = network(1).train(training)
    ipdp.IncrementalALE(net, gradient=True, grid=ipdp.grid.Fixed([-1, 1])).explain_one(ROWS[0])
    assert net.training is training
    assert all(parameter.grad is None for parameter in net.parameters())
