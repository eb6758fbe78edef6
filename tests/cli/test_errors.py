"""What goes wrong is said in one line that a terminal does not obey."""

import pytest

from ipdp.cli.errors import sentence


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no\n  such\x1b[31m thing"), "no such\\x1b[31m thing"),
        (ValueError(""), "ValueError"),
        (KeyError("a"), "'a' is missing"),
        (
            FileNotFoundError(2, "No such file", "x\x1b]0;owned\x07.csv"),
            r"x\x1b]0;owned\x07.csv: No such file",
        ),
    ],
)
def test_one_line_that_is_printable(error, said):
    assert sentence(error) == said


@pytest.mark.parametrize(
    "error",
    [
        ValueError("y" * 1_000_000),
        KeyError("y" * 1_000_000),
        FileNotFoundError(2, "No such file", "y" * 1_000_000),
    ],
)
def test_that_is_not_too_long(error):
    assert len(sentence(error)) < 2_100
