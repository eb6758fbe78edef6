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
