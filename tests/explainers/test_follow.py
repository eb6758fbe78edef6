"""A pair that is found is followed from then on."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ipdp
from ipdp.log import LogReader

N, AT = 600, 250


def model(x):
    return x["a"] * x["b"] + x["c"] + (1.0 if x["d"] == "up" else 0.0)


def rows(n=N, seed=1):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, 3)).tolist()
    return [
        {**dict(zip("abc", row, strict=True)), "d": str(rng.choice(["up", "down"]))}
        for row in table
    ]


def make(features=None):
    return ipdp.IncrementalPDP(model, features, alpha=0.01, seed=1)


def followed(pairs=(("a", "b"),), *, n=N):
    pdp = make()
    for t, x in enumerate(rows(n)):
        if t == AT:
            for pair in pairs:
                pdp.follow(pair)
        pdp.explain_one(x)
    return pdp


def same(one, other, *, atol=0.0):
    assert one.curves.keys() == other.curves.keys()
    for feature, curve in one.curves.items():
        theirs = other.curve(feature)
        assert curve.n_samples == theirs.n_samples
        for name in ("average", "std_error", "n_effective_points", "ice_spread", "h_squared"):
            mine, its = getattr(curve, name), getattr(theirs, name)
            if mine is None:
                assert its is None
            else:
                np.testing.assert_allclose(mine, its, atol=atol, rtol=1e-9, err_msg=name)


def test_the_curves_of_single_features_stay_as_they_are():
    alone = make()
    for x in rows():
        alone.explain_one(x)
    pdp = followed()
    assert list(pdp.curves) == ["a", "b", "c", "d", ("a", "b")]
    for feature in "abcd":
        np.testing.assert_array_equal(pdp.curve(feature).average, alone.curve(feature).average)
        one, other = (each.curve(feature).std_error for each in (pdp, alone))
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(pdp.explained.shares, alone.explained.shares)


def test_the_surface_is_that_of_an_explainer_that_begins_there():
    """On fixed points it is the mean over the observations since."""
    fixed = {name: ipdp.grid.Fixed([-1.0, 0.0, 1.0]) for name in "ab"}
    pdp = ipdp.IncrementalPDP(model, ["a", "b", "c"], grid=fixed, alpha=0.01, seed=1)
    late = ipdp.IncrementalPDP(model, ["a", "b", ("a", "b")], grid=fixed, alpha=0.01, seed=1)
    for t, x in enumerate(rows()):
        if t == AT:
            pdp.follow(["a", "b"])
        pdp.explain_one(x)
        if t >= AT:
            late.explain_one(x, t=t + 1)
    surface, expected = pdp.curve(("a", "b")), late.curve(("a", "b"))
    assert surface.n_samples == N - AT
    np.testing.assert_allclose(surface.average, expected.average, atol=1e-12)
    # The curves of the two alone have seen more.
    np.testing.assert_allclose(surface.h_squared, expected.h_squared, atol=0.01)
    assert pdp.h_statistic(("a", "b")) == pytest.approx(1.0, abs=0.1)
    assert surface.rug[0].size == 256


def test_states_go_on_bit_for_bit():
    pdp, other = followed(), make()
    other.state = json.loads(json.dumps(pdp.state))
    again = make().from_bytes(pdp.state_bytes())
    for x in rows(60, seed=2):
        for each in (pdp, other, again):
            each.explain_one(x)
    same(pdp, other)
    same(pdp, again)


def test_many_at_once_are_the_same_as_one_by_one():
    one, many = followed(n=AT + 1), followed(n=AT + 1)
    for x in rows(80, seed=3):
        one.explain_one(x)
    many.explain_many(rows(80, seed=3))
    same(one, many, atol=1e-12)


@pytest.mark.parametrize("at", [0, 40], ids=["at once", "on the way"])
def test_a_successor_that_follows_it_merges(at):
    first = make()
    for x in rows(AT):
        first.explain_one(x)
    later = first.successor()
    whole = make().from_bytes(first.state_bytes())
    for t, x in enumerate(rows(200, seed=4)):
        if t == at:
            later.follow(("a", "b"))
            whole.follow(("a", "b"))
        later.explain_one(x)
        whole.explain_one(x)
    joined = first.merge(later)
    assert joined.curve(("a", "b")).n_samples == 200 - at
    np.testing.assert_allclose(
        joined.curve(("a", "b")).average, whole.curve(("a", "b")).average, atol=1e-9
    )
    for feature in "abcd":
        np.testing.assert_allclose(
            joined.curve(feature).average, whole.curve(feature).average, atol=1e-9
        )


def test_a_second_pair_and_one_of_a_category():
    pdp = followed([("a", "b"), ("a", "d"), ("a", "b")])
    assert list(pdp.curves)[-2:] == [("a", "b"), ("a", "d")]
    assert pdp.curve(("a", "d")).categorical == (False, True)
    assert np.isfinite(pdp.curve(("a", "d"), now=True).average).all()
    assert pdp.interactions()[0].pair == ("a", "b")


def test_a_monitor_and_a_log_go_on(tmp_path):
    sign = [1.0]

    def turning(x):
        return sign[0] * x["a"] + x["a"] * x["b"]

    pdp = ipdp.IncrementalPDP(turning, ["a", "b"], seed=1)
    monitor = ipdp.Monitor(pdp)

    def stream():
        for t, x in enumerate(rows(2_600)):
            if t == 1_200:
                pdp.follow(("a", "b"))
            sign[0] = 1.0 if t < 2_000 else -1.0
            yield {name: x[name] for name in "ab"}

    ipdp.run(stream(), turning, pdp, learn=False, monitor=monitor, log=tmp_path)
    assert {change.feature for change in monitor.changes} == {"a"}
    restored = ipdp.Monitor(ipdp.IncrementalPDP(turning, ["a", "b"], seed=1))
    restored.pdp.state, restored.state = pdp.state, monitor.state
    with LogReader(tmp_path) as reader:
        assert ("a", "b") not in reader.at(1_200)
        assert reader.at(2_600)["a", "b"].n_samples == 1_400


def test_what_cannot_be_followed_is_refused():
    pdp = make()
    with pytest.raises(ipdp.NotEnoughSamples, match="among the features"):
        pdp.follow(("a", "b"))
    pdp.explain_one(rows(1)[0])
    for pair, said in (("a", "two features"), (("a", "a"), "different"), (("a", "z"), "z")):
        with pytest.raises(ValueError, match=said):
            pdp.follow(pair)
    regions = ipdp.IncrementalRegions(model)
    regions.explain_one(rows(1)[0])
    with pytest.raises(ValueError, match="groups and regions"):
        regions.follow(("a", "b"))
