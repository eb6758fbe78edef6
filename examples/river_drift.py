"""A river model on a stream whose rule changes half-way: the curve before and after."""

from matplotlib.figure import Figure
from river import tree
from river.datasets import synth

import ipdp

model = tree.HoeffdingAdaptiveTreeClassifier(grace_period=50, delta=0.01, seed=42)
pdp = ipdp.IncrementalPDP(model, ["salary", "age"], half_life=200, estimator="regrid", seed=42)


def follow(classification_function: int, n: int) -> ipdp.Curve:
    """Explain first, then learn; the curve of salary at the end."""
    for x, y in synth.Agrawal(classification_function, seed=42).take(n):
        pdp.explain_one(x)
        model.learn_one(x, y)
    return pdp.curve("salary")


before = follow(classification_function=2, n=2_000)  # age and education decide
after = follow(classification_function=1, n=3_000)  # age and salary decide

ax = Figure(layout="constrained").subplots()
before.plot(ax, ice=False, line_kw={"label": "before"})
after.plot(ax, ice=False, line_kw={"label": "after"})
ax.figure.savefig("river_drift.png", dpi=120)

print(f"importance of salary: {before.importance[1]:.3f} before, {after.importance[1]:.3f} after")
print("river_drift.png shows both curves")
