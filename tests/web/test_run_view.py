"""A run as the page sees it: read once, then only what is new."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from tests.web.logs import (
    FEATURES,
    change_at,
    curves_at,
    importances_at,
    read_frames,
    write_explained,
    write_run,
)

from ipdp.log import Log, LogReader
from ipdp.web.payload import unpack
from ipdp.web.run_view import RunView
from ipdp.web.status import Cursor, NotFound, run_name


@pytest.fixture
def log(tmp_path):
    with Log(tmp_path / "run") as log:
        log.begin({"alpha": 0.1}, FEATURES)
        yield log


def add(log, *times, features=FEATURES):
    for n in times:
        log.snapshot(curves_at(n, features), n)
        log.metric({"accuracy": n / 1e4}, n)
    log.commit()


@pytest.fixture
def view_of():
    """The view of a log that is at a path, read once."""
    with ExitStack() as readers:

        def view_of(path, **options):
            view = RunView(readers.enter_context(LogReader(path)), **options)
            view.refresh()
            return view

        yield view_of


def test_a_run_is_what_its_log_says(log, view_of):
    add(log, 100, 200, 300)
    view = view_of(log.path)
    run = view.run()
    assert run["name"] == "run"
    assert run["n"] == [100, 200, 300]
    assert run["settings"] == {"alpha": 0.1}
    assert [feature["name"] for feature in run["features"]][-1] == "age*salary"
    assert run["features"][-1]["parts"] == ["age", "salary"]
    assert run["status"]["state"] == "running"
    for text, (n, values) in zip(
        run["explainers"][0]["importance"], view.reader.importances().values(), strict=True
    ):
        assert n.tolist() == [100, 200, 300]
        np.testing.assert_allclose(unpack(text), values, rtol=1e-6)
    np.testing.assert_allclose(unpack(run["metrics"]["accuracy"]["value"]), [0.01, 0.02, 0.03])


def test_curves_of_groups_are_told_from_those_of_all(log, view_of):
    """Also those of a group that is no longer followed, which the page lists last all the same."""
    gone, there = "age, where country = AT", "age, where country = DE"
    add(log, 100, features=["salary", "age", gone])
    add(log, 200, features=["salary", "age", there])
    listed = view_of(log.path).run()["features"]
    parts = [each for each in listed if each["part_of"] is not None]
    assert [each["name"] for each in parts] == [gone, there]
    assert {listed[each["part_of"]]["name"] for each in parts} == {"age"}
    assert view_of(log.path).run()["n_features"] == 3  # and a pair of two of them


def test_results_of_all_explainers(tmp_path, view_of):
    view = view_of(write_explained(tmp_path))
    assert view.features == [*FEATURES, "size"]
    told = view.run()["explainers"]
    assert [(one["name"], one["title"], one["curves"]) for one in told] == [
        ("pdp", "pdp", True),
        ("gain", "gain by shuffling", False),
        ("ale", "ale", True),
    ]
    for one in told:
        known = view.reader.importances(explainer=one["name"])
        for feature, text in zip(view.features, one["importance"], strict=True):
            assert (text is None) == (feature not in known)
            if text is not None:
                np.testing.assert_allclose(unpack(text), known[feature][1], rtol=1e-6)
    # The first explainer's curves, unless another is named.
    assert view.feature(1) == view.feature(1, explainer="pdp")
    other = view.feature(1, explainer="ale")
    expected = view.reader.at(300, "ale")["age"].average
    np.testing.assert_allclose(read_frames(other)[2][3], expected, rtol=1e-6)
    assert view.feature(1, after=900, explainer="ale")["n"] == [1000]
    numbers = view.feature(0, explainer="gain")
    assert numbers["n"] == list(range(100, 1001, 100))
    low, high = view.reader.at(100, "gain")["salary"].band()
    np.testing.assert_allclose(unpack(numbers["value"])[0], (low + high) / 2, rtol=1e-6)
    np.testing.assert_allclose(unpack(numbers["half"])[0], (high - low) / 2, rtol=1e-6)
    assert view.feature(4)["n"] == view.feature(2, explainer="gain")["n"] == []


def test_a_run_without_curves(tmp_path, view_of):
    view = view_of(write_explained(tmp_path, explainers=["gain"]))
    assert view.features == ["age", "salary", "size"]
    assert [one["curves"] for one in view.run()["explainers"]] == [False]
    assert view.feature(0)["n"] == []
    assert view.feature(0, explainer="gain")["n"] == list(range(100, 1001, 100))


def test_features_keep_their_numbers_when_another_comes(log, view_of):
    log.snapshot({"pdp": curves_at(100, ["age"]), "gain": importances_at(100, ["size"])}, 100)
    log.commit()
    view = view_of(log.path)
    before = list(view.features)
    log.snapshot({"pdp": curves_at(200, ["age", "new"])}, 200)
    log.commit()
    view.refresh()
    assert view.features == [*before, "new"]
    gain = dict(zip(view.features, view.run()["explainers"][1]["importance"], strict=True))
    assert np.isnan(unpack(gain["size"])).tolist() == [False, True]


def test_only_what_is_new_is_told(log, view_of):
    add(log, 100, 200)
    view = view_of(log.path)
    first = view.run()
    assert view.run(Cursor.parse(first["next"]))["n"] == []
    add(log, 300)
    log.change(change_at(300), 300)
    log.commit()
    view.refresh()
    news = view.run(Cursor.parse(first["next"]))
    assert news["n"] == [300]
    assert [change["n"] for change in news["changes"]] == [300]
    assert news["metrics"]["accuracy"]["n"] == [300]
    assert [len(unpack(text)) for text in news["explainers"][0]["importance"]] == [1] * 4
    assert news["revision"] == first["revision"]
    assert view.feature(0, after=200)["n"] == [300]
    assert view.feature(0)["n"] == [100, 200, 300]


def test_a_feature_that_comes_later_has_gaps_before(log, view_of):
    add(log, 100, features=FEATURES[:1])
    view = view_of(log.path)
    add(log, 200, features=[*FEATURES[:1], "new"])
    view.refresh()
    importance = unpack(view.run()["explainers"][0]["importance"][view.features.index("new")])
    assert np.isnan(importance[0])
    assert np.isfinite(importance[1])


def test_a_run_that_was_taken_back_is_read_anew(tmp_path, view_of):
    write_run(tmp_path / "run", 1000, changes=())
    view = view_of(tmp_path / "run")
    before = view.run()
    with Log(tmp_path / "run") as log:
        log.rewind(500)
        log.commit()
        view.refresh()
        after = view.run(Cursor.parse(before["next"]))
    assert after["revision"] != before["revision"]
    assert view.run()["n"] == [100, 200, 300, 400, 500]
    assert view.feature(0)["n"] == [100, 200, 300, 400, 500]


def test_a_long_run_is_thinned_but_not_at_its_changes(tmp_path, view_of):
    write_run(tmp_path, 3000, every=10, features=["age"], changes=(1111, 1555))
    view = view_of(tmp_path, limit=40)
    run = view.run()
    assert len(run["n"]) == 40
    # The changes, and when they began.
    assert {10, 3000, 1110, 1550, 1010, 1450} <= set(run["n"])
    frames = view.feature(0)
    assert frames["n"] == run["n"]
    expected = view.reader.at(1110)["age"].average
    at = {n: average for n, _, _, average, _ in read_frames(frames)}
    np.testing.assert_allclose(at[1110], expected, rtol=1e-6)


def test_a_run_that_grows_long_is_thinned_on_the_way(log, view_of):
    add(log, 10)
    view = view_of(log.path, limit=20)
    for start in range(20, 1000, 100):
        add(log, *range(start, start + 100, 10), features=["age"])
        view.refresh()
        view.feature(1)
        assert len(view.snapshots) <= 40
        assert len(view._histories["pdp", 1]) <= 40
    assert view.run()["n"][-1] == 1010


@pytest.mark.parametrize(
    "text", ["", "1", "1.2", "1.2.3.4", "-2.1.1", "a.b.c", "1.2.3\n", "9" * 60]
)
def test_what_is_no_cursor_is_refused(text):
    with pytest.raises(ValueError, match="after must be"):
        Cursor.parse(text)


def test_cursors_survive_being_written():
    assert Cursor.parse(str(Cursor())) == Cursor()


def test_a_feature_that_is_not_there(log, view_of):
    add(log, 100)
    with pytest.raises(NotFound, match="no feature number 99"):
        view_of(log.path).feature(99)


def test_names_of_runs(tmp_path):
    assert run_name(tmp_path / "loans" / "log.db") == "loans"
    assert run_name(tmp_path / "loans" / "other.db") == "other"
