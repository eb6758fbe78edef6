"""What a curve says of the model, in one sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ipdp import Curve
from ipdp.log.beliefs import belief


def curve(values, grid=None, *, outputs=("prediction",), error=0.001, **more):
    """A curve of one output, or of two classes with the values of the second."""
    values = np.array(values, dtype=float)
    average = np.array([1 - values, values]) if len(outputs) == 2 else values[np.newaxis]
    grid = np.arange(len(values), dtype=float) if grid is None else np.array(grid)
    return Curve(
        feature="age",
        outputs=outputs,
        grid_values=[grid],
        average=average,
        std_error=np.full(average.shape, error),
        n_samples=900,
        n_effective_points=np.full(len(values), 400.0),
        categorical=(grid.dtype == object,),
        **more,
    )


CLASSES = ("no", "yes")


@pytest.mark.parametrize(
    ("shown", "sentence"),
    [
        (curve([1, 2, 3, 9]), "the higher age, the higher the prediction: from 1 at 0 to 9 at 3"),
        (curve([9, 5, 5.5, 1]), "the higher age, the lower the prediction: from 9 at 0 to 1 at 3"),
        (
            curve([0, 9, 1]),
            "the prediction is highest, 9, where age is about 1, and lower on both sides: "
            "0 at 0, 1 at 2",
        ),
        (
            curve([0, 9, 1], [21_845.0, 70_997.0, 193_877.0]),
            "the prediction is highest, 9, where age is about 71,000, and lower on both sides: "
            "0 at 22,000, 1 at 194,000",
        ),
        (
            curve([9, 0, 8]),
            "the prediction is lowest, 0, where age is about 1, and higher on both sides: "
            "9 at 0, 8 at 2",
        ),
        (
            curve([0, 8, 1, 9, 0.5, 8]),
            "the prediction goes up and down with age, between 0 at 0 and 9 at 3",
        ),
        (curve([5, 5, 5]), "no clear difference: the prediction stays about 5, whatever age is"),
        (
            curve([5, 6, 7], error=3.0),
            "no clear difference: the prediction stays about 6, whatever age is",
        ),
        (
            curve([0.2, 0.7, 0.4], np.array(["red", "green", "blue"], dtype=object)),
            "the prediction is highest, 0.7, for green, and lowest, 0.2, for red",
        ),
        (
            curve([853, 896, 870], np.array([0, 8, 3], dtype=object)),
            "the prediction is highest, 896, for 8, and lowest, 853, for 0",
        ),
        (
            curve([0.1, 0.9], outputs=CLASSES),
            "the higher age, the higher the chance of yes: from 10 % at 0 to 90 % at 1",
        ),
        (
            curve([-0.05, 0.95], outputs=CLASSES),
            "the higher age, the higher the chance of yes: from 0 % at 0 to 95 % at 1",
        ),
        (
            curve([0.501, 0.505], outputs=CLASSES),
            "no clear difference: the chance of yes stays about 50 %, whatever age is",
        ),
        (curve([np.nan, np.nan]), "the model has given no answer yet"),
    ],
)
def test_the_shape_of_a_curve_in_words(shown, sentence):
    assert belief(shown) == sentence


def test_points_without_data_are_not_spoken_of():
    rug = [np.linspace(0, 3, 60)]
    grid = [0.0, 1.0, 2.0, 3.0, 90.0]
    assert belief(curve([1, 2, 3, 4, -50], grid, rug=rug)).endswith("from 1 at 0 to 4 at 3")


def test_effects_have_a_sign():
    effect = curve([-2.0, 3.0], kind="ale")
    assert belief(effect).endswith("effect on the prediction: from -2 at 0 to +3 at 1")


@pytest.mark.parametrize(
    ("shown", "output", "target", "name"),
    [
        (curve([0.1, 0.9], outputs=CLASSES), "yes", None, "chance of yes"),
        (curve([0.1, 0.9], outputs=CLASSES), "yes", "churn", "chance that churn is yes"),
        (curve([0.1, 0.9], outputs=CLASSES), None, "churn", "chance of each churn"),
        (curve([1, 2]), "prediction", None, "prediction"),
        (curve([1, 2]), "prediction", "price", "predicted price"),
        (curve([1, 2], outputs=("price",)), "price", "price", "predicted price"),
        (curve([1, 2], outputs=("price",)), "price", None, "predicted price"),
    ],
)
def test_the_name_of_an_output(shown, output, target, name):
    assert shown.output_text(output, target) == name


@pytest.mark.parametrize(
    ("outputs", "link", "values", "said"),
    [
        (CLASSES, "logit", [-4.0, -2.0], "the higher the log-odds that rain is yes: from -4 at 0"),
        (("prediction",), "logit", [-4.0, -2.0], "the log-odds of the predicted rain: from -4"),
        (("prediction",), "log", [2.0, 5.0], "the log of the predicted rain: from 2 at 0 to 5"),
        (("yes",), "log", [-4.0, -2.0], "the log of the chance that rain is yes: from -4 at 0"),
    ],
)
def test_a_link_is_said_and_no_chance(outputs, link, values, said):
    found = curve(values, outputs=outputs, link=link)
    if len(outputs) == 2:
        found = replace(found, average=np.array([[4.0, 2.0], [-4.0, -2.0]]))
    assert said in belief(found, "rain")


def test_effects_with_a_link():
    found = curve([-1.0, 1.0], outputs=("yes",), kind="ale", link="logit")
    assert found.output_text("yes") == "effect on the log-odds of yes"
    assert curve([-1.0, 1.0], outputs=("yes",), link="logit").output_text(None) == (
        "log-odds of each class"
    )
