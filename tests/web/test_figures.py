"""The figures of a run as files."""

from __future__ import annotations

import pytest
from tests.web.logs import EVIL, curves_at, write_explained, write_run

import ipdp
from ipdp.log import Log
from ipdp.web import write_figures


def test_all_figures_are_written(tmp_path):
    write_run(tmp_path / "run", 300)
    paths = write_figures(tmp_path / "run", tmp_path / "figures")
    names = {path.stem for path in paths}
    expected = {"overview", "timeline", "change-001-salary", "change-002-colour"}
    assert expected <= names
    kinds = {(name.split("-")[0], name.split("-", 2)[-1]) for name in names - expected}
    single = {(kind, name) for kind in ("curve", "carpet") for name in ("salary", "age", "colour")}
    assert kinds == {*single, ("curve", "age-salary")}
    for path in paths:
        assert path.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {p.name for p in paths}


def test_a_run_of_pairs_alone_has_its_figures_too(tmp_path):
    write_run(tmp_path / "run", 300, features=[("age", "salary")], changes=())
    names = [path.name for path in write_figures(tmp_path / "run", tmp_path / "figures")]
    assert names == ["overview.png", "timeline.png", "curve-001-age-salary.png"]


def test_each_explainer_has_its_figures(tmp_path):
    write_explained(tmp_path / "run", 300)
    names = {path.stem for path in write_figures(tmp_path / "run", tmp_path / "figures")}
    assert {"overview", "timeline", "timeline-gain", "overview-ale", "timeline-ale"} <= names
    curves = sorted(name.rpartition("-")[::2] for name in names if name.startswith("curve-ale"))
    assert [stem for stem, _ in curves] == ["curve-ale-001", "curve-ale-002"]
    assert {feature for _, feature in curves} == {"age", "salary"}
    assert not any("gain" in name for name in names - {"timeline-gain"})


def test_importances_alone_have_a_timeline(tmp_path):
    write_explained(tmp_path / "run", 300, explainers=["gain"])
    names = [path.name for path in write_figures(tmp_path / "run", tmp_path / "figures")]
    assert names == ["timeline.png"]


def test_an_explainer_without_results_has_no_figures(tmp_path):
    with Log(tmp_path / "run") as log:
        log.begin({}, {"gain": ["age"], "pdp": ["age"]})
        log.snapshot({"gain": {}, "pdp": curves_at(100, ["age"])}, 100)
    names = [path.name for path in write_figures(tmp_path / "run", tmp_path / "figures")]
    assert names == ["overview.png", "timeline.png", "curve-001-age.png", "carpet-001-age.png"]


def test_figures_for_print(tmp_path):
    write_run(tmp_path / "run", 300, features=["age"], changes=())
    for path in write_figures(tmp_path / "run", tmp_path / "figures", "pdf"):
        assert path.suffix == ".pdf"
        assert path.read_bytes().startswith(b"%PDF")


def test_evil_names_stay_in_the_directory(tmp_path):
    write_run(tmp_path / "run", 300, features=["../../up", *EVIL[:1]], changes=())
    paths = write_figures(tmp_path / "run", tmp_path / "figures")
    assert {path.parent for path in paths} == {tmp_path / "figures"}
    assert {"curve-001-up.png", "curve-002-up.png"} & {path.name for path in paths}


def test_errors_say_what_to_do(tmp_path):
    with Log(tmp_path / "run") as log:
        log.begin({}, ["a"])
        with pytest.raises(ValueError, match="no snapshot yet"):
            write_figures(log, tmp_path / "figures")
        with pytest.raises(ValueError, match="format must be one of"):
            write_figures(log, tmp_path / "figures", "gif")
    assert not (tmp_path / "figures").exists()


def test_a_challenger_has_one_figure(tmp_path):
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], alpha=0.01)
    rows = [{"a": k % 13, "b": k % 7} for k in range(300)]
    others = {"new": lambda x: 2 * x["a"]}
    ipdp.run(rows, pdp.model, pdp, learn=False, log=tmp_path / "run", challengers=others)
    names = [path.name for path in write_figures(tmp_path / "run", tmp_path / "figures")]
    assert [name for name in names if "new" in name] == ["challenger-new.png"]
    assert names[-1] == "challenger-new.png"
