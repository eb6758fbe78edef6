"""What is kept of a model comes back as it was, and takes little room."""

from __future__ import annotations

import pickle
import random
import zlib

import numpy as np
import pytest
from river import proba, tree

from ipdp.spark.keeping import kept, loaded

NAMES = [f"x{k}" for k in range(10)]


def grown(n=500):
    model = tree.HoeffdingTreeClassifier(grace_period=100)
    for x in np.random.default_rng(0).normal(size=(n, 10)).tolist():
        model.learn_one(dict(zip(NAMES, x, strict=True)), x[0] + x[1] > 0)
    return model


def test_a_tree_goes_on_as_it_was_and_its_generators_are_left_out():
    model = grown()
    data = kept(model)
    assert len(data) < len(pickle.dumps(model)) / 8
    assert len(data) < 12_000
    again = loaded(data)
    for x in np.random.default_rng(1).normal(size=(500, 10)).tolist():
        row = dict(zip(NAMES, x, strict=True))
        assert again.predict_proba_one(row) == model.predict_proba_one(row)
        for own in (again, model):
            own.learn_one(row, x[0] > 0)
    assert again.n_nodes == model.n_nodes > 1


def test_a_distribution_can_be_drawn_from_and_one_with_a_seed_draws_what_it_would_have():
    plain, seeded = proba.Gaussian(), proba.Gaussian(seed=7)
    for own in (plain, seeded):
        for x in (1.0, 2.0, 4.0):
            own.update(x)
    again = loaded(kept(plain))
    assert (again.mu, again.sigma, again.seed) == (plain.mu, plain.sigma, None)
    assert isinstance(again.sample(), float)
    twin = loaded(kept(seeded))
    assert [twin.sample() for _ in range(5)] == [seeded.sample() for _ in range(5)]


def test_other_generators_are_kept():
    one = random.Random(3)
    again = loaded(kept(one))
    assert again.random() == one.random()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        kept({"a": 1})[:-3],
        zlib.compress(b""),
        zlib.compress(b"no pickle"),
        zlib.compress(pickle.dumps([1] * 99)[:-20]),
        zlib.compress(b"cipdp.core.nowhere\nThing\n."),
        zlib.compress(b"cipdp.core\nNowhere\n."),
    ],
)
def test_what_is_damaged_or_of_another_version_is_said(data):
    with pytest.raises(ValueError, match="what is kept of a key is damaged, or of an earlier"):
        loaded(data)
