"""The curve of the model as it is now: `curve(feature, now=True)`."""

import json
import math

import numpy as np
import pytest
from river import linear_model, preprocessing, tree

import ipdp
from ipdp import IncrementalPDP, NotEnoughSamples
from ipdp.explainers.state.asking import Asking
from ipdp.explainers.state.correction import of_variances
from ipdp.grid import Categories, Fixed, MinMax

GRID = Fixed([-1.0, 0.0, 1.0, 2.0])


class Line:
    """slope * a + turn * a * b + level, which a test may change at any time."""

    def __init__(self):
        self.slope, self.turn, self.level = 1.0, 0.0, 0.0

    def __call__(self, x):
        return self.slope * x["a"] + self.turn * x["a"] * x["b"] + self.level


def rows(n, seed=0, rho=0.0):
    """Normal a and b; with rho they have a memory."""
    rng = np.random.default_rng(seed)
    values, noise = np.zeros(2), rng.normal(size=(n, 2))
    for k in range(n):
        values = rho * values + math.sqrt(1 - rho**2) * noise[k]
        yield {"a": float(values[0]), "b": float(values[1])}


def followed(model, n=600, **settings):
    settings = {"alpha": 0.01, "grid": GRID, **settings}
    pdp = IncrementalPDP(model, ["a"], **settings)
    for x in rows(n):
        pdp.explain_one(x)
    return pdp


MESSY = {"v": MinMax(4, 20, warm_up=3, missing=True), "c": Categories(3, 10, warm_up=2)}


def messy(n):
    rng = np.random.default_rng(3)
    for k in range(n):
        v = None if rng.random() < 0.2 else float(rng.normal() + k / 20)
        yield {"v": v, "c": str(rng.choice(list("pqrs"))), "n": int(rng.integers(5))}


def answer(x):
    """Three classes, of which the last one is met late; missing values have an answer too."""
    is_missing = x["v"] is None or math.isnan(x["v"])
    a = 0.3 if is_missing else 1 / (1 + math.exp(-x["v"]))
    b = (1 - a) * (0.5 if x["c"] == "p" else 0.2)
    return {"no": a, "yes": b, "late": 1 - a - b}


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_for_a_model_that_stays_it_is_the_smoothed_curve_to_the_last_bit(estimator):
    pdp = IncrementalPDP(answer, ["v", "c", ("v", "n")], grid=MESSY, estimator=estimator)
    for x in messy(150):
        pdp.explain_one(x)
    smoothed, now = pdp.snapshot(), pdp.snapshot(now=True)
    assert list(now) == list(smoothed)
    for feature, curve in now.items():
        np.testing.assert_array_equal(curve.average, smoothed[feature].average)
        np.testing.assert_array_equal(curve.std_error, smoothed[feature].std_error)
        np.testing.assert_array_equal(curve.smoothed, smoothed[feature].average)
        assert smoothed[feature].smoothed is None


@pytest.mark.parametrize("alpha", [0.01, 0.2, None])
def test_a_change_that_is_the_same_for_all_observations_is_known_exactly(alpha):
    model = Line()
    pdp = followed(model, alpha=alpha)
    model.slope, model.level = -2.0, 5.0
    points = np.array([-1.0, 0.0, 1.0, 2.0])
    curve = pdp.curve("a", now=True)
    np.testing.assert_allclose(curve.average, [5 - 2 * points], rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve.smoothed, [points], rtol=0, atol=1e-12)
    assert (curve.std_error < 1e-9).all()
    assert curve.n_effective == pytest.approx(pdp.curve("a").n_effective, rel=0.5)


def test_it_is_followed_from_one_reading_to_the_next():
    model = Line()
    pdp = followed(model, 2_000)
    for step, x in enumerate(rows(300, seed=1)):
        model.slope = 1 - step / 100
        pdp.explain_one(x)
        if step % 25 == 0:
            [average] = pdp.curve("a", now=True).average
            expected = model.slope * np.array([-1, 0, 1, 2])
            # The mean of what was said is off by 1 and more.
            np.testing.assert_allclose(average, expected, atol=0.4)


@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_a_change_that_differs_between_observations_is_estimated_with_a_fair_band(rho):
    points, errors, lagging, covered = np.array([-1.0, 0.0, 1.0, 2.0]), [], [], []
    for seed in range(20):
        model = Line()
        model.turn = 0.5
        pdp = IncrementalPDP(model, ["a"], alpha=0.005, grid=GRID, n_ice=0)
        for k, x in enumerate(rows(1_600, seed, rho)):
            if k == 1_500:
                model.slope, model.turn = -1.0, -0.5
            pdp.explain_one(x)
        curve = pdp.curve("a", now=True)
        low, high = curve.band()
        errors.append(curve.average[0] + points)
        lagging.append(curve.smoothed[0] + points)
        covered.append((low[0] - 1e-12 <= -points) & (-points <= high[0] + 1e-12))
    assert np.mean(np.square(errors)) < 0.04 * np.mean(np.square(lagging))
    assert np.mean(covered) > 0.7
    assert abs(np.mean(errors)) < 0.05  # no bias


def test_the_band_holds_at_every_reading_after_a_change():
    """Also when most of the pool, and not all of it, has been asked about since the change.

    The truth is known: the mean of b is 0. Of 12 runs x 4 points at each reading, 48, those of one
    run are right or wrong together.
    """
    points, level, errors, halves = np.array([-1.0, 0.0, 1.0, 2.0]), 5.0, [], []
    for seed in range(12):
        model = Line()
        model.turn = 1.0
        pdp = IncrementalPDP(model, ["a"], alpha=0.005, grid=GRID, n_ice=0)
        for k, x in enumerate(rows(1_600, seed)):
            if k == 1_200:
                model.slope, model.turn, model.level = -1.0, -1.0, level
            pdp.explain_one(x)
            if k % 50 == 49 and k > 1_000:
                curve = pdp.curve("a", now=True)
                if k > 1_200:
                    low, high = curve.band()
                    errors.append(curve.average[0] - (level - points))
                    halves.append((high - low)[0] / 2)
    errors, halves = (np.reshape(values, (12, -1, 4)) for values in (errors, halves))
    covered = (np.abs(errors) <= halves + 1e-12).mean(axis=(0, 2))
    assert covered.min() > 0.8
    # Nor is it wide because it is not known: halves of 1.96 standard errors.
    assert 0.5 < 1.96**2 * np.mean(errors**2) / np.mean(halves**2) < 1.5


def weekly(n, seed=0):
    """Half of the variance of b comes and goes in 400 steps."""
    rng = np.random.default_rng(seed)
    for k, (a, b) in enumerate(rng.normal(size=(n, 2)).tolist()):
        yield {"a": a, "b": b / math.sqrt(2) + math.sin(2 * math.pi * k / 400)}


def test_the_band_of_a_model_that_learns_knows_a_season():
    """A model that changes a little all the time has the band of one that stays."""
    noise = np.random.default_rng(4)
    still, restless = Line(), Line()
    still.turn = restless.turn = 1.0
    both = [
        IncrementalPDP(model, ["a"], alpha=0.005, grid=GRID, n_ice=0) for model in (still, restless)
    ]
    widths = []
    for k, x in enumerate(weekly(3_000)):
        restless.turn += 0.01 * noise.normal() - 0.01 * (restless.turn - 1)
        for pdp in both:
            pdp.explain_one(x)
        if k % 100 == 99 and k > 2_000:
            curves = [pdp.curve("a", now=True) for pdp in both]
            widths.append([np.ptp(curve.band(), axis=0).mean() for curve in curves])
    ratio = np.divide(*np.mean(widths, axis=0)[::-1])
    assert 0.8 < ratio < 1.25


class Counted(Line):
    """A line that counts how often it is called."""

    calls = 0

    def __call__(self, x):
        self.calls += 1
        return super().__call__(x)


def test_the_whole_pool_is_asked_when_the_model_has_just_changed():
    """Also if a curve is read a moment later once more, as after a change that is reported."""
    model, widths = Counted(), []
    model.turn = 1.0
    pdp = IncrementalPDP(model, ["a"], alpha=0.002, grid=GRID, n_ice=0)
    for k, x in enumerate(rows(3_004)):
        if k == 3_000:
            model.slope, model.turn = -1.0, -1.0
        pdp.explain_one(x)
        if k % 100 == 99 or k in (3_001, 3_003):
            before = model.calls
            widths.append(pdp.curve("a", now=True).std_error.mean())
            asked = (model.calls - before) / 4  # points
            assert asked >= 288 if k == 3_001 else asked < 60
    assert widths[-1] < 1.1 * widths[-2]


def test_a_reading_soon_after_the_last_is_no_guess():
    """The model goes on changing, all that was saved up is used, and a change is reported."""
    ratios = []
    for seed in range(4):
        model, noise, widths = Counted(), np.random.default_rng(seed), {}
        pdp = IncrementalPDP(model, ["a"], alpha=0.002, grid=GRID, n_ice=0)
        for k, x in enumerate(rows(4_003)):
            if k >= 3_500 and k % 2 == 0:
                model.slope, model.turn = noise.normal(size=2)
            pdp.explain_one(x)
            if k % 50 == 49 or k in (3_983, 4_002):
                widths[k] = pdp.curve("a", now=True).std_error.mean()
        usual = np.mean([widths[k] for k in range(3_599, 3_999, 50)])
        ratios.append(widths[4_002] / usual)
    assert np.mean(ratios) < 2.5, ratios


def test_what_is_asked_in_all_is_bounded():
    """A model that is another one each time, and curves that are read at every step or rarely."""
    model, noise = Counted(), np.random.default_rng(1)
    pdp = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID, n_ice=0)
    n_read = 0
    for k, x in enumerate(rows(1_500)):
        model.slope, model.turn = noise.normal(size=2)
        pdp.explain_one(x)
        if k % 100 == 0 or k >= 1_400:
            pdp.curve("a", now=True)
            n_read += 1
    asked = (model.calls - 4 * 1_500) / 4
    # Each reading asks about eight at least, once more to see how many it takes, and for the share.
    assert asked <= 0.9 * 1_500 + (16 + 160) * n_read


def test_fewer_readings_ask_little_more_each():
    """A model that is another one each time; who reads once is told by the whole pool."""

    def asked(every):
        asking, weights, n = Asking(288), np.ones(288), []
        for k in range(every, 20_001, every):
            n.append(len(asking.choose(k, [0.0] * 288, weights, lambda _: 1_000.0).chosen))
        return n

    often, seldom, once = (
        np.mean(asked(every)[20:] or asked(every)) for every in (100, 400, 10_000)
    )
    assert 80 <= often <= 90
    assert 1.8 * often <= seldom <= 2.1 * often  # and not four times
    assert once == 288


def test_a_pool_that_has_all_observations_leaves_nothing_to_chance():
    """The band is that of an explainer to which the model has always been what it is now."""
    model, always = Line(), Line()
    model.turn, always.slope, always.turn = 1.0, -1.0, -1.0
    both = [
        IncrementalPDP(own, ["a"], alpha=0.02, grid=GRID, n_ice=0, n_past=2_000)
        for own in (model, always)
    ]
    for k, x in enumerate(rows(900)):
        if k == 880:
            model.slope, model.turn = -1.0, -1.0
        for pdp in both:
            pdp.explain_one(x)
    now, expected = both[0].curve("a", now=True), both[1].curve("a")
    # A part of the difference, of 4 at most, is doubted.
    np.testing.assert_allclose(now.average, expected.average, atol=0.02)
    np.testing.assert_allclose(now.std_error, expected.std_error, rtol=0.2, atol=1e-3)


def test_a_level_that_moved_with_the_model_is_no_error_of_the_curve():
    model = Line()
    model.turn = 0.5
    pdp = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID, n_ice=0)
    for k, x in enumerate(rows(1_600)):
        model.level = 50.0 * (k >= 1_500)
        pdp.explain_one(x)
    smoothed, now = pdp.curve("a"), pdp.curve("a", now=True)
    # 200 independent observations of 0.5 a b have an error of 0.5 |a| / sqrt(200), at most 0.07; in
    # which stratum of the pool the level moved is worth 50 times the share of one, 0.17.
    assert (now.std_error < 0.2).all()
    assert (smoothed.std_error > 1.0).all()  # that of what was said then and since


def test_to_read_is_not_to_compare_the_answers_with_plain_calls():
    """What an engine checks of its answers is the business of explaining, and half of the time."""
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    pdp = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID)
    for x in rows(300):
        pdp.explain_one(x)
        model.learn_one(x, x["a"] > 0)
    before = pdp.engine.checker.state
    pdp.curve("a", now=True)
    assert pdp.engine.checker.state == before


def test_noise_is_not_added_where_the_mean_stays():
    """A model that says something else of each row at random, with the same curve."""
    model = Line()
    pdp = followed(model, 1_000)
    noise = np.random.default_rng(5)
    jittery = ipdp.models.engine(lambda x: x["a"] + noise.normal())
    pdp.engine = jittery
    curve = pdp.curve("a", now=True)
    assert np.abs(curve.average - curve.smoothed).max() < 0.2


def test_to_look_twice_gives_the_same_curve():
    model = Line()
    pdp = followed(model, 1_000)
    pdp.curve("a", now=True)
    model.slope, model.turn = -1.0, 0.7
    for x in rows(100, seed=8):
        pdp.explain_one(x)
    model.turn = 1.5
    first, second = pdp.curve("a", now=True), pdp.curve("a", now=True)
    assert first.to_dict() == second.to_dict()
    assert json.dumps(pdp.state) == json.dumps(pdp.state)


def test_explain_many_keeps_what_one_by_one_keeps():
    one, many = (
        IncrementalPDP(answer, ["v", "c"], alpha=0.05, grid=MESSY, n_past=10) for _ in range(2)
    )
    for x in messy(200):
        one.explain_one(x)
    listed = list(messy(200))
    for first in range(0, 200, 33):
        many.explain_many(listed[first : first + 33])
    assert one.memory.means.outputs == many.memory.means.outputs  # the last ones are folded in
    pools = [each.memory.pool.state for each in (one, many)]
    rests = [np.concatenate(pool.pop("rests")) for pool in pools]
    assert pools[0] == pools[1]
    assert rests[0] == pytest.approx(rests[1], rel=1e-12)  # by numpy the same to rounding


def test_state_goes_on_bit_for_bit():
    def run(resumed):
        model = Line()
        pdp = followed(model, 500, n_past=20)
        found = []
        for k, x in enumerate(rows(200, seed=2)):
            model.slope, model.turn = 1 - k / 50, k / 100
            pdp.explain_one(x)
            if k == 100:  # both write a checkpoint, one goes on from it
                saved = json.loads(json.dumps(pdp.state))
                if resumed:
                    pdp = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID, n_past=20)
                    pdp.state = saved
            if k % 30 == 0:
                found.append(pdp.curve("a", now=True).to_dict())
        return json.dumps(found), json.dumps(pdp.state)

    assert run(False) == run(True)


def test_a_state_of_an_earlier_version_has_no_past_and_is_read():
    model = Line()
    pdp = followed(model)
    state = pdp.state
    del state["fold"]["pool"]
    other = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID)
    other.state = state
    np.testing.assert_array_equal(other.curve("a", now=True).average, pdp.curve("a").average)


def test_what_cannot_be_saved_is_left_out_with_a_warning(caplog):
    pdp = IncrementalPDP(lambda x: x["a"], ["a"], grid=GRID)
    for x in rows(30):
        pdp.explain_one({**x, "b": object()})
    assert pdp.state["fold"]["pool"] is None
    assert "'b'" in caplog.text


def test_a_state_of_before_it_was_known_when_each_was_asked_is_read():
    model = Line()
    pdp = followed(model)
    pdp.curve("a", now=True)
    state = json.loads(json.dumps(pdp.state))
    del state["fold"]["pool"]["asked"]
    other = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID)
    other.state = state
    model.slope = -2.0
    np.testing.assert_allclose(other.curve("a", now=True).average, [[2.0, 0, -2, -4]], atol=1e-12)


def test_a_state_with_room_for_fewer_is_read_and_asked_anew():
    model = Line()
    pdp = followed(model)
    pdp.curve("a", now=True)
    other = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID, n_past=20)
    other.state = json.loads(json.dumps(pdp.state))
    model.slope = -2.0
    np.testing.assert_allclose(other.curve("a", now=True).average, [[2.0, 0, -2, -4]], atol=1e-12)


@pytest.mark.parametrize("what", ["weights", "values", "_order", "_starts", "_chosen", "readings"])
def test_a_damaged_pool_is_refused(what):
    pdp = followed(Line())
    pdp.curve("a", now=True)
    state = pdp.state
    pool = state["fold"]["pool"]
    if what == "weights":
        pool["weights"] = [[1.0], [1.0]]
    elif what in pool["asked"]:
        pool["asked"][what] = [1, 0, 1]
    else:  # as many numbers, in another shape
        pool["records"]["values"]["shapes"][0] = pool["records"]["values"]["shapes"][0][::-1]
    other = IncrementalPDP(Line(), ["a"], alpha=0.01, grid=GRID)
    with pytest.raises(ValueError, match="damaged"):
        other.state = state


def test_merged_explainers_know_the_past_of_both():
    model = Line()
    first = followed(model, 400)
    later = first.successor()
    model.slope = 0.0
    for x in rows(200, seed=4):
        later.explain_one(x)
    joined = first.merge(later)
    model.slope = 3.0
    np.testing.assert_allclose(joined.curve("a", now=True).average, [[-3.0, 0, 3, 6]], atol=1e-3)
    weights = joined.memory.pool.weights(joined.t)
    assert len(weights) <= 289
    np.testing.assert_allclose(weights.sum(), joined.memory.means.smoothing.weight[0], rtol=0.01)


def test_a_class_that_came_late_was_at_zero_before():
    classes = {"old": 1.0}
    pdp = IncrementalPDP(lambda x: dict(classes), ["a"], alpha=0.01, grid=GRID)
    for k, x in enumerate(rows(500)):
        if k == 400:
            classes = {"old": 0.4, "new": 0.6}
        pdp.explain_one(x)
    curve = pdp.curve("a", now=True)
    assert curve.outputs == ("new", "old")
    np.testing.assert_allclose(curve.average[0], 0.6, atol=1e-3)
    np.testing.assert_allclose(curve.average[1], 0.4, atol=1e-3)
    classes = {"old": 0.2, "new": 0.3, "unseen": 0.5}  # not on the curve before it is explained
    np.testing.assert_allclose(pdp.curve("a", now=True).average[0], 0.3, atol=1e-3)


def test_probabilities_stay_probabilities():
    """Three classes, of which the model changes its mind in another way for each row."""
    turn = {"now": 0.0}

    def model(x):
        odds = np.exp([x["a"] + turn["now"] * x["b"], turn["now"] * x["a"] * 3, 1.0])
        return dict(zip("pqr", (odds / odds.sum()).tolist(), strict=True))

    pdp = IncrementalPDP(model, ["a"], alpha=0.01, grid=GRID, n_past=20)
    for x in rows(400):
        pdp.explain_one(x)
    turn["now"] = 4.0
    curve = pdp.curve("a", now=True)
    assert curve.are_probabilities
    assert (curve.average >= 0).all()
    np.testing.assert_allclose(curve.average.sum(axis=0), 1.0)


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_points_that_came_later_are_corrected_by_those_who_had_them(estimator):
    model = Line()
    grid = MinMax(6, 50, warm_up=5)
    pdp = IncrementalPDP(model, ["a"], alpha=0.01, grid=grid, estimator=estimator)
    for k, x in enumerate(rows(500)):
        pdp.explain_one({**x, "a": x["a"] + k / 50})
    model.slope = -1.0
    curve = pdp.curve("a", now=True)
    np.testing.assert_allclose(curve.average[0], -curve.grid_values[0], atol=0.05)


def test_a_point_that_came_after_a_change_is_corrected_as_its_neighbours_are():
    """It is shown with their past, in which the model was another one."""
    model = Line()
    pdp = IncrementalPDP(model, ["a"], alpha=0.01, grid=MinMax(6, 50, warm_up=5))
    for k, x in enumerate(rows(560)):
        if k == 500:
            model.slope = -1.0
        pdp.explain_one({**x, "a": math.tanh(x["a"]) + 2 * (k >= 530)})
        if k % 20 == 19:
            pdp.curve("a", now=True)
    curve = pdp.curve("a", now=True)
    assert curve.grid_values[0].max() > 2
    assert np.abs(curve.smoothed[0] + curve.grid_values[0]).max() > 1
    np.testing.assert_allclose(curve.average[0], -curve.grid_values[0], atol=0.1)


def test_a_model_that_learns_is_followed_in_a_pipeline():
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    pdp = IncrementalPDP(model, ["a"], alpha=0.002, grid=GRID)
    for k, x in enumerate(rows(2_000)):
        pdp.explain_one(x)
        model.learn_one(x, (x["a"] if k < 1_500 else -x["a"]) + x["b"])
    held_out = list(rows(2_000, seed=9))
    [batch] = ipdp.partial_dependence(model, held_out, ["a"], grid=GRID, ice=False)
    curve = pdp.curve("a", now=True)
    lag = np.abs(curve.smoothed - batch.average).max()
    assert np.abs(curve.average - batch.average).max() < 0.2 * lag


@pytest.mark.parametrize("n_past", [0, 1, 5])
def test_few_past_observations(n_past):
    model = Line()
    pdp = followed(model, n_past=n_past)
    model.slope = 2.0
    if not n_past:
        with pytest.raises(ValueError, match="n_past"):
            pdp.curve("a", now=True)
        assert pdp.results()["a"].smoothed is None
    else:
        assert len(pdp.memory.pool.kept) <= n_past + 1
        np.testing.assert_allclose(pdp.curve("a", now=True).average[0, -1], 4.0, atol=1e-9)


def test_what_is_passed_on_is_the_model_as_it_is_now():
    model = Line()
    pdp = followed(model)
    model.slope = -1.0
    curve = pdp.results()["a"]
    np.testing.assert_allclose(curve.average, [[1.0, 0, -1, -2]], atol=1e-12)
    again = ipdp.Curve.from_dict(json.loads(json.dumps(curve.to_dict())))
    np.testing.assert_array_equal(again.smoothed, curve.smoothed)
    np.testing.assert_array_equal(curve.select("prediction").smoothed, curve.smoothed)


def test_errors_are_clear_and_lose_nothing():
    with pytest.raises(NotEnoughSamples):
        IncrementalPDP(Line()).curve("a", now=True)
    with pytest.raises(ValueError, match="n_past"):
        IncrementalPDP(Line(), n_past=-1)
    model = Line()
    pdp = followed(model)
    model.level = math.nan
    with pytest.raises(ValueError, match="asked again about past observations"):
        pdp.curve("a", now=True)
    model.level = 0.0
    np.testing.assert_array_equal(pdp.curve("a", now=True).average, pdp.curve("a").average)


def test_the_pool_stands_for_the_whole_past_in_bounded_memory():
    pdp = IncrementalPDP(lambda x: x["a"], ["a"], alpha=0.002, grid=GRID, n_past=30)
    most = 0
    for k, x in enumerate(rows(5_000)):
        pdp.explain_one(x)
        if k % 250 == 249:
            memory = pdp.memory
            weights = memory.pool.weights(memory.t)
            most = max(most, len(weights))
            total = memory.means.smoothing.weight[0]
            np.testing.assert_allclose(weights.sum(), total, rtol=0.01)
            times = [kept.record.t for kept in memory.pool.kept]
            assert times == sorted(times)
            # The mean age of the weights is 1 / alpha.
            age = np.average(memory.t - np.array(times), weights=weights)
            if k > 2_500:
                assert 400 < age < 620
    assert most <= 31


def variance_by_neighbours(series, k):
    """Half of the mean squared difference from those beside it; None stands for a gap."""
    near = [series[j] for j in (k - 1, k + 1) if 0 <= j < len(series) and series[j] is not None]
    if not near:
        return series[k] ** 2
    return sum((series[k] - value) ** 2 for value in near) / (2 * len(near))


@pytest.mark.parametrize("n", [1, 2, 9])
def test_variances_are_those_of_neighbours_that_are_there(n):
    rng = np.random.default_rng(n)
    values, weights = rng.normal(size=(n, 2, 5)), rng.random((n, 1, 5))
    there = rng.random((n, 1, 5)) < 0.6
    got = of_variances(np.where(there, weights, 0.0), values, there)
    for output, point in np.ndindex(2, 5):
        column = values[:, output, point]
        series = [v if known else None for v, known in zip(column, there[:, 0, point], strict=True)]
        want = sum(
            weights[k, 0, point] * variance_by_neighbours(series, k)
            for k in range(n)
            if series[k] is not None
        )
        assert got[output, point] == pytest.approx(want, rel=1e-12, abs=1e-15)
