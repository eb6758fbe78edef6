from __future__ import annotations

import pytest
from tests.datasets.made_up import CALIFORNIA, ELEC2, electricity, housing, write_csv
from typer.testing import CliRunner

from ipdp import LogReader, datasets
from ipdp.cli.app import app


@pytest.fixture
def data(tmp_path, monkeypatch):
    write_csv(tmp_path / "electricity.csv", (*ELEC2, "class"), electricity(60, 10))
    write_csv(tmp_path / "california_housing.csv", CALIFORNIA, housing(60))
    monkeypatch.setenv("IPDP_DATA", str(tmp_path))


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_every_data_set_can_be_loaded_and_ends(data, name):
    stream = datasets.load(name)
    x, _ = next(iter(stream))
    assert len(x) == stream.n_features
    assert stream.n_samples > 0


def test_settings_are_passed_on():
    stream = datasets.load("agrawal", position=5, n_samples=9, seed=3)
    assert (stream.position, stream.seed, len(list(stream))) == (5, 3, 9)


def test_an_unknown_name_or_setting_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match="'agrawal', 'california', 'elec2', 'hyperplane'"):
        datasets.load("electricity")
    with pytest.raises(
        ValueError, match=r"no setting 'sed' .did you mean 'seed'.*; there are: 'position', 'width'"
    ):
        datasets.load("hyperplane", sed=1)


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_every_data_set_can_be_run_by_its_name(data, tmp_path, name):
    kind = "Regressor" if name == "california" else "Classifier"
    arguments = ["run", "--data", name, "--model", f"river.tree.HoeffdingTree{kind}()"]
    out = tmp_path / "run"
    answer = CliRunner().invoke(app, [*arguments, "--limit", "50", "--out", str(out), "--quiet"])
    assert answer.exit_code == 0, answer.stderr
    with LogReader(out) as log:
        assert log.status.n == 50
        known = set(next(iter(datasets.load(name)))[0])
        assert known - {"date"} <= set(log.features) <= known  # which may look like a clock
