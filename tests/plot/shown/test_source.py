"""Curves from logs, and logs that have none."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp import NotEnoughSamples
from ipdp.core.importance import Importance
from ipdp.log import Log, LogReader
from ipdp.plot import CarpetDisplay, OverviewDisplay, TimelineDisplay
from ipdp.plot.shown.source import Logged

from ..conftest import make_history


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


@pytest.fixture
def importances_first(tmp_path):
    """A log whose first explainer has nothing yet and whose second one gives no curves."""
    with Log(tmp_path / "run") as log:
        log.begin({}, {"late": ["age"], "gain": ["age"], "pdp": ["age"]})
        for curve in make_history(3):
            gain = importance(0.5, int(curve.t))
            log.snapshot({"late": {}, "gain": {"age": gain}, "pdp": {"age": curve}}, int(curve.t))
    with LogReader(tmp_path / "run") as reader:
        yield reader


def test_the_first_explainer_that_gives_curves_is_shown(importances_first):
    assert [curve.feature for curve in OverviewDisplay(importances_first).curves] == ["age"]
    assert OverviewDisplay(importances_first, n=250).curves[0].t == 200
    assert len(CarpetDisplay(importances_first, "age").curves) == 3
    expected = [curve.overall_importance for curve in make_history(3)]
    shown = TimelineDisplay(importances_first).importances["age"].values
    np.testing.assert_allclose(shown, expected)


def test_a_log_without_curves_has_the_timeline_of_its_first_importances(tmp_path):
    with Log(tmp_path / "run") as log:
        log.begin({}, {"late": ["age"], "gain": ["age"]})
        log.snapshot({"late": {}, "gain": {"age": importance(0.5, 100)}}, 100)
    with LogReader(tmp_path / "run") as reader:
        assert TimelineDisplay(reader).importances["age"].values.tolist() == [0.5]
        with pytest.raises(ValueError, match="no curve to show"):
            OverviewDisplay(reader)


def importance(value, t):
    return Importance("age", value, std_error=0.1, n_samples=t, n_effective=9.0, t=t)


def test_importances_have_a_timeline_and_no_carpet(ax):
    kept = [{"age": importance(0.5, 100)}, {"age": importance(-0.2, 200)}]
    times, values = TimelineDisplay(kept).importances["age"]
    assert (times.tolist(), values.tolist()) == ([100.0, 200.0], [0.5, -0.2])
    assert TimelineDisplay(kept).plot(ax).axes_["importance"].get_ylim()[0] < -0.2
    with pytest.raises(NotEnoughSamples, match="there is no curve"):
        CarpetDisplay(kept)
