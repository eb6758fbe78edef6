"""The state as bytes goes on bit for bit, for every explainer, and is refused where it cannot."""

import json

import pytest
from tests.explainers import oracle

from ipdp import IncrementalPDP, IncrementalPFI
from ipdp.core import packing
from ipdp.grid import Auto, MinMax, QuantileRange

FEATURES = ["a", "n", "c", ("a", "c"), "b"]
SETUPS = {
    "default": {},
    "pairs": {"features": FEATURES, "grid": Auto(size=3, window=15, warm_up=6, missing=True)},
    "pointwise": {"features": ["a", "n"], "grid": MinMax(4, 9), "estimator": "pointwise"},
    "reservoir": {"features": ["a"], "grid": QuantileRange(4, window=12, select="age")},
}


def curves(name):
    return IncrementalPDP(oracle.classifier, alpha=0.05, seed=3, **SETUPS[name])


@pytest.mark.parametrize("name", SETUPS)
@pytest.mark.parametrize("cut", [0, 1, 30, 70])
def test_curves_go_on_bit_for_bit(name, cut):
    rows = oracle.stream(seed=31)
    whole = curves(name)
    for x in rows[:cut]:
        whole.explain_one(x)
    part = curves(name).from_bytes(whole.state_bytes())
    for x in rows[cut:]:
        whole.explain_one(x)
        part.explain_one(x)
    assert json.dumps(part.state) == json.dumps(whole.state)
    assert part.state_bytes() == whole.state_bytes()


def test_another_explainer_goes_on_bit_for_bit():
    def make():
        model = oracle.regressor
        return IncrementalPFI(model, ["a", "n"], loss=lambda y, p: (y - p) ** 2, seed=1)

    whole, rows = make(), oracle.stream(seed=32)
    for x in rows[:30]:
        whole.explain_one(x, 1.0)
    part = make().from_bytes(whole.state_bytes())
    for x in rows[30:]:
        whole.explain_one(x, 0.5)
        part.explain_one(x, 0.5)
    assert json.dumps(part.state) == json.dumps(whole.state)


def test_what_reads_the_bytes_is_left_as_it_is():
    pdp = curves("default")
    for x in oracle.stream(seed=33, n=25):
        pdp.explain_one(x)
    before = pdp.state_bytes()
    other = pdp.from_bytes(curves("default").state_bytes())
    assert (other.n_seen, other.engine) == (0, pdp.engine)
    for data in (b"", before[:-1], packing.pack({"version": 1}), packing.pack([1.0])):
        with pytest.raises(ValueError, match=r"state|version"):
            pdp.from_bytes(data)
    assert pdp.state_bytes() == before


def test_other_settings_are_refused():
    with pytest.raises(ValueError, match="the state was made with features"):
        curves("default").from_bytes(curves("pairs").state_bytes())
