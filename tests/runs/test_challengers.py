"""Other models beside the one of a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ipdp
from ipdp.runs.challengers import compared, is_challenger
from ipdp.runs.config import RunConfig
from ipdp.runs.toml import ConfigError


def champion(x):
    return x["a"] + x["b"]


def stream(n=300):
    z = np.random.default_rng(1).normal(size=(n, 2))
    return [dict(zip("ab", row.tolist(), strict=True)) for row in z]


def test_each_is_compared_on_the_same_rows(tmp_path):
    pdp = ipdp.IncrementalPDP(champion, alpha=0.01)
    others = {"steep": lambda x: 2 * x["a"] + x["b"], "same": lambda x: x["b"] + x["a"]}
    came = ipdp.run(stream(), champion, pdp, learn=False, challengers=others, log=tmp_path)
    found = {name: each.verdict for name, each in came.challengers.items()}
    assert found == {"steep": "different", "same": "alike"}
    assert [d.feature for d in came.challengers["steep"].different] == ["a"]
    assert came.challengers["steep"].names == ("model", "steep")
    json.dumps(came.to_dict(), allow_nan=False)
    with ipdp.LogReader(tmp_path) as reader:
        assert reader.explainers == ["pdp", "challenger steep", "challenger same"]


def test_the_end_of_a_run_says_what_its_log_says(tmp_path):
    # Values with a long tail: fewer of them are logged, and where a curve has data behind it is
    # known by them.
    rng = np.random.default_rng(1)
    z = np.exp(rng.normal(size=(600, 1)) * 0.7)
    rows = [{"a": float(a)} for (a,) in z]

    def bent(x):
        return x["a"] + max(x["a"] - 2, 0) / 9

    pdp = ipdp.IncrementalPDP(lambda x: x["a"], alpha=0.005)
    came = ipdp.run(rows, pdp.model, pdp, learn=False, challengers={"x": bent}, log=tmp_path)
    with ipdp.LogReader(tmp_path) as reader:
        found = compared({"challenger x": reader.at(600, "challenger x")})["x"]
    assert came.challengers["x"].summary() == found.summary()


def test_an_explainer_that_is_only_called_so_is_none():
    pdp = ipdp.IncrementalPDP(champion, alpha=0.01)
    pdp.explain_many(stream(50))
    assert not is_challenger("challenger x", pdp.results())
    assert compared({"challenger x": pdp.results(), "challenger y": {}}) == {}


def test_without_curves_there_is_nothing_to_compare():
    pfi = ipdp.IncrementalPFI(champion, loss=lambda y, p: abs(y - p))
    with pytest.raises(ValueError, match="give an IncrementalPDP"):
        ipdp.run(stream(), champion, pfi, learn=False, challengers={"x": champion})


def test_the_curves_of_the_model_are_what_they_are_without_one():
    curves = []
    for others in ({}, {"x": champion}):
        pdp = ipdp.IncrementalPDP(champion, alpha=0.01)
        ipdp.run(stream(), champion, pdp, learn=False, challengers=others)
        curves.append(pdp.curve("a").average)
    np.testing.assert_array_equal(*curves)


@pytest.mark.filterwarnings("ignore:the challenger .* has learnt nothing")
def test_a_log_does_not_decide_what_challenger_is_run(tmp_path):
    (tmp_path / "evil.py").write_text("def make():\n    raise SystemExit('run')\n")
    data = tmp_path / "data.csv"
    data.write_text("a,y\n" + "\n".join(f"{k % 7},{k % 5}" for k in range(50)) + "\n")
    model, out = "river.linear_model.LinearRegression()", tmp_path / "run"
    config = RunConfig(data=str(data), target="y", model=model, challenger=model, out=out)
    with config.assemble() as run:
        for _ in run:
            pass
    with pytest.raises(ConfigError, match="import evil and call make"):
        _resumed(out, "evil:make")
    assert RunConfig.from_run(out).challenger == model


def _resumed(out, challenger):
    from ipdp.runs.trust import must_be_safe

    config = RunConfig.from_run(out).model_copy(update={"challenger": challenger})
    must_be_safe(config, {"challenger"}, out)
