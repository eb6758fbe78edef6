"""Two threads on one explainer: one explains, others read, and nothing is lost without a word."""

from __future__ import annotations

import copy
import pickle
import threading
import time

import numpy as np
import pytest

import ipdp
from ipdp.explainers.turns import Turns


class Waiting:
    """A model that, when asked for the first time in a thread of its own, waits until told."""

    def __init__(self):
        self.asked, self.go_on = threading.Event(), threading.Event()

    def __call__(self, x):
        if threading.current_thread() is not threading.main_thread():
            self.asked.set()
            self.go_on.wait(120)
        return x["a"]


@pytest.mark.parametrize("method", ["explain_one", "explain_many"])
def test_a_second_thread_is_refused(method):
    model = Waiting()
    pdp = ipdp.IncrementalPDP(model, ["a"])
    rng = np.random.default_rng(0)
    for _ in range(30):
        pdp.explain_one({"a": rng.normal()})
    arguments = {"explain_one": {"a": 1.0}, "explain_many": [{"a": 1.0}]}
    other = threading.Thread(target=getattr(pdp, method), args=(arguments[method],))
    other.start()
    assert model.asked.wait(120)
    for name, x in arguments.items():
        with pytest.raises(RuntimeError, match="two threads explain at the same time"):
            getattr(pdp, name)(x)
    model.go_on.set()
    other.join()
    assert pdp.n_seen == 31
    pdp.explain_one({"a": 1.0})  # one after the other they may
    assert pdp.n_seen == 32


def test_an_error_does_not_keep_others_out():
    def model(x):
        raise ArithmeticError("no answer")

    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    for a in range(30):
        pdp.explain_one({"a": float(a)})
    pdp.engine = ipdp.models.engine(model)
    with pytest.raises(ArithmeticError):
        pdp.explain_one({"a": 3.0})
    with pytest.raises(ArithmeticError):
        pdp.explain_many([{"a": 3.0}])
    pdp.engine = ipdp.models.engine(lambda x: x["a"])
    other = threading.Thread(target=pdp.explain_one, args=({"a": 3.0},))
    other.start()
    other.join()
    assert pdp.n_seen == 31


def until_one_waits(explainer):
    """Wait until a further thread waits for its turn."""
    while not explainer.turns._waiting:
        time.sleep(0.001)


@pytest.mark.parametrize("watched", [False, True])
def test_nothing_is_explained_while_a_state_is_taken(watched, monkeypatch):
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    monitor = ipdp.Monitor(pdp)
    for a in range(60):
        monitor.explain_one({"a": float(a % 7)})
    taken, go_on = threading.Event(), threading.Event()
    kind = type(monitor._history if watched else pdp.memory)
    plain = kind.state.fget

    def slowly(self):
        taken.set()
        go_on.wait(120)
        return plain(self)

    monkeypatch.setattr(kind, "state", property(slowly, kind.state.fset))
    states, saved = [], monitor if watched else pdp
    threads = [threading.Thread(target=lambda: states.append(saved.state))]
    threads[0].start()
    assert taken.wait(120)
    threads.append(threading.Thread(target=monitor.explain_one, args=({"a": 1.0},)))
    threads[1].start()
    until_one_waits(pdp)
    go_on.set()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert (states[0]["n"] if watched else states[0]["fold"]["seen"]) == (40 if watched else 60)
    assert pdp.n_seen == 61


READ = {
    "curve": lambda pdp: pdp.curve("a"),
    "curves": lambda pdp: pdp.curves,
    "results": lambda pdp: pdp.results(),
    "state": lambda pdp: pdp.state_bytes(),
    "successor": lambda pdp: pdp.successor(),
    "merged": lambda pdp: pdp.merge(pdp),
    "plot": lambda pdp: pdp.plot_effect("a"),
    "shown": lambda pdp: pdp._repr_html_(),
    "segments": lambda pdp: pdp.segments,
    "drawn": lambda pdp: pdp.plot_segments("a"),
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_who_reads_is_next_after_the_observation(read):
    model = Waiting()
    pdp = ipdp.IncrementalPDP(model, ["a"], by="b", n_past=0)
    for a in range(60):
        pdp.explain_one({"a": float(a % 7), "b": a % 2})
    seen = []

    def explain():
        for _ in range(20):
            pdp.explain_one({"a": 1.0, "b": 0})

    class Noting(Turns):
        def give_back(self):
            if threading.current_thread() is threads[-1] and len(threads) == 2:
                seen.append(pdp.n_seen)
            super().give_back()

    pdp.turns = Noting()

    threads = [threading.Thread(target=explain)]
    threads[0].start()
    assert model.asked.wait(120)
    threads.append(threading.Thread(target=read, args=(pdp,)))
    threads[1].start()
    until_one_waits(pdp)
    model.go_on.set()
    for thread in threads:
        thread.join()
    assert seen[0] == 61
    assert pdp.n_seen == 80


def stream(n):
    rng = np.random.default_rng(0)
    return [{"a": k / 50 + rng.normal(), "b": rng.normal(), "c": k % 3} for k in range(n)]


KINDS = {
    "pdp": lambda: ipdp.IncrementalPDP(lambda x: x["a"] * x["b"], ["a", "b"]),
    "groups": lambda: ipdp.IncrementalPDP(lambda x: x["a"] * x["b"], ["a", "b"], by="c"),
    "ale": lambda: ipdp.IncrementalALE(lambda x: x["a"] * x["b"], ["a", "b"]),
    "regions": lambda: ipdp.IncrementalRegions(lambda x: x["a"] * x["b"], ["a", "b"]),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_what_is_read_meanwhile_is_that_of_a_whole_observation(make):
    explainer, rows, found = make(), stream(160), []

    def explain():
        for x in rows:
            explainer.explain_one(x)
            time.sleep(0.001)  # or it would be over before anything was read

    thread = threading.Thread(target=explain)
    thread.start()
    while thread.is_alive():
        found.append(explainer.results())
    thread.join()
    at = {next(iter(results.values())).t: results for results in found if results}
    again = make()
    for x in rows:
        again.explain_one(x)
        if again.n_seen in at:
            assert repr(again.results()) == repr(at[again.n_seen])
            for feature, curve in again.results().items():
                assert curve.to_dict() == at[again.n_seen][feature].to_dict()
    assert len(at) > 1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_that_is_made_meanwhile_is_nobodys(copied):
    pdp = ipdp.IncrementalPDP(ipdp.models.engine(_first), ["a"])
    pdp.explain_one({"a": 1.0})
    with pdp.turns.explaining():
        other = copied(pdp)
    thread = threading.Thread(target=other.explain_one, args=({"a": 1.0},))
    thread.start()
    thread.join()
    assert other.n_seen == 2


def _first(x):
    return x["a"]


def test_a_monitor_tests_in_one_thread_at_a_time():
    model = Waiting()
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    monitor = ipdp.Monitor(pdp, handlers=[])
    for a in range(60):
        monitor.explain_one({"a": float(a % 7)})
    pdp.explain_one({"a": 1.0})
    watch, plain = monitor._watch, monitor._watch.update
    watch.update = lambda *given: model({"a": plain(*given)})
    watch.is_due = lambda _: True  # most observations are only kept
    other = threading.Thread(target=monitor.update, args=({"a": 1.0},))
    other.start()
    assert model.asked.wait(120)
    for use in (pdp.explain_one, monitor.explain_one):
        with pytest.raises(RuntimeError, match="two threads explain at the same time"):
            use({"a": 1.0})
    model.go_on.set()
    other.join()


def test_a_handler_may_save_what_it_is_told_of():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] * sign[0], ["a"])
    sign, states = [1.0], []
    monitor = ipdp.Monitor(pdp, handlers=lambda _: states.append((pdp.state, monitor.state)))
    rng = np.random.default_rng(0)
    for k in range(3_000):
        sign[0] = -1.0 if k >= 1_500 else 1.0
        monitor.explain_one({"a": rng.normal()})
    assert states
    assert monitor.pdp.n_seen == 3_000
