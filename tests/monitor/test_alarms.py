"""A fast version of the table of `benchmarks/alarms.py`: truth known, few seeds, short streams."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "alarms.py"
spec = importlib.util.spec_from_file_location("alarms", PATH)
alarms = importlib.util.module_from_spec(spec)
sys.path.insert(0, str(PATH.parent))  # for its neighbour, streams.py
spec.loader.exec_module(alarms)
sys.path.remove(str(PATH.parent))


@pytest.mark.parametrize("name", ["no drift, curved", "no drift, tree"])
def test_no_alarm_without_drift(name):
    for seed in (0, 1):
        result = alarms.run(alarms.SCENARIOS[name], seed, 6_000, 0, "ours")["ours"]
        assert result.changes == []


@pytest.mark.parametrize(
    ("name", "after", "delay"),
    [("slope", 1_500, 1_500), ("virtual", 300, 200), ("both", 300, 200), ("gradual", 3_000, 3_000)],
)
def test_one_drift_is_found_and_called_by_its_name(name, after, delay):
    scenario = alarms.SCENARIOS[name]
    for seed in (0, 1):
        result = alarms.run(scenario, seed, 2_500, after, "ours")["ours"]
        assert result.early == 0
        assert result.delay is not None
        assert result.delay <= delay
        assert result.kind == scenario.kind
        assert result.others == 0


def test_a_learning_tree_that_meets_a_drift():
    result = alarms.run(alarms.SCENARIOS["hyperplane"], 1, 3_000, 600, "ours")["ours"]
    assert result.delay is not None
    assert result.kind == "real"


def test_the_papers_way_cannot_tell():
    results = alarms.run(alarms.SCENARIOS["no drift, curved"], 0, 5_000, 0, "paper")
    assert not results["ours"].changes
    assert len(results["paper"].changes) >= 1
