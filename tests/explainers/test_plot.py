"""`pdp.plot()`: the first picture of an explainer."""

from __future__ import annotations

import random

import numpy as np
import pytest
from matplotlib.figure import Figure
from river import naive_bayes, tree

import ipdp

from ..plot import conftest


def texts_of(figure):
    return [" ".join(text.split()) for text in conftest.texts_of(figure)]


def follow(model, n=100, features=None, explainer=ipdp.IncrementalPDP, **settings):
    draws = random.Random(1)
    pdp = explainer(model, features, alpha=0.05, **settings)
    for _ in range(n):
        a, b = draws.gauss(0, 1), draws.gauss(0, 1)
        pdp.explain_one({"a": a, "b": b, "colour": draws.choice(["red", "blue"])})
    return pdp


def classes(x):
    up = 1 / (1 + np.exp(-x["a"] * 3))
    return {"up": up, "down": 1 - up}


def three(x):
    shares = np.exp([x["a"], 0.0, -x["a"]])
    return dict(zip(("low", "mid", "high"), (shares / shares.sum()).tolist(), strict=True))


def test_it_is_an_overview_of_all_features_with_the_most_important_first():
    pdp = follow(lambda x: x["a"] + 3 * x["b"] + 20 * (x["colour"] == "red"))
    shown = pdp.plot()
    assert [curve.feature for curve in shown.curves] == ["colour", "b", "a"]
    assert all(len(display.bands_) == 1 for display in shown.displays_)
    words = texts_of(shown.figure_)
    assert "How the prediction depends on each feature" in words
    assert any("if only this feature had the value below" in text for text in words)
    assert "prediction" in words
    # In new figures only: those of the user have titles of their own.
    own = Figure(layout="constrained")
    pdp.plot(own.subplots())
    assert own.get_suptitle() == ""


def test_the_curves_are_those_of_the_model_now():
    slope = {"a": 1.0}
    pdp = follow(lambda x: slope["a"] * x["a"])
    slope["a"] = -1.0
    (first, *_) = pdp.plot().curves
    assert first.feature == "a"
    assert first.average[0, 0] > first.average[0, -1]


@pytest.mark.parametrize(
    ("model", "title", "label"),
    [
        (classes, "How the chance of up depends on each feature", "chance of up"),
        (three, "How the chance of each class depends on each feature", "chance of each class"),
        (lambda x: {1: x["a"] > 0, 2: x["a"] <= 0}, "How the chance of class 2 depends", "class 2"),
        (lambda x: {True: x["a"] > 0, False: x["a"] <= 0}, "How the chance of True", "of True"),
    ],
)
def test_title_and_axis_say_what_is_predicted(model, title, label):
    pdp = follow(model)
    words = texts_of(pdp.plot().figure_)
    assert any(text.startswith(title) for text in words)
    assert any(label in text for text in words if not text.startswith("How"))
    figure = pdp.plot(backend="plotly")
    assert title.replace("'", "&#39;") in figure.layout.title.text
    assert label.replace("'", "&#39;") in figure.layout.yaxis.title.text


def test_the_target_has_a_name_where_it_is_given():
    words = texts_of(follow(lambda x: x["a"]).plot(target="price").figure_)
    assert "How the predicted price depends on each feature" in words
    assert "predicted price" in words
    words = texts_of(follow(classes).plot(target="price").figure_)
    assert "How the chance that price is up depends on each feature" in words


def test_pairs_categories_and_other_explainers_are_drawn_too():
    pdp = follow(lambda x: x["a"] * x["b"], features=["a", "colour", ("a", "b")])
    assert [curve.feature for curve in pdp.plot().curves][-1] == ("a", "b")
    assert pdp.plot(backend="plotly").layout.title.text
    ale = follow(lambda x: x["a"] * x["b"], explainer=ipdp.IncrementalALE)
    assert texts_of(ale.plot().figure_)


def test_only_the_most_important_of_many_features_are_drawn():
    draws = random.Random(1)
    pdp = ipdp.IncrementalPDP(lambda x: sum(k * v for k, v in enumerate(x.values())), alpha=0.05)
    for _ in range(40):
        pdp.explain_one({f"f{k}": draws.gauss(0, 1) for k in range(20)})
    shown = pdp.plot()
    assert len(shown.axes_) == 12
    assert shown.displays_[0].curve.feature == "f19"
    assert any("12 of 20 features" in text for text in texts_of(shown.figure_))
    assert len(pdp.plot(most=None).axes_) == 20


def test_a_model_that_was_never_taught_gets_a_hint():
    flat = follow(tree.HoeffdingTreeRegressor(), features=["a", "b"])
    assert any("has the model learned" in text for text in texts_of(flat.plot().figure_))
    silent = follow(naive_bayes.GaussianNB(), features=["a", "b"])
    with pytest.raises(ipdp.NotEnoughSamples, match=r"GaussianNB .*was it taught"):
        silent.plot()


def test_it_says_first_what_a_person_asks():
    pdp = follow(naive_bayes.GaussianNB(), features=["a", "b"])
    assert repr(pdp).startswith("IncrementalPDP(river GaussianNB, 2 features, 100 observations")
    assert pdp._repr_html_().startswith("<div><b>river GaussianNB</b>, 2 features, 100 observat")
    new = ipdp.IncrementalPDP(lambda x: x["a"])
    assert repr(new).startswith("IncrementalPDP(a function, all features, none seen yet")
    for k in range(10):
        new.explain_one({"a": (k * 7) % 5})
    assert "10 of 20 values" in new._repr_html_()


@pytest.mark.parametrize("explainer", [ipdp.IncrementalPDP, ipdp.IncrementalALE])
def test_without_a_curve_it_says_what_to_do(explainer):
    pdp = explainer(lambda x: x["a"])
    with pytest.raises(ipdp.NotEnoughSamples, match="no observation yet: call explain_one"):
        pdp.plot()
    for k in range(10):
        pdp.explain_one({"a": (k * 7) % 5})
    with pytest.raises(ipdp.NotEnoughSamples, match="10 of 20"):
        pdp.plot()
    with pytest.raises(ipdp.NotEnoughSamples, match=r"'a'.*10 of 20"):
        pdp.curve("a")


def test_before_the_first_curve_it_says_how_far_it_is():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    for k in range(10):
        pdp.explain_one({"a": k % 4 + 0.5})
    with pytest.raises(ipdp.NotEnoughSamples, match="still warming up, with 10 of 20"):
        pdp.curve("a")
