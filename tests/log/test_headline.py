"""What a run has come to: each state of a run has its true sentence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from tests.web.logs import change_at, curve_at

from ipdp.core.curve import Curve
from ipdp.core.output_names import PREDICTION
from ipdp.log import LogReader, Status
from ipdp.log.headline import (
    Facts,
    Headline,
    by_importance,
    headline,
    headline_of,
    quality,
    target_of,
)
from ipdp.log.records import LoggedChange
from ipdp.monitor.data.move import Move

ENDED = Status("ended", 45_312)


def series(*values):
    return np.arange(1, len(values) + 1) * 100, np.array(values, dtype=float)


def changes(*kinds_and_features, t=1_000.0):
    return [
        LoggedChange(k, 1_000 * (k + 1), replace(change_at(900, feature, kind), t=t))
        for k, (kind, feature) in enumerate(kinds_and_features)
    ]


def facts(status=ENDED, **known):
    return Facts(status, **known)


@pytest.mark.parametrize(
    ("metrics", "sentence"),
    [
        ({"Accuracy": series(0.5, 0.83)}, "Accuracy 83 % after 45,312 observations."),
        (
            {"Accuracy": series(0.85), "Accuracy_1000": series(0.87)},
            "Accuracy 87 % over the last 1,000, about as over the whole run (85 %).",
        ),
        (
            {"Accuracy": series(0.85), "Accuracy_1000": series(0.71)},
            "Accuracy 71 % over the last 1,000, worse than over the whole run (85 %).",
        ),
        (
            {"MAE_500": series(1.0), "MAE": series(2.0)},
            "Average error (MAE) 1 over the last 500, better than over the whole run (2).",
        ),
        (
            {"R2_500": series(0.5), "R2": series(0.4)},
            "R2 0.5 over the last 500 (0.4 over the whole",
        ),
        ({"LogLoss_1000": series(0.25)}, "Log loss 0.25 over the last 1,000."),
        ({"every": series(3)}, "Whether it is right is not known: no metric was asked for."),
        ({"MAE": series(np.nan)}, "Whether it is right is not known yet."),
    ],
)
def test_how_right_the_model_is(metrics, sentence):
    assert quality(facts(metrics=metrics)).startswith(sentence)


def test_without_labels_nobody_knows_whether_it_is_right():
    said = quality(facts(settings={"command": {"target": None}}))
    assert said == "Whether it is right is not known: the data have no labels."


def test_a_window_longer_than_the_run_is_not_compared():
    metrics = {"Accuracy": series(0.8), "Accuracy_1000": series(0.8)}
    said = quality(facts(Status("running", 400), metrics=metrics))
    assert said == "Accuracy 80 % after 400 observations."


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ([], "The model has not changed its mind; the data have not moved."),
        (
            changes(("real", "age")),
            "The model changed its mind once, about age at 1,000 of 45,312; "
            "the data have not moved.",
        ),
        (
            changes(("real", "age"), ("virtual", "colour"), ("both", "salary"), ("virtual", "age")),
            "The model changed its mind twice, last about salary at 3,000 of 45,312; "
            "the data moved in 3 features (colour, salary and age).",
        ),
        (
            changes(("virtual", "age"), ("virtual", "age")),
            "The model has not changed its mind; the data moved in age.",
        ),
    ],
)
def test_what_changed(found, sentence):
    assert headline(facts(changes=found)).changes == sentence


def test_a_clock_that_was_recognised_is_no_move():
    found = changes(("virtual", "date"), ("virtual", "age"))
    found[0] = replace(
        found[0], change=replace(found[0].change, move=Move("date", "grows", 900, 8))
    )
    said = headline(facts(changes=found)).changes
    assert said == "The model has not changed its mind; the data moved in age."


def test_with_a_wall_clock_it_is_this_week():
    now = datetime(2024, 6, 13, 12, tzinfo=UTC).timestamp()  # a Thursday
    curves = [replace(curve_at("age", 900, np.random.default_rng(1)), t=now)]
    day = 86_400
    old, new = (
        changes(("real", "age"), ("virtual", "colour"), t=now - ago * day) for ago in (9, 2)
    )
    said = headline(facts(changes=[*old, *new], curves=curves)).changes
    assert said == (
        "The model changed its mind once this week, about age on Tuesday; the data moved in colour."
    )
    said = headline(facts(changes=old, curves=curves)).changes
    assert said == (
        "The model has not changed its mind this week, last about age on 4 June; "
        "the data have not moved."
    )
    assert headline(facts(curves=curves)).changes.startswith("The model has not changed its mind;")


def test_a_model_that_does_not_learn_and_a_run_without_a_monitor():
    fixed = headline(facts(settings={"learn": False})).changes
    assert fixed.startswith("The model does not learn, and kept its mind;")
    assert "no monitor" in headline(facts(settings={"monitor": False})).changes


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (Status("empty"), "Waiting for the first observation."),
        (Status("running"), "Waiting for the first observation."),
        (Status("running", 12), "Still warming up: 12 observations so far, no curve yet."),
        (Status("ended", 12), "The run ended after 12 observations, too few for a curve."),
        (
            Status("failed", 1, "KeyError: 'age' in /home/me/loans.csv"),
            "The run failed after 1 observation: KeyError: 'age' in …/loans.csv.",
        ),
    ],
)
def test_before_there_is_anything_to_see(status, sentence):
    assert headline(facts(status, has_results=False)) == Headline(sentence)


def test_a_failed_run_says_why_and_still_tells_what_it_found():
    metrics = {"Accuracy": series(0.9)}
    said = headline(facts(Status("failed", 400, "KeyError: 'age'."), metrics=metrics))
    assert said.state == (
        "The run failed after 400 observations: KeyError: 'age'. "
        "What it had found until then is here."
    )
    assert said.quality == "Accuracy 90 % after 400 observations."
    died = headline(facts(Status("died", 400))).state
    assert died.startswith("The run broke off after 400 observations")


def test_the_target_is_in_the_settings_or_it_is_not_known():
    assert target_of({"command": {"target": "price"}}) == "price"
    assert target_of({"target": "price"}) == "price"
    assert target_of({"command": {"target": None}}) is None
    assert target_of({"command": {"target": None}, "target": "price_up"}) == "price_up"
    assert target_of({}) is None


def test_the_headline_of_a_log(tmp_path):
    from tests.web.logs import write_run

    with LogReader(write_run(tmp_path / "loans")) as reader:
        said = headline_of(reader)
    assert said.state == ""
    assert said.quality == "Accuracy 99.9 % after 2,000 observations."
    assert said.changes.startswith("The model changed its mind once, about salary at 1,100")
    assert said.belief.startswith("It relies most on ")
    assert str(said) == " ".join(said.sentences)


def test_curves_of_parts_come_after_those_of_all():
    def curve(feature, size, where=None):
        name = feature if where is None else f"{feature}, where {where}"
        values = np.array([[0.0, size]])
        n = np.full(2, 90.0)
        return Curve(name, PREDICTION, [np.array([0.0, 1.0])], values, values, 90, n, where=where)

    part, whole, other = curve("a", 3.0, "b = 1"), curve("a", 1.0), curve("c", 2.0)
    alone = curve("d", 0.5, "b = 2")  # of this feature there are only parts, as regions give them
    assert by_importance([part, alone, whole, other]) == [other, whole, alone, part]
    said = headline(Facts(ENDED, curves=by_importance([part, whole, other, curve("e", 0.1)])))
    assert said.belief.endswith("Next come a and e.")


def test_a_feature_without_a_clear_difference_is_not_called_a_belief():
    flat = replace(
        curve_at("age", 500, np.random.default_rng(1)), average=np.full((2, 8), 0.5), missing=None
    )
    assert headline(facts(curves=[flat])).belief == (
        "It relies most on age, without a clear difference so far: the chance of yes stays about "
        "50 %, whatever age is."
    )
