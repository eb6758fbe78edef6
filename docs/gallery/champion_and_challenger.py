"""
Is the new model like the old one?
==================================

A retrained challenger is compared with the champion. Both are asked about the *same* rows, so
differences between rows cancel, and a few hundred rows are enough to say which effects differ,
which are alike, and which cannot be decided yet.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import ipdp
from ipdp.comparison import challenge, paired

rng = np.random.default_rng(42)


def fitted(slope):
    """A booster that was trained in a world with this effect of age."""
    X = rng.normal(size=(3_000, 3))
    y = slope * X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(0, 0.1, 3_000)
    return HistGradientBoostingRegressor(max_iter=80, random_state=0).fit(X, y)


champion, challenger = fitted(1.0), fitted(1.4)
both = challenge(ipdp.IncrementalPDP(champion, [0, 1, 2]), challenger)
both.explain_many(rng.normal(size=(500, 3)))
found = paired(both)
print(found.summary())

# %%
# The effect that is another, first:

found.plot()
