"""Answers that were fetched ahead are those that the explainer asks for; here without Spark."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import ipdp
from ipdp.spark import remote
from ipdp.spark.remote import RemoteEngine


class Here:
    """Stands for what is sent, and for the context of Spark."""

    defaultParallelism = 3  # noqa: N815  (Spark's name)

    def __init__(self, context=None, thing=None, what=""):
        self.thing, self.tasks = thing, []

    def load(self):
        return self.thing

    def forget(self):
        self.thing = None

    def parallelize(self, tasks, n):
        self.tasks.append(n)
        return Answers(tasks)


class Answers(list):
    def map(self, function):
        return Answers(map(function, self))

    def collect(self):
        return list(self)


@pytest.fixture
def context(monkeypatch):
    monkeypatch.setattr(remote, "Sent", Here)
    monkeypatch.setattr(remote, "_WORTH", 0.0)  # no model is too quick to be asked elsewhere
    return Here()


def rows(n=700):
    rng = np.random.default_rng(1)
    a = np.cumsum(rng.normal(size=n)) / 5
    return [
        {"a": float(v), "c": str(rng.choice(["x", "y"])), "k": int(rng.integers(0, 3))} for v in a
    ]


class Model:
    """Counts its calls; the third class is not known at first."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        p = 1 / (1 + math.exp(-math.sin(x["a"]) - (x["c"] == "x")))
        return {0: 1 - p, 1: p} if x["k"] < 2 else {0: 1 - p, 1: p / 2, 2: p / 2}


def explained(pdp, stream, start, stop):
    for x in stream[start:stop]:
        pdp.explain_one(x)


@pytest.mark.parametrize("setup", [{}, {"estimator": "pointwise"}, {"every": 3}], ids=str)
def test_the_answers_are_those_of_the_model(context, setup):
    stream = rows()
    plain = ipdp.IncrementalPDP(Model(), seed=1, **setup)
    own = RemoteEngine(Model())
    pdp = ipdp.IncrementalPDP(own, seed=1, **setup)
    own.connect(context)
    for start, stop in [(0, 10), (10, 650), (650, 700)]:
        own.ahead(pdp, stream[start:stop], None, None)
        before = own.model.calls
        explained(pdp, stream, start, stop)
        if stop == 650 and "every" not in setup:
            assert own.model.calls == before  # all answers were there
        explained(plain, stream, start, stop)
    for feature, want in plain.results().items():
        got = pdp.results()[feature]
        np.testing.assert_allclose(got.average, want.average, rtol=1e-12)
        np.testing.assert_allclose(got.std_error, want.std_error, rtol=1e-12)
        assert got.outputs == want.outputs
    if "every" not in setup:
        assert context.tasks == [3]  # few rows are not worth a job


def test_workers_walk_the_trees_of_a_booster(context):
    # A warning that they are asked point by point, which is slower, would be an error here.
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 8))
    model = HistGradientBoostingRegressor(max_iter=10).fit(X, X[:, 0] * X[:, 1])
    stream = [{f"x{k}": v for k, v in enumerate(row)} for row in X.tolist()]
    own, plain = RemoteEngine(model), ipdp.IncrementalPDP(model, seed=1)
    pdp = ipdp.IncrementalPDP(own, seed=1)
    own.connect(context)
    own.ahead(pdp, stream, None, None)
    explained(pdp, stream, 0, 600)
    explained(plain, stream, 0, 600)
    assert context.tasks == [3]
    np.testing.assert_allclose(pdp.curve("x0").average, plain.curve("x0").average, rtol=1e-12)


@pytest.mark.parametrize("grid", [ipdp.grid.Quantiles(5, warm_up=1), ipdp.grid.Fixed([0.0])])
def test_answers_to_other_questions_are_not_taken(context, grid):
    stream = rows()
    own = RemoteEngine(Model())
    pdp = ipdp.IncrementalPDP(own, ["a"], grid=grid, seed=1)
    own.connect(context)
    own.ahead(pdp, stream, None, None)
    explained(pdp, stream, 1, 700)  # not what was announced
    plain = ipdp.IncrementalPDP(Model(), ["a"], grid=grid, seed=1)
    explained(plain, stream, 1, 700)
    np.testing.assert_allclose(pdp.curve("a").average, plain.curve("a").average, rtol=1e-12)


def test_another_model_has_other_answers(context):
    stream = rows()
    own = RemoteEngine(lambda x: 1.0)
    pdp = ipdp.IncrementalPDP(own, ["a"], alpha=None, grid=ipdp.grid.Fixed([0.0]), n_past=0)
    own.connect(context)
    own.ahead(pdp, stream, None, None)
    own.replace(lambda x: 3.0)
    explained(pdp, stream, 0, 700)
    assert pdp.curve("a").average.tolist() == [[3.0]]
    assert own.description.endswith(", on Spark")


def booster():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    return HistGradientBoostingRegressor(max_iter=10).fit(X, X[:, 0] * X[:, 2])


@pytest.mark.parametrize("model", [booster, Model])
def test_a_quick_model_is_asked_here_about_many_at_a_time(context, monkeypatch, model):
    monkeypatch.setattr(remote, "_WORTH", 1.0)
    monkeypatch.setattr(remote, "_NOTING", -1.0)
    stream = [{**x, "c": float(x["c"] == "x")} for x in rows()]
    own, plain = RemoteEngine(model()), ipdp.IncrementalPDP(model(), seed=1)
    pdp, sizes, ice = ipdp.IncrementalPDP(own, seed=1), [], own.local.ice
    own.connect(context)
    own.ahead(pdp, stream[:300], None, None)
    explained(pdp, stream, 0, 300)
    monkeypatch.setattr(own.local, "ice", lambda *asked: sizes.append(len(asked[0])) or ice(*asked))
    own.ahead(pdp, stream[300:], None, None)
    explained(pdp, stream, 300, 700)
    explained(plain, stream, 0, 700)
    assert sum(sizes) == 400  # each observation once
    assert len(sizes) < 100
    assert context.tasks == []
    assert pdp.state_bytes() == plain.state_bytes()


@pytest.mark.parametrize(
    ("call", "each", "way"),
    [(90e-6, 5e-6, "TOGETHER"), (15e-6, 80e-6, "ALONE"), (50e-6, 401e-6, "WORKERS")],
)
def test_the_cheapest_way(monkeypatch, call, each, way):
    spent = [0.0]
    monkeypatch.setattr(remote.time, "thread_time", lambda: spent[0])

    class Timed:
        def ice(self, observations, probes, positions):
            assert len(observations) == len(positions)
            spent[0] += call + each * len(observations)

    question = remote.Question([{"a": 1.0}] * 300, (), np.zeros((300, 1, 1)))
    assert remote._cheapest(Timed(), question).name == way


@pytest.mark.parametrize(("each", "jobs"), [(399e-6, []), (401e-6, [3, 3])])
def test_a_quick_model_is_asked_here(context, monkeypatch, each, jobs):
    monkeypatch.setattr(remote, "_WORTH", 400e-6)
    stream, spent = rows(), [0.0]
    monkeypatch.setattr(remote.time, "thread_time", lambda: spent[0])

    def model(x):
        spent[0] += each
        return x["a"]

    own = RemoteEngine(model)
    pdp = ipdp.IncrementalPDP(own, ["a"], grid=ipdp.grid.Fixed([0.0]), n_past=0)
    own.connect(context)
    for start in (0, 300):
        own.ahead(pdp, stream[start : start + 300], None, None)
        explained(pdp, stream, start, start + 300)
    assert context.tasks == jobs
    own.replace(model)
    assert own._way is None  # another one may take longer
