from __future__ import annotations

import json

import numpy as np

from ipdp.cli.printing import as_json, cut, sparkline, thinned


def test_sparklines():
    assert sparkline([1, 1, 1]) == "▁▁▁"
    assert sparkline([]) == ""
    assert sparkline([float("nan")] * 2) == "  "
    assert sparkline([0, 1], plain=True) == "_@"
    assert sparkline([-5, 0.5, 99], 0, 1) == "▁▅█"
    assert thinned(list(range(100)), 5) == [0, 25, 50, 74, 99]


def test_cut():
    assert cut("salary", 6) == "salary"
    assert cut("salaries", 6) == "sal..."


def test_json_has_null_for_what_is_no_number(capsys):
    as_json({"a": [float("nan"), np.float64(2.5)], "b": float("inf")})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 2.5], "b": None}
