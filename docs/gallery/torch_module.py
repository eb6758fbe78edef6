"""
A network that learns, step by step
===================================

A torch module is a model like any other: it is evaluated at all points of an observation in one
batch, without gradients, and left in the mode it was in.
"""

import numpy as np
import torch

import ipdp

torch.manual_seed(42)
network = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
pdp = ipdp.IncrementalPDP(network, ["a"], alpha=0.01)
rng = np.random.default_rng(42)
curves = []
for t in range(1, 1_501):
    x = {"a": rng.normal(), "b": rng.normal()}
    pdp.explain_one(x)
    row, target = torch.tensor([list(x.values())]), torch.tensor([[x["a"] ** 2]])
    loss = torch.nn.functional.mse_loss(network(row.float()), target.float())
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if t % 300 == 0:
        curves.append(pdp.curve("a", now=True))

# %%
# The parabola appears; earlier curves are fainter.

curves[-1].plot(ice=False, trail=curves[:-1])
