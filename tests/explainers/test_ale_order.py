"""The order of categories."""

import numpy as np
import pytest

from ipdp.explainers.ale.order import ordered


def seasons(n=200, seed=0):
    """Months as words, with a temperature and what people wear."""
    rng = np.random.default_rng(seed)
    warmth = {"cold": -5.0, "cool": 8.0, "mild": 15.0, "hot": 30.0}
    rows = []
    for name in rng.choice(list(warmth), size=n).tolist():
        degrees = warmth[name] + 3 * rng.normal()
        rows.append((name, degrees, "coat" if degrees < 10 else "shirt", rng.normal()))
    return rows


def test_neighbours_are_alike():
    assert ordered(["cold", "cool", "hot", "mild"], 0, seasons()) == (
        "cold",
        "cool",
        "mild",
        "hot",
    )


def test_missing_values_do_not_matter():
    rows = [(name, None if k % 5 == 0 else t) for k, (name, t, *_) in enumerate(seasons())]
    assert ordered(["cold", "cool", "hot", "mild"], 0, rows) == ("cold", "cool", "mild", "hot")


@pytest.mark.parametrize(
    ("categories", "rows", "expected"),
    [
        ([3, 1, 2], [(3, 1.0), (1, 3.0), (2, 2.0)], (1, 2, 3)),  # numbers
        (["b", "a"], [("b", 1.0), ("a", 2.0)], ("a", "b")),  # two
        (["c", "a", "b"], [], ("a", "b", "c")),  # nothing known
        (["c", "a", "b"], [("a",), ("b",), ("c",)], ("a", "b", "c")),  # no other feature
        (["c", "a", "b"], [("a", 1.0), ("b", 1.0), ("c", 1.0)], ("a", "b", "c")),  # all alike
    ],
)
def test_what_cannot_be_told_keeps_its_natural_order(categories, rows, expected):
    assert ordered(categories, 0, rows) == expected


def test_the_order_of_columns_does_not_matter():
    rows = seasons()
    turned = [row[::-1] for row in rows]
    categories = ["cold", "cool", "hot", "mild"]
    assert ordered(categories, 0, rows) == ordered(categories, 3, turned)
