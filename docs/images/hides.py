"""Makes the pictures of docs/hides.md: `python docs/images/hides.py`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import ipdp

DIRECTORY = Path(__file__).parent / "figures"


def explained(model: Any, rows: list[dict[str, Any]]) -> tuple[Any, Any]:
    """Both explainers of a model, after some observations."""
    pdp, ale = ipdp.IncrementalPDP(model, alpha=0.002), ipdp.IncrementalALE(model, alpha=0.002)
    for x in rows:
        pdp.explain_one(x)
        ale.explain_one(x)
    return pdp, ale


def main() -> None:
    """Draw the three cases with the streams of the page."""
    draws = random.Random(1)
    rows: list[dict[str, Any]] = []
    for _ in range(1_500):
        a = draws.gauss(0, 1)
        rows.append({"a": a, "b": 0.9 * a + 0.44 * draws.gauss(0, 1)})
    pdp, ale = explained(lambda x: x["a"] + 3 * max(abs(x["a"] - x["b"]) - 1, 0) ** 2, rows)
    save("hides_correlated", pdp.plot_effect("a", ale=ale))
    draws = random.Random(1)
    rows = [{name: draws.gauss(0, 1) for name in "abcd"} for _ in range(1_000)]
    pdp, _ = explained(lambda x: 5 * x["a"] * x["b"] + x["c"] + x["c"] * x["d"], rows)
    save("hides_interactions", pdp.interactions().plot())
    draws = random.Random(1)
    rows = [{"hour": draws.uniform(0, 24), "workday": draws.random() < 0.7} for _ in range(1_000)]
    pdp, _ = explained(lambda x: x["hour"] * (2 if x["workday"] else -1), rows)
    save("hides_spread", pdp.curve("hour").plot(spread=True, centred=True))


def save(name: str, display: Any) -> None:
    """Write one picture."""
    display.figure_.savefig(DIRECTORY / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
