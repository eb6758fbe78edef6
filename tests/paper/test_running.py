from __future__ import annotations

import dataclasses
import json

import pytest

from ipdp import paper
from ipdp.paper import running, storage
from ipdp.paper.progress import counted

SMALL = {"windows": (10, 30)}


def test_figures_table_and_numbers_are_written(tmp_path):
    lines = []
    results = paper.run_experiment(
        "storage", [5, 6], out=tmp_path, progress=lines.append, options=SMALL
    )
    assert [path.name for path in results.figures] == ["storage.pdf", "storage.png"]
    assert all(path.stat().st_size > 1_000 for path in results.figures)
    written = json.loads(results.path.read_text())
    assert written["seeds"] == results.seeds == [5, 6]
    assert written["rows"] == [row._asdict() for row in results.rows]
    assert [run["seed"] for run in written["runs"]] == [5, 6]
    assert lines[0] == "storage, seed 5: started"
    assert lines[-1].startswith("storage, seed 6: done")
    assert not list((tmp_path / "storage").glob(".*"))


def test_the_same_seed_gives_the_same_files(tmp_path):
    def content(name):
        results = paper.run_experiment("storage", out=tmp_path / name, progress=None, options=SMALL)
        return [path.read_bytes() for path in (*results.figures, results.path)]

    assert content("first") == content("second")


def test_an_interruption_leaves_what_is_finished(tmp_path, monkeypatch):
    def run(seed, say, **options):
        if seed == 44:
            raise KeyboardInterrupt
        return storage.run(seed, say, **options)

    halted = dataclasses.replace(storage.EXPERIMENT, run=run)
    monkeypatch.setattr(running, "find", lambda _name: halted)
    monkeypatch.setattr(running, "_known", lambda _experiment, options: options)
    with pytest.raises(KeyboardInterrupt):
        paper.run_experiment("storage", 3, out=tmp_path, progress=None, options=SMALL)
    written = json.loads((tmp_path / "storage" / "results.json").read_text())
    assert written["seeds"] == [42, 43]
    assert (tmp_path / "storage" / "storage.png").exists()


def test_a_difference_that_is_known_does_not_spoil_the_result():
    row = paper.Row("claim", "paper", "seen", False)
    assert not paper.Results("storage", "", rows=[row]).agrees
    assert paper.Results("storage", "", rows=[row._replace(known=True)]).agrees


@pytest.mark.parametrize("name", paper.EXPERIMENTS)
def test_every_experiment_has_a_name_and_a_title(name):
    experiment = running.find(name)
    assert experiment.name == name
    assert experiment.title


def test_bad_requests_are_answered_in_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="one of illustration, storage, elec2"):
        paper.run_experiment("elec3", out=tmp_path)
    with pytest.raises(ValueError, match="at least one"):
        paper.run_experiment("storage", 0, out=tmp_path)
    with pytest.raises(ValueError, match="no option 'window': it has windows"):
        paper.run_experiment("storage", out=tmp_path, options={"window": 3})
    assert not list(tmp_path.iterdir())


def test_progress_says_how_far_it_is():
    lines = []
    assert list(counted("abcd", 3, lines.append, every=0)) == [(1, "a"), (2, "b"), (3, "c")]
    assert [line.split(" observations")[0] for line in lines] == ["1 of 3", "2 of 3", "3 of 3"]
