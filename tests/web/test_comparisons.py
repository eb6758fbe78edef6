"""What the page is told of two times, two runs, or a model and its challenger."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.web.logs import curves_at, write_run

import ipdp
from ipdp.comparison import paired
from ipdp.log import Log, LogReader
from ipdp.web import comparisons, make_app


@pytest.fixture
def run(tmp_path):
    write_run(tmp_path / "runs/february", 1500)
    return write_run(tmp_path / "runs/loans")


def client_of(directory):
    return TestClient(make_app(directory), base_url="http://127.0.0.1:8321")


def asked(run, query, status=200, name="loans"):
    with client_of(run.parent) as client:
        answer = client.get(f"/runs/{name}/comparison.json?{query}")
    assert answer.status_code == status, answer.text
    return answer.json()


def must_say(told, found):
    """The page is told what `ipdp.compare` says, and draws its numbers."""
    assert told["heading"] == found.heading
    assert told["verdict"] == found.verdict
    assert told["remarks"] == found.remarks
    assert [each["sentence"] for each in told["differences"]] == [
        each.summary() for each in found.differences
    ]
    for each, drawn in zip(found.differences, told["differences"], strict=True):
        if len(each.places) > 1:
            assert drawn["places"] == []
            continue
        np.testing.assert_allclose(drawn["shape"], each.shape)
        np.testing.assert_allclose(drawn["half"], each.half)
        np.testing.assert_allclose(drawn["b"], each.b)
        assert drawn["where"] == each.place_text()


def moving(n):
    """A product of two numbers and a category; half of the way the mean of one of them rises."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(n, 2)) + np.outer(np.arange(n) >= n / 2, [1.5, 0.0])
    rows = zip(z.tolist(), rng.choice(["red", "blue"], size=n).tolist(), strict=True)
    return [{"a": a, "b": b, "group": group} for (a, b), group in rows]


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    def model(x):
        return x["a"] * x["b"] + (x["group"] == "red")

    run = tmp_path_factory.mktemp("web") / "runs/moved"
    pdp = ipdp.IncrementalPDP(model, alpha=0.01)
    ipdp.run(moving(2000), model, pdp, learn=False, log=run, snapshot_every=100)
    return run


def test_two_times_are_what_compare_says(moved):
    found = ipdp.compare(moved, at=1000, against=2000)
    assert found["b"].verdict == "different"
    assert found["group"].verdict == "alike"
    told = asked(moved, "a=1000&b=2000", name="moved")
    must_say(told, found)
    assert [each["name"] for each in told["differences"] if each["best"]] == ["a", "b", "group"]
    low, high = told["differences"][1]["parts"][0]
    assert low < high
    assert told["differences"][2]["places"] == ["blue", "red"]


def test_several_outputs_have_one_that_is_first(run):
    differences = asked(run, "a=800&b=2000")["differences"]
    assert [each["best"] for each in differences] == [True] * 4


def test_two_runs(run):
    found = ipdp.compare(run, run.parent / "february", at=800)
    must_say(asked(run, "a=800&run=february"), found)


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("a=x&b=2", 400, "a must be a number of observations"),
        ("a=100&run=absent", 404, "there is no run of that name"),
        ("a=100&challenger=absent", 404, "this run has no challenger of that name"),
        ("a=50&b=800", 422, "50"),
        ("a=100&b=800&explainer=absent", 422, "absent"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(run, query, status, sentence):
    said = asked(run, query, status)["error"]
    assert sentence in said
    assert "\n" not in said
    assert str(run.parent) not in said


def test_a_damaged_log_is_a_sentence_too(run):
    (run / "log.db").write_bytes(b"not a log")
    assert "log" in asked(run, "a=100&b=200", 422)["error"]


def test_curves_without_errors_and_without_a_common_range(tmp_path):
    def bare(curve, n):
        far = curve.grid_values[0] + (1e9 if n > 100 and curve.feature == "age" else 0)
        return replace(curve, std_error=np.full_like(curve.std_error, np.nan), grid_values=[far])

    run = tmp_path / "runs/old"
    with Log(run) as log:
        log.begin({"alpha": 0.01}, ["salary", "age"])
        for n in (100, 200):
            curves = curves_at(n, ["salary", "age"])
            log.snapshot({f: bare(curve, n) for f, curve in curves.items()}, n)
    told = asked(run, "a=100&b=200", name="old")
    assert [each["verdict"] for each in told["differences"]] == ["cannot say", "cannot say"]
    assert "too few observations for an error" in told["differences"][0]["sentence"]
    assert "no common range" in told["differences"][1]["sentence"]


def test_many_pages_cost_one_comparison(run, monkeypatch):
    made = []
    monkeypatch.setattr(
        comparisons, "compare", lambda *a, **k: made.append(a) or ipdp.compare(*a, **k)
    )
    now = [0.0]
    kept = comparisons.Comparisons(clock=lambda: now[0])
    one = comparisons.Asked(run / "log.db", 800, 2000)
    assert kept.answer(one) == kept.answer(one)
    assert len(made) == 1
    for k in range(40):
        kept.answer(comparisons.Asked(run / "log.db", 800, 900 + k))
    kept.answer(one)
    assert len(made) == 42  # no more are kept than there is room for
    now[0] = 61.0  # a log may have been taken back to an earlier time
    kept.answer(one)
    assert len(made) == 43


def test_the_cost_does_not_grow_with_the_run(tmp_path, monkeypatch):
    calls, plain = [], LogReader.at
    monkeypatch.setattr(LogReader, "at", lambda *a: calls.append(a) or plain(*a))
    n_read = []
    for n in (2000, 20_000):
        run = write_run(tmp_path / str(n), n, every=50, features=["salary"], changes=())
        comparisons.Comparisons().answer(comparisons.Asked(run / "log.db", 100, n))
        n_read.append(len(calls))
        calls.clear()
    assert n_read[1] <= n_read[0] + 40


@pytest.fixture
def challenged(tmp_path):
    def model(x):
        return x["a"] + x["b"]

    rng = np.random.default_rng(1)
    stream = [dict(zip("ab", row.tolist(), strict=True)) for row in rng.normal(size=(400, 2))]
    others = {"steep": lambda x: 2 * x["a"] + x["b"], "same": model}
    pdp = ipdp.IncrementalPDP(model, alpha=0.01)
    run = tmp_path / "runs/model"
    options = {"learn": False, "log": run, "snapshot_every": 100, "challengers": others}
    return run, ipdp.run(stream, model, pdp, **options)


def test_a_challenger_is_what_the_paired_test_says(challenged):
    run, came = challenged
    for name in ("steep", "same"):
        told = asked(run, f"challenger={name}", name="model")
        with LogReader(run) as reader:
            results = reader.at(400, f"challenger {name}")
        must_say(told, paired(results, names=("model", name)))
        assert told["verdict"] == came.challengers[name].verdict
    earlier = asked(run, "a=100&challenger=steep", name="model")
    assert earlier["differences"][0]["b"] != came.challengers["steep"]["a"].b.tolist()
    a = earlier["differences"][0]
    np.testing.assert_allclose(np.subtract(a["b"], a["a"]), a["places"], atol=1e-9)


def test_a_challenger_is_no_explainer_of_its_own(challenged):
    run, _ = challenged
    with client_of(run.parent) as client:
        told = client.get("/runs/model.json").json()
        document = client.get("/runs/model.html").text
    assert [one["name"] for one in told["explainers"]] == ["pdp"]
    assert told["challengers"] == ["steep", "same"]
    assert "The challenger steep" in document
    assert "challenger: prediction" not in document
