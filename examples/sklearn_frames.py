"""A scikit-learn model that scores a stream of frames: the curves of all its features."""

from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import ipdp

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = RandomForestRegressor(n_estimators=50, random_state=0).fit(X[:200], y[:200])

# alpha=None weighs all rows alike: the model does not change any more.
pdp = ipdp.IncrementalPDP(model, alpha=None, grid=ipdp.grid.Auto(size=12))
for start in range(200, len(X), 40):
    pdp.explain_many(X[start : start + 40])  # one call of the model for all rows and points

curves = sorted(pdp.curves.values(), key=lambda curve: -curve.importance[0])
figure = Figure(figsize=(11, 3.6), layout="constrained")
for ax, curve in zip(figure.subplots(1, 3, sharey=True), curves, strict=False):
    curve.plot(ax)
    ax.label_outer()
figure.savefig("sklearn_frames.png", dpi=120)

for curve in curves:
    print(f"{curve.feature:>4}  importance {curve.importance[0]:5.1f}")
print("sklearn_frames.png shows the first three")
