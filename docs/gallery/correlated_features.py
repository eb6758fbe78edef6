"""
Features that go together
=========================

``rooms`` rises with ``area``, and the price depends on the area alone. Where there are no data
(two rooms in 150 square metres) the model says something absurd. The partial dependence asks
about such flats and believes the answer; the accumulated local effect asks only about flats that
are nearly like those that exist.
"""

import numpy as np
from matplotlib.figure import Figure

import ipdp


def model(x):
    """Right for flats that exist, absurd for others."""
    possible = abs(x["rooms"] - x["area"] / 25) < 2
    return 3.0 * x["area"] if possible else 0.0


pdp = ipdp.IncrementalPDP(model, ["rooms"], alpha=0.002)
ale = ipdp.IncrementalALE(model, ["rooms"], alpha=0.002)
rng = np.random.default_rng(42)
for area in rng.uniform(50, 150, size=3_000):
    x = {"area": area, "rooms": area / 25 + rng.uniform(-0.5, 0.5)}
    pdp.explain_one(x)
    ale.explain_one(x)
for explainer in (pdp, ale):
    print(f"{explainer.title}: the curve moves by {np.ptp(explainer.curve('rooms').average):.0f}")
asked = pdp.with_off_data(pdp.curve("rooms"))
print(f"{asked.off_data @ asked.weights:.0%} of what the PDP asks is off the data")

# %%
# The effect of a room, all else equal, is 0 here. One of the two says so.

left, right = Figure(figsize=(9, 4), layout="constrained").subplots(1, 2)
pdp.curve("rooms").plot(left, ice=False, centred=True)
ale.curve("rooms").plot(right, ice=False)
left.set_title("partial dependence, centred")
right.set_title("accumulated local effect")
right.set_ylim(left.get_ylim())
left.figure
