"""
Did the model change, or the data?
==================================

Salaries rise, and the model stays exactly as it is: *virtual drift*. A curve over fixed points
would end where the old data ended. The points of this one follow the recent values, so the curve
moves to where the data are, and keeps its shape where old and new ranges meet.
"""

import numpy as np
from matplotlib.figure import Figure

import ipdp


def model(x):
    """A credit score that never changes."""
    return 1 / (1 + np.exp(-(x["salary"] - 60) / 15))


pdp = ipdp.IncrementalPDP(model, ["salary"], alpha=0.005)
monitor = ipdp.Monitor(pdp)
rng = np.random.default_rng(42)
curves = []
for t in range(1, 6_001):
    raised = 40 if t > 3_000 else 0
    monitor.explain_one({"salary": rng.normal(50, 10) + raised})
    if t % 200 == 0:
        curves.append(pdp.curve("salary"))

# %%
# The monitor says which of the two it was:

for change in monitor.changes:
    print(change.kind, "-", change.summary())

# %%
# Two curves of one model: they lie on the same line, at different places.

ax = Figure(figsize=(7, 4), layout="constrained").subplots()
curves[14].plot(ax, ice=False, line_kw={"label": "before the rise"})
curves[-1].plot(ax, ice=False, line_kw={"label": "after it"})
ax.legend()
ax.figure
