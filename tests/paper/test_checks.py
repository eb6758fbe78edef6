from __future__ import annotations

import pytest

from ipdp.paper import Row, markdown, table
from ipdp.paper.checks import spread, within

ROWS = [
    Row("a claim with several words, at most 1", "what the paper says of it", "0.5", True),
    Row("another", "-", "2", False),
    Row("a third", "-", "3", False, known=True),
    Row("a fourth", "-", "4", None),
]


@pytest.mark.parametrize(
    ("values", "agrees"), [([0.1, 0.2], True), ([0.1, 0.31], False), ([0.05, 0.2], False)]
)
def test_every_value_must_lie_within(values, agrees):
    assert within("claim", "paper", values, low=0.1, high=0.3).agrees is agrees


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"high": -0.65}, "at most -0.65"),
        ({"low": 18_000}, "at least 18,000"),
        ({"low": 0.2, "high": 0.4}, "0.2 to 0.4"),
        ({"low": 0, "high": 0}, "exactly 0"),
    ],
)
def test_a_claim_names_its_bounds(bounds, words):
    assert within("claim", "paper", [0.0], **bounds).claim == f"claim, {words}"


def test_a_number_that_is_none_never_agrees():
    assert within("claim", "paper", [float("nan")], high=1).agrees is False


def test_spread_names_both_ends():
    assert spread([3.0, 1.0], digits=1) == "1.0 to 3.0"
    assert spread([]) == "none"


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_table_fits_and_loses_no_word(width):
    text = table(ROWS, width=width)
    assert max(map(len, text.splitlines())) <= width + len("no, known") - len("agrees")
    for row in ROWS:
        assert set(row.claim.split()) <= set(text.split())


def test_marks():
    lines = markdown(ROWS).splitlines()
    assert [line.split(" | ")[-1] for line in lines[2:]] == ["yes |", "no |", "no, known |", "- |"]
