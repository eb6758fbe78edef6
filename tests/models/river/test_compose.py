"""The parts of a model say together what plain calls of it say, along streams.

Both add up the same numbers; sums are taken in another order, and logarithms and exponentials are
rounded in another way: some units in the last place (2e-16) of terms that are not larger than 1e3.
"""

from __future__ import annotations

import copy
import warnings
import zlib
from functools import partial

import numpy as np
import pytest
from tests.models.river import models
from tests.models.trees import streams
from tests.models.trees.asking import Asker, plain_engine, unchecked, worst_difference

import ipdp
from ipdp.checks import check_engine
from ipdp.models import SlowPathWarning, engine
from ipdp.models.base import aligned
from ipdp.models.river.compose import ComposedEngine

N = 240


def positive(n):
    for x, y in streams.distances(n):
        yield x, abs(y)


# River's selectors, imputers and groups raise if a feature is not there.
NEEDS_ALL = ("select", "imputer", "one-hot without zeros | LR", "one-hot + mean")
NEEDS_ALL += ("numbers + mean", "mean by")


def cases():
    for group, stream in (
        (models.YES_OR_NO, streams.prices),
        (models.CLASSES, streams.five),
        (models.NUMBERS, positive),
        (models.MIXED, streams.loans),
    ):
        for name, make in group.items():
            missing = not name.startswith(NEEDS_ALL)
            yield pytest.param(make, stream, missing, id=name)
            if missing and "|" in name and stream in (streams.prices, streams.loans):
                incomplete = partial(stream, missing=0.1)
                yield pytest.param(make, incomplete, True, id=f"{name}, incomplete")


@pytest.mark.parametrize(("make", "stream", "missing"), list(cases()))
def test_equals_plain_calls_along_a_stream(make, stream, missing):
    model = make()
    ours, plain = unchecked(model), plain_engine(model)
    assert isinstance(ours, ComposedEngine)
    asker = Asker()
    worst, compared = 0.0, 0
    for t, (x, y) in enumerate(stream(N)):
        if t % 40 == 37:
            probes, positions = asker.question(pair=t > 200, missing=missing)
            difference, n = worst_difference(ours, plain, x, probes, positions)
            worst, compared = max(worst, difference), compared + n
        asker.learn_one(x)
        model.learn_one(x, y)
    assert ours.fault is None
    assert worst < 1e-12
    assert compared > 200


@pytest.mark.parametrize(("make", "stream", "missing"), list(cases()))
def test_several_observations_are_answered_as_each_is(make, stream, missing):
    """Also where they do not have the same features, and as the model is by then."""
    model = make()
    ours, asker, rows = unchecked(model), Asker(), []
    for t, (x, y) in enumerate(stream(120)):
        rows.append(x)
        if t in (60, 119):
            probes, positions = asker.question(missing=missing)
            some = rows[-5:]
            answer = ours.ice_again(some, probes, np.repeat(positions, 5, axis=0))
            for own, values in zip(some, answer.values, strict=True):
                alone = ours.ice_again([own], probes, positions)
                assert set(alone.labels) <= set(answer.labels)
                expected = aligned(alone, answer.labels).values[0]
                np.testing.assert_array_equal(values, expected)
        asker.learn_one(x)
        model.learn_one(x, y)
    assert ours.fault is None


@pytest.mark.parametrize(("make", "stream", "missing"), list(cases()))
def test_the_parts_obey_the_laws_of_engines(make, stream, missing):
    del missing  # the laws ask for missing values themselves
    model = make()
    examples = [(x, y) for x, y in stream(60)]
    for x, y in examples:
        model.learn_one(x, y)
    ours = unchecked(model)
    check_engine(ours, [x for x, _ in examples if len(x) == len(examples[0][0])][:3])
    assert ours.fault is None


@pytest.mark.parametrize(("make", "stream", "missing"), list(cases()))
def test_explaining_changes_nothing(make, stream, missing):
    """Not even by a new key in a dict with defaults."""
    model = make()
    asker = Asker()
    for x, y in stream(60):
        asker.learn_one(x)
        model.learn_one(x, y)
    ours = unchecked(model)
    before = state_of(model)
    ours.ice([x], *asker.question(missing=missing))
    assert ours.fault is None
    assert state_of(model) == before


def state_of(thing):
    """All that a model has learned, as text; dicts with their keys."""
    if isinstance(thing, dict):
        return {key: state_of(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [state_of(value) for value in thing]
    if hasattr(thing, "steps"):
        return state_of(dict(thing.steps))
    if hasattr(thing, "__dict__") and type(thing).__module__.startswith("river."):
        # Without what river computes once, when it is asked for a prediction.
        lazy = ("_plan", "_m_arr", "_m_dirty")
        return state_of({k: v for k, v in vars(thing).items() if k not in lazy})
    return repr(thing)


def test_a_fault_is_found_and_said_once(monkeypatch):
    model = models.YES_OR_NO["SS | LR"]()
    asker = Asker()
    examples = list(streams.prices(400))
    for x, y in examples[:100]:
        asker.learn_one(x)
        model.learn_one(x, y)
    ours, plain = engine(model), plain_engine(model)
    for x, _ in examples[100:150]:
        ours.ice([x], *asker.question())
    assert ours.fault is None
    monkeypatch.setattr("river.utils.math.sigmoid", lambda x: 0.25)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, _ in examples[150:170]:
            ours.ice([x], *asker.question())
    assert [warning.category for warning in caught] == [SlowPathWarning]
    assert "Pipeline is explained by plain calls" in str(caught[0].message)
    assert "all points at once was given up" in repr(ours)
    assert worst_difference(ours, plain, x, *asker.question())[0] == 0


@pytest.mark.parametrize(
    "name",
    [
        "numbers + one-hot | HT",
        "numbers + one-hot | ARF",
        "ordinal | HT",
        "numbers + mean by car | HT",
    ],
)
def test_trees_behind_encoders_are_walked(name, monkeypatch):
    """Not one plain call is made, neither for copies nor for what the model does not see."""
    model = models.MIXED[name]()
    asker = Asker()
    for x, y in streams.loans(300):
        asker.learn_one(x)
        model.learn_one(x, y)
    ours, plain = unchecked(model), plain_engine(model)
    question = asker.question(missing=False)
    monkeypatch.setattr("ipdp.models.river.parts.by_calls", None)
    assert worst_difference(ours, plain, x, *question)[0] < 1e-12
    assert ours.fault is None


def test_text_raises_what_a_plain_call_raises():
    model = models.YES_OR_NO["SS | LR"]()
    asker = Asker()
    for x, y in streams.prices(50):
        asker.learn_one(x)
        model.learn_one(x, y)
    ours, plain = unchecked(model), plain_engine(model)
    wrong = {**x, "day": "Monday"}
    with pytest.raises(TypeError) as expected:
        plain.ice([wrong], *asker.question())
    with pytest.raises(TypeError) as found:
        ours.ice([wrong], *asker.question())
    assert str(found.value) == str(expected.value)
    assert ours.fault is None
    assert worst_difference(ours, plain, x, *asker.question())[0] < 1e-12


def test_features_that_come_and_go():
    model = models.YES_OR_NO["SS | LR"]()
    ours, plain = unchecked(model), plain_engine(model)
    asker = Asker()
    for t, (x, y) in enumerate(streams.prices(200)):
        asker.learn_one(x)
        known = {k: v for k, v in x.items() if zlib.crc32(f"{k} {t // 10}".encode()) % 3}
        known |= {f"new {t // 20}": float(t)}
        question = asker.question()
        assert worst_difference(ours, plain, known, *question)[0] < 1e-12
        model.learn_one(known, y)
    assert ours.fault is None


def test_an_observation_of_which_the_model_knows_nothing():
    # The weights of river 0.22 are then whole numbers.
    model = models.YES_OR_NO["SS | LR"]()
    for x, y in streams.prices(30):
        model.learn_one(x, y)
    ours, plain = unchecked(model), plain_engine(model)
    asker = Asker()
    for k in range(30):
        asker.learn_one({"new": float(k)})
    assert worst_difference(ours, plain, {"new": 3.0}, *asker.question())[0] < 1e-12
    assert ours.fault is None


def test_a_pipeline_that_learns_while_it_predicts_gets_plain_calls():
    from river import compose

    model, twin = models.YES_OR_NO["SS | LR"](), models.YES_OR_NO["SS | LR"]()
    asker = Asker()
    for x, y in streams.prices(50):
        asker.learn_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    question = asker.question()
    with compose.learn_during_predict():
        answer = unchecked(model).ice([x], *question)
        expected = plain_engine(twin).ice([x], *question)
    assert (answer.values == expected.values).all()
    assert model["StandardScaler"].counts == twin["StandardScaler"].counts


def test_a_copied_engine_goes_on_by_itself():
    model = models.YES_OR_NO["SS | LR"]()
    examples = list(streams.prices(200))
    pdp = ipdp.IncrementalPDP(model, list(examples[0][0]), seed=1)  # the clock among them too
    for x, y in examples[:100]:
        pdp.explain_one(x)
        model.learn_one(x, y)
    twin = copy.deepcopy(pdp)
    for x, y in examples[100:]:
        pdp.explain_one(x)
        model.learn_one(x, y)
        twin.explain_one(x)
        twin.model.learn_one(x, y)
    assert (pdp.curve("transfer").average == twin.curve("transfer").average).all()
