"""What would make a state infinite for good is refused, or not in it."""

import json
import uuid

import numpy as np
import pytest

import ipdp


@pytest.mark.parametrize("w", [1e151, 1e308])
def test_a_weight_whose_square_is_no_number_is_refused(w):
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], grid=ipdp.grid.Fixed([0, 1]))
    with pytest.raises(ValueError, match="a sample weight must be at most"):
        pdp.explain_one({"a": 1.0}, w)
    assert pdp.n_seen == 0


def test_a_state_without_past_observations_is_json():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], n_past=0)
    for k in range(30):
        pdp.explain_one({"a": k % 7})
    json.dumps(pdp.state, allow_nan=False)


EXPLAINERS = {
    "monitor": lambda: ipdp.Monitor(ipdp.IncrementalPDP(lambda x: x["a"], ["a"]), warm_up=50),
    "pfi": lambda: ipdp.IncrementalPFI(lambda x: x["a"], ["a"], loss=lambda y, p: abs(y - p)),
}


def explain(explainer, odd, n=30):
    for k in range(n):
        x = {"a": float(k % 7), "g": k % 2, "odd": odd}
        explainer.explain_one(x, *([1.0] if hasattr(explainer, "loss") else []))


def saved(explainer):
    parts = [explainer.state, explainer.pdp.state] if hasattr(explainer, "pdp") else explainer.state
    return json.dumps(parts, allow_nan=False)


@pytest.mark.parametrize("name", EXPLAINERS)
@pytest.mark.parametrize("odd", [int, len, object()], ids=["type", "function", "object"])
def test_a_column_that_cannot_be_saved_is_refused_at_once(name, odd):
    explainer = EXPLAINERS[name]()
    explain(explainer, "plain")
    before = saved(explainer)
    with pytest.raises(TypeError, match=r"column 'odd': .* cannot be saved .* leave it out"):
        explain(explainer, odd, n=1)
    assert saved(explainer) == before


def test_many_rows_with_such_a_column_are_refused_together():
    monitor = EXPLAINERS["monitor"]()
    explain(monitor, "plain")
    with pytest.raises(TypeError, match="column 'odd'"):
        monitor.explain_many([{"a": 1.0, "g": 1, "odd": "x"}, {"a": 1.0, "g": 1, "odd": len}])
    assert monitor.pdp.n_seen == 30


@pytest.mark.parametrize("name", EXPLAINERS)
@pytest.mark.parametrize("odd", [np.arange(3.0), uuid.UUID(int=1), b"x", [1, {"a"}]], ids=repr)
def test_what_a_column_holds_is_in_the_state(name, odd):
    explainer, twin = EXPLAINERS[name](), EXPLAINERS[name]()
    explain(explainer, odd, n=200)
    if name == "monitor":
        twin.pdp.state = json.loads(json.dumps(explainer.pdp.state))
    twin.state = json.loads(json.dumps(explainer.state))
    assert saved(twin) == saved(explainer)
