"""How much the curves tell of a model, against batch computations."""

import json
import math
import random

import numpy as np
import pytest
from river import datasets, linear_model, preprocessing

import ipdp
from ipdp import NotEnoughSamples
from ipdp.checks import check_explainer
from ipdp.core.explained import Explained
from ipdp.explainers.state.shares import Share, corrected


def batch_share(model, rows, names, alpha):
    """The share by brute force: the mean over many rows at each row's own value."""
    said = np.array([model(x) for x in rows])
    weights = (1 - alpha) ** np.arange(len(rows))[::-1]
    background = rows[:: max(1, len(rows) // 150)]
    left = said.copy()
    for name in names:
        values = {x.get(name) for x in rows}
        effect = {v: np.mean([model({**x, name: v}) for x in background]) for v in values}
        left -= np.array([effect[x.get(name)] for x in rows])
    whole, rest = (
        np.average((v - np.average(v, weights=weights)) ** 2, weights=weights) for v in (said, left)
    )
    return 1 - rest / whole


def autoregressive(n, names, rho, seed):
    """Values with one digit, so that the brute force has few of them to ask about."""
    draws = random.Random(seed)
    state, rows = dict.fromkeys(names, 0.0), []
    for _ in range(n):
        state = {
            name: rho * value + math.sqrt(1 - rho**2) * draws.gauss(0, 1)
            for name, value in state.items()
        }
        rows.append({name: round(value, 1) for name, value in state.items()})
    return rows


def smooth(x):
    return x["a"] * x["b"] + math.sin(2 * x["c"]) + x["d"] / 2


def steps(x):
    return float((x["a"] > 0) ^ (x["b"] > 0.5)) + (x["c"] > 1) + 0.2 * x["d"]


def messy(x):
    """With categories and missing values."""
    a = -1.0 if x["a"] is None or math.isnan(x["a"]) else x["a"]
    return {"x": 1.0, "y": -1.0, "z": 0.2}[x["c"]] * a + x["b"] + (2.0 if x["c"] == "x" else 0.0)


def messy_rows(n, seed):
    draws = random.Random(seed)
    return [
        {
            "a": None if draws.random() < 0.15 else round(draws.gauss(0, 1), 1),
            "b": round(draws.gauss(0, 1), 1),
            "c": draws.choice("xyz"),
        }
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (smooth, autoregressive(4000, "abcd", 0.0, 1)),
        (smooth, autoregressive(4000, "abcd", 0.9, 2)),
        (steps, autoregressive(4000, "abcd", 0.5, 3)),
        (messy, messy_rows(4000, 4)),
    ],
)
def test_it_is_that_of_a_batch_of_the_last_observations(model, rows):
    alpha = 0.002
    grid = {"a": ipdp.grid.Auto(missing=True)} if model is messy else None
    pdp = ipdp.IncrementalPDP(model, alpha=alpha, seed=1, grid=grid)
    for x in rows:
        pdp.explain_one(x)
    expected = batch_share(model, rows[-int(3 / alpha) :], list(rows[0]), alpha)
    assert pdp.explained.value == pytest.approx(expected, abs=0.03)
    assert pdp.explained.strongest in ("a", "b", "c")


@pytest.mark.parametrize("estimator", ["regrid", "pointwise"])
def test_a_model_without_interactions_is_told_as_a_whole(estimator):
    pdp = ipdp.IncrementalPDP(
        lambda x: x["a"] + abs(x["b"]), alpha=0.002, estimator=estimator, seed=1
    )
    for x in autoregressive(2000, "abc", 0.9, 1):
        pdp.explain_one({**x, "a": x["a"] + pdp.n_seen / 500})
    assert pdp.explained.value > 0.97
    assert pdp.explained.sentence == (
        f"These curves tell {round(100 * pdp.explained.value)} % of what the model does."
    )


def test_a_model_that_changes_is_followed():
    model = {"now": lambda x: x["a"] + x["b"]}

    def said(x):
        return model["now"](x)

    pdp = ipdp.IncrementalPDP(said, alpha=0.005, seed=1)
    rows = autoregressive(3000, "ab", 0.0, 5)
    for x in rows[:1500]:
        pdp.explain_one(x)
    assert pdp.explained.value > 0.98
    model["now"] = lambda x: -3 * x["a"] + x["b"]
    for x in rows[1500:2000]:
        pdp.explain_one(x)
    # No interaction has come: what the smoothed curves miss is their lag.
    assert pdp.explained.value > 0.9
    model["now"] = lambda x: 2 * x["a"] * x["b"] + x["b"]
    for x in rows[2000:]:
        pdp.explain_one(x)
    # Of 144 past observations: the standard error of the share is about .05.
    assert pdp.explained.value == pytest.approx(0.2, abs=0.1)


def test_two_classes_are_told_alike_and_the_second_is_meant():
    def model(x):
        p = 1 / (1 + math.exp(-2 * x["a"] * x["b"]))
        return {False: 1 - p, True: p}

    pdp = ipdp.IncrementalPDP(model, alpha=0.01, seed=1)
    for x in autoregressive(500, "ab", 0.0, 6):
        pdp.explain_one(x)
    explained = pdp.explained
    assert explained.output is True
    assert explained[True] == pytest.approx(explained[False])
    assert explained.value == explained[True] < 0.2
    assert explained.sentence.startswith("These curves tell ")
    assert explained.sentence.endswith(
        f"the rest is interactions, most of all those of {explained.strongest}."
    )


def test_features_without_a_curve_may_be_what_is_left():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] + 3 * x["b"], ["a"], alpha=0.01, seed=1)
    for x in autoregressive(300, "ab", 0.0, 7):
        pdp.explain_one(x)
    assert not pdp.explained.is_complete
    assert "interactions, or features not shown here" in pdp.explained.sentence


def test_a_constant_model_has_nothing_to_tell():
    pdp = ipdp.IncrementalPDP(lambda _: 1.5, alpha=0.01, seed=1)
    for x in autoregressive(100, "ab", 0.0, 8):
        pdp.explain_one(x)
    assert math.isnan(pdp.explained.value)
    assert pdp.explained.sentence == ""


def test_after_a_few_observations_nothing_is_said():
    pdp = ipdp.IncrementalPDP(smooth, alpha=0.01, seed=1)
    with pytest.raises(NotEnoughSamples, match="too few observations"):
        _ = pdp.explained
    for x in autoregressive(25, "abcd", 0.0, 8):
        pdp.explain_one(x)
    with pytest.raises(NotEnoughSamples, match="too few observations"):
        _ = pdp.explained
    assert Explained.of([]) is None


def test_no_further_prediction_is_needed():
    calls = []
    pdp = ipdp.IncrementalPDP(
        lambda x: calls.append(1) or x["a"], grid=ipdp.grid.Fixed([0.0, 1.0, 2.0])
    )
    for _ in range(7):
        pdp.explain_one({"a": 0.5})
    assert len(calls) == 7 * 3


def test_the_laws_hold_from_the_first_share_on():
    rows = messy_rows(120, 9)
    check_explainer(lambda: ipdp.IncrementalPDP(messy, alpha=0.02, seed=1), rows)


def test_a_share_that_was_logged_comes_back(tmp_path):
    from ipdp.log import Log, LogReader

    pdp = ipdp.IncrementalPDP(smooth, alpha=0.01, seed=1)
    for x in autoregressive(200, "abcd", 0.0, 8):
        pdp.explain_one(x)
    results = pdp.results()
    with Log(tmp_path) as log:
        log.snapshot(results, 200)
    with LogReader(tmp_path) as reader:
        found = Explained.of(reader.at(200).values())
    assert found.sentence == Explained.of(results.values()).sentence
    assert found.shares == pytest.approx(Explained.of(results.values()).shares)


def test_of_a_model_that_learns_it_is_that_of_the_model_now():
    # A linear model has no interactions, but its smoothed curves lag far behind it on a stream
    # with a column that only grows: of what it had said they told a share of -62.
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    (first, _), *_ = datasets.TrumpApproval().take(1)
    pdp = ipdp.IncrementalPDP(model, list(first), alpha=0.01)
    for x, y in datasets.TrumpApproval():
        pdp.explain_one(x)
        model.learn_one(x, y)
    share = pdp.explained.value
    assert 0.7 < share <= 1
    assert share == pdp.explained.value  # reading it twice does not change it


def test_steps_of_a_model_that_learns_are_no_interactions():
    # The curves are lines between points, the model is not: it has a step there.
    height = [1.0]

    def model(x):
        return height[0] * (x["a"] > 0.37) + 2 * (x["b"] > -0.21)

    pdp = ipdp.IncrementalPDP(model, alpha=0.005, seed=1)
    for row in np.random.default_rng(3).normal(size=(1_500, 2)).tolist():
        pdp.explain_one(dict(zip("ab", row, strict=True)))
        height[0] += 0.001
    assert pdp.explained.value > 0.97


class Learning:
    """A model that learns the slope of a, with two classes; b and c interact from the start."""

    def __init__(self):
        self.slope = 0.0

    def __call__(self, x):
        p = 1 / (1 + math.exp(-self.slope * x["a"] - x["b"] * x["c"]))
        return {"no": 1 - p, "yes": p}


def learning(n, seed=1, **settings):
    """An explainer of a model that learns, after some observations."""
    model = Learning()
    pdp = ipdp.IncrementalPDP(model, alpha=0.01, seed=1, **settings)
    go_on(pdp, n, seed)
    return pdp


def go_on(pdp, n, seed):
    for row in np.random.default_rng(seed).normal(size=(n, 3)).tolist():
        pdp.explain_one(dict(zip("abc", row, strict=True)))
        pdp.model.slope += 0.002


def pool_of(pdp):
    """Its pool, with all observations folded in."""
    assert pdp.memory.means
    return pdp.memory.pool


def test_what_the_curves_left_is_kept_of_each_observation():
    # All of them fit in: their variance is the smoothed one.
    pdp = learning(200, n_past=200)
    kept = pool_of(pdp).kept
    assert [one.record.t for one in kept] == list(range(21, 201))
    rests, weights = np.array([one.rest for one in kept]), 0.99 ** np.arange(180)[::-1]
    share = weights / weights.sum()
    variance = share @ (rests - share @ rests) ** 2
    np.testing.assert_allclose(variance, pdp.memory.spreads.own.variances[2], rtol=1e-9)


def test_what_the_curves_left_survives_a_checkpoint():
    pdp = learning(300)
    state = json.loads(json.dumps(pdp.state))
    twin = ipdp.IncrementalPDP(pdp.model, alpha=0.01, seed=1)
    twin.state = state
    known = [kept.rest for kept in pool_of(pdp).kept]
    assert all(len(rest) == 2 for rest in known)
    assert [kept.rest for kept in pool_of(twin).kept] == known
    assert twin.explained.value == pdp.explained.value


def test_a_state_of_before_it_was_kept_is_read():
    pdp = learning(600)
    state = pdp.state
    del state["fold"]["pool"]["rests"]
    twin = ipdp.IncrementalPDP(pdp.model, alpha=0.01, seed=1)
    twin.state = state
    assert twin.explained.value == pytest.approx(pdp.explained.value, abs=0.1)
    go_on(twin, 400, 2)
    assert sum(len(kept.rest) == 2 for kept in pool_of(twin).kept) > 30


@pytest.mark.parametrize("rest", [[0.1], [0.1, 0.2, 0.3], [0.1, 1e200], [0.1, math.inf]])
def test_a_state_with_a_rest_that_does_not_fit_is_refused(rest):
    pdp = learning(60)
    pool_of(pdp).kept[0].rest[:] = rest
    twin = ipdp.IncrementalPDP(pdp.model, alpha=0.01, seed=1)
    with pytest.raises(ValueError, match="damaged"):
        twin.state = pdp.state


def test_segments_of_a_stream_keep_it_and_others_do_not():
    first = learning(300)
    later = first.successor()
    go_on(later, 200, 2)
    whole = learning(300)
    go_on(whole, 200, 2)
    joined = first.merge(later)
    found = {kept.record.t: kept.rest for kept in pool_of(joined).kept}
    known = {kept.record.t: kept.rest for kept in pool_of(whole).kept}
    both = found.keys() & known.keys()
    assert len(both) > 100
    for t in both:
        assert found[t] == pytest.approx(known[t], abs=1e-9)
    assert joined.explained.value == pytest.approx(whole.explained.value, abs=0.1)
    # The curves of another stream had other levels.
    other = learning(300, seed=3).merge(learning(300, seed=4))
    assert not any(kept.rest for kept in pool_of(other).kept)


def test_it_has_the_order_of_the_outputs():
    pdp = learning(100)
    pool = pool_of(pdp)
    turned = pool.with_outputs(["no", "yes"], ["new", "yes", "no"])
    for one, other in zip(pool.kept, turned.kept, strict=True):
        assert other.rest == [0.0, *one.rest[::-1]]


def test_observations_without_weight_leave_nothing():
    pdp = ipdp.IncrementalPDP(Learning(), alpha=0.01, seed=1, n_past=100)
    rows = autoregressive(60, "abc", 0.0, 3)
    pdp.explain_many(rows, w=[k % 3 for k in range(60)])
    again = ipdp.IncrementalPDP(Learning(), alpha=0.01, seed=1, n_past=100)
    for k, x in enumerate(rows):
        again.explain_one(x, w=k % 3)
    rests = [[kept.rest for kept in pool_of(each).kept if kept.rest] for each in (pdp, again)]
    assert len(rests[0]) > 15
    assert rests[0] == [pytest.approx(rest, abs=1e-12) for rest in rests[1]]


SOME = np.array([[0.1], [-0.1], [0.1], [-0.1]])
OTHER = np.array([[0.1], [0.1], [-0.1], [-0.1]])
NEAR = SOME + np.array([[0.02], [0.0], [-0.02], [0.0]])


@pytest.mark.parametrize(
    ("smoothed", "now", "then", "expected"),
    [
        # The model is what it was: these observations are not like all of them.
        (0.5, Share(np.array([0.6]), SOME), Share(np.array([0.6]), SOME), 0.5),
        (0.5, Share(np.array([0.7]), SOME), Share(np.array([0.6]), SOME), 0.6),
        # The change may as well be chance: its variance is .0008, its square .0004.
        (0.5, Share(np.array([0.62]), NEAR), Share(np.array([0.6]), SOME), 0.5 + 0.02 / 3),
        # It is another one, whose share has nothing to do with that of then: variance .04.
        (-9.0, Share(np.array([0.7]), SOME), Share(np.array([0.6]), OTHER), -9 + 9.7**3 / 94.13),
        # What it was then is not known.
        (0.5, Share(np.array([0.9]), SOME), None, 0.5 + 0.4 * 0.16 / 0.2),
        # It did not vary then, or does not now.
        (0.5, Share(np.array([0.9]), SOME), Share(np.array([np.nan]), 0 * SOME), 0.82),
        (np.nan, Share(np.array([0.9]), SOME), Share(np.array([np.nan]), 0 * SOME), 0.9),
        (0.5, Share(np.array([np.nan]), 0 * SOME), Share(np.array([0.6]), SOME), np.nan),
    ],
)
def test_a_change_counts_as_far_as_it_is_larger_than_chance(smoothed, now, then, expected):
    found = corrected(np.array([smoothed]), now, then)
    np.testing.assert_allclose(found, [expected], rtol=1e-9)
