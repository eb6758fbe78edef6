"""
A frozen LightGBM model in production
=====================================

The model was trained once and scores new rows every day. It cannot change, so every change comes
from the data. Its trees are read once and evaluated at all points in one walk.
"""

import lightgbm
import numpy as np

import ipdp

rng = np.random.default_rng(42)
X = rng.normal(size=(2_000, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + rng.normal(0, 0.1, 2_000)
model = lightgbm.LGBMRegressor(n_estimators=60, verbose=-1).fit(X, y)

pdp = ipdp.IncrementalPDP(model, alpha=0.002)
pdp.explain_many(rng.normal(size=(1_000, 4)))
print(pdp.engine)

# %%
# The first feature has a curved effect. That of the second depends on the third, which its curve
# alone does not show, but the number above the curves does:

print(pdp.explained.sentence)
ipdp.plot.OverviewDisplay(pdp.curves).plot()
