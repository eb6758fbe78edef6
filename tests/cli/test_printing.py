from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

from ipdp.cli.printing import as_json, cut, cut_name, harmless, line, short, sparkline, thinned


def test_sparklines():
    assert sparkline([1, 1, 1]) == "▁▁▁"
    assert sparkline([]) == ""
    assert sparkline([float("nan")] * 2) == "  "
    assert sparkline([0.0, 1.0, 2.0, float("nan"), 7.0]) == "▁▂▃ █"
    assert sparkline([0, 1], plain=True) == "_@"
    assert sparkline([-5, 0.5, 99], 0, 1) == "▁▅█"
    assert thinned(list(range(100)), 5) == [0, 25, 50, 74, 99]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1e-9, "-1e-09"),
        (0.12345, "0.123"),
        (1234.5, "1,234"),
        (98_765, "98,800"),
        (3e12, "3e+12"),
        (True, "True"),
        ("a long category", "a long ca..."),
    ],
)
def test_short(value, text):
    assert short(value) == text


def test_a_terminal_obeys_nothing_that_is_harmless():
    assert harmless("a\x1b[31mb\n") == "a\\x1b[31mb\n"


def test_cut():
    assert cut("salary", 6) == "salary"
    assert cut("salaries", 6) == "sal..."


def test_json_has_null_for_what_is_no_number(capsys):
    as_json({"a": [float("nan"), np.float64(2.5)], "b": float("inf")})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 2.5], "b": None}


def test_a_line_breaks_at_words_on_a_terminal_only():
    text = "    1,972  job: model changed since 1,869 in /a/long/path/that/is/longer-than-a-line-is"
    narrow = Console(width=40, force_terminal=True, file=io.StringIO(), color_system=None)
    line(narrow, text)
    lines = narrow.file.getvalue().splitlines()
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    assert lines[0] == "    1,972  job: model changed since"
    assert all(part.startswith("      ") for part in lines[1:])
    assert all(len(part) <= 40 or "/a/long" in part for part in lines)
    to_file = Console(width=40, file=io.StringIO())
    line(to_file, text)
    assert to_file.file.getvalue() == f"{text}\n"


def test_names_of_groups_are_told_apart_where_there_is_little_room():
    names = [f"median_income, where ocean_proximity = {group}" for group in ("INLAND", "NEAR BAY")]
    assert [cut_name(name, 28) for name in names] == [
        "median_incom...mity = INLAND",
        "median_incom...ty = NEAR BAY",
    ]
    assert cut_name("a_rather_long_name", 12) == "a_rather_..."
    assert cut_name("a, where b = c", 20) == "a, where b = c"
