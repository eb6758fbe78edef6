"""The wall clock of a stream: in curves, changes, the log, after a resume."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

import ipdp
from ipdp.log import LogReader

from .conftest import rows

START = dt.datetime(2024, 6, 1, tzinfo=dt.UTC)


def timed(n=400, step=dt.timedelta(minutes=30)):
    for k, (x, y) in enumerate(rows(n)):
        yield {**x, "date": START + k * step}, y


def at(n):
    """The time of the n-th observation."""
    return (START + (n - 1) * dt.timedelta(minutes=30)).timestamp()


def test_curves_changes_and_snapshots_have_the_time(make, tmp_path):
    run = make(timed(800), time="date", monitor=True, log=tmp_path)
    seen = {x["date"] for x, _ in timed(3)}
    assert len(seen) == 3
    for _ in run:
        pass
    with LogReader(tmp_path) as reader:
        infos = reader.snapshots()
        assert [info.time for info in infos] == [at(info.n) for info in infos]
        assert reader.settings["time"] == "date"
        last = reader.at(800)["a"]
        changes = reader.changes()
    assert last.t == at(800)
    assert changes
    for logged in changes:
        assert logged.change.t == at(logged.n)
        assert START.timestamp() < logged.change.began < logged.change.t
    assert "2024-06-" in changes[0].change.summary()


def test_nothing_else_depends_on_it(make):
    plain, with_time = make(rows()), make(timed(), time="date")
    for _ in (*plain, *with_time):
        pass
    for name in ("a", "b"):
        curves = [run.results["pdp"][name] for run in (plain, with_time)]
        np.testing.assert_array_equal(curves[0].average, curves[1].average)
    assert plain.scores == with_time.scores


@pytest.mark.parametrize("learn", [True, False])
def test_after_a_resume_it_goes_on(make, tmp_path, learn):
    path = tmp_path / "checkpoint.ipdp"
    run = make(timed(), time="date", checkpoint=path, checkpoint_every=150, learn=learn)
    for _ in run.events():
        if run.n >= 160:
            run.stop()
    run = make(timed(), time="date", checkpoint=path, resume=True, learn=learn)
    for _ in run.events():
        if run.n >= 200:
            run.stop()
    assert run.results["pdp"]["a"].t == at(run.n)


def test_times_that_go_back_or_are_missing(make):
    def stream():
        for k, (x, y) in enumerate(timed(60)):
            yield {**x, "date": {30: START, 40: None}.get(k, x["date"])}, y

    run = make(stream(), time="date")
    with pytest.warns(UserWarning, match="times go back"):
        for _ in run:
            pass
    assert run.results["pdp"]["a"].t == at(60)


@pytest.mark.parametrize(
    ("time", "said"),
    [("a", "which is no time: it must be a date"), ("day", "there is no feature 'day'")],
)
def test_what_is_no_time(make, time, said):
    run = make(timed(), time=time)
    with pytest.raises(ValueError, match=said):
        list(run)


def test_labels_that_come_later_by_the_clock(make):
    run = make(timed(), time="date", moment="date", delay=3 * 3600)
    for _ in run:
        pass
    assert run.n == 400
    assert run.metric["Accuracy"].cm.n_samples > 380


def test_datetimes_in_python():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], half_life=86_400)
    for x, _ in timed(30):
        pdp.explain_one({"a": x["a"]}, t=x["date"])
    assert pdp.curve("a").t == at(30)
    with pytest.raises(ValueError, match="time must not go back"):
        pdp.explain_one({"a": 0.5}, t=START)
    whole = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], half_life=86_400)
    whole.explain_many([{"a": x["a"]} for x, _ in timed(30)], t=[x["date"] for x, _ in timed(30)])
    assert whole.curve("a").t == at(30)
    np.testing.assert_allclose(whole.curve("a").average, pdp.curve("a").average)


def test_a_clock_on_which_everything_is_forgotten():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    table, times = [{"a": x["a"]} for x, _ in timed(30)], [x["date"] for x, _ in timed(30)]
    said = "alpha refers to a second.*half_life in seconds"
    for x, t in zip(table[:10], times[:10], strict=True):
        pdp.explain_one(x, t=t)
    with pytest.warns(UserWarning, match=said):
        pdp.explain_one(table[10], t=times[10])
    with pytest.warns(UserWarning, match=said):
        ipdp.IncrementalPDP(lambda x: x["a"], ["a"]).explain_many(table, t=times)
