"""What is drawn of splits."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.plot import RegionsDisplay

from ..conftest import make_split


def test_the_split_that_explains_most_comes_first():
    small, large = make_split(feature="a", gain=0.9, spread=0.1), make_split(feature="b", gain=0.3)
    assert [split.feature for split in RegionsDisplay([small, large]).splits] == ["b", "a"]
    assert [s.feature for s in RegionsDisplay({"a": small, "b": large}).splits] == ["b", "a"]


def test_each_side_is_drawn_with_the_curve_of_all(monkeypatch):
    drawn = {}

    def draw(_display, backend, kind, shown, ax):
        drawn.update(backend=backend, kind=kind, shown=shown, ax=ax)

    monkeypatch.setattr(RegionsDisplay, "_draw", draw)
    split = make_split()
    RegionsDisplay([split]).plot(centred=True)
    shown = drawn["shown"]
    assert [shown.title_of(k) for k in range(2)] == [
        ("age, where sex = f", "30 % of the data"),
        ("age, where sex = m", "70 % of the data"),
    ]
    for k in range(2):
        options = shown.options_of(k)
        assert options["centred"]
        np.testing.assert_array_equal(options["compare"].average, split.whole.average)
        assert options["compare"].feature == shown.curves[k].feature


def test_without_a_split_there_is_nothing_to_show():
    with pytest.raises(ValueError, match="no split to show"):
        RegionsDisplay({})
