"""`ipdp run` and `ipdp resume`, in one process."""

from __future__ import annotations

import csv
import json
import random

import numpy as np
import pandas as pd
import pytest
import skops.io
from river import metrics, tree
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, SGDClassifier

import ipdp as library
from ipdp.log import LogReader, Retention
from ipdp.runs import RunConfig

MODEL = "river.tree.HoeffdingTreeClassifier(grace_period=50)"


@pytest.fixture
def loans(tmp_path):
    """A CSV file of loans."""
    path = tmp_path / "loans.csv"
    rows = library.datasets.AgrawalDrift(position=10**9, seed=7).take(400)
    lines = ["age,salary,elevel,granted"]
    lines += [f"{x['age']},{x['salary']},{x['elevel']},{y}" for x, y in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_it_is_what_the_library_gives(loans, tmp_path, ipdp):
    out = tmp_path / "run"
    answer = ipdp(
        "run", "--data", loans, "--target", "granted", "--model", MODEL, "--out", out, "--json"
    )
    assert answer.code == 0
    model = tree.HoeffdingTreeClassifier(grace_period=50)
    pdp = library.IncrementalPDP(model, seed=42)
    accuracy = metrics.Accuracy()
    stream = library.datasets.AgrawalDrift(position=10**9, seed=7)
    for row, y in stream.take(400):
        x = {name: row[name] for name in ("age", "salary", "elevel")}
        if (predicted := model.predict_one(x)) is not None:
            accuracy.update(y, predicted)
        pdp.explain_one(x)
        model.learn_one(x, y)
    came = json.loads(answer.out)
    assert came["n"] == 400
    assert came["state"] == "ended"
    assert came["scores"] == {"Accuracy": accuracy.get(), "Accuracy_1000": accuracy.get()}
    assert came["out"] == str(out)
    with LogReader(out) as reader:
        curves = reader.at(400)
        assert reader.settings["command"]["data"] == str(loans.resolve())
    for name in ("age", "salary", "elevel"):
        # To rounding: how a tree is walked depends on what else was asked of it.
        np.testing.assert_allclose(curves[name].smoothed, pdp.curve(name).average, rtol=1e-13)


def test_what_it_says(loans, tmp_path, ipdp):
    out = tmp_path / "a [run]"
    arguments = ["run", "--data", loans, "--target", "granted", "--model", MODEL, "--out", out]
    answer = ipdp(*arguments)
    assert answer.code == 0
    first, last = answer.out.splitlines()
    assert first.startswith("400 observations in ")
    assert "of it explaining, Accuracy 0." in first
    shown = f"'{out}'"
    assert last == f"Look at it: ipdp show {shown}, ipdp watch {shown}, ipdp report {shown}"
    answer = ipdp(*arguments)
    assert answer.code == 2
    assert answer.err == (
        f"ipdp: {out} holds a run: go on with it (ipdp resume {out}), choose another directory "
        "(--out), or begin anew in it (--overwrite)\n"
    )


def test_quiet(loans, tmp_path, ipdp):
    arguments = ["--data", loans, "--target", "granted", "--model", MODEL, "--out", tmp_path / "r"]
    answer = ipdp("run", *arguments, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


@pytest.fixture
def fitted_by_name(tmp_path):
    """A file with a forest that knows the names of its columns, and a table of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["age", "pay"])
    forest = RandomForestRegressor(3, random_state=0).fit(X, X["age"] + 2 * X["pay"])
    skops.io.dump(forest, tmp_path / "model.skops")
    arguments = ["--target", "y", "--model", tmp_path / "model.skops", "--no-learn"]
    arguments += ["--trust", "sklearn.tree._tree.Tree", "--out", tmp_path / "run"]
    return X.assign(y=X["age"] + 2 * X["pay"]), arguments


def test_a_table_without_a_column_of_the_model_is_refused(fitted_by_name, tmp_path, ipdp):
    X, arguments = fitted_by_name
    X.rename(columns={"pay": "Pay"}).to_csv(tmp_path / "x.csv", index=False)
    answer = ipdp("run", "--data", tmp_path / "x.csv", *arguments)
    assert answer.code == 2
    assert "was fitted on 'pay' (did you mean 'Pay'?)" in answer.err


@pytest.mark.filterwarnings("default")
def test_a_column_that_the_model_does_not_know_is_left_out(fitted_by_name, tmp_path, ipdp):
    X, arguments = fitted_by_name
    X.assign(note=[f"n{k % 7}" for k in range(60)]).to_csv(tmp_path / "x.csv", index=False)
    answer = ipdp("run", "--data", tmp_path / "x.csv", *arguments)
    assert answer.code == 0, answer.err
    assert answer.err.count("'note'") == 1
    with LogReader(tmp_path / "run") as reader:  # a newer Python warns of what is left open
        assert reader.features == ["age", "pay"]


def test_a_frozen_model_from_a_file(loans, tmp_path, ipdp):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    skops.io.dump(LogisticRegression().fit(X, X[:, 0] > 0), tmp_path / "model.skops")
    answer = ipdp(
        "run", "--data", loans, "--drop", "granted", "--model", tmp_path / "model.skops",
        "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["scores"] == {}


class Own(SGDClassifier):
    """A class that skops does not know."""


@pytest.mark.filterwarnings("always:the model cannot be kept:RuntimeWarning")
@pytest.mark.parametrize("kind", [SGDClassifier, Own])
def test_a_learning_model_of_scikit_learn_goes_on(kind, loans, tmp_path, ipdp):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    model = kind(loss="log_loss", random_state=0).partial_fit(X, X[:, 0] > 0, classes=[0, 1])
    skops.io.dump(model, tmp_path / "model.skops")
    own = [] if kind is SGDClassifier else ["--trust", f"{Own.__module__}.{Own.__qualname__}"]
    arguments = ["run", "--data", loans, "--target", "granted", *own, "--features", "age"]
    arguments += ["--model", tmp_path / "model.skops", "--learn", "--grid", "MinMax(3)"]
    whole = ipdp(*arguments, "--limit", "200", "--out", tmp_path / "whole", "--json")
    assert ipdp(*arguments, "--limit", "90", "--out", tmp_path / "run").code == 0
    again = ipdp(*arguments, "--limit", "200", "--out", tmp_path / "run", "--resume", "--json")
    assert again.code == 0, again.err
    for name in ("n", "state", "scores", "n_changes"):
        assert json.loads(again.out)[name] == json.loads(whole.out)[name]
    with LogReader(tmp_path / "whole") as one, LogReader(tmp_path / "run") as other:
        assert one.at(200)["age"].to_dict() == other.at(200)["age"].to_dict()
    said = "ipdp: the model cannot be kept in skops's format (skops does not trust "
    warned = [line for line in again.err.splitlines() if line.startswith(said)]
    assert len(warned) == (kind is Own)


def test_resume_ends_as_the_uninterrupted_run(tmp_path, ipdp):
    arguments = ["run", "--data", "agrawal?n_samples=900&position=300", "--model", MODEL]
    arguments += ["--features", "age,salary", "--quiet", "--checkpoint-every", "100"]
    assert ipdp(*arguments, "--out", tmp_path / "whole").code == 0
    assert ipdp(*arguments, "--out", tmp_path / "parts", "--limit", "250").code == 0
    # As if it had been killed at 250, with the limit lifted.
    config = RunConfig.from_run(tmp_path / "parts", limit=None)
    with config.assemble(resume=True) as run:
        assert [event.n for event in run][-1] == 900
    with LogReader(tmp_path / "whole") as whole, LogReader(tmp_path / "parts") as parts:
        assert [info.n for info in whole.snapshots()] == [info.n for info in parts.snapshots()]
        for name, curve in whole.at(900).items():
            np.testing.assert_array_equal(curve.average, parts.at(900)[name].average)


def test_resume_of_an_ended_run_changes_nothing(tmp_path, ipdp):
    arguments = ["run", "--data", "agrawal?n_samples=200", "--model", MODEL, "--quiet"]
    out = tmp_path / "run"
    assert ipdp(*arguments, "--out", out).code == 0
    with LogReader(out) as reader:
        before = [(info.n, info.reason) for info in reader.snapshots()]
    answer = ipdp("resume", out, "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["n"] == 200
    with LogReader(out) as reader:
        assert [(info.n, info.reason) for info in reader.snapshots()] == before


def test_a_pickled_model_wants_leave_again(tmp_path, ipdp):
    out = tmp_path / "run"
    arguments = ["run", "--data", "agrawal?n_samples=200", "--model", MODEL, "--quiet"]
    assert ipdp(*arguments, "--out", out, "--allow-pickle").code == 0
    answer = ipdp("resume", out)
    assert answer.code == 2
    assert "a pickle can run any code" in answer.err
    assert ipdp("resume", out, "--allow-pickle", "--quiet").code == 0


def test_skipped_records_are_counted(loans, tmp_path, ipdp):
    loans.write_text(loans.read_text() + "old,1,1,1\n1,2\n30,40000,2,1\n")
    arguments = ["run", "--data", loans, "--target", "granted", "--model", MODEL]
    answer = ipdp(*arguments, "--out", tmp_path / "a")
    assert answer.code == 2
    assert "loans.csv, line 402: age: 'old' is not a number" in answer.err.splitlines()[-1]
    answer = ipdp(*arguments, "--out", tmp_path / "b", "--on-error", "skip")
    assert answer.code == 0
    assert answer.out.splitlines()[1] == "2 records were skipped."


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "model",
    [
        "river.tree.HoeffdingTreeClassifier(grace_period=20)",
        "river.forest.ARFClassifier(n_models=2, seed=1)",
        "river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression()",
        "river.naive_bayes.GaussianNB()",
    ],
)
def test_empty_cells_are_left_out_for_river(model, tmp_path, ipdp):
    rng = random.Random(1)
    rows = [[rng.random(), rng.random(), rng.random()] for _ in range(300)]
    for k in (0, 40, 200):
        rows[k][k % 3] = ""
    lines = [f"{a},{b},{c},{k % 2}" for k, (a, b, c) in enumerate(rows)]
    (tmp_path / "gaps.csv").write_text("\n".join(["a,b,c,y", *lines]))
    given = ["--data", tmp_path / "gaps.csv", "--target", "y", "--explainers", "pdp,pfi"]
    answer = ipdp("run", *given, "--model", model, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("300 observations")
    assert (
        answer.err.count("features that are None are left out of what a model of river gets") == 1
    )


def test_what_failed_at_once_can_be_tried_again(loans, tmp_path, ipdp):
    text = loans.read_text()
    first, rest = text.split("\n", 2)[:2], text.split("\n", 2)[2]
    loans.write_text("\n".join([*first, "old,1,1,1", rest]))
    arguments = ["run", "--data", loans, "--target", "granted", "--model", MODEL]
    arguments += ["--out", tmp_path / "run", "--quiet"]
    assert "line 3: age: 'old' is not a number" in ipdp(*arguments).err
    loans.write_text(text)
    assert ipdp(*arguments).code == 0
    with LogReader(tmp_path / "run") as reader:
        assert (reader.status.state, reader.status.n) == ("ended", 400)
        assert reader.verify() == []


def test_several_explainers(tmp_path, ipdp):
    out = tmp_path / "run"
    given = ["run", "--data", "agrawal?n_samples=300", "--model", MODEL, "--out", out, "--quiet"]
    assert ipdp(*given, "--explainers", "pdp,pfi", "--features", "age,age*salary").code == 0
    shown = ipdp("show", out).out
    below = shown.partition("\npfi:")[2]
    assert "age*salary" in below
    assert "importance" in below
    answer = ipdp("export", out, tmp_path / "table.csv", "--what", "importances")
    assert answer.code == 0, answer.err
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert {row["explainer"] for row in rows} == {"pdp", "pfi"}
    assert ipdp("resume", out, "--quiet").code == 0


def test_regions(tmp_path, ipdp, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, data = tmp_path / "run", tmp_path / "data.csv"
    draws = random.Random(5)
    lines = [f"{draws.gauss(0, 1):.3f},{draws.choice(['up', 'down'])}" for _ in range(400)]
    data.write_text("\n".join(["a,b", *lines]))
    (tmp_path / "turned.py").write_text("model = lambda x: x['a'] * (1 if x['b'] == 'up' else -1)")
    given = ["--model", "turned:model", "--explainers", "regions", "--out", out]
    answer = ipdp("run", "--data", data, *given, "--quiet")
    assert answer.code == 0, answer.err
    shown = ipdp("show", out).out
    assert "a, where b = down" in shown
    assert "% of what the model does." in shown
    assert ipdp("report", out, "--out", tmp_path / "report.html").code == 0
    assert "a, where b = up" in (tmp_path / "report.html").read_text()


def test_segments(tmp_path, ipdp, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, data = tmp_path / "run", tmp_path / "data.csv"
    draws = random.Random(5)
    lines = [f"{draws.gauss(0, 1):.3f},{draws.choice(['AT', 'DE', ''])}" for _ in range(300)]
    data.write_text("\n".join(["a,country", *lines]))
    (tmp_path / "sums.py").write_text("model = lambda x: sum(x.values())")
    given = ["--model", "sums:model", "--by", "country", "--out", out]
    answer = ipdp("run", "--data", data, *given, "--quiet")
    assert answer.code == 0, answer.err
    shown = ipdp("show", out).out
    for group in ("AT", "DE", "missing"):
        assert f"a, where country = {group}" in shown
    assert ipdp("report", out, "--out", tmp_path / "report.html").code == 0
    assert "a, where country = AT" in (tmp_path / "report.html").read_text()
    assert ipdp("resume", out, "--quiet", "--trust-run").code == 0
    answer = ipdp("run", "--data", data, *given, "--overwrite", "--quiet", "--explainers", "ale")
    assert answer.code == 2
    assert "--by is for the curves of pdp" in answer.err


@pytest.mark.filterwarnings("default:the challenger")
def test_the_scale_of_log_odds(tmp_path, ipdp):
    """From a run to page, document, comparison and resume: nowhere is it called a chance."""
    out, model = tmp_path / "run", "river.naive_bayes.GaussianNB()"
    given = ["--data", "agrawal?n_samples=300", "--model", model, "--features", "age,salary"]
    given += ["--link", "logit", "--challenger", "river.tree.HoeffdingTreeClassifier()"]
    answer = ipdp("run", *given, "--out", out, "--limit", "250", "--quiet")
    assert answer.code == 0, answer.err
    shown = ipdp("show", out).out
    assert "log-odds of 1" in shown
    assert "chance" not in shown
    assert ipdp("report", out, "--out", tmp_path / "report.html").code == 0
    assert "log-odds of 1" in (tmp_path / "report.html").read_text()
    with LogReader(out) as reader:
        curves = reader.at(200).values()
        assert {curve.link for curve in curves} == {"logit"}
        assert min(curve.average.min() for curve in curves) < 0
    assert ipdp("diff", out, "--at", "100", "--against", "200").code in (0, 1)
    base = tmp_path / "base.ipdp"
    other = "river.linear_model.LogisticRegression()"
    table = ["agrawal?n_samples=50", "-o", base, "--drop", "elevel,car,zipcode"]
    assert ipdp("baseline", other, *table, "--link", "log").code == 0
    answer = ipdp("run", *given, "--out", tmp_path / "other", "--baseline", base, "--quiet")
    assert answer.code == 2
    assert "both sides must have one scale: the baseline has link=log" in answer.err
    answer = ipdp("run", *given, "--out", tmp_path / "pfi", "--explainers", "pfi", "--quiet")
    assert answer.code == 2
    assert "--link is for curves" in answer.err
    answer = ipdp("baseline", other, *table, "--link", "probit")
    assert "link must be one of logit, log" in answer.err


def test_a_budget_and_metrics_for_prometheus(tmp_path, ipdp):
    answer = ipdp(
        "run", "--data", "agrawal?n_samples=300", "--model", MODEL, "--budget", "0.3",
        "--prometheus", "0", "--out", tmp_path / "run", "--metric", "Accuracy + F1",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert "Metrics for Prometheus: http://127.0.0.1:" in answer.err
    assert ", Accuracy 0." in answer.out
    assert ", F1 0." in answer.out


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ([], Retention()),
        (["--retention", "500"], Retention(recent=500)),
        (["--retention", "none"], None),
    ],
)
def test_old_snapshots_are_thinned_out_unless_one_says_no(given, rule, ipdp, tmp_path):
    arguments = ["run", "--data", "agrawal?n_samples=30", "--model", MODEL, "--quiet"]
    assert ipdp(*arguments, "--out", tmp_path / "run", *given).code == 0
    for _ in range(2):
        with library.Log(tmp_path / "run") as log:
            assert log.retention == rule
        assert ipdp("resume", tmp_path / "run", "--quiet").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the settings: data is missing: give --data FILE, or data = ... in the file"),
        (
            ["--data", "elec2"],
            'model is missing: give --model "river.forest.ARFClassifier(seed=42)" or another one, ',
        ),
        (["--alpha", "much"], "--alpha: alpha: input should be a valid number"),
        (["--every", "2.5"], "--every: every: input should be a valid integer"),
        (["--on-error", "ignore"], "--on-error: on_error: input should be 'raise' or 'skip'"),
        (["--types", "zip"], "--types: types must be written column=type"),
        (["--types", "zip=number,b=int"], "--types: types.b: input should be 'number', 'bool' or"),
        (["--alpha", "7"], "alpha must be in (0, 1]"),
        (["--grid", "MinMx(5)"], "there is no 'MinMx'; did you mean 'MinMax'?"),
        (["--grid", "river.tree.HoeffdingTreeClassifier()"], "is not a grid of ipdp.grid"),
        (["--metric", "Acuracy"], "there is no 'Acuracy'; did you mean 'Accuracy'?"),
        (["--metric", "river.tree.HoeffdingTreeClassifier"], "is not a metric of river"),
        (["--metric", "MAE"], "the metric MAE does not suit"),
        (["--model", "river.tree.HoeffdingTreClassifier()"], "river.tree has no 'HoeffdingTreCl"),
        (["--model", "model.pkl"], "model.pkl is a pickle, which runs whatever code is in it"),
        (["--model", "absent.pkl"], "there is no file absent.pkl"),
        (["--data", "nothing.csv"], "nothing.csv cannot be read: No such file or directory"),
        (["--data", "elec3"], "elec3 is neither a file that is there nor a data set; did you mean"),
        (["--data", "river.metrics.Accuracy()"], "is not a data set"),
        (["--target", "y"], "has a target of its own: give none"),
        (["--features", "agee"], "agee"),
        (["--limit", "0"], "limit must be a whole number of at least 1"),
        (["--budget", "0.2", "--every", "3"], "give a budget, or an explainer with every=3"),
        (["--config", "absent.toml"], "absent.toml cannot be read: No such file or directory"),
        (["--prometheus", "99999"], "a port is a number from 0 to 65535, got 99999"),
        (["--out", "taken.txt"], "taken.txt"),
    ],
)
def test_errors_are_one_sentence(arguments, sentence, ipdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.txt").write_text("not a directory")
    (tmp_path / "model.pkl").write_bytes(b"")
    given = arguments
    if arguments not in ([], ["--data", "elec2"]):
        for name, value in (("--data", "agrawal?n_samples=50"), ("--model", MODEL)):
            given = given if name in given else [name, value, *given]
    answer = ipdp("run", *given, "--quiet")
    assert answer.code == 2
    (line,) = answer.err.splitlines()
    assert line.startswith("ipdp: ")
    assert sentence in line
    assert answer.out == ""


def test_debug_shows_the_traceback(ipdp):
    with pytest.raises(ValueError, match="neither a file"):
        ipdp("run", "--data", "elec3", "--model", MODEL, "--debug")


def test_a_model_that_learns_needs_labels(loans, ipdp, tmp_path):
    arguments = ["run", "--data", loans, "--model", MODEL, "--out", tmp_path / "run", "--quiet"]
    answer = ipdp(*arguments)
    assert answer.code == 2
    assert (
        "name their column with --target (the columns are age, salary, elevel and granted)"
        in answer.err
    )
    assert ipdp(*arguments, "--no-learn", "--no-monitor").code == 0


@pytest.mark.parametrize("content", ["a,y\n", "a,y\n1\n2\n"])
def test_no_observations(content, ipdp, tmp_path):
    (tmp_path / "rows.csv").write_text(content)
    answer = ipdp(
        "run", "--data", tmp_path / "rows.csv", "--target", "y", "--model", MODEL,
        "--out", tmp_path / "run", "--on-error", "skip", "--quiet",
    )  # fmt: skip
    assert answer.code == 2
    assert "rows.csv holds no observations" in answer.err
    assert ("2 skipped, the last: " in answer.err) == ("1" in content)


def test_resume_of_what_is_no_run(ipdp, tmp_path):
    assert "there is no log" in ipdp("resume", tmp_path).err
    with library.Log(tmp_path / "log.db") as log:
        log.begin({})
    answer = ipdp("resume", tmp_path)
    assert answer.code == 2
    assert "was not made by `ipdp run`" in answer.err
