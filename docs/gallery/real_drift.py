"""
What did the model learn after the rule changed?
================================================

A bank decides about loans by age and education. After 2,000 applications it also begins to look
at the salary: *real drift*. The forest below learns from the decisions and knows nothing of the
change. Its curve for the salary is flat before, and falls and rises afterwards.

No labels are needed for the curves: they ask the model, not the world.
"""

from matplotlib.figure import Figure
from river import forest

import ipdp

model = forest.ARFClassifier(n_models=3, seed=42)
pdp = ipdp.IncrementalPDP(model, ["salary"], alpha=0.002, seed=42)
curves = []
for t, (x, y) in enumerate(ipdp.datasets.AgrawalDrift(position=2_000, seed=42).take(5_000), 1):
    pdp.explain_one(x)
    model.learn_one(x, y)
    if t % 200 == 0:
        curves.append(pdp.curve("salary", now=True))

# %%
# The curve of the model as it is now, before the change and at the end:

ax = Figure(figsize=(7, 4), layout="constrained").subplots()
curves[9].plot(ax, ice=False, line_kw={"label": "after 2,000"})
curves[-1].plot(ax, ice=False, line_kw={"label": "after 5,000"})
ax.legend()
ax.figure

# %%
# And over the whole time, as a carpet: time from left to right, the salary from bottom to top, the
# colour is what the model says. The colours change where the model did.

ipdp.plot.CarpetDisplay(curves, "salary").plot()
