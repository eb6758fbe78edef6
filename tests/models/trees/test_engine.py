"""The walk says what plain calls say, along streams, for every model that it serves.

Both add up the same numbers in the same order; what differs is the rounding of a logarithm or an
exponential here and there: some units in the last place (2e-16) of terms below 1e5 or so.
"""

from __future__ import annotations

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.trees import models, streams
from tests.models.trees.asking import Asker, plain_engine, unchecked, worst_difference

import ipdp
from ipdp.models import Probe, RowEngine
from ipdp.models.trees import Checker

N = 600


def cases():
    for name, make in models.CLASSIFIERS.items():
        yield pytest.param(make, streams.prices, id=f"{name}, numbers")
    for name, make in models.MIXED.items():
        yield pytest.param(make, streams.loans, id=f"{name}, strings")
        incomplete = partial(streams.loans, missing=0.1)
        yield pytest.param(make, incomplete, id=f"{name}, strings, incomplete")
        yield pytest.param(make, streams.five, id=f"{name}, five classes")
    for name, make in models.SPLITTERS.items():
        yield pytest.param(make, streams.prices, id=f"HT with {name} splitter")
    for name, make in models.PIPELINES.items():
        incomplete = partial(streams.prices, missing=0.1)
        yield pytest.param(make, incomplete, id=f"{name}, incomplete")
        yield pytest.param(make, streams.five, id=f"{name}, five classes")
    for name, make in models.REGRESSORS.items():
        yield pytest.param(make, streams.distances, id=name)


def test_several_observations_are_answered_by_the_model_as_it_is_each_time():
    """The model is looked at once for all of them; it has learnt by the next time."""
    model = models.CLASSIFIERS["ARF mc"]()
    ours, plain, asker, rows = unchecked(model), plain_engine(model), Asker(), []
    for t, (x, y) in enumerate(streams.prices(N)):
        rows.append(x)
        if t % 100 == 99:
            probes, positions = asker.question()
            asked = rows[-3:], probes, np.repeat(positions, 3, axis=0)
            answer, expected = ours.ice_again(*asked), plain.ice(*asked)
            order = [answer.labels.index(label) for label in expected.labels]
            np.testing.assert_allclose(answer.values[:, order], expected.values, atol=1e-9)
        asker.learn_one(x)
        model.learn_one(x, y)
    assert ours.fault is None


@pytest.mark.parametrize("as_a", [tuple, list])
def test_two_askers_take_turns(as_a):
    """Each with points of its own, as curves and a monitor have; a list may change in between."""
    model = models.CLASSIFIERS["ARF mc"]()
    stream = list(streams.prices(N))
    for x, y in stream:
        model.learn_one(x, y)
    ours, plain, (x, _) = unchecked(model), plain_engine(model), stream[-1]
    names = list(x)[:3]
    questions = [as_a([Probe((name,), 0, 4, (False,), (None,))]) for name in names]
    for k in (0, 1, 0, 1, 2, 1, 0):
        positions = np.sort(np.random.default_rng(k).random((1, 1, 4)))
        answer, expected = (e.ice([x], questions[k], positions) for e in (ours, plain))
        order = [answer.labels.index(label) for label in expected.labels]
        np.testing.assert_allclose(answer.values[:, order], expected.values, atol=1e-9)
        if as_a is list:
            questions[k][0] = questions[(k + 1) % 3][0]
    assert ours.fault is None


@pytest.mark.parametrize(("make", "stream"), list(cases()))
def test_equals_plain_calls_along_a_stream(make, stream):
    model = make()
    ours, plain = unchecked(model), plain_engine(model)
    asker = Asker()
    worst, compared = 0.0, 0
    for t, (x, y) in enumerate(stream(N)):
        if t % 50 == 37:
            probes, positions = asker.question(pair=t > 400)
            difference, n = worst_difference(ours, plain, x, probes, positions)
            worst, compared = max(worst, difference), compared + n
        asker.learn_one(x)
        model.learn_one(x, y)
    assert ours.fault is None
    assert worst < 1e-9
    assert compared > 500


def with_alternate_trees(model, examples):
    """Give each branch of an adaptive tree an alternate tree that has learned a little."""
    for node in [n for n in model._root.iter_dfs() if hasattr(n, "_alternate_tree")]:
        node._alternate_tree = model._new_leaf(parent=node)
        for x, y in examples:
            node._alternate_tree.learn_one(x, y, tree=model)


@pytest.mark.parametrize(
    ("make", "stream"),
    [
        (models.hat, partial(streams.prices, missing=0.1)),
        (models.hat, partial(streams.loans, missing=0.1)),
        (lambda: models.hat(binary_split=True), streams.loans),
        (lambda: models.hat(leaf_prediction="mc"), streams.five),
        (models.hatr, streams.distances),
        (lambda: models.hatr(leaf_prediction="mean"), streams.distances),
    ],
)
def test_alternate_trees_at_every_branch(make, stream):
    model = make()
    ours, plain = unchecked(model), plain_engine(model)
    asker = Asker()
    examples = list(stream(N))
    for x, y in examples[:-50]:
        asker.learn_one(x)
        model.learn_one(x, y)
    assert model.n_branches > 3
    with_alternate_trees(model, examples[-70:-50])
    for x, _ in examples[-50::5]:
        assert worst_difference(ours, plain, x, *asker.question())[0] < 1e-9
    assert ours.fault is None


@pytest.mark.parametrize(
    "make",
    [
        models.hat,
        models.arf,
        models.srp,
        models.amf,
        models.CLASSIFIERS["Bagging HAT"],
        models.PIPELINES["standard | HT"],
    ],
)
def test_explaining_changes_nothing(make):
    model, twin = make(), make()
    pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.QuantileRange(5), seed=1)
    for t, (x, y) in enumerate(streams.prices(400)):
        pdp.explain_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
        if t % 20 == 19:
            assert model.predict_proba_one(x) == twin.predict_proba_one(x)
    assert pdp.engine.fault is None
    assert pdp.curve("nswprice").n_samples == 380


def test_explaining_strings_adds_no_classes_to_the_splitters():
    """river's nominal splitters are defaultdicts, which grow when they are asked."""
    model, twin = models.ht(), models.ht()
    asker = Asker()
    ours = unchecked(model)
    for t, (x, y) in enumerate(streams.loans(N)):
        if t % 30 == 29:
            ours.ice([x], *asker.question())
        asker.learn_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert ours.fault is None
    for leaf, other in zip(model._root.iter_leaves(), twin._root.iter_leaves(), strict=True):
        assert leaf.splitters.keys() == other.splitters.keys()
        for name, splitter in leaf.splitters.items():
            known = splitter._att_dist_per_class.keys()
            assert known <= leaf.stats.keys() | other.splitters[name]._att_dist_per_class.keys()


@pytest.mark.parametrize("make", [models.ht, models.hat, models.arf, models.srp, models.amf])
def test_an_unlearned_model_says_nothing(make):
    model = make()
    asker = Asker()
    x, y = next(streams.prices(1))
    asker.learn_one(x)
    ours = unchecked(model)
    answer = ours.ice([x], *asker.question())
    assert answer.labels == ()
    model.learn_one(x, y)
    assert ours.ice([x], *asker.question()).labels == (y,)
    assert ours.fault is None


def test_new_classes_come_last():
    model = models.arf()
    asker = Asker()
    ours = unchecked(model)
    labels = []
    for x, y in streams.five(300):
        asker.learn_one(x)
        model.learn_one(x, y)
        now = ours.ice([x], *asker.question()).labels
        assert now[: len(labels)] == tuple(labels)
        labels = list(now)
    assert set(labels) == set("ABCDE")


def test_many_observations_are_the_same_as_one_by_one():
    model = models.arf()
    asker = Asker()
    examples = list(streams.prices(400))
    for x, y in examples:
        asker.learn_one(x)
        model.learn_one(x, y)
    ours = unchecked(model)
    probes, positions = asker.question(pair=True)
    rows = [x for x, _ in examples[:5]]
    together = ours.ice(rows, probes, np.repeat(positions, 5, axis=0))
    for row, x in enumerate(rows):
        alone = ours.ice([x], probes, positions)
        assert alone.labels == together.labels
        np.testing.assert_array_equal(together.values[row], alone.values[0])


@pytest.mark.parametrize("make", [models.ht, models.arf])
def test_pairs_are_walked_line_by_line(make):
    model, asker = make(), Asker()
    examples = list(streams.loans(400))
    for x, y in examples:
        asker.learn_one(x)
        model.learn_one(x, y)
    ours, calls = unchecked(model), []
    ours.checker = Checker(first=0, every=10**9)
    whole = ours.call
    ours.call = lambda x: calls.append(x) or whole(x)
    probes, positions = asker.question(pair=True)
    assert sum(len(probe.names) == 2 for probe in probes) >= 4
    for x, _ in examples[:9]:
        ours.ice([x], probes, positions)
    assert ours.fault is None
    assert not calls


@pytest.mark.parametrize("make", [models.ht, models.arf])
def test_positions_may_be_changed_in_place(make):
    model, asker = make(), Asker()
    examples = list(streams.prices(400))
    for x, y in examples:
        asker.learn_one(x)
        model.learn_one(x, y)
    ours, plain = unchecked(model), plain_engine(model)
    probes, positions = asker.question()
    for x, _ in examples[:3]:
        assert worst_difference(ours, plain, x, probes, positions)[0] < 1e-9
        positions += 1.0
    positions -= 3.0
    columns = ours._served.columns
    first, second = (columns.points(x, positions.copy()).numbers for x, _ in examples[:2])
    assert first is second
    assert ours.fault is None


def test_points_of_a_pair_in_any_order_are_right():
    model, asker = models.arf(), Asker()
    examples = list(streams.prices(400))
    for x, y in examples:
        asker.learn_one(x)
        model.learn_one(x, y)
    probe = Probe(("nswprice", "vicprice"), 0, 5, (False, False), (None, None))
    positions = np.array([[[0.1, 0.1, 0.2, 0.3, 0.1], [0.0, 0.1, 0.0, 0.1, 0.3]]])
    ours, plain = unchecked(model), plain_engine(model)
    assert worst_difference(ours, plain, examples[0][0], (probe,), positions)[0] < 1e-9
    assert ours.fault is None


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda ours: pickle.loads(pickle.dumps(ours))])
def test_copies_go_on_by_themselves(copied):
    ours = unchecked(models.arf())
    asker = Asker()
    examples = list(streams.prices(600))
    for x, y in examples[:500]:
        asker.learn_one(x)
        ours.model.learn_one(x, y)
    probes, positions = asker.question()
    ours.ice([x], probes, positions)
    twin = copied(ours)
    for x, y in examples[500:]:
        twin.model.learn_one(x, y)
        plain = RowEngine(twin.call, description="plain calls", leave_out=True)
        assert worst_difference(twin, plain, x, probes, positions)[0] < 1e-9
    assert twin.fault is None
    assert twin.model is not ours.model


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pdp: pickle.loads(pickle.dumps(pdp))])
def test_a_copied_explainer_still_knows_what_is_missing(copied):
    """What stands for a missing value must be the same thing in the copy."""
    grid = ipdp.grid.MinMax(5, warm_up=1, missing=True)
    pdp = ipdp.IncrementalPDP(models.ht(), ["nswprice"], grid=grid)
    examples = list(streams.prices(400))
    for x, y in examples:
        pdp.explain_one(x)
        pdp.engine.model.learn_one(x, y)
    twin = copied(pdp)
    for x, _ in examples[:30]:
        pdp.explain_one(x)
        twin.explain_one(x)
    assert twin.engine.fault is None
    curves = pdp.curve("nswprice"), twin.curve("nswprice")
    np.testing.assert_array_equal(curves[0].average, curves[1].average)


FLOATS = st.floats(-3, 3, allow_nan=False) | st.sampled_from([-0.0, 0.1, 1e100, -1e100])


@st.composite
def questions(draw):
    """Values in any order, for some features of an observation that may lack some."""
    names = draw(st.lists(st.sampled_from("abcdek"), min_size=1, unique=True))
    probes, row, start = [], [], 0
    for name in names:
        values = draw(st.lists(FLOATS | st.just(np.nan), min_size=1, max_size=6))
        missing = draw(st.booleans())
        row += values + [0.0] * missing
        stop = start + len(values) + missing
        probes.append(Probe((name,), start, stop, (False,), (None,), missing))
        start = stop
    x = draw(st.dictionaries(st.sampled_from("abcdek"), FLOATS))
    return x, probes, np.array(row)[None, None]


@pytest.fixture(scope="module", params=["HT nba", "HAT nba", "ARF nba", "AMF"])
def learned(request):
    model = models.CLASSIFIERS[request.param]()
    for x, y in streams.distances(N):
        model.learn_one(x, round(y) % 3)
    return model


@settings(deadline=None, max_examples=60)
@given(question=questions())
def test_any_values_in_any_order(learned, question):
    x, probes, positions = question
    ours = unchecked(learned)
    assert worst_difference(ours, plain_engine(learned), x, probes, positions)[0] < 1e-9
    assert ours.fault is None
