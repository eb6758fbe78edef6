"""The picture of docs/segments.md, with its stream: `python docs/images/segments.py`."""

from pathlib import Path
from typing import Any

import numpy as np

import ipdp


def model(x: dict[str, Any]) -> float:
    """Twice as steep in one country."""
    return float(x["age"] * (2 if x["country"] == "AT" else 1) + x["income"])


def main() -> None:
    """Draw the curves of the three countries."""
    rng = np.random.default_rng(42)
    pdp = ipdp.IncrementalPDP(model, ["age", "income"], by="country")
    for age, income in rng.normal(size=(2_000, 2)):
        country = str(rng.choice(["AT", "DE", "CH"], p=[0.2, 0.5, 0.3]))
        pdp.explain_one({"age": age, "income": income, "country": country})
    figure = pdp.plot_segments("age").figure_
    figure.savefig(Path(__file__).parent / "figures" / "segments.png", dpi=110)


if __name__ == "__main__":
    main()
