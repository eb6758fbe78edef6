"""Any function is a model: categories, missing values and a pair of features."""

import random

import ipdp


def price(x: dict) -> float:
    """A taxi fare: dearer at night and by distance, a flat fee where the distance is not known."""
    distance = 4.0 if x["km"] is None or x["km"] != x["km"] else x["km"]
    return 3.5 + 2.0 * distance * (1.3 if x["time"] == "night" else 1.0)


pdp = ipdp.IncrementalPDP(
    price,
    ["km", "time", ("km", "time")],
    grid={"km": ipdp.grid.QuantileRange(size=5, missing=True)},
    alpha=0.01,
    seed=1,
)
rng = random.Random(1)
for _ in range(1_000):
    km = None if rng.random() < 0.05 else rng.expovariate(1 / 6)
    pdp.explain_one({"km": km, "time": rng.choice(["day", "day", "night"])})

km, time = pdp.curve("km"), pdp.curve("time")
for x, fare, error in zip(km.grid_values[0], km.average[0], km.std_error[0], strict=True):
    print(f"{x:5.1f} km    {fare:5.1f} +- {error:.1f}")
print(f" unknown    {km.missing[0]:5.1f} +- {km.missing_std_error[0]:.1f}")
for x, fare in zip(time.grid_values[0], time.average[0], strict=True):
    print(f"{x:>8}    {fare:5.1f}")
print("10 km by day and at night:", pdp.curve(("km", "time")).at(([10, 10], ["day", "night"])))
