"""
Is the curve of a regressor the truth?
======================================

On Friedman's function the true effect is known: 20 (x - 0.5)² for the third feature. The band is
for the curve of *the model*, not for the truth: where the tree has not learned the bend, the two
differ.
"""

import numpy as np
from matplotlib.figure import Figure
from river import forest
from river.datasets import synth

import ipdp

model = forest.ARFRegressor(n_models=3, seed=42)
pdp = ipdp.IncrementalPDP(model, [2], alpha=0.001)
for x, y in synth.Friedman(seed=42).take(4_000):
    pdp.explain_one(x)
    model.learn_one(x, y)

# %%
# The dashed line is the truth, shifted to the mean level of the curve.

curve = pdp.curve(2, now=True)
ax = Figure(figsize=(7, 4), layout="constrained").subplots()
curve.plot(ax, ice=False)
places = np.linspace(0.02, 0.98, 50)
truth = 20 * (places - 0.5) ** 2
ax.plot(places, truth - truth.mean() + curve.average[0].mean(), "k--", label="the truth")
ax.legend()
ax.figure
