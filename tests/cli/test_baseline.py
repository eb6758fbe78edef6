"""`ipdp baseline`, `ipdp run --baseline` and `ipdp run --challenger`."""

from __future__ import annotations

import json

import numpy as np
import pytest

MODEL = "river.linear_model.LinearRegression()"


@pytest.fixture
def tables(tmp_path):
    """Training data, and the same with another column."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(400, 2)).round(4)
    lines = [f"{a},{b},{2 * a + b}" for a, b in z]
    (tmp_path / "train.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    (tmp_path / "other.csv").write_text("\n".join(["a,c,y", *lines]) + "\n")
    return tmp_path


def test_a_run_against_the_baseline_of_an_empty_model(ipdp, tables):
    base, train = tables / "base.ipdp", tables / "train.csv"
    answer = ipdp("baseline", MODEL, train, "--target", "y", "-o", base)
    assert answer.code == 0, answer.err
    assert "2 features of 400 rows" in answer.out
    run = ["run", "--model", MODEL, "--data", train, "--target", "y", "--baseline", base]
    answer = ipdp(*run, "--out", tables / "live", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)["baseline"]
    # The model of the run learns, that of the baseline had not: both features matter now.
    assert {d["feature"]: d["verdict"] for d in found["differences"]}["a"] == "different"


def test_a_baseline_does_not_take_the_place_of_its_data(ipdp, tables):
    train = tables / "train.csv"
    before = train.read_bytes()
    answer = ipdp("baseline", MODEL, train, "--target", "y", "-o", train)
    assert answer.code == 2
    assert "is read here, and would be lost" in answer.err
    assert train.read_bytes() == before


def test_other_features_are_refused(ipdp, tables):
    base = tables / "base.ipdp"
    ipdp("baseline", MODEL, tables / "train.csv", "--target", "y", "-o", base)
    run = ["run", "--model", MODEL, "--data", tables / "other.csv", "--target", "y"]
    answer = ipdp(*run, "--baseline", base, "--out", tables / "live", "--quiet")
    assert answer.code == 2
    assert "the baseline is of other features: what is compared with it lacks b" in answer.err
    assert not (tables / "live").exists()  # refused before the first snapshot


def test_other_outputs_are_refused(ipdp, tables):
    import skops.io
    from sklearn.linear_model import LinearRegression, LogisticRegression

    X = np.random.default_rng(1).normal(size=(60, 2))
    skops.io.dump(LinearRegression().fit(X, X[:, 0]), tables / "line.skops")
    skops.io.dump(LogisticRegression().fit(X, X[:, 0] > 0), tables / "classes.skops")
    base, data = tables / "base.ipdp", [tables / "train.csv", "--target", "y"]
    assert ipdp("baseline", tables / "line.skops", *data, "-o", base).code == 0
    run = ["run", "--model", tables / "classes.skops", "--data", *data, "--metric", "none"]
    answer = ipdp(*run, "--baseline", base, "--out", tables / "live", "--quiet")
    assert answer.code == 2
    assert "the baseline is of other outputs: prediction, not False, True" in answer.err
    assert not (tables / "live").exists()


def test_a_column_more_is_refused_at_the_first_curves(ipdp, tables):
    base, run = tables / "base.ipdp", ["run", "--model", MODEL, "--target", "y"]
    train = tables / "train.csv"
    ipdp("baseline", MODEL, train, "--target", "y", "--drop", "b", "-o", base)
    answer = ipdp(*run, "--data", train, "--baseline", base, "--out", tables / "live", "--quiet")
    assert answer.code == 2
    assert "what is compared with it has b more" in answer.err


def test_warnings_are_lines_without_a_place_in_the_code(start, tables):
    header, *lines = (tables / "train.csv").read_text().splitlines()
    named = [f"o{k:04d},{line}" for k, line in enumerate(lines)]
    (tables / "named.csv").write_text("\n".join([f"id,{header}", *named]) + "\n")
    (tables / "lines.py").write_text("def make():\n    return lambda x: 2 * x['a']\n")
    given = ["baseline", "lines:make", "named.csv", "--target", "y"]
    _, err = start(*given, cwd=tables).communicate()
    looks = "'id' looks like an id (text that is always another one)"
    assert err == f"ipdp: {looks}: left out as long as that is so\n"
    assert start(*given, "--quiet", cwd=tables).communicate() == ("", "")


def test_a_classifier_that_has_learnt_nothing_has_no_baseline(ipdp, tables):
    model = "river.tree.HoeffdingTreeClassifier()"
    answer = ipdp("baseline", model, tables / "train.csv", "--target", "y")
    assert answer.code == 2
    assert "a baseline is of one that has learnt" in answer.err


def test_no_baseline(ipdp, tables):
    run = ["run", "--model", MODEL, "--data", tables / "train.csv", "--target", "y"]
    answer = ipdp(*run, "--baseline", tables / "train.csv", "--out", tables / "live")
    assert answer.code == 2
    assert "not a state of ipdp" in answer.err
    assert not (tables / "live").exists()


@pytest.mark.filterwarnings("default:the challenger")
def test_a_challenger_is_compared_at_the_end(ipdp, tables):
    other = "river.dummy.StatisticRegressor(river.stats.Mean())"
    run = ["run", "--model", MODEL, "--data", tables / "train.csv", "--target", "y"]
    answer = ipdp(*run, "--challenger", other, "--out", tables / "live")
    assert answer.code == 0, answer.err
    assert "Comparison of challenger with model" in answer.out
    assert "has learnt nothing, and a challenger does not learn" in " ".join(answer.err.split())
    # The model learned slopes of 2 and 1 on the way, the challenger stays as it is.
    assert any(line.split()[:1] == ["a"] for line in answer.out.splitlines()), answer.out
    assert "both models were asked about the same rows" in answer.out
    shown = ipdp("show", tables / "live")
    assert "Comparison of challenger with model" in shown.out
    assert "challenger: prediction" not in shown.out
    told = json.loads(ipdp("show", tables / "live", "--json").out)["challengers"]
    assert list(told) == ["challenger"]
    assert told["challenger"]["names"] == ["model", "challenger"]


def test_types_of_a_file_are_trusted_by_name(ipdp, tables, monkeypatch):
    import skops.io
    from sklearn.ensemble import HistGradientBoostingRegressor

    X = np.random.default_rng(1).normal(size=(60, 2))
    model = HistGradientBoostingRegressor(max_iter=2).fit(X, X[:, 0])
    skops.io.dump(model, tables / "model.skops")
    given = ["baseline", tables / "model.skops", tables / "train.csv", "--target", "y"]
    monkeypatch.setattr("sys.argv", ["ipdp", *map(str, given)])
    answer = ipdp(*given, "-o", tables / "trusted.ipdp")
    assert answer.code == 2
    again = answer.err.split("If you trust them: ipdp baseline ")[1]
    [trust] = [word for word in again.split() if word.startswith("--trust=")]
    answer = ipdp(*given, "-o", tables / "trusted.ipdp", trust)
    assert answer.code == 0, answer.err
    assert (tables / "trusted.ipdp").exists()
