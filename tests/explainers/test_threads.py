"""Two threads on one explainer: an error, and nothing is lost without a word."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ipdp


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
        with pytest.raises(RuntimeError, match="two threads explain or save at the same time"):
            getattr(pdp, name)(x)
    with pytest.raises(RuntimeError, match="two threads explain or save at the same time"):
        pdp.state_bytes()
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
    states = []
    saved = monitor if watched else pdp
    other = threading.Thread(target=lambda: states.append(saved.state))
    other.start()
    assert taken.wait(120)
    for explain in (pdp.explain_one, monitor.explain_one):
        with pytest.raises(RuntimeError, match="two threads explain or save at the same time"):
            explain({"a": 1.0})
    go_on.set()
    other.join()
    assert len(states) == 1
    monitor.explain_one({"a": 1.0})
    assert pdp.n_seen == 61


def test_a_monitor_tests_in_one_thread_at_a_time():
    model = Waiting()
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    monitor = ipdp.Monitor(pdp, handlers=[])
    for a in range(60):
        monitor.explain_one({"a": float(a % 7)})
    pdp.explain_one({"a": 1.0})
    watch, plain = monitor._watch, monitor._watch.update
    watch.update = lambda *given: model({"a": plain(*given)})
    other = threading.Thread(target=monitor.update, args=({"a": 1.0},))
    other.start()
    assert model.asked.wait(120)
    for use in (pdp.explain_one, monitor.explain_one):
        with pytest.raises(RuntimeError, match="two threads explain or save at the same time"):
            use({"a": 1.0})
    with pytest.raises(RuntimeError, match="two threads explain or save at the same time"):
        _ = monitor.state
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


def test_an_explainer_is_free_when_the_other_thread_ended_before_its_state_was_taken(monkeypatch):
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    pdp.explain_one({"a": 1.0})
    plain = type(pdp)._claim

    def ended_just_now(self):
        self._thread = None
        plain(self)

    pdp._thread = threading.get_ident() + 1
    monkeypatch.setattr(type(pdp), "_claim", ended_just_now)
    _ = pdp.state
    monkeypatch.undo()
    before = pdp.state
    pdp.explain_one({"a": 2.0})  # by neither of the two
    assert pdp.state != before
