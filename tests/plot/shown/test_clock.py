"""The axis of time."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from tests.cli.conftest import changed, curve

from ipdp.log import Log, LogReader
from ipdp.plot import CarpetDisplay, TimelineDisplay
from ipdp.plot.shown.clock import axis_label, clock_ticks

START = dt.datetime(2024, 5, 1, tzinfo=dt.UTC).timestamp()
DAY = 86_400


@pytest.mark.parametrize("span", [300, 7_000, DAY, 5 * DAY, 40 * DAY, 400 * DAY, 9_000 * DAY])
def test_a_few_ticks_within_the_span(span):
    ticks, texts = clock_ticks(START + 17, START + 17 + span)
    assert 1 <= len(ticks) <= 8
    assert len(texts) == len(set(texts))
    assert START + 17 <= ticks[0] <= ticks[-1] <= START + 18 + span


def test_counts_are_observations():
    assert axis_label([100, 20_000]) == "observations"
    assert axis_label([START, START + DAY]) == "time (UTC)"


@pytest.fixture
def log(tmp_path):
    """A run with a clock: a snapshot a day."""
    with Log(tmp_path) as log:
        log.begin({"time": "date"}, ["age"])
        for k, n in enumerate((100, 200, 300)):
            log.snapshot({"age": curve("age", [0, n / 600, n / 300])}, n, time=START + k * DAY)
            log.metric({"Accuracy": n / 300}, n)
        log.change(changed("age", 200), 200)
        log.end(300)
    return tmp_path


def test_figures_of_a_run_with_a_clock(log):
    with LogReader(log) as reader:
        carpet = CarpetDisplay(reader, "age")
        np.testing.assert_array_equal(carpet.times, START + DAY * np.arange(3))
        ax = carpet.plot().ax_
        timeline = TimelineDisplay(reader).plot()
        figures = [carpet.plot(backend="plotly"), TimelineDisplay(reader).plot(backend="plotly")]
    assert ax.get_xlabel() == "time (UTC)"
    assert "02 May" in [text.get_text() for text in ax.get_xticklabels()]
    last = timeline.figure_.axes[-1]
    assert last.get_xlabel() == "time (UTC)"
    for figure in figures:
        assert "02 May" in figure.layout.xaxis.ticktext
