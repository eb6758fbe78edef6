"""The loop: what it does with an observation, what it tells, and how it ends."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from itertools import islice

import numpy as np
import pytest
from river import anomaly, linear_model, metrics, preprocessing, stream, tree

import ipdp
from ipdp.log import LogReader, Retention
from ipdp.runs import (
    Changed,
    Checkpointed,
    Ended,
    Heartbeat,
    PaceChanged,
    RunFailed,
    Scored,
    Snapshotted,
    Started,
    stop_on_signals,
)

from .conftest import rows


def by_hand(n: int = 400):
    """The same loop in plain words."""
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    pdp = ipdp.IncrementalPDP(model, ["a", "b"], alpha=0.05, seed=1)
    accuracy = metrics.Accuracy()
    for k, (x, y) in enumerate(rows(n), 1):
        said = model.predict_one(x)
        if said is not None:
            accuracy.update(y, said)
        pdp.explain_one(x)
        model.learn_one(x, y)
        if k % 50 == 0:
            pdp.results()
    return pdp, accuracy


def test_it_is_the_loop_that_one_would_write_by_hand(make):
    run = make()
    list(run)
    pdp, accuracy = by_hand()
    assert run.explainers["pdp"].state == pdp.state
    assert run.scores == {"Accuracy": accuracy.get()}


def test_what_it_tells(make):
    run = make(monitor=True)
    events = list(run)
    assert isinstance(events[0], Started)
    assert events[-1] == Ended(400, "ended")
    every = [e.n for e in events if isinstance(e, Snapshotted) and e.reason == "every"]
    assert every == list(range(50, 401, 50))
    assert [e.n for e in events if isinstance(e, Scored)] == every  # the end is one of them
    changes = [e for e in events if isinstance(e, Changed)]
    assert [e.change for e in changes] == run.monitor.changes
    assert changes
    assert {e.n for e in changes} == {
        e.n for e in events if isinstance(e, Snapshotted) and e.reason == "change"
    }
    assert [e.reason for e in events if isinstance(e, Snapshotted)][-1] == "end"
    assert run.state == "ended"
    assert run.n_changes == len(changes)
    assert run.explained == 400
    assert run.explain_seconds > 0


def test_what_it_logs(make, tmp_path):
    run = make(monitor=True, log=tmp_path, settings={"who": "me"})
    events = list(run)
    with LogReader(tmp_path) as log:
        assert log.status.state == "ended"
        assert log.settings["who"] == "me"
        assert log.settings["alpha"] == 0.05
        assert log.features == ["a", "b"]
        assert [s.n for s in log.snapshots()] == sorted(
            {e.n for e in events if isinstance(e, Snapshotted)}
        )
        assert [c.n for c in log.changes()] == [e.n for e in events if isinstance(e, Changed)]
        n, values = log.metrics()["Accuracy"]
        assert n.tolist() == [e.n for e in events if isinstance(e, Scored)]
        assert values[-1] == run.scores["Accuracy"]
        curve = [e for e in events if isinstance(e, Snapshotted)][-1].curves["a"]
        assert np.array_equal(log.at(400)["a"].average, curve.average)
        assert np.array_equal(curve.smoothed, run.explainers["pdp"].curve("a").average)
        assert log.verify() == []


# Models, metrics, labels.


def test_a_log_of_its_own_is_thinned_out_and_a_given_one_as_its_owner_says(make, tmp_path):
    list(make(rows(10), log=tmp_path / "own"))
    with ipdp.Log(tmp_path / "given") as log:
        list(make(rows(10), log=log))
    with ipdp.Log(tmp_path / "own") as own, ipdp.Log(tmp_path / "given") as given:
        assert own.retention == Retention()
        assert given.retention is None
    options = {"log": tmp_path / "begun", "checkpoint": tmp_path / "begun"}
    with ipdp.Log(tmp_path / "begun", retention=Retention(recent=50)) as log:
        list(make(islice(rows(20), 10), **{**options, "log": log}))
    list(make(rows(20), resume=True, **options))
    with ipdp.Log(tmp_path / "begun") as log:
        assert log.retention == Retention(recent=50)


def test_what_was_logged_can_be_read_while_the_stream_stands_still(make, tmp_path, monkeypatch):
    monkeypatch.setattr("ipdp.runs.recorder._COMMIT", 0.01)
    monkeypatch.setattr("ipdp.log.batch.COMMIT_EVERY", 0.3)

    def stalling():
        yield from rows(60)
        deadline = time.monotonic() + 300
        with LogReader(tmp_path) as log:
            while time.monotonic() < deadline and len(log.snapshots()) < 40:
                time.sleep(0.01)
            read.extend(info.n for info in log.snapshots())

    read = []
    list(make(stalling(), log=tmp_path, snapshot_every=1))
    assert read == list(range(21, 61))  # there are no curves of fewer observations


def test_a_frozen_function_and_a_stream_of_x_alone(make):
    run = make(
        [{"a": k * 7 % 100 / 100, "b": 1.0} for k in range(100)],
        model=lambda x: x["a"] + x["b"],
        learn=False,
        metric=None,
    )
    assert not [e for e in run if isinstance(e, Scored)]
    assert run.n == run.total == 100


def test_a_label_that_is_none_is_neither_scored_nor_learnt(make):
    labelled = list(rows(200))
    gaps = [(x, None if k % 2 else y) for k, (x, y) in enumerate(labelled)]
    run = make(gaps)
    list(run)
    half = tree.HoeffdingTreeClassifier(grace_period=20)
    for x, y in labelled[::2]:
        half.learn_one(x, y)
    x = {"a": 0.7, "b": 0.0}
    assert run.model.predict_proba_one(x) == half.predict_proba_one(x)
    assert run.n == 200


def test_an_anomaly_detector_learns_without_labels():
    model = preprocessing.MinMaxScaler() | anomaly.HalfSpaceTrees(seed=1, window_size=20)
    pdp = ipdp.IncrementalPDP(model, ["a"], seed=1)
    summary = ipdp.run(list(rows(100)), model, pdp, metric=metrics.ROCAUC())
    assert summary.scores["ROCAUC"] > 0
    assert pdp.curve("a").average.any()


def test_scikit_learn_is_scored_by_what_it_decides():
    from sklearn.svm import LinearSVC

    data = list(rows(200))
    X = [[x["a"], x["b"]] for x, _ in data]
    model = LinearSVC().fit(X, [y for _, y in data])
    pdp = ipdp.IncrementalPDP(model, seed=1)
    summary = ipdp.run(data, model, pdp, metric=metrics.Accuracy(), learn=False)
    right = np.mean(model.predict(X) == [y for _, y in data])
    assert summary.scores == {"Accuracy": pytest.approx(right)}


def test_probabilities_and_labels_at_once(make):
    run = make(metric=[metrics.LogLoss(), metrics.Accuracy()])
    list(run)
    alone = make(metric=metrics.Accuracy())
    list(alone)
    assert run.scores["Accuracy"] == alone.scores["Accuracy"]
    assert list(run.scores) == ["LogLoss", "Accuracy"]


def test_delayed_labels_as_river_scores_them():
    from river import evaluate

    def model():
        return tree.HoeffdingTreeClassifier(grace_period=20)

    theirs = evaluate.progressive_val_score(rows(), model(), metrics.Accuracy(), delay=25)
    own = model()
    pdp = ipdp.IncrementalPDP(own, ["a"], seed=1)
    loss = metrics.Accuracy()
    pfi = ipdp.IncrementalPFI(own, loss=loss, seed=1)
    summary = ipdp.run(rows(), own, [pdp, pfi], metric=metrics.Accuracy(), delay=25)
    assert summary.scores["Accuracy"] == theirs.get()
    assert pfi.n_seen == 400


def test_importance_by_permutation(make):
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    pfi = ipdp.IncrementalPFI(model, loss=metrics.Accuracy(), seed=1)
    pdp = ipdp.IncrementalPDP(model, ["a"])
    run = make(model=model, pdp=[pdp, pfi])
    list(run)
    other = tree.HoeffdingTreeClassifier(grace_period=20)
    twin = ipdp.IncrementalPFI(other, loss=metrics.Accuracy(), seed=1)
    for x, y in rows():
        twin.explain_one(x, y)
        other.learn_one(x, y)
    assert pfi.importance == twin.importance


def test_a_budget(make):
    def slow(x):
        until = time.perf_counter() + 2e-4
        while time.perf_counter() < until:
            pass
        return x["a"]

    # Without snapshots, for which the model is asked, too.
    options = {"learn": False, "metric": metrics.MAE(), "budget": 0.5, "snapshot_every": 1_000}
    run = make(rows(600), model=slow, **options)
    events = list(run)
    assert [e for e in events if isinstance(e, PaceChanged)]
    # 20 points against one prediction: about one in twenty.
    assert 8 <= run.every <= 60
    curve = run.explainers["pdp"].curve("a")
    assert curve.t == 600
    assert curve.n_samples < 300


# Ends before the end.


def test_stop(make, tmp_path):
    run = make(log=tmp_path, checkpoint=tmp_path)
    for event in run:
        if isinstance(event, Snapshotted) and event.n == 100:
            run.stop()
    assert (run.state, run.n) == ("stopped", 100)
    assert isinstance(event, Ended)
    with LogReader(tmp_path) as log:
        assert (log.status.state, log.status.n) == ("stopped", 100)


def test_who_stops_listening_stops_the_run(make, tmp_path):
    run = make(log=tmp_path, checkpoint=tmp_path)
    events = run.events()
    for event in events:
        if isinstance(event, Snapshotted):
            break
    events.close()
    assert (run.state, run.n) == ("stopped", 50)
    assert (tmp_path / "checkpoint.ipdp").exists()
    with LogReader(tmp_path) as log:
        assert log.status.state == "stopped"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_and_a_second_one_ends_it(make, number):
    before = signal.getsignal(number)
    run = make()
    with stop_on_signals(run):
        for event in run:
            if isinstance(event, Snapshotted) and event.reason == "every":
                os.kill(os.getpid(), number)
        assert run.state == "stopped"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_in_another_thread_there_are_no_signals_to_handle():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    came = []
    thread = threading.Thread(
        target=lambda: came.append(ipdp.run(rows(50), pdp.model, pdp, learn=False))
    )
    thread.start()
    thread.join()
    assert came[0].n == 50


class Failing(tree.HoeffdingTreeClassifier):
    """Fails at one observation."""

    def __init__(self, at=300, method="learn_one"):
        super().__init__(grace_period=20)
        self.at = at
        self.method = method
        self.count = 0

    def learn_one(self, x, y, **options):
        self.count += 1
        if self.method == "learn_one" and self.count == self.at:
            raise ZeroDivisionError("no luck today")
        super().learn_one(x, y, **options)

    def predict_one(self, x, **options):
        if self.method == "predict_one" and self.count == self.at - 1:
            raise ZeroDivisionError("no luck today")
        return super().predict_one(x, **options)


@pytest.mark.parametrize(("method", "doing"), [("learn_one", "learn"), ("predict_one", "predict")])
def test_a_model_that_fails(make, tmp_path, method, doing):
    run = make(
        model=Failing(method=method),
        log=tmp_path,
        checkpoint=tmp_path,
        checkpoint_every=100,
        allow_pickle=True,
    )
    sentence = f"could not {doing} observation 300: no luck today \\(ZeroDivisionError\\)"
    with pytest.raises(RunFailed, match=sentence) as caught:
        list(run)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.n == run.n == 299
    assert run.state == "failed"
    with LogReader(tmp_path) as log:
        assert (log.status.state, log.status.n) == ("failed", 299)
        assert log.status.message == str(caught.value)
        assert log.snapshots()[-1].n == 250
    again = make(
        model=Failing(method=method, at=10**9),
        log=tmp_path,
        checkpoint=tmp_path,
        resume=True,
        allow_pickle=True,
    )
    assert next(e for e in again if isinstance(e, Started)).n == 200


def test_an_interrupt_in_the_middle_of_an_observation(make, tmp_path):
    def interrupted():
        yield from rows(70)
        raise KeyboardInterrupt

    run = make(interrupted(), log=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        list(run)
    assert run.state == "stopped"
    with LogReader(tmp_path) as log:
        assert (log.status.state, log.status.message) == ("stopped", "interrupted")


def test_a_stream_that_fails(make, tmp_path):
    def torn():
        yield from rows(70)
        raise ConnectionError("the other end is gone")

    with pytest.raises(ConnectionError, match="the other end"):
        list(make(torn(), log=tmp_path))
    with LogReader(tmp_path) as log:
        assert (log.status.state, log.status.message) == ("failed", "the other end is gone")


def test_a_listener_that_fails_stops_the_run(tmp_path):
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], seed=1)

    def listener(event):
        if isinstance(event, Snapshotted):
            raise LookupError("what is this")

    with pytest.raises(LookupError):
        ipdp.run(rows(), pdp.model, pdp, learn=False, log=tmp_path, listeners=[listener])
    with LogReader(tmp_path) as log:
        assert (log.status.state, log.status.n) == ("stopped", 100)


# What is refused.


def other_model(make):
    return make(model=tree.HoeffdingTreeClassifier(), pdp=ipdp.IncrementalPDP(lambda x: 1.0))


def other_monitor(make):
    return make(monitor=ipdp.Monitor(ipdp.IncrementalPDP(lambda x: 1.0)))


def every_and_budget(make):
    model = tree.HoeffdingTreeClassifier()
    return make(model=model, pdp=ipdp.IncrementalPDP(model, every=2), budget=0.5)


def detectors(make):
    from river import drift

    model = tree.HoeffdingTreeClassifier()
    pdp = ipdp.IncrementalPDP(model)
    monitor = ipdp.Monitor(pdp, detector=drift.ADWIN())
    return make(model=model, pdp=pdp, monitor=monitor, checkpoint="somewhere")


REFUSED = {
    "other model": (other_model, ValueError, "the explainer pdp explains another model"),
    "other monitor": (other_monitor, ValueError, "the monitor watches another explainer"),
    "every": (every_and_budget, ValueError, "give a budget, or an explainer with every=2"),
    "detectors": (detectors, ValueError, "by pickle only: give allow_pickle=True"),
    "no learning": (
        lambda make: make(model=lambda x: x["a"], metric=None),
        ValueError,
        "cannot learn one observation .*: give learn=False",
    ),
    "no metric": (lambda make: make(metric="accuracy"), TypeError, "must be a metric of river"),
    "class": (lambda make: make(metric=metrics.F1), TypeError, r"F1 is a class: .* F1\(\)"),
    "odd metric": (
        lambda make: make(metric=metrics.MAE()),
        ValueError,
        "the metric MAE does not suit a HoeffdingTreeClassifier",
    ),
    "moment": (lambda make: make(moment="t"), ValueError, "give delay as well"),
    "resume": (lambda make: make(resume=True), ValueError, "resume needs the checkpoint"),
    "path": (lambda make: make("rows.csv"), TypeError, "open_source opens files"),
    "snapshots": (lambda make: make(snapshot_every=0), ValueError, "snapshot_every must be"),
    "checkpoints": (lambda make: make(checkpoint_every=0), ValueError, "checkpoint_every must be"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_at_once(make, name):
    how, error, sentence = REFUSED[name]
    with pytest.raises(error, match=sentence):
        how(make)


def test_an_item_that_is_no_observation(make):
    with pytest.raises(TypeError, match="observation 2 of the stream is a list"):
        list(make([({"a": 1.0, "b": 1.0}, True), [1.0, 2.0]]))


def test_a_run_goes_once(make):
    run = make()
    list(run)
    with pytest.raises(RuntimeError, match="once"):
        list(run)


# One call.


def test_a_progress_bar_says_how_it_goes(make):
    from rich.console import Console

    from ipdp.runs import ProgressBar

    with open(os.devnull, "w") as nothing:
        console = Console(file=nothing, record=True, width=120, force_terminal=True)
        with ProgressBar(console) as bar:
            for event in make(list(rows()), monitor=True):
                bar(event)
    text = console.export_text()
    assert "400/400" in text
    assert "Accuracy 0." in text
    assert "change" in text
    assert "/s" in text


def test_constant_memory(make):
    import gc
    import tracemalloc

    def endless():
        rng = random.Random(1)
        while True:
            yield {"a": rng.random(), "b": rng.random()}

    run = make(endless(), model=lambda x: x["a"], learn=False, metric=None, snapshot_every=100)
    sizes = []
    tracemalloc.start()
    for event in run:
        if isinstance(event, Snapshotted) and event.n % 1_000 == 0:
            gc.collect()  # numpy leaves cycles behind
            sizes.append(tracemalloc.get_traced_memory()[0])
            if event.n == 4_000:
                run.stop()
    tracemalloc.stop()
    assert sizes[-1] - sizes[1] < 20_000


def test_events_say_how_far_it_is(make):
    beats = [e for e in make() if isinstance(e, Heartbeat)]
    assert beats[-1].n == beats[-1].explained == 400
    assert not [e for e in make() if isinstance(e, Checkpointed)]


def test_a_river_dataset_and_simulated_streams_fit():
    model = linear_model.LinearRegression()
    pdp = ipdp.IncrementalPDP(model, seed=1)
    X = np.random.default_rng(1).normal(size=(60, 2))
    data = stream.iter_array(X, X @ [1.0, 2.0], feature_names=["a", "b"])
    summary = ipdp.run(data, model, pdp, metric=metrics.MAE())
    assert (summary.state, summary.n) == ("ended", 60)
