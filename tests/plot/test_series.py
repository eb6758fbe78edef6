"""Curves from logs, and logs that have none."""

from __future__ import annotations

import pytest

from ipdp import NotEnoughSamples
from ipdp.log import Log, LogReader
from ipdp.plot import CarpetDisplay, OverviewDisplay, TimelineDisplay
from ipdp.plot.series import Logged


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
