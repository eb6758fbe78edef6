"""Delayed labels come in the order in which river lets them come."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import metrics, stream, tree

from ipdp.runs.stream import Waiting

from .conftest import rows as turning_rows

START = dt.datetime(2024, 1, 1)


def ours(rows, moment, delay, *, save=False):
    """Questions (y is None) and answers, in order; with a save and restore after each question."""
    waiting = Waiting(moment=moment, delay=delay)
    for x, y in rows:
        yield from ((q.x, q.y) for q in waiting.answered(x, y))
        yield x, None
        waiting.ask(x, y, None)
        if save:
            state = json.loads(json.dumps(waiting.state))
            waiting = Waiting(moment=moment, delay=delay)
            waiting.state = state
    yield from ((q.x, q.y) for q in waiting.rest())


def rivers(rows, moment, delay):
    return [(x, y) for _, x, y in stream.simulate_qa(rows, moment, delay)]


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 5)).map(list), min_size=0, max_size=25
).map(
    lambda pairs: [
        ({"k": k, "t": sum(step for step, _ in pairs[: k + 1]), "wait": wait}, k + 1)
        for k, (_, wait) in enumerate(pairs)
    ]
)
WAYS = {
    "count": (None, 3),
    "none": (None, 0),
    "feature": ("t", 4),
    "feature and feature": ("t", "wait"),
    "functions": (lambda x: x["t"], lambda x, y: x["wait"] % 3 + y % 2),
    "count and feature": (None, "wait"),
    "dates": (lambda x: START + dt.timedelta(days=x["t"]), dt.timedelta(days=2)),
    "dates by feature": (
        lambda x: START + dt.timedelta(days=x["t"]),
        lambda x, _: dt.timedelta(hours=30 * x["wait"]),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@settings(deadline=None, max_examples=40)
@given(rows=rows, save=st.booleans())
def test_as_in_simulate_qa(way, rows, save):
    assert list(ours(rows, *WAYS[way], save=save)) == rivers(rows, *WAYS[way])


def test_what_cannot_be_saved_says_so():
    waiting = Waiting(delay=2)
    list(waiting.answered({}, 1))
    waiting.ask({"a": object()}, 1, None)
    with pytest.raises(TypeError, match="cannot be saved without pickle"):
        _ = waiting.state


class Counting(tree.HoeffdingTreeClassifier):
    """Says its probabilities in a Counter, as some models do."""

    def predict_proba_one(self, x):
        return Counter(super().predict_proba_one(x))


def test_probabilities_of_any_kind_of_dict_wait_in_a_checkpoint(make, tmp_path):
    def run(n, **options):
        model = Counting(grace_period=20)
        return make(
            islice(turning_rows(), n),
            model=model,
            metric=[metrics.LogLoss(), metrics.Accuracy()],
            delay=25,
            **options,
        )

    list(run(200, checkpoint=tmp_path))
    resumed, straight = run(400, checkpoint=tmp_path, resume=True), run(400)
    list(resumed)
    list(straight)
    assert resumed.scores == straight.scores


@pytest.mark.parametrize("delay", [-1, math.nan, math.inf, -math.inf])
def test_a_delay_that_never_ends_or_is_none(delay):
    with pytest.raises(ValueError, match="delay must be a number of at least 0"):
        Waiting(delay=delay)


@pytest.mark.parametrize(
    ("at", "late", "never"),
    [
        (0, 5, math.nan),
        (np.datetime64("2024-01-01"), np.timedelta64(5, "h"), np.timedelta64("NaT")),
    ],
)
def test_a_label_that_comes_at_no_time_is_refused_and_the_others_stay_in_order(at, late, never):
    waiting = Waiting(moment="at", delay="late")
    for x in ({"at": at, "late": late}, {"at": at, "late": late / 5}):
        assert list(waiting.answered(x, True)) == []
        waiting.ask(x, True, None)
        with pytest.raises(ValueError, match="which is no time"):
            list(waiting.answered({"at": at, "late": never}, True))
    assert [q.x["late"] for q in waiting.rest()] == [late / 5, late]


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (2, {"dict": [["no", 0.5]]}, "labels that wait"),
        (2, ["yes"], "labels that wait"),
        (0, 99, "times at which labels come"),
        (0, "x", "not supported"),
        (1, 3, "no observation"),
    ],
)
def test_what_waits_must_be_as_it_was_written(place, value, said):
    waiting = Waiting(delay=5)
    for k in range(4):
        list(waiting.answered({"a": k}, "yes"))
        waiting.ask({"a": k}, "yes", {"no": 0.5, "yes": 0.5})
    state = json.loads(json.dumps(waiting.state))
    state["questions"][1]["tuple"][place] = value
    with pytest.raises((ValueError, TypeError), match=said):
        Waiting(delay=5).state = state
