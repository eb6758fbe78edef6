"""
A figure of the paper
=====================

Figure 5 of Muschalik et al. (2023) in small: the rotating hyperplane, whose feature *x1* changes
from a positive to a negative effect and moves its range. Settings are the paper's: ``pointwise``
smoothing at the points between the extremes of a window. ``ipdp paper hyperplane`` runs the whole
experiment and says what agrees.
"""

from river import tree

import ipdp

model = tree.HoeffdingAdaptiveTreeClassifier(seed=42)
pdp = ipdp.IncrementalPDP(
    model,
    ["x1"],
    alpha=0.005,
    estimator="pointwise",
    grid=ipdp.grid.MinMax(10, window=500),
    seed=42,
)
curves = []
for t, (x, y) in enumerate(ipdp.datasets.Hyperplane(position=4_000, seed=42).take(8_000), 1):
    pdp.explain_one(x)
    model.learn_one(x, y)
    if t in (4_000, 4_500, 5_000, 8_000):
        curves.append(pdp.curve("x1"))

# %%
# Before the drift, 500 and 1,000 observations after it, and at the end:

curves[-1].plot(ice=False, trail=curves[:-1])
