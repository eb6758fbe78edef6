"""`RunConfig`: from settings to a run."""

from __future__ import annotations

import subprocess
import sys

import pytest
from river import metrics
from typer.testing import CliRunner

import ipdp
from ipdp.cli.app import app
from ipdp.log import LogReader, Retention
from ipdp.runs import RunConfig

MODEL = "river.tree.HoeffdingTreeClassifier(grace_period=50)"


def test_options_reach_their_parts(tmp_path):
    config = RunConfig.model_validate(
        {
            "data": "river.datasets.synth.SEA(seed=1)",
            "model": MODEL,
            "limit": "30",
            "features": "0, 1, 0*1",
            "alpha": "none",
            "grid": {"0": "Quantiles(7)"},
            "estimator": "regrid",
            "every": "3",
            "seed": "5",
            "tolerance": "0.2",
            "delta": "0.01",
            "kind": "real,missing",
            "period": "336",
            "false_alarms_per": "1e5",
            "webhook": "http://127.0.0.1:9/",
            "retention": "500",
            "durability": "full",
            "learn": False,
            "delay": "10",
            "out": str(tmp_path / "run"),
        }
    )
    with config.assemble() as run:
        assert [event.n for event in run][-1] == 30
        assert run.total == 30
        assert run.learn is False
        pdp, monitor = run.explainers["pdp"], run.monitor
        assert list(pdp.features) == ["0", "1", ("0", "1")]
        assert (pdp.alpha, pdp.estimator, pdp.every, pdp.seed) == (None, "regrid", 3, 5)
        assert pdp.grid["0"].size == 7
        assert (monitor.tolerance, monitor.delta) == (0.2, 0.01)
        assert (monitor.report, monitor.period) == (["real", "missing"], 336)
        assert monitor.false_alarms_per == 1e5
        assert len(monitor.handlers) == 1


def assembled(tmp_path, **settings):
    given = {"data": "agrawal?n_samples=300", "model": MODEL, "features": ["age"], **settings}
    return RunConfig(out=tmp_path / "run", **given).assemble()


def test_several_explainers(tmp_path):
    with assembled(tmp_path, explainers="pdp, pfi", alpha=0.01, seed=3) as run:
        for _ in run:
            pass
    pdp, pfi = run.explainers.values()
    assert (type(pdp), type(pfi)) == (ipdp.IncrementalPDP, ipdp.IncrementalPFI)
    assert isinstance(pfi.loss, metrics.Accuracy)
    assert (pfi.alpha, pfi.seed, pfi.features) == (0.01, 3, ["age"])
    assert run.monitor.pdp is pdp
    with LogReader(tmp_path / "run") as reader:
        assert reader.explainers == ["pdp", "pfi"]
        assert reader.at(300, "pfi")["age"] == pfi.results()["age"]
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "run")])
    assert "pfi:" in shown.stdout.splitlines()


def test_an_explainer_without_curves_is_not_watched(tmp_path):
    with assembled(tmp_path, explainers=["pfi"], loss="LogLoss()") as run:
        assert run.monitor is None
        assert isinstance(run.explainers["pfi"].loss, metrics.LogLoss)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"explainers": ["pfy"]}, "there is no explainer 'pfy' .did you mean 'pfi'"),
        ({"explainers": ["pfi"], "loss": "R2()"}, "R2 is not a mean over observations"),
        ({"explainers": ["pfi"], "loss": "river.tree.HoeffdingTreeClassifier()"}, "not a metric"),
        ({"explainers": ["pfi"], "model": "doubled:predict"}, "name a metric with --loss"),
        ({"explainers": ["pfi"], "data": "rows.csv", "learn": False}, "pfi needs labels"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, settings, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("age\n1\n")
    (tmp_path / "doubled.py").write_text("def predict(x): return 2 * x['age']\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=sentence), assembled(tmp_path, **settings):
        pass


def test_python_users_need_no_pydantic_unless_they_ask():
    code = "import sys, ipdp.runs; assert 'pydantic' not in sys.modules; ipdp.runs.RunConfig"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_default_of_retention_is_that_of_the_log():
    assert RunConfig.model_fields["retention"].default == Retention().recent


@pytest.mark.parametrize(
    "settings",
    [
        {"data": "kafka://me:hunter2@h/t?sasl.password=hunter2"},
        {"model": "m", "webhook": "https://hooks.example.com/T000/hunter2"},
        {"data": "a.csv", "model": "m", "webhook": "htps://hooks.example.com/T000/hunter2"},
        {"data": "a.csv", "model": "m", "webhook": "https://hooks.example.com/T000/hunter2 x"},
        {"data": "a.csv", "model": "m", "page_url": "https://me:hunter2@example.com/"},
        {"data": "kafka://h/t?sasl.password=hunter2", "model": "m", "alpha": "x"},
    ],
)
def test_settings_that_are_refused_are_quoted_without_secrets(settings):
    with pytest.raises(ValueError, match="RunConfig") as error:
        RunConfig(**settings)
    assert "hunter2" not in str(error.value)
