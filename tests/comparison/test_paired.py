"""Champion and challenger on the same rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ipdp
from ipdp.comparison import challenge, paired
from ipdp.comparison.paired import PairedEngine

from .making import rows


def champion(x):
    return x["a"] + x["b"] * x["c"]


def steeper(x):
    return 1.15 * x["a"] + x["b"] * x["c"]


def both(data, challenger=steeper, **settings):
    made = challenge(ipdp.IncrementalPDP(champion, **settings), challenger)
    made.explain_many(data)
    return made


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_a_small_difference_is_found_in_few_rows(memory):
    data = rows(500, 1, memory=memory)
    found = paired(both(data))
    assert [each.feature for each in found.different] == ["a"]
    assert found["a"].kind == "model"
    places = found["a"].places[0]
    np.testing.assert_allclose(found["a"].shape, 0.15 * (places - places.mean()), atol=1e-6)


def test_two_separate_bands_do_not_find_it():
    sides = [ipdp.IncrementalPDP(m, n_ice=0) for m in (champion, steeper)]
    for side in sides:
        side.explain_many(rows(500, 1, memory=0.9))
    assert ipdp.compare(*sides)["b"].verdict == "cannot say"
    assert paired(both(rows(500, 1, memory=0.9)))["b"].verdict == "alike"


def test_the_curves_are_those_of_both_and_their_difference():
    data = rows(300, 2)
    curve = both(data).curve("a")
    parts = [
        curve.select(f"{name}: prediction") for name in ("champion", "challenger", "difference")
    ]
    first, second, apart = (part.average[0] for part in parts)
    alone = ipdp.IncrementalPDP(champion)
    alone.explain_many(data)
    np.testing.assert_allclose(first, alone.curve("a").average[0])
    np.testing.assert_allclose(apart, second - first, atol=1e-12)


def test_the_champion_is_where_there_are_data():
    results = both(rows(300, 2)).results()
    curve = results["a"]
    behind = curve.n_effective_points.copy()
    behind[-1] = 0.0  # nobody has been there
    results["a"] = replace(curve, n_effective_points=behind)
    each = paired(results)["a"]
    places = each.places[0]
    assert len(places) == len(behind) - 1
    expected = curve.select("champion: prediction").at(places)[0]
    np.testing.assert_allclose(each.a, expected, atol=1e-9)
    np.testing.assert_allclose(each.b - each.a, each.shape + each.level, atol=1e-9)


def test_of_two_classes_the_second():
    def classes(share):
        return lambda x: {"no": 1 - share(x), "yes": share(x)}

    pdp = ipdp.IncrementalPDP(classes(lambda x: x["p"] / 10))
    made = challenge(pdp, classes(lambda x: 1 - x["p"] / 10))
    made.explain_many([{"p": k % 10, "q": k % 3} for k in range(300)])
    found = paired(made)
    assert {each.output for each in found.differences} == {"yes"}
    assert (found["p"].verdict, found["q"].verdict) == ("different", "alike")
    assert "its effect on the chance of yes" in found["p"].summary()


def test_a_class_that_one_has_not_met_is_nothing():
    one, other = ipdp.models.engine(lambda x: {"u": 1.0}), ipdp.models.engine(lambda x: {"v": 1.0})
    answer = PairedEngine(one, other).predict([{"a": 1}])
    assert dict(zip(answer.labels, answer.values.ravel(), strict=True)) == {
        "champion: u": 1.0,
        "champion: v": 0.0,
        "challenger: u": 0.0,
        "challenger: v": 1.0,
        "difference: u": -1.0,
        "difference: v": 1.0,
    }


def test_other_curves_are_refused():
    pdp = ipdp.IncrementalPDP(champion)
    pdp.explain_many(rows(100, 1))
    with pytest.raises(ValueError, match="no curves of two models"):
        paired(pdp)


def chance(slope):
    return lambda x: 1 / (1 + np.exp(-(slope * x["a"] - 5)))


def test_on_the_scale_of_log_odds():
    def two(slope):
        return lambda x: {"no": 1 - chance(slope)(x), "yes": chance(slope)(x)}

    pdp = ipdp.IncrementalPDP(two(1.0), ["a"], link="logit", grid=ipdp.grid.Fixed([-1, 0, 1]))
    made = challenge(pdp, two(1.5))
    made.explain_many(rows(300, 3))
    curve = made.curve("a")
    champion, challenger = np.array([-6, -5, -4]), np.array([-6.5, -5, -3.5])
    parts = {"champion": champion, "challenger": challenger, "difference": challenger - champion}
    for name, values in parts.items():
        np.testing.assert_allclose(curve.select(f"{name}: yes").average[0], values, atol=1e-9)
    found = paired(made)
    assert [(each.output, each.output_text) for each in found.differences] == [
        ("yes", "log-odds of yes")
    ]
    np.testing.assert_allclose(found["a"].a, champion, atol=1e-9)


def test_groups_are_left_out_as_by_compare():
    data = [{"a": k % 7, "g": "xy"[k % 2]} for k in range(120)]
    pdp = ipdp.IncrementalPDP(lambda x: float(x["a"]), ["a"], by="g", n_ice=0)
    both = challenge(pdp, lambda x: 2.0 * x["a"])
    both.explain_many(data)
    assert len(both.results()) == 3
    assert [each.feature for each in paired(both).differences] == ["a"]


def test_groups_of_one_side_are_not_missed():
    data = [{"a": k % 7, "g": "xy"[k % 2]} for k in range(120)]
    with_groups, without = (
        ipdp.IncrementalPDP(lambda x: float(x["a"]), ["a"], by=by, n_ice=0) for by in ("g", None)
    )
    for pdp in (with_groups, without):
        pdp.explain_many(data)
    assert ipdp.compare(with_groups, without).only == ([], [])
