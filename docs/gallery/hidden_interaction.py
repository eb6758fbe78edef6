"""
An interaction that a curve hides
=================================

The output is 5 a b: for half of the observations it rises with *a*, for the others it falls. The
mean of all, which is what a partial dependence curve is, is flat. The ICE curves behind it tell
the story, the explained share says that something is missing, and the surface of the pair shows
it.
"""

import numpy as np
from matplotlib.figure import Figure

import ipdp


def model(x):
    """No effect on average, a large one for everybody."""
    return 5 * x["a"] * x["b"]


pdp = ipdp.IncrementalPDP(model, ["a", "b", ("a", "b")], alpha=0.005, seed=42)
rng = np.random.default_rng(42)
for a, b in rng.normal(size=(1_500, 2)):
    pdp.explain_one({"a": a, "b": b})
print(pdp.explained.sentence)
curve = pdp.curve("a")
print(pdp.interactions())
print(f"importance {curve.importance[0]:.2f}, interaction {curve.interaction[0]:.2f}")

# %%
left, right = Figure(figsize=(9, 4), layout="constrained").subplots(1, 2)
curve.plot(left, ice=True)
pdp.curve(("a", "b")).plot(right)
left.figure
