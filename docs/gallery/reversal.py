"""
When did an effect reverse?
===========================

Two features, a classifier that learns, and a concept that is mirrored after 3,000 observations:
what spoke for a class now speaks against it. Accuracy recovers within a few hundred observations,
and the permutation importance is the same before and after. The curve and the monitor say what
happened.
"""

from river import linear_model, preprocessing

import ipdp

model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
pdp = ipdp.IncrementalPDP(model, ["x1", "x2"], alpha=0.005)
monitor = ipdp.Monitor(pdp)
for x, y in ipdp.datasets.Hyperplane(position=3_000, seed=42).take(6_000):
    monitor.explain_one(x)
    model.learn_one(x, y)

# %%
# What was reported, in words:

for change in monitor.changes:
    print(change.summary())

# %%
# The change of the model, drawn: what it said before and says now about the same stored
# observations.

change = next(change for change in monitor.changes if change.kind != "virtual")
change.plot()
