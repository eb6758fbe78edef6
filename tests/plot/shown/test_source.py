"""Curves from logs, and logs that have none."""

from __future__ import annotations

import pytest

from ipdp import NotEnoughSamples
from ipdp.core.importance import Importance
from ipdp.log import Log, LogReader
from ipdp.plot import CarpetDisplay, OverviewDisplay, TimelineDisplay
from ipdp.plot.shown.source import Logged


@pytest.fixture
def empty(tmp_path):
    with Log(tmp_path / "run") as log:
        log.begin({}, ["age"])
    with LogReader(tmp_path / "run") as reader:
        yield reader


def test_a_log_is_one(empty):
    assert isinstance(empty, Logged)
    assert not isinstance([], Logged)


@pytest.mark.parametrize(
    "display", [OverviewDisplay, TimelineDisplay, lambda log: CarpetDisplay(log, "age")]
)
def test_a_log_without_snapshots_has_nothing_to_show(display, empty):
    with pytest.raises(NotEnoughSamples):
        display(empty)


def importance(value, t):
    return Importance("age", value, std_error=0.1, n_samples=t, n_effective=9.0, t=t)


def test_importances_have_a_timeline_and_no_carpet(ax):
    kept = [{"age": importance(0.5, 100)}, {"age": importance(-0.2, 200)}]
    times, values = TimelineDisplay(kept).importances["age"]
    assert (times.tolist(), values.tolist()) == ([100.0, 200.0], [0.5, -0.2])
    assert TimelineDisplay(kept).plot(ax).axes_["importance"].get_ylim()[0] < -0.2
    with pytest.raises(NotEnoughSamples, match="there is no curve"):
        CarpetDisplay(kept)
