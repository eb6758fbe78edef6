"""Copies of trees stay in step with what these learn, whatever happens between two questions."""

from __future__ import annotations

import copy
import itertools
import pickle
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from river import forest, tree
from tests.models.trees import models, streams
from tests.models.trees.asking import Asker, plain_engine, unchecked, worst_difference
from tests.models.trees.conftest import compiled_kernels
from tests.models.trees.models import Grower, IdleLeaf

from ipdp.models.trees import TreeEngine, classification, kernels
from ipdp.models.trees.classification import ClassifierWalk
from ipdp.models.trees.kinds import grows_at_leaves, learns_by_weight

# What is compared is rounded otherwise, and no more.
EXACT = 1e-9


@pytest.fixture(scope="module", autouse=True)
def build():
    """There are copies in the compiled build only."""
    before, kernels.current = kernels.current, compiled_kernels()
    yield
    kernels.current = before


class Session:
    """A model, its explanations, and a stream of rows that it may learn or not."""

    def __init__(self, model, stream, n=400, seed=0):
        self.model, self.rows = model, list(stream(n))
        self.random, self.asker = random.Random(seed), Asker()
        self.ours, self.plain = unchecked(model), plain_engine(model)
        for x, y in self.rows[:60]:
            self.asker.learn_one(x)
            model.learn_one(x, y)
        self.latest = self.rows[0]
        self.question = self.asker.question(missing=False, pair=seed % 2 == 1)

    def explain(self):
        """Ask about a row, which is the latest from now on."""
        self.latest = self.random.choice(self.rows)
        self.compare()

    def compare(self):
        worst, n = worst_difference(self.ours, self.plain, self.latest[0], *self.question)
        assert n
        assert worst < EXACT

    def learn(self):
        self.model.learn_one(*self.latest)

    def loop(self):
        """As in use."""
        for _ in range(8):
            self.explain()
            self.learn()

    def learn_others(self):
        for x, y in self.random.choices(self.rows, k=self.random.choice([1, 2, 40])):
            self.model.learn_one(x, y)

    def learn_both(self):
        self.learn()
        self.learn_others()

    def learn_twice(self):
        self.learn()
        self.learn()

    def contradict(self):
        """Learn what makes trees replaced, or their leaves split."""
        for x, y in self.random.choices(self.rows, k=40):
            self.model.learn_one(x, not y)

    def look_back(self):
        """Ask about several rows again, as curves of the model as it is now do."""
        rows = [x for x, _ in self.random.choices(self.rows, k=5)]
        probes, positions = self.question
        asked = rows, probes, np.repeat(positions, 5, axis=0)
        answer, expected = self.ours.ice_again(*asked), self.plain.ice(*asked)
        order = [answer.labels.index(label) for label in expected.labels]
        np.testing.assert_allclose(answer.values[:, order], expected.values, atol=EXACT)

    def ask_otherwise(self):
        missing, pair = self.random.random() < 0.3, self.random.random() < 0.5
        self.question = self.asker.question(missing=missing, pair=pair)

    def renew(self):
        """Go on with copies of the model and of its engine."""
        how = self.random.choice([copy.deepcopy, lambda kept: pickle.loads(pickle.dumps(kept))])
        self.ours = how(self.ours)
        self.model = self.ours.model
        self.plain = plain_engine(self.model)

    def put_to_sleep(self):
        """As memory management does."""
        some = self.random.choice(trees_of(self.model))
        if some._root is not None:
            some._deactivate_all_leaves()


ACTIONS = [
    Session.explain, Session.compare, Session.loop, Session.loop, Session.learn,
    Session.learn_others, Session.learn_both, Session.learn_twice, Session.contradict,
    Session.ask_otherwise, Session.renew, Session.put_to_sleep, Session.look_back,
]  # fmt: skip

MODELS = ["HT mc", "HT nb", "HT nba", "HT small", "HAT nba", "EFDT nba", "ARF mc", "ARF nba", "SRP"]
MODELS += ["LeveragingBagging HT", "AdaBoost HT", "Bagging HAT"]


def trees_of(model):
    members = list(model) if hasattr(model, "__len__") else [model]
    return [getattr(member, "model", member) for member in members]


@pytest.mark.parametrize("name", MODELS)
@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(actions=st.lists(st.sampled_from(ACTIONS), min_size=5, max_size=12), seed=st.integers(0, 99))
def test_answers_are_those_of_plain_calls_whatever_happens_in_between(name, actions, seed):
    session = Session(models.CLASSIFIERS[name](), streams.prices, seed=seed)
    session.compare()
    for act in actions:
        act(session)
        session.compare()
    assert session.ours.fault is None


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_plain_calls_along_a_stream(name):
    session = Session(models.CLASSIFIERS[name](), streams.five)
    for row in session.rows[60:260]:
        session.latest = row
        session.compare()
        session.learn()


@pytest.mark.parametrize("at_once", [1, 600, 2**16])
@pytest.mark.parametrize("name", ["HT nba", "ARF mc", "SRP"])
def test_several_rows_at_once_have_the_answers_of_each(name, at_once, monkeypatch):
    """However many votes are collected at once; what is learned then is followed as before."""
    monkeypatch.setattr(classification, "_AT_ONCE", at_once)
    monkeypatch.setattr(TreeEngine, "_ice_one", lambda *_: pytest.fail("they are asked in turn"))
    session = Session(models.CLASSIFIERS[name](), streams.prices, seed=2)
    for row in session.rows[60:160]:
        session.look_back()
        session.model.learn_one(*row)


@pytest.mark.parametrize("weights", [(2.0,), (0.3, 1.7), (1e-3, 1e3)])
def test_weights_other_than_one_are_followed(weights):
    session = Session(models.ht(), streams.prices)
    for (x, y), w in zip(session.rows[60:360], itertools.cycle(weights), strict=False):
        session.latest = x, y
        session.compare()
        session.model.learn_one(x, y, w=w)


@pytest.fixture
def answered(monkeypatch):
    """Which questions copies have answered."""
    found, make = [], kernels.current.CompactTrees

    class Watched:
        def __init__(self):
            self.copies = make()

        def vote(self, *question):
            votes = self.copies.vote(*question)
            found.append(votes is not None)
            return votes

    monkeypatch.setattr(kernels, "current", kernels.current._replace(CompactTrees=Watched))
    return found


@pytest.mark.parametrize("name", ["HT nba", "ARF nba", "SRP", "LeveragingBagging HT"])
def test_copies_answer(name, answered):
    session = Session(models.CLASSIFIERS[name](), streams.five)
    session.loop()
    assert all(answered)


def surfaces_of(monkeypatch, make, stream, kinds):
    """Which pairs of features of some kinds were answered in one walk."""
    found, surface = [], ClassifierWalk.surface

    def watched(walk, *question):
        found.append(surface(walk, *question) is not None)
        return surface(walk, *question)

    monkeypatch.setattr(ClassifierWalk, "surface", watched)
    session = Session(make(), stream)
    for name in list(session.asker.seen):
        if type(session.asker.seen[name][0]) not in kinds:
            del session.asker.seen[name]
    session.question = session.asker.question(missing=False, pair=True)
    session.loop()
    return found


@pytest.mark.parametrize("make", [models.ht, models.arf, models.SPLITTERS["histogram"], models.srp])
def test_a_pair_of_numbers_takes_one_walk(make, monkeypatch):
    found = surfaces_of(monkeypatch, make, streams.prices, {float})
    assert found
    assert all(found)


@pytest.mark.parametrize("name", ["HAT nba", "EFDT nba"])
def test_trees_that_change_elsewhere_are_walked(name, answered):
    session = Session(models.CLASSIFIERS[name](), streams.five)
    session.loop()
    assert not any(answered)


def test_what_learns_in_its_own_way_is_not_copied():
    class Own(tree.HoeffdingTreeClassifier):
        def learn_one(self, x, y, *, w=1.0):
            super().learn_one(x, y, w=w)

    assert grows_at_leaves(tree.HoeffdingTreeClassifier)
    assert grows_at_leaves(forest.adaptive_random_forest.BaseTreeClassifier)
    assert not grows_at_leaves(Own)
    assert not grows_at_leaves(tree.ExtremelyFastDecisionTreeClassifier)
    assert not learns_by_weight(IdleLeaf)
    session = Session(Grower(IdleLeaf), streams.prices)
    session.loop()


def test_a_wrong_copy_is_given_up_and_the_trees_are_walked(monkeypatch):
    class Wrong:
        def vote(self, *question):
            votes = make().vote(*question)
            votes[:] = votes[::-1].copy()
            return votes

    make = kernels.current.CompactTrees
    monkeypatch.setattr(kernels, "current", kernels.current._replace(CompactTrees=Wrong))
    session = Session(models.ht(), streams.five)
    session.ours.checker.first = 5
    session.loop()
    assert session.ours.fault is None
    assert "without copies" in session.ours.description


def test_an_error_in_a_copy_lets_the_trees_be_walked(monkeypatch):
    class Failing:
        def vote(self, *question):
            raise AttributeError("_train_weight_seen_by_model")

    monkeypatch.setattr(kernels, "current", kernels.current._replace(CompactTrees=Failing))
    session = Session(models.ht(), streams.five)
    session.loop()
    assert session.ours.fault is None
    assert "without copies" in session.ours.description


def grown():
    """A session with a tree of several leaves, its latest observation explained."""
    session = Session(models.ht(memory_estimate_period=50), streams.prices)
    for row in session.rows[60:340]:
        session.latest = row
        session.learn()
    session.compare()
    leaf = session.model._root.traverse(session.latest[0])
    others = [other for other in session.model._find_leaves() if other is not leaf]
    assert len(others) > 1
    return session, leaf, others


def compare_everywhere(session):
    for row in [session.latest, *session.rows[::5]]:
        session.latest = row
        session.compare()


def test_a_leaf_that_is_put_to_sleep_elsewhere_is_noticed():
    session, _, others = grown()
    for other in others:
        session.learn()
        other.deactivate()
        session.model._n_active_leaves -= 1
        session.model._n_inactive_leaves += 1
        compare_everywhere(session)


def test_leaves_that_change_places_in_memory_are_noticed():
    """Where as many are put to sleep as are woken, at the weights at which memory is looked at."""
    session, _, others = grown()
    model = session.model
    while (model._train_weight_seen_by_model + 1) % model.memory_estimate_period:
        session.learn()
    session.compare()
    session.learn()
    for other in others:
        other.deactivate()
    compare_everywhere(session)


def test_a_leaf_that_was_woken_says_that_others_may_sleep():
    """A leaf that tries a split in vain is put to sleep and woken, and others in its place."""
    session, leaf, others = grown()
    if session.model._train_weight_seen_by_model % 50 == 49:
        session.learn()
        session.compare()
    leaf.deactivate()
    leaf.activate()
    for other in others:
        other.deactivate()
    session.learn()
    compare_everywhere(session)
