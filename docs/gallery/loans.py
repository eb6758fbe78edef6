"""
What decides about a loan?
==========================

All features of a stream of credit applications, the most important first. They share one vertical
axis, so a flat curve looks flat next to a steep one.
"""

from river import forest
from river.datasets import synth

import ipdp

model = forest.ARFClassifier(n_models=3, seed=42)
pdp = ipdp.IncrementalPDP(model, alpha=0.002, seed=42)
for x, y in synth.Agrawal(classification_function=1, seed=42).take(3_000):
    pdp.explain_one(x)
    model.learn_one(x, y)

# %%
# The salary moves the answer most.

ipdp.plot.OverviewDisplay(pdp.curves).plot()

# %%
# How much of the model do these curves tell? The rule joins age and salary, so one curve for each
# cannot tell all:

print(pdp.explained.sentence)
