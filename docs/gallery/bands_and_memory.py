"""
How sure is a curve when the stream has memory?
===============================================

A thousand observations that are nearly copies of each other are worth far fewer than a thousand,
and the bands take this into account. Both panels have the same model and the same number of
observations: independent ones on the left, an autoregression of 0.95 on the right.
``n_effective`` is the number of independent observations that the curve is worth.
"""

import numpy as np
from matplotlib.figure import Figure

import ipdp


def model(x):
    """A level that comes from another feature, and an effect."""
    return np.sin(x["a"]) + 2 * x["b"]


def explained(memory, seed=42):
    """The curve of a after 3,000 observations with this much memory."""
    rng = np.random.default_rng(seed)
    pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.002)
    state = rng.normal(size=2)
    for _ in range(3_000):
        state = memory * state + np.sqrt(1 - memory**2) * rng.normal(size=2)
        pdp.explain_one({"a": state[0], "b": state[1]})
    return pdp.curve("a")


axes = Figure(figsize=(9, 4), layout="constrained").subplots(1, 2, sharey=True)
for ax, memory in zip(axes, (0.0, 0.95), strict=True):
    curve = explained(memory)
    curve.plot(ax, ice=False)
    ax.set_title(f"memory {memory}: worth {np.median(curve.n_effective):.0f} observations")
axes[0].figure
