"""An explainer that ipdp does not know goes through run, log, checkpoint, show, report, metrics."""

from __future__ import annotations

import json

import numpy as np
import pytest
from river import linear_model, preprocessing
from tests.explainers.by_category import MeanByCategory
from typer.testing import CliRunner

import ipdp
from ipdp.checks import check_explainer
from ipdp.cli.app import app
from ipdp.runs import Exporter
from ipdp.runs.prometheus import Metrics
from ipdp.web import write_report

STREAM = [
    ({"colour": ["red", "blue", "green"][k % 3], "size": "SML"[k // 7 % 3]}, k % 3 == 0)
    for k in range(600)
]


def model(x):
    return {"no": 0.2, "yes": 0.8} if x["colour"] == "red" else {"no": 0.6, "yes": 0.4}


def test_it_keeps_the_laws():
    check_explainer(lambda: MeanByCategory(model, alpha=0.05), [x for x, _ in STREAM[:90]])


def test_it_says_what_one_would_compute_by_hand():
    explainer = MeanByCategory(model, alpha=None)
    for x, _ in STREAM:
        explainer.explain_one(x)
    curve = explainer.results()["colour"]
    assert curve.grid_values[0].tolist() == ["blue", "green", "red"]
    assert curve.average == pytest.approx(np.array([[0.6, 0.6, 0.2], [0.4, 0.4, 0.8]]))


class Interrupted(Exception):
    """The stream breaks off."""


def stream(until=None):
    for k, pair in enumerate(STREAM):
        if k == until:
            raise Interrupted
        yield pair


def run(directory, *, until=None, resume=False, listeners=()):
    """A run with the explainer alone, on a model that learns."""
    learner = preprocessing.OneHotEncoder() | linear_model.LogisticRegression()
    return ipdp.run(
        stream(until),
        learner,
        MeanByCategory(learner, alpha=0.02),
        log=directory,
        checkpoint=directory,
        checkpoint_every=100,
        snapshot_every=50,
        resume=resume,
        listeners=listeners,
    )


def curves(directory):
    with ipdp.LogReader(directory) as log:
        assert log.explainers == ["by_category"]
        return {
            info.n: {name: curve.to_dict() for name, curve in log.at(info.n).items()}
            for info in log.snapshots()
        }


def test_a_run_that_was_interrupted_goes_on_as_if_nothing_had_been(tmp_path):
    run(tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(tmp_path / "parts", until=333)
    summary = run(tmp_path / "parts", resume=True)
    assert (summary.state, summary.n) == ("ended", 600)
    assert curves(tmp_path / "parts") == curves(tmp_path / "whole")
    assert set(curves(tmp_path / "whole")[600]) == {"colour", "size"}


def test_show_report_and_metrics_have_its_results(tmp_path):
    metrics = Metrics()
    run(tmp_path, listeners=[Exporter(metrics)])
    lines = [line for line in metrics.text().splitlines() if "ipdp_feature_importance{" in line]
    assert len(lines) == 2
    assert all("by_category" in line for line in lines)
    shown = CliRunner().invoke(app, ["show", str(tmp_path)])
    assert shown.exit_code == 0
    assert "colour" in shown.stdout
    told = json.loads(CliRunner().invoke(app, ["show", str(tmp_path), "--json"]).stdout)
    assert set(told["curves"]) == {"colour", "size"}
    report = tmp_path / "report.html"
    write_report(tmp_path, report)
    page = report.read_text()
    assert "by_category" in page
    assert '"colour"' in page


def test_it_goes_beside_others(tmp_path):
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    own = MeanByCategory(model, alpha=0.05)
    ipdp.run([x for x, _ in STREAM], model, [pdp, own], log=tmp_path, learn=False)
    with ipdp.LogReader(tmp_path) as log:
        assert log.explainers == ["pdp", "by_category"]
        [first] = log.at(600, explainer="by_category")["colour"].select("yes").average
        assert first.tolist() == pytest.approx([0.4, 0.4, 0.8])
        assert set(log.importances(explainer="by_category")) == {"colour", "size"}
    shown = CliRunner().invoke(app, ["show", str(tmp_path)])
    assert "by_category" in shown.stdout or "mean prediction by category" in shown.stdout
