"""
For whom does the effect differ?
================================

Bicycles are rented at eight in the morning on working days and at noon on others. The mean curve of
the hour shows neither. ``IncrementalRegions`` finds the split of another feature that explains
the disagreement, and gives a curve for each side, without asking the model anything more.
"""

import random

import ipdp


def model(x):
    """Trips in an hour."""
    if x["workingday"] == "yes":
        return 300 if x["hour"] in (7, 8, 17, 18) else 100
    return 200 if 10 <= x["hour"] <= 16 else 50


regions, pdp = ipdp.IncrementalRegions(model), ipdp.IncrementalPDP(model)
draws = random.Random(42)
for t in range(2_000):
    day = "yes" if t // 24 % 7 < 5 else "no"
    x = {"hour": t % 24, "workingday": day, "temp": draws.gauss(15, 8)}
    for explainer in (regions, pdp):
        explainer.explain_one(x)
print(regions.splits["hour"].sentence)
print(f"The curves tell {pdp.explained.value:.0%}, with regions {regions.explained.value:.0%}")

# %%
# Both sides, with the curve of all observations behind each:

regions.splits["hour"].plot()
