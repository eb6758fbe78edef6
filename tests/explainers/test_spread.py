"""How much the ICE curves differ from their mean, against sums over all observations."""

import math
import random

import numpy as np
import pytest

import ipdp
from ipdp.checks import check_explainer


class Slow:
    """Keeps the ICE curves of all observations, and computes when it is asked."""

    def __init__(self, model, feature, points, alpha):
        self.model, self.feature, self.points, self.alpha = model, feature, points, alpha
        self.seen = []

    def see(self, x, w=1.0, t=None):
        t = t if t is not None else len(self.seen) + 1
        names = self.feature if isinstance(self.feature, tuple) else (self.feature,)
        answers = []
        for point in self.points:
            values = point if isinstance(self.feature, tuple) else (point,)
            answer = self.model({**x, **dict(zip(names, values, strict=True))})
            answers.append(answer if isinstance(answer, dict) else {"prediction": answer})
        self.seen.append((t, w, answers))

    def spread(self, output):
        last = self.seen[-1][0]
        decay = 1.0 if self.alpha is None else 1.0 - self.alpha
        kernel = [w * decay ** (last - t) for t, w, _ in self.seen]
        total = math.fsum(kernel)
        n_effective = total**2 / math.fsum(k * k for k in kernel)
        curves = []
        for _, _, answers in self.seen:
            values = [answer.get(output, 0.0) for answer in answers]
            centre = math.fsum(values) / len(values)
            curves.append([value - centre for value in values])
        found = []
        for k in range(len(self.points)):
            mean = math.fsum(w * c[k] for w, c in zip(kernel, curves, strict=True)) / total
            square = math.fsum(w * (c[k] - mean) ** 2 for w, c in zip(kernel, curves, strict=True))
            found.append(math.sqrt(square / total / (1 - 1 / n_effective)))
        return found


def rows(n, seed=1):
    draws = random.Random(seed)
    return [
        {"a": draws.gauss(0, 1), "b": draws.gauss(0, 1), "c": draws.choice("xyz")} for _ in range(n)
    ]


def regressor(x):
    return x["a"] * x["b"] + {"x": 0.0, "y": 1.0, "z": 3.0}.get(x["c"], -2.0) * (1 + x["a"])


def late(x):
    """A class that is learnt later: the third one is not there while b is large."""
    p = 1 / (1 + math.exp(-x["a"] * x["b"]))
    return {"no": 1 - p, "yes": p} if x["b"] > -0.5 else {"no": 1 - p, "yes": p / 2, "new": p / 2}


NUMBERS, LETTERS = [-2.0, -0.5, 1.0, 2.0], ["x", "y", "z"]
GRID = {
    "a": ipdp.grid.Fixed(NUMBERS),
    "b": ipdp.grid.Fixed(NUMBERS),
    "c": ipdp.grid.Fixed(LETTERS, missing=True),
}


@pytest.mark.parametrize("alpha", [None, 0.05])
@pytest.mark.parametrize("model", [regressor, late])
@pytest.mark.parametrize("feature", ["a", "c", ("a", "b")])
def test_it_is_the_deviation_of_the_centred_curves(alpha, model, feature):
    points = LETTERS if feature == "c" else NUMBERS
    if feature == ("a", "b"):
        points = [(a, b) for a in NUMBERS for b in NUMBERS]
    features = ["a", "c", ("a", "b")]
    pdp = ipdp.IncrementalPDP(model, features, alpha=alpha, grid=GRID)
    slow, draws = Slow(model, feature, points, alpha), random.Random(3)
    for t, x in enumerate(rows(60)):
        w, now = draws.choice([0.5, 1.0, 2.0]), t + (t > 30) * 2.5
        pdp.explain_one(x, w=w, t=now)
        slow.see(x, w, now)
    curve = pdp.curve(feature)
    for output, spread in zip(curve.outputs, curve.ice_spread, strict=True):
        assert spread.ravel() == pytest.approx(slow.spread(output), rel=1e-9)


def test_every_other_observation():
    pdp = ipdp.IncrementalPDP(regressor, ["a"], alpha=0.05, grid=GRID["a"], every=2)
    slow = Slow(regressor, "a", NUMBERS, 0.05)
    for t, x in enumerate(rows(60), start=1):
        pdp.explain_one(x)
        if t % 2 == 0:
            slow.see(x, t=t)
    assert pdp.curve("a").ice_spread[0] == pytest.approx(slow.spread("prediction"), rel=1e-9)


@pytest.mark.parametrize("slope", [0.0, 0.01])
@pytest.mark.parametrize("estimator", ["regrid", "pointwise"])
def test_without_interactions_it_is_zero_wherever_the_points_go(estimator, slope):
    def model(x):
        # Under the pointwise estimator a curved effect moves along itself.
        return (math.sin(x["a"]) if estimator == "regrid" else 2 * x["a"]) + 3 * x["b"]

    pdp = ipdp.IncrementalPDP(model, ["a", "b"], alpha=0.01, estimator=estimator, seed=1)
    draws = random.Random(4)
    for t in range(800):
        pdp.explain_one({"a": draws.gauss(slope * t, 1), "b": draws.gauss(0, 1)})
    for curve in pdp.curves.values():
        assert curve.interaction[0] < 1e-9
        assert curve.heterogeneity[0] < 1e-9


def test_it_hardly_depends_on_how_the_points_move():
    """The same effect that differs between observations, with points that stay and that move."""
    found = {}
    for name, grid, estimator in (
        ("fixed", ipdp.grid.Fixed(np.linspace(-2, 2, 9)), "pointwise"),
        ("regrid", None, "regrid"),
        ("pointwise", ipdp.grid.QuantileRange(9, window=100), "pointwise"),
    ):
        pdp = ipdp.IncrementalPDP(
            lambda x: x["a"] * x["b"] + x["a"],
            ["a"],
            alpha=0.005,
            grid=grid,
            estimator=estimator,
            seed=1,
        )
        for x in rows(2000):
            pdp.explain_one(x)
        found[name] = pdp.curve("a").interaction[0]
    # The deviation of b is 1; a twentieth of a is beyond 2 and counts as 2; of b there are 400.
    assert found["regrid"] == pytest.approx(found["fixed"], rel=0.1)
    assert found["pointwise"] == pytest.approx(found["fixed"], rel=0.1)
    assert found["fixed"] == pytest.approx(1.0, abs=0.15)


def test_an_effect_that_cancels_has_no_importance_but_an_interaction():
    pdp = ipdp.IncrementalPDP(lambda x: 5 * x["a"] * x["b"], ["a"], alpha=0.002, seed=1)
    for x in rows(1500):
        pdp.explain_one(x)
    curve = pdp.curve("a")
    assert curve.importance[0] < 0.5
    assert curve.interaction[0] > 4.0
    assert curve.heterogeneity[0] > 0.99


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"estimator": "pointwise"},
        {
            "features": ["a", "b"],
            "estimator": "pointwise",
            "grid": ipdp.grid.MinMax(4, window=15, warm_up=3),
        },
        {"features": ["a", ("a", "b")], "grid": ipdp.grid.QuantileRange(4, window=15, warm_up=3)},
        {"grid": ipdp.grid.Categories(2, window=8, missing=True), "features": ["c"]},
    ],
)
def test_the_laws_hold(settings):
    stream = [{**x, "a": x["a"] + k / 20} for k, x in enumerate(rows(66))]
    check_explainer(lambda: ipdp.IncrementalPDP(late, alpha=0.05, seed=1, **settings), stream)


def test_explainers_of_two_streams_are_merged_exactly():
    grid = {"a": GRID["a"], "c": GRID["c"]}
    one, other = (ipdp.IncrementalPDP(regressor, ["a", "c"], grid=grid, alpha=0.05) for _ in "12")
    slow = {name: Slow(regressor, name, p, 0.05) for name, p in (("a", NUMBERS), ("c", LETTERS))}
    for t, x in enumerate(rows(40), start=1):
        (one if t % 3 else other).explain_one(x, t=t)
        for brute in slow.values():
            brute.see(x, t=t)
    joined = one.merge(other)
    for name, brute in slow.items():
        assert joined.curve(name).ice_spread[0] == pytest.approx(brute.spread("prediction"))


def test_a_state_of_before_goes_on_without_a_past():
    pdp = ipdp.IncrementalPDP(regressor, ["a"], grid=GRID["a"])
    for x in rows(10):
        pdp.explain_one(x)
    state = pdp.state
    del state["fold"]["spread"]
    twin = ipdp.IncrementalPDP(regressor, ["a"], grid=GRID["a"])
    twin.state = state
    assert twin.curve("a").ice_spread is None
    for x in rows(3, seed=2):
        twin.explain_one(x)
    assert (twin.curve("a").ice_spread > 0).any()


def test_a_damaged_state_is_refused():
    pdp = ipdp.IncrementalPDP(regressor, ["a"], grid=GRID["a"])
    pdp.explain_one(rows(1)[0])
    state = pdp.state
    state["fold"]["spread"]["own"]["mean"] = [[1.0]]
    with pytest.raises(ValueError, match="the state is damaged: mean of the spread"):
        pdp.state = state


def test_the_observations_that_states_once_kept_are_not_needed():
    pdp = ipdp.IncrementalPDP(regressor, ["a"], grid=GRID["a"])
    for x in rows(40):
        pdp.explain_one(x)
    state = pdp.state
    state["fold"]["spread"]["own"]["recent"] = {"own": [[1.0]], "numbers": ""}
    twin = ipdp.IncrementalPDP(regressor, ["a"], grid=GRID["a"])
    twin.state = state
    assert twin.curve("a").ice_spread.tolist() == pdp.curve("a").ice_spread.tolist()
