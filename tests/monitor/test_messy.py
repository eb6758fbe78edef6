"""Frames as they come: categories, missing values, booleans, text, several classes, a pipeline."""

import json

import numpy as np
import pytest
from river import compose, linear_model, multiclass, preprocessing

from ipdp import IncrementalPDP
from ipdp.monitor import Monitor

FEATURES = ["temperature", "age", "colour", "member", "income", "gap"]
DRIFT, END = 1_500, 2_600


def frame(n=END, seed=1):
    rng = np.random.default_rng(seed)
    for k in range(n):
        yield {
            "temperature": None if rng.random() < 0.1 else float(rng.normal(15, 8)),
            "age": int(rng.integers(18, 80)),
            "colour": str(rng.choice(["red", "green", "blue"], p=[0.6, 0.3, 0.1])),
            "member": bool(rng.random() < 0.4),
            "note": f"text {k}",
            "income": float(np.exp(rng.normal(10, 1))),
            "gap": float("nan") if rng.random() < 0.05 else float(rng.normal()),
        }


def score(x, sign):
    warm = 1.5 if x["temperature"] is None else x["temperature"] / 10
    return 2 * sign * (x["colour"] == "red") + warm + 0.03 * x["age"] + x["member"]


def classes(x, sign):
    """Three of them, of which the first is the surest where the score is small."""
    logits = np.array([-score(x, sign), 0.0, score(x, sign) - 3])
    shares = np.exp(logits) / np.exp(logits).sum()
    return dict(zip(["low", "middle", "high"], shares.tolist(), strict=True))


def go(predict, features):
    now = {"sign": 1.0}
    monitor = Monitor(IncrementalPDP(lambda x: predict(x, now["sign"]), features), warm_up=500)
    for k, x in enumerate(frame()):
        now["sign"] = 1.0 if k < DRIFT else -1.0
        monitor.explain_one(x)
    return monitor


@pytest.mark.parametrize("predict", [score, classes])
def test_one_effect_of_a_messy_frame_turns(predict):
    monitor = go(predict, FEATURES)
    first = next(change for change in monitor.changes if change.feature == "colour")
    assert first.kind == "real"
    assert DRIFT < first.t <= DRIFT + 100
    assert first.began == pytest.approx(DRIFT, abs=2)
    # P(low) was about 0 for every colour; which of three probabilities is named is chance.
    word = "appeared" if first.output == "low" else "reversed"
    assert f" {word}, most at blue, green, red" in first.summary()
    if predict is score:  # on a probability, the other effects change with it
        assert len(monitor.changes) == 1
    state = monitor.state
    assert json.loads(json.dumps(state, allow_nan=False)) == state


def test_a_text_that_is_another_one_every_time_is_in_nobodys_way():
    monitor = go(score, [*FEATURES, "note"])
    assert [change.feature for change in monitor.changes if change.kind != "virtual"] == ["colour"]


@pytest.mark.filterwarnings("ignore:features that are None")
def test_a_pipeline_of_several_classes_that_learns():
    numbers = compose.Select("age", "income") | preprocessing.StandardScaler()
    categories = compose.Select("colour", "member") | preprocessing.OneHotEncoder()
    model = (numbers + categories) | multiclass.OneVsRestClassifier(
        linear_model.LogisticRegression()
    )
    monitor = Monitor(IncrementalPDP(model, ["age", "colour", "member", "income"]), warm_up=500)
    for k, x in enumerate(frame(4_000)):
        monitor.explain_one(x)
        answer = classes(x, 1.0 if k < 2_000 else -1.0)
        model.learn_one(x, max(answer, key=answer.get))
    found = {change.feature: change for change in monitor.changes if change.t > 2_000}
    assert found["colour"].kind == "real"
    assert found["colour"].output in ("low", "middle", "high")
    assert "asked again about the same" in found["colour"].summary()
    assert "income" not in found
