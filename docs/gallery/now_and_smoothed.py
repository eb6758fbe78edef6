"""
What does the model say *now*?
==============================

A smoothed curve averages what the model *said*. Just after the model has changed, or has been
replaced, it still shows the old one. ``now=True`` asks the current model about stored observations
and corrects the mean by the difference.
"""

import numpy as np
from matplotlib.figure import Figure

import ipdp

sign = 1.0


def model(x):
    """One deployment replaces another at 2,000."""
    return sign * x["a"] + 0.5 * x["b"]


pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.001)
rng = np.random.default_rng(42)
for t in range(2_100):
    if t == 2_000:
        sign = -1.0
    pdp.explain_one({"a": rng.normal(), "b": rng.normal()})

# %%
# One hundred observations after the deployment:

left, right = Figure(figsize=(9, 4), layout="constrained").subplots(1, 2, sharey=True)
pdp.curve("a").plot(left, ice=False)
left.set_title("smoothed: mostly the model that is gone")
pdp.curve("a", now=True).plot(right, ice=False)
right.set_title("now: the model that answers today")
left.figure
