"""An engine that breaks a law is told so in one sentence."""

from __future__ import annotations

import re

import pytest

from ipdp.checks import check_engine
from ipdp.models import Outputs
from ipdp.models.per_row import RowEngine

ROWS = [
    {"a": 0.5, "b": 3, "c": "red"},
    {"a": -1.5, "b": 1, "c": "blue"},
    {"a": 2.5, "b": 7, "c": "red"},
]


def predict(x):
    assert type(x["b"]) is int or x["b"] != x["b"]
    return {"yes": x["a"] + x["b"], "no": 1.0 if x.get("c") == "red" else x["a"] * x["b"]}


class Sound(RowEngine):
    """Obeys every law; the others break one each."""

    def __init__(self):
        super().__init__(predict, description="a function of mine")


class Silent(Sound):
    @property
    def description(self):
        return " "


class Shifted(Sound):
    def ice(self, observations, probes, positions):
        labels, values = super().ice(observations, probes, positions)
        values[-1, 0, -1] += 0.01
        return Outputs(labels, values)


class Relabelled(Sound):
    def ice(self, observations, probes, positions):
        return Outputs(("yes", "maybe"), super().ice(observations, probes, positions).values)


class Unlabelled(Sound):
    def ice(self, observations, probes, positions):
        return Outputs(None, super().ice(observations, probes, positions).values)


class Doubled(Sound):
    def predict(self, observations):
        return Outputs(("yes", "yes"), super().predict(observations).values)


class Flat(Sound):
    def ice(self, observations, probes, positions):
        labels, values = super().ice(observations, probes, positions)
        return Outputs(labels, values[:, :, 1:])


class Greedy(Sound):
    def ice(self, observations, probes, positions):
        answer = super().ice(observations, probes, positions)
        observations[0].pop("c")
        return answer


class Scribbler(Sound):
    def ice(self, observations, probes, positions):
        answer = super().ice(observations, probes, positions)
        positions += 1
        return answer


class Tired(Sound):
    n = 0

    def ice(self, observations, probes, positions):
        labels, values = super().ice(observations, probes, positions)
        self.n += 1
        return Outputs(labels, values + (self.n == 2))


class Batched(Sound):
    def ice(self, observations, probes, positions):
        labels, values = super().ice(observations, probes, positions)
        return Outputs(labels, values + (len(observations) == 1))


class Strict(Sound):
    def ice(self, observations, probes, positions):
        if any(probe.missing for probe in probes):
            raise KeyError("no holes")
        return super().ice(observations, probes, positions)


class Filler(Sound):
    def ice(self, observations, probes, positions):
        return super().ice(
            observations, [probe._replace(missing=False) for probe in probes], positions
        )


class Positional(Sound):
    def ice(self, observations, probes, positions):
        labels, values = super().ice(observations, probes, positions)
        return Outputs(labels, values + (next(iter(observations[0])) != "a"))


class Unique(Sound):
    def __deepcopy__(self, memo):
        raise TypeError("there is only one")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Silent, "the description must be a text, got ' '"),
        (Shifted, "at a*c = 2.5, 'blue' of observation 2 ice() and predict() give 9.51 and 9.5"),
        (Relabelled, "predict() names outputs that ice() does not: ('yes', 'no') and ('yes', 'may"),
        (Unlabelled, "outputs that are named only once of two times"),
        (Doubled, "predict() gives two outputs the same name: ['yes', 'yes']"),
        (Flat, "it must be (n_observations, n_outputs, n_points)"),
        (Greedy, "ice() changes the observations that it is given"),
        (Scribbler, "ice() changes the positions that it is given"),
        (Tired, "asked twice, ice() gives "),
        (Batched, "for observation 0 among others and alone ice() gives "),
        (Strict, "predict() takes a missing 'c' and ice() does not: 'no holes'"),
        (Filler, "where 'a' is missing ice() and predict() give "),
        (Positional, "for two orders of the features ice() gives "),
        (Unique, "the model can be copied and the engine cannot: there is only one"),
    ],
)
def test_a_broken_law_is_named(kind, sentence):
    rows = [dict(x) for x in ROWS]
    with pytest.raises(AssertionError, match=re.escape(sentence)) as error:
        check_engine(kind(), rows)
    assert "\n" not in str(error.value)


def test_an_engine_that_obeys_and_a_model_of_it():
    check_engine(Sound(), ROWS)
    check_engine(predict, ROWS)
