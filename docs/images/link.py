"""The picture of docs/link.md: `python docs/images/link.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import ipdp


def model(x: dict[str, float]) -> dict[str, float]:
    """The chance of a rare event."""
    p = 1 / (1 + np.exp(7 - x["age"] - 2 * x["debt"]))
    return {"paid": 1 - p, "unpaid": p}


def main() -> None:
    """Draw the effect of one feature on both scales, side by side."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, link in zip(axes, (None, "logit"), strict=True):
        pdp = ipdp.IncrementalPDP(model, link=link)
        rng = np.random.default_rng(42)
        for age, debt in rng.normal(size=(2_000, 2)):
            pdp.explain_one({"age": age, "debt": debt})
        pdp.curve("age").plot(ax=ax)
    figure.savefig(Path(__file__).parent / "figures" / "link.png", dpi=110)


if __name__ == "__main__":
    main()
