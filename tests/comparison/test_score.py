"""Why the mean prediction moved, against brute force."""

import itertools
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import GradientBoostingRegressor

import ipdp
from ipdp.comparison import Baseline, ScoreMove

NAMES = ["a", "b", "c"]
TREES = ["sklearn.tree._tree.Tree"]
GRID = ipdp.grid.Fixed([0.0, 0.25, 0.5, 0.75, 1.0])


def table(n, seed, power=1.0):
    X = np.random.default_rng(seed).uniform(size=(n, 3))
    X[:, 0] **= power
    return X


def curves_of(model, X, names=NAMES):
    return ipdp.partial_dependence(model, X, names=names, grid=GRID)


def old(x):
    return 2 * x["a"] - x["b"] + 0.5 * x["c"]


def test_parts_of_an_additive_model_are_exact():
    def new(x):
        return 2 * x["a"] + x["b"] + 0.5 * x["c"]

    X, Z = table(400, 1), table(300, 2, power=0.5)
    found = ipdp.score_move(curves_of(old, X), curves_of(new, Z))
    (a, b, c), (a_new, b_new, c_new) = X.mean(axis=0), Z.mean(axis=0)
    before, after = 2 * a - b + c / 2, 2 * a_new + b_new + c_new / 2
    assert (found.before, found.after) == pytest.approx((before, after), abs=1e-9)
    assert found["a"].data == pytest.approx(2 * (a_new - a), abs=1e-9)
    assert found["c"].data == pytest.approx((c_new - c) / 2, abs=1e-9)
    # The slope of b is -1 with one model and 1 with the other: on average nothing by its data.
    assert found["b"].data == pytest.approx(0.0, abs=1e-9)
    assert found["b"].model == pytest.approx(b + b_new, abs=1e-9)
    rest = [found["a"].model, found["c"].model, found.level, found.rest]
    assert rest == pytest.approx([0.0] * 4, abs=1e-9)
    assert found.parts[0].feature == "b"


def test_what_is_the_same_for_all_is_the_level():
    X = table(300, 3)
    found = ipdp.score_move(curves_of(old, X), curves_of(lambda x: old(x) + 0.7, X))
    assert (found.move, found.level) == pytest.approx((0.7, 0.7), abs=1e-9)
    assert max(part.size for part in found.parts) < 1e-9


def test_two_features_that_act_together_are_exact_while_they_are_independent():
    def product(x):
        return x["a"] * x["b"]

    def crossed(*values):
        return np.array(list(itertools.product(*values)))

    X = crossed([0.0, 0.25, 1.0], [0.25, 0.5], [0.0, 1.0])
    Z = crossed([0.5, 1.0], [0.25, 0.75, 1.0], [0.0, 1.0])
    found = ipdp.score_move(curves_of(product, X), curves_of(product, Z))
    (a, b, _), (a_new, b_new, _) = X.mean(axis=0), Z.mean(axis=0)
    assert found["a"].data == pytest.approx((a_new - a) * (b + b_new) / 2, abs=1e-9)
    assert found["b"].data == pytest.approx((b_new - b) * (a + a_new) / 2, abs=1e-9)
    assert [found.level, found.rest] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_dependence_is_the_rest():
    def product(x):
        return x["a"] * x["b"]

    values = np.random.default_rng(4).choice(GRID.points, size=(400, 3))
    apart = np.array(list(itertools.product([0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.5])))
    together = values.copy()
    together[:, 1] = values[:, 0]
    found = ipdp.score_move(curves_of(product, apart), curves_of(product, together))
    covariance = np.cov(together[:, 0], together[:, 1], bias=True)[0, 1]
    assert found.rest == pytest.approx(covariance, abs=1e-9)
    assert found.level == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("same_model", [False, True])
def test_parts_add_up(same_model):
    def curved(x):
        return np.exp(x["a"]) * x["b"] * x["c"] + x["c"] ** 2

    X, Z = table(200, 5), table(200, 6, power=0.4)
    Z[:, 1] = (Z[:, 1] + Z[:, 0]) / 2
    found = ipdp.score_move(curves_of(curved, X), curves_of(curved, Z), same_model=same_model)
    total = sum(part.total for part in found.parts) + found.level + found.rest
    assert total == pytest.approx(found.move, abs=1e-12)
    assert sum(row[3] for row in found.rows()) == pytest.approx(found.move, abs=1e-12)
    if same_model:
        assert found.level == 0
        assert all(part.model == 0 for part in found.parts)


def run_of(X, place, model=old, **settings):
    rows = [dict(zip(NAMES, row, strict=True)) for row in X]
    pdp = ipdp.IncrementalPDP(model, **settings)
    ipdp.run(rows, model, pdp, learn=False, log=place)
    return place


def test_periods_and_times_of_a_log(tmp_path):
    X = np.concatenate([table(1_000, 7), table(1_000, 8, power=0.4)])
    place = run_of(X, tmp_path / "run", grid=GRID)
    found = ipdp.score_move(place, at=(0, 1_000), against=(1_000, 2_000))
    before, after = X[:1_000], X[1_000:]
    # A period is the mean of its stretches, each of which forgets a little.
    assert found.before == pytest.approx(np.mean(before @ [2, -1, 0.5]), abs=0.02)
    assert found.after == pytest.approx(np.mean(after @ [2, -1, 0.5]), abs=0.02)
    wanted = 2 * (after[:, 0].mean() - before[:, 0].mean())
    assert found["a"].data == pytest.approx(wanted, abs=0.01)
    assert found.same_model
    times = ipdp.score_move(place, at=1_000, against=2_000)
    weights = 0.999 ** np.arange(1_999, -1, -1.0)
    assert times.after == pytest.approx(np.average(X @ [2, -1, 0.5], weights=weights), abs=1e-9)
    assert times.parts[0].feature == "a"


def test_two_runs_of_one_frozen_model_have_no_part_of_the_model(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(600, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    sides = [table(800, 7), table(800, 8, power=0.4)]

    def moved(*models):
        runs = []
        for model, Z in zip(models, sides, strict=True):
            runs.append(run_of(Z, tmp_path / f"run-{len(list(tmp_path.iterdir()))}", model=model))
        return ipdp.score_move(*runs)

    frozen = GradientBoostingRegressor(random_state=0).fit(X, y)
    same = moved(*(skops.io.loads(skops.io.dumps(frozen), trusted=TREES) for _ in range(2)))
    assert same.same_model
    assert all(part.model == 0 for part in same.parts)
    assert same.level == 0
    assert moved(frozen, pickle.loads(pickle.dumps(frozen))).same_model
    refitted = GradientBoostingRegressor(random_state=0, n_estimators=90).fit(X, y)
    assert not moved(frozen, refitted).same_model
    assert not moved(old, old).same_model  # a function of the user's: nobody knows


def test_explainers_and_a_baseline_say_the_same():
    X, Z = table(800, 9), table(800, 10, power=0.4)
    one, other = (ipdp.IncrementalPDP(old) for _ in range(2))
    one.explain_many(X, names=NAMES)
    other.explain_many(Z, names=NAMES)
    found = ipdp.score_move(one, other)
    assert found.same_model
    base = Baseline.from_bytes(one.baseline().to_bytes())
    again = ipdp.score_move(base, other)
    assert not again.same_model
    assert again.move == pytest.approx(found.move)
    assert again["a"].data == pytest.approx(found["a"].data)


def test_of_several_classes_the_one_that_moved_most():
    def probabilities(x):
        high = min(max(x["a"], 0.0), 1.0) / 2
        return {"low": 0.7 - high, "middle": 0.3 - 0.1 * x["b"], "high": high + 0.1 * x["b"]}

    X, Z = table(200, 11), table(200, 12, power=0.3)
    sides = [curves_of(probabilities, T) for T in (X, Z)]
    assert ipdp.score_move(*sides).output in ("low", "high")
    assert ipdp.score_move(*sides, output="middle").output_text == "chance of middle"


def test_as_text_frame_and_json():
    found = ScoreMove(
        names=("May", "June"),
        output="prediction",
        output_text="prediction",
        before=1.0,
        after=1.5,
        std=2.0,
        parts=[ipdp.comparison.ScorePart("a", 0.4, -0.1), ipdp.comparison.ScorePart("b", 0.0, 0.0)],
        level=0.2,
        rest=0.0,
    )
    assert found.summary().splitlines() == [
        "The mean prediction moved from 1 in May to 1.5 in June, by +0.5 (0.25 standard "
        "deviations).",
        "    a      +0.3 (data +0.4, model -0.1)",
        "    level  +0.2 (the model, for all observations alike)",
    ]
    frame = found.to_frame()
    assert frame["part"].tolist() == ["a", "b", "level", "features together"]
    assert frame["total"].sum() == pytest.approx(0.5)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["parts"][0] == {
        "feature": "a",
        "data": 0.4,
        "model": -0.1,
        "total": pytest.approx(0.3),
    }
    assert plain["severity"] == 0.25


X = table(60, 13)
CASES = {
    "same features": lambda: ipdp.score_move(
        curves_of(old, X), curves_of(lambda x: x["z"], X[:, :1], ["z"])
    ),
    "common output": lambda: ipdp.score_move(
        curves_of(lambda x: {"u": x["a"]}, X), curves_of(lambda x: {"v": x["a"]}, X)
    ),
    "output in both": lambda: ipdp.score_move(curves_of(old, X), curves_of(old, X), output="z"),
    "needs two": lambda: ipdp.score_move(curves_of(old, X)),
    "no curves of single features": lambda: ipdp.score_move([], curves_of(old, X)),
    "accumulated local effects": lambda: ipdp.score_move(
        *[ipdp.accumulated_local_effects(old, X, names=NAMES)] * 2
    ),
}


@pytest.mark.parametrize("words", CASES)
def test_errors_say_what_is_wrong(words):
    with pytest.raises((TypeError, ValueError), match=words) as told:
        CASES[words]()
    assert "\n" not in str(told.value)


def test_a_log_without_mean_predictions_says_so(tmp_path):
    with ipdp.Log(tmp_path / "run") as log:
        log.begin({"alpha": 0.001}, features=NAMES)
        for n in (100, 200):
            lacking = {"density": None, "prediction": None, "t": n}
            log.snapshot({c.feature: replace(c, **lacking) for c in curves_of(old, X)}, n)
    with pytest.raises(ValueError, match="does not hold mean predictions"):
        ipdp.score_move(tmp_path / "run", at=100, against=200)


def test_an_empty_period_says_so(tmp_path):
    place = run_of(table(300, 14), tmp_path / "run")
    with pytest.raises(ipdp.NotEnoughSamples, match="no snapshot after 1000 up to 2000"):
        ipdp.score_move(place, at=(0, 300), against=(1_000, 2_000))


def test_groups_do_not_stand_in_the_way(tmp_path):
    X, Z = table(600, 11), table(600, 12, power=0.4)
    rows = [dict(zip(NAMES, row, strict=True), g=k % 2) for k, row in enumerate([*X, *Z])]
    pdp = ipdp.IncrementalPDP(old, NAMES, by="g", grid=GRID)
    ipdp.run(rows, old, pdp, learn=False, log=tmp_path / "run")
    found = ipdp.score_move(tmp_path / "run", at=(0, 600), against=(600, 1_200))
    assert {part.feature for part in found.parts} == set(NAMES)
    compared = ipdp.compare(tmp_path / "run", at=(0, 600), against=(600, 1_200))
    assert {found.feature for found in compared.differences} == set(NAMES)
    by_group = ["a, where g = 0"]
    both = ipdp.compare(tmp_path / "run", at=(0, 600), against=(600, 1_200), features=by_group)
    assert [found.feature for found in both.differences] == by_group
    assert found.parts[0].feature == "a"
    assert found.before == pytest.approx(np.mean(X @ [2, -1, 0.5]), abs=0.05)


def test_the_scale_is_said():
    X = np.random.default_rng(1).uniform(1, 2, size=(200, 1))
    one, other = (
        ipdp.partial_dependence(lambda x: np.exp(x["u"]), Z, names=["u"], link="log")
        for Z in (X, X + 1)
    )
    assert (
        ipdp.score_move(one, other)
        .summary()
        .startswith("The mean log of the prediction moved from")
    )
    steep = ipdp.partial_dependence(lambda x: np.exp(3 * x["u"]), X, names=["u"], link="log")
    assert "its effect on the log of the prediction by up to" in ipdp.compare(one, steep).summary()
