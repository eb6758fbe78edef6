"""
Categories, missing values, a frame
===================================

Frames as they are: a number with gaps, a text column, a boolean. Categories are points with error
bars, and what the model says when a value is missing is drawn beside the curve.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import ipdp

rng = np.random.default_rng(42)
n = 2_000
rents = pd.DataFrame(
    {
        "area": np.where(rng.uniform(size=n) < 0.1, np.nan, rng.uniform(20, 150, n)),
        "district": rng.choice(["centre", "harbour", "suburb"], n, p=[0.3, 0.1, 0.6]),
        "garden": rng.uniform(size=n) < 0.3,
    }
)
rent = (
    8 * rents["area"].fillna(60)
    + rents["district"].map({"centre": 400, "harbour": 250, "suburb": 0})
    + 90 * rents["garden"]
    + rng.normal(0, 40, n)
)
model = make_pipeline(
    make_column_transformer((OrdinalEncoder(), ["district"]), remainder="passthrough"),
    HistGradientBoostingRegressor(max_iter=60, random_state=42),
).fit(rents, rent)

# %%
# The last 500 rows as the stream that the model scores:

grid = {"area": ipdp.grid.Auto(missing=True)}
pdp = ipdp.IncrementalPDP(model, ["area", "district"], alpha=0.005, grid=grid)
pdp.explain_many(rents.iloc[1_500:])
left, right = Figure(figsize=(9, 4), layout="constrained").subplots(1, 2)
pdp.curve("area").plot(left, ice=False)
pdp.curve("district").plot(right, ice=False)
left.figure
