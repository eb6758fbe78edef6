"""Any explainers in a run: their names, and where their results go."""

from __future__ import annotations

import random

import numpy as np
import pytest
from river import metrics, tree

import ipdp
from ipdp.log import LogReader
from ipdp.runs import Run, Snapshotted

from .conftest import rows
from .endings import assert_same


def two_of(model):
    pdp = ipdp.IncrementalPDP(model, ["a", "b"], alpha=0.05, grid={"b": ipdp.grid.Quantiles(3)})
    return pdp, ipdp.IncrementalPFI(model, ["a", ("a", "b")], loss=metrics.Accuracy(), seed=1)


def test_the_results_of_all_explainers_are_reported_and_logged(make, tmp_path):
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    pdp, pfi = two_of(model)
    run = make(model=model, pdp=[pdp, pfi], log=tmp_path)
    last = [event for event in run if isinstance(event, Snapshotted)][-1]
    assert list(last.results) == ["pdp", "pfi"]
    assert last.results["pfi"] == pfi.results()
    assert list(last.curves) == ["a", "b"]
    with LogReader(tmp_path) as log:
        assert log.explainers == ["pdp", "pfi"]
        assert log.at(400, "pfi") == pfi.results()
        assert np.array_equal(log.at(400)["a"].average, last.curves["a"].average)
        assert np.array_equal(last.curves["a"].smoothed, pdp.curve("a").average)
        assert [n.tolist() for n, _ in log.importances(explainer="pfi").values()] == [
            [*range(50, 401, 50)]
        ] * 2
        kept = log.settings["explainers"]
        assert kept["pfi"]["features"] == ["a", ["a", "b"]]
        assert kept["pdp"]["alpha"] == 0.05
        assert kept["pdp"]["kind"] == "IncrementalPDP"
        assert kept["pfi"]["title"] == "permutation importance"
        assert log.verify() == []


def turned(x):
    return x["a"] if x["b"] == "up" else -x["a"]


def turned_rows(n):
    draws = random.Random(3)
    return [({"a": draws.gauss(0, 1), "b": draws.choice(["up", "down"])}, 0.0) for _ in range(n)]


def test_regions_are_logged_and_go_on_after_a_stop(tmp_path):
    names = {"a", "b", "a, where b = up", "a, where b = down"}
    whole, parts = (ipdp.IncrementalRegions(turned, alpha=0.01) for _ in range(2))
    settings = {"learn": False, "snapshot_every": 100}
    ipdp.run(turned_rows(500), turned, whole, log=tmp_path / "whole", **settings)
    settings |= {"log": tmp_path / "log", "checkpoint": tmp_path / "run.ipdp"}
    ipdp.run(turned_rows(230), turned, parts, **settings)
    again = ipdp.IncrementalRegions(turned, alpha=0.01)
    ipdp.run(turned_rows(500), turned, again, resume=True, **settings)
    with LogReader(tmp_path / "whole") as one, LogReader(tmp_path / "log") as other:
        assert names <= set(one.at(500))
        assert set(one.at(500)) == set(other.at(500))
        for name, curve in one.at(500).items():
            assert_same(other.at(500)[name].average.tolist(), curve.average.tolist())
            assert curve.explained > 0.99
        assert one.verify() == []


def test_explainers_have_names(make):
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    pdp, pfi = two_of(model)
    assert list(make(model=model, pdp=(pfi, pdp)).explainers) == ["pfi", "pdp"]
    assert list(make(model=model, pdp=[pdp, pfi, pdp]).explainers) == ["pdp", "pfi", "pdp_3"]
    named = make(model=model, pdp={"slow": pdp, "fast": two_of(model)[0]})
    list(named)
    assert list(named.results) == ["slow", "fast"]
    assert list(named.results["fast"]) == ["a", "b"]


def test_an_explainer_that_needs_labels_can_be_the_only_one(make, tmp_path):
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    _, pfi = two_of(model)
    summary = ipdp.run(rows(), model, pfi, metric=metrics.Accuracy(), log=tmp_path, budget=0.9)
    assert summary.results == {"pfi": pfi.results()}
    assert pfi.n_seen == 400
    with LogReader(tmp_path) as log:
        assert log.explainers == ["pfi"]
        assert log.features == ["a", ("a", "b")]


def test_what_an_explainer_was_called_before(make):
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    pdp, pfi = two_of(model)
    with pytest.warns(DeprecationWarning, match=r"give explainers=\[pdp, pfi\]"):
        run = Run(rows(), model, pdp, pfi=pfi)
    assert run.explainers == {"pdp": pdp, "pfi": pfi}
    with pytest.warns(DeprecationWarning, match="give explainers"):
        run = Run(rows(), model, pdp=pdp)
    with pytest.warns(DeprecationWarning, match="it is run.explainers"):
        assert run.pdp is pdp
    with pytest.raises(AttributeError, match="no 'nonsense'"):
        _ = run.nonsense


@pytest.mark.parametrize(
    ("given", "sentence"),
    [(None, "a run needs an explainer"), ([], "a run needs an explainer"), (3, "got 3")],
)
def test_what_is_no_explainer_is_refused(given, sentence):
    with pytest.raises(TypeError, match=sentence):
        Run(rows(), lambda x: x["a"], given)


def test_segments_are_logged_and_go_on_after_a_stop(tmp_path):
    names = {"a", "a, where b = up", "a, where b = down"}
    whole, parts = (ipdp.IncrementalPDP(turned, ["a"], alpha=0.01, by="b") for _ in range(2))
    settings = {"learn": False, "snapshot_every": 100}
    ipdp.run(turned_rows(400), turned, whole, log=tmp_path / "whole", **settings)
    settings |= {"checkpoint": tmp_path / "parts", "log": tmp_path / "parts"}
    ipdp.run(turned_rows(250), turned, parts, **settings)
    again = ipdp.IncrementalPDP(turned, ["a"], alpha=0.01, by="b")
    ipdp.run(turned_rows(400), turned, again, resume=True, **settings)
    with LogReader(tmp_path / "whole") as one, LogReader(tmp_path / "parts") as other:
        assert set(one.at(400)) == set(other.at(400)) == names
        for name in names:
            np.testing.assert_allclose(one.at(400)[name].average, other.at(400)[name].average)


def test_groups_and_a_scale_without_an_explainer():
    def model(x):
        return {"no": 0.9, "yes": 0.1} if x["b"] == "u" else {"no": 0.5, "yes": 0.5}

    stream = [{"a": random.Random(k).random(), "b": "uv"[k % 2]} for k in range(100)]
    came = ipdp.run(stream, model, by="b", link="logit", learn=False)
    found = came.results["pdp"]["a, where b = u"]
    np.testing.assert_allclose(found.select("yes").average, np.log(1 / 9), atol=1e-9)
    with pytest.raises(TypeError, match="give by and link to the explainer"):
        ipdp.run(stream, model, ipdp.IncrementalPDP(model), by="b")
