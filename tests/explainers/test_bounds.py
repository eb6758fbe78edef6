"""What would make a state infinite for good is refused, or not in it."""

import json

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
