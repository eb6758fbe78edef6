"""Two of anything that has curves."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import ipdp
from ipdp.comparison.difference import Shares, difference, number, verdict_of

from .making import explained, logged, make_curve, rows


def model(x):
    return x["a"] + x["b"] * x["c"]


def steeper(x):
    return 1.3 * x["a"] + x["b"] * x["c"]


@pytest.mark.parametrize(
    ("values", "half", "verdict"),
    [
        ([0.0, 0.5], 0.1, "different"),
        ([0.0, -0.5], 0.1, "different"),
        ([0.0, 0.25], 0.1, "cannot say"),
        ([0.0, 0.05], 0.1, "alike"),
        ([0.0, 0.0], 0.3, "cannot say"),
        ([0.0, np.nan], 0.1, "cannot say"),
    ],
)
def test_around_a_margin_of_a_fifth(values, half, verdict):
    assert verdict_of(np.array(values), np.array([half, half]), 0.2) == verdict


def test_shape_and_level_are_two_things():
    one = make_curve([0.0, 1.0, 2.0, 3.0], error=0.01)
    raised = make_curve([5.0, 6.0, 7.0, 8.0], error=0.01)
    turned = make_curve([3.0, 2.0, 1.0, 0.0], error=0.01)
    found = ipdp.compare(one, raised)
    assert found["age"].verdict == "alike"
    assert found["age"].level == pytest.approx(5.0)
    assert found["age"].level_verdict == "different"
    found = ipdp.compare(one, turned)["age"]
    assert (found.verdict, found.level_verdict) == ("different", "alike")
    np.testing.assert_allclose(found.shape, [3.0, 1.0, -1.0, -3.0])
    assert found.size == pytest.approx(3.0)
    assert found.size_in_errors == pytest.approx(3.0 / np.hypot(0.01, 0.01))


def test_errors_of_both_add_up():
    one, other = make_curve([0.0, 1.0], error=0.3), make_curve([0.0, 1.0], error=0.4)
    found = difference(one, other, output="prediction", margin=0.1, outside=0.05)
    np.testing.assert_allclose(found.std_error, 0.5)
    # Two points that have nothing to do with each other, 2.26 errors of 400 degrees of freedom.
    np.testing.assert_allclose(found.half, 0.5 * 2.26, rtol=0.02)
    less = difference(
        one, other, output="prediction", margin=0.1, outside=0.05, shares=Shares(0.25, 0.25)
    )
    np.testing.assert_allclose(less.std_error, 0.25)


def test_where_it_differs():
    one, other = make_curve(np.zeros(6), error=0.01), make_curve([0, 0, 0, 0, 3, 3], error=0.01)
    found = ipdp.compare(one, other, margin=1.5)["age"]
    assert found.where == (4.0, 5.0)
    assert "above 4" in found.summary()


def test_another_slope_is_found_and_named():
    one, other = explained(model, rows(2_000, 1)), explained(steeper, rows(2_000, 2))
    found = ipdp.compare(one, other)
    assert [each.feature for each in found.different] == ["a"]
    assert found["a"].kind == "model"
    assert found["a"].size == pytest.approx(0.3 * 2.2, rel=0.2)


def test_data_that_moved_are_told_from_a_model():
    # The effect of b is that of the mean of c, which moves from 0 to 1.
    one, other = explained(model, rows(2_000, 1)), explained(model, rows(2_000, 2, shift=1.0))
    found = ipdp.compare(one, other)
    assert found["b"].verdict == "different"
    assert found["b"].kind == "data"
    assert list(found.moved) == ["c"]
    # The same without models to ask: the values moved, so nobody knows.
    found = ipdp.compare(one.curves, other.curves)
    assert found["b"].verdict == "different"
    assert found["b"].kind is None


def test_models_cannot_be_asked_but_no_values_moved():
    one = explained(model, rows(2_000, 1)).curves
    other = explained(steeper, rows(2_000, 2)).curves
    assert ipdp.compare(one, other)["a"].kind == "model"


def test_values_that_seem_to_have_moved_are_not_taken_for_the_same():
    # A curve of data that moved on the way is worth few observations: too few to be sure that its
    # values are others, and too few to say that they are the same.
    rng = np.random.default_rng(1)
    steep = {"values": [0.0, 2.0, 4.0, 6.0], "inflation": np.array([60.0])}
    one = make_curve([0.0, 1.0, 2.0, 3.0], rug=[rng.normal(0, 1, 200)])
    kinds = {}
    for shift in (0.0, 1.5):
        found = ipdp.compare(one, make_curve(**steep, rug=[rng.normal(shift, 1, 200)]), margin=0.1)
        assert found["age"].verdict == "different"
        assert found.moved == {}
        kinds[shift] = found["age"].kind
    assert kinds == {0.0: "model", 1.5: None}


def test_what_is_said_of_no_single_feature():
    X = [{"level of x": k / 50, "(y": 1.0} for k in range(200)]
    one = ipdp.partial_dependence(lambda x: x["level of x"] + x["(y"], X)
    other = ipdp.partial_dependence(lambda x: x["level of x"] + x["(y"] + 9, X)
    found = ipdp.compare(one, other)
    assert found.remarks == [
        "level of prediction: 9 higher in b, seen in 2 of 2 curves (the model)",
        "(the observations of both are taken for independent)",
    ]
    assert found.summary().splitlines()[0] == found.heading
    assert [each.feature for each in found.ranked] == ["(y", "level of x"]


def test_the_size_in_errors_is_that_of_the_largest_difference():
    # Where the difference is next to nothing, so is its error: that ratio says nothing.
    error = np.array([[0.1, 1e-12, 0.1]])
    one = make_curve([0.0, 0.0, 0.0], error=error)
    other = make_curve([-1.0, 1e-6, 1.0], error=error)
    found = ipdp.compare(one, other, margin=0.1)["age"]
    assert found.size_in_errors == pytest.approx(1 / (np.sqrt(2) * 0.1), rel=0.01)


def test_texts_of_a_table():
    one = make_curve([0.0, 1.0, 2.0, 3.0], error=0.01)
    alike, other = (make_curve([0.0, 1.0, 2.0, last], error=0.01) for last in (3.0, 5.0))
    same = ipdp.compare(one, alike, margin=0.5)["age"]
    assert same.size_texts()[:2] == ("0", "0")
    assert same.place_text() == ""
    differs = ipdp.compare(one, other, margin=0.2)["age"]
    assert differs.size_texts() == (number(1.5), "over 100", number(differs.most))
    assert differs.place_text() == differs.where_text() or "everywhere"
    assert differs.level_text().startswith("+0.5 ± 0.0")
    above = make_curve([9e4, 9e4 + 1, 9e4 + 2, 9e4 + 3], error=400.0)
    assert re.fullmatch(r"\+90,000 ± [1-9]\d0", ipdp.compare(one, above)["age"].level_text())
    far = ipdp.compare(one, make_curve([0.0, 1.0], points=[8.0, 9.0]), margin=0.5)["age"]
    assert far.level_text() == ""
    assert (far.size_texts(), far.place_text()) == (("", "", ""), "no common range")


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_equal_halves_are_not_different(memory):
    data = rows(3_000, 5, memory=memory)
    one, other = explained(model, data[:1_500]), explained(model, data[1_500:])
    assert ipdp.compare(one, other).verdict != "different"
    tables = [ipdp.partial_dependence(model, part) for part in (data[:1_500], data[1_500:])]
    assert ipdp.compare(*tables).verdict != "different"


def test_the_same_is_the_same():
    pdp = explained(model, rows(200, 1))
    curve = pdp.curve("a")
    assert ipdp.compare(curve, curve).verdict == "alike"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose third feature moves after 1,500 of 3,000 observations."""
    data = rows(1_500, 1) + rows(1_500, 2, shift=1.5)
    return logged(tmp_path_factory.mktemp("run"), data, alpha=0.005)


def test_two_times_of_a_log(run):
    found = ipdp.compare(run, at=1_500, against=3_000)
    assert found.names == (f"{run.name} at 1,500", f"{run.name} at 3,000")
    assert found["b"].verdict == "different"
    assert found["b"].kind == "data"  # the model did not learn
    assert found["a"].verdict == "alike"


def test_two_periods_of_a_log(run):
    found = ipdp.compare(run, at=(0, 1_500), against=(1_500, 3_000))
    assert found["b"].verdict == "different"
    assert found["a"].verdict == "alike"
    same = ipdp.compare(run, at=(100, 800), against=(800, 1_500))
    assert same.verdict != "different"
    with ipdp.LogReader(run) as reader, pytest.raises(ValueError, match="the periods overlap"):
        ipdp.compare(reader, at=(0, 1_500), against=(1_000, 3_000))


def test_two_runs_and_a_run_with_an_explainer(run, tmp_path):
    other = logged(tmp_path, rows(1_500, 7), alpha=0.005)
    assert ipdp.compare(run, other, at=1_500).verdict != "different"
    assert ipdp.compare(run, other, at=(1_500, 3_000))["b"].verdict == "different"
    pdp = explained(model, rows(1_500, 8), alpha=0.005)
    assert ipdp.compare(other, pdp).verdict != "different"


def test_two_runs_of_one_name(run, tmp_path):
    """In two directories, as of two machines; and a run with itself."""
    other = shutil.copytree(run, tmp_path / run.name)
    for both in ((run, other), (run, run)):
        assert ipdp.compare(*both).verdict != "different"


def test_of_two_classes_the_second_and_of_three_all():
    def two(x):
        return {False: 1 - x["p"], True: x["p"]}

    def three(x):
        return {"u": x["p"] / 2, "v": x["p"] / 2, "w": 1 - x["p"]}

    data = [{"p": k / 400} for k in range(400)]
    pairs = [
        (ipdp.partial_dependence(f, data), ipdp.partial_dependence(f, data)) for f in (two, three)
    ]
    outputs = [[each.output for each in ipdp.compare(*pair).differences] for pair in pairs]
    assert outputs == [[True], ["u", "v", "w"]]


def test_what_only_one_side_has():
    one, other = make_curve([0, 1]), make_curve([0, 1], feature="size")
    both = [one, replace(one, feature="extra")], [one, other]
    found = ipdp.compare(*both, names=("old", "new"))
    assert found.only == (["extra"], ["size"])
    assert "only in new: size" in found.summary()


def test_frames_dicts_and_sentences():
    one, other = explained(model, rows(800, 1)), explained(steeper, rows(800, 2))
    found = ipdp.compare(one, other, names=("old", "new"))
    frame = found.to_frame()
    assert frame["feature"].tolist() == ["a", "b", "c"]
    assert frame["verdict"].tolist()[0] == "different"
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["verdict"] == "different"
    assert plain["differences"][0]["summary"].startswith("a: different: its effect on the")
    assert repr(found).splitlines()[0].startswith("Comparison of new with old, at 95%: 1 of 3")


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ([make_curve([0, 1])], {}, "compare needs two"),
        ([make_curve([0, 1]), 3], {}, "compare takes curves, explainers, logs"),
        ([make_curve([0, 1]), make_curve([0, 1], feature="b")], {}, "nothing to compare"),
        ([make_curve([0, 1])] * 2, {"level": 1.0}, "level must be in"),
        ([make_curve([0, 1])] * 2, {"margin": -1.0}, "margin must be"),
        ([make_curve([0, 1])] * 2, {"features": ["b"]}, "there is no feature in both 'b'"),
        ([make_curve([0, 1])] * 2, {"at": 100}, "times of a log"),
        ([make_curve([0, 1]), make_curve([0, 1], outputs=("p",))], {}, "nothing to compare"),
    ],
)
def test_what_cannot_be_compared(arguments, settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ipdp.compare(*arguments, **settings)


def test_no_common_range_is_said():
    found = ipdp.compare(make_curve([0, 1]), make_curve([0, 1], points=[5.0, 6.0]))
    assert found.verdict == "cannot say"
    assert found["age"].summary() == "age: cannot say (no common range)"


def test_a_single_value_has_no_shape():
    found = ipdp.compare(make_curve([1], points=[3.0]), make_curve([9], points=[3.0]), margin=0.1)
    assert found["age"].verdict == "cannot say"
    assert found["age"].level_verdict == "different"
    assert found["age"].summary() == "age: cannot say (one common value); level 8 higher"
