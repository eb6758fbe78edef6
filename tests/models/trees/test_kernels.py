"""Every kernel gives the same answers in every build: pure, compiled, and not yet compiled."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.trees import models, streams
from tests.models.trees.asking import Asker, asked_along
from tests.models.trees.conftest import compiled_kernels
from tests.models.trees.models import FlattenedLeaf, Grower

import ipdp
from ipdp.models import engine
from ipdp.models.trees import kernels
from ipdp.models.trees.kernels import aggregation, compact, voting, walk
from ipdp.models.trees.kinds import CLASSIFIER_FORMS, MONDRIAN_KINDS
from ipdp.models.trees.points import Columns
from ipdp.models.trees.reached import LeafCache

UNCOMPILED = kernels.Kernels.of("uncompiled", walk, voting, aggregation, compact)
BUILDS = {
    "pure": lambda: kernels.PURE,
    "uncompiled": lambda: UNCOMPILED,
    "compiled": compiled_kernels,
}


@cache
def learned(make, stream, *, missing=True):
    """A model that has learned, and points of two observations, some of them missing values."""
    model, asker, examples = make(), Asker(), list(stream(400))
    for x, y in examples:
        asker.learn_one(x)
        model.learn_one(x, y)
    probes, positions = asker.question(missing=missing)
    columns = Columns(probes)
    return model, [columns.points(x, positions) for x, _ in examples[:2]]


incomplete = partial(streams.loans, missing=0.1)
CLASSIFIERS = [
    (models.ht, streams.prices),
    (models.hat, streams.five),
    (models.MIXED["HT binary"], incomplete),
    (models.SPLITTERS["histogram"], streams.prices),
    (models.CLASSIFIERS["HT mc"], streams.five),
    (partial(Grower, FlattenedLeaf), streams.prices),
]


def walks(build):
    """Leaves are told by their address."""
    for make, stream in CLASSIFIERS:
        model, observations = learned(make, stream)
        kinds, adaptive = CLASSIFIER_FORMS[type(model)]
        for points in observations:
            leaf, spans, runs, alternates = build.Walker(points).walk(model._root, kinds, adaptive)
            yield id(leaf), spans, [(id(node), lo, hi) for node, lo, hi in runs]
            yield [(id(node), where) for node, where in alternates]


def votes(build):
    for make, stream in CLASSIFIERS:
        model, observations = learned(make, stream)
        leaves = LeafCache()
        classes = tuple(sorted(model.classes, key=str))
        for points in observations * 2:  # the second time all leaves have been read
            leaves.begin()
            found, reached, has_opaque = build.vote(
                build.Walker(points),
                [model, model],
                [CLASSIFIER_FORMS[type(model)]] * 2,
                classes,
                leaves,
            )
            yield has_opaque, [id(leaf) for leaf, *_ in reached]
            yield found


def combinations(build):
    rng = np.random.default_rng(0)
    found = rng.random((3, 4, 5))
    found[:, :, 2] = 0.0  # nobody votes
    yield build.combine(found, rng.random(4).tolist())


def aggregates(build):
    for make in (models.amf, models.CLASSIFIERS["AMF leaves"]):
        model, observations = learned(make, streams.prices)
        if hasattr(model.data[0], "_class_to_idx"):  # from river 0.24 on
            for points in observations:
                walker = build.Walker(points)
                yield build.aggregate(walker, model.data, MONDRIAN_KINDS, (False, True))


def copies(build):
    """Where there are none, the trees are walked."""
    for make, stream in ((models.ht, streams.prices), (models.CLASSIFIERS["HT mc"], streams.five)):
        model, observations = learned(make, stream, missing=False)
        leaves, made = LeafCache(), build.CompactTrees()
        classes, forms = tuple(sorted(model.classes, key=str)), [CLASSIFIER_FORMS[type(model)]] * 2
        for points in observations * 2:
            leaves.begin()
            asked = build.Walker(points), [model, model], forms, classes, leaves
            found = made.vote(*asked)
            yield build.vote(*asked)[0] if found is None else found
        together = made.vote_all(observations, [model, model], forms, classes, leaves)
        yield (
            _one_by_one(build, model, forms, classes, observations)
            if together is None
            else together
        )


def _one_by_one(build, model, forms, classes, observations):
    """The votes of a tree, twice, about some observations, side by side."""
    leaves, found = LeafCache(), []
    for points in observations:
        leaves.begin()
        found.append(build.vote(build.Walker(points), [model] * 2, forms, classes, leaves)[0])
    return np.concatenate(found, axis=2)


def only_numbers(build):
    x = {"a": 1.0, "b": 2, "c": True}
    for more in ({}, {"d": None}, {"d": "1"}, {"d": np.float64(1)}, {"d": Decimal(1)}):
        yield build.has_only_numbers({**x, **more})


def orders(build):
    for numbers in ([0.0, 1.0, 2.0], [0.0, 2.0, 1.0], [0.5, 1.0, math.nan], [1.0, 1.0, 1.0]):
        for order in (bytes(3), bytes([1, 2, 2]), bytes([1, 1, 0])):
            for whole in (bytes(3), bytes([1, 1, 0])):
                yield build.in_order(np.array(numbers), order, whole)


QUESTIONS = {
    "Walker": walks,
    "has_only_numbers": only_numbers,
    "in_order": orders,
    "vote": votes,
    "combine": combinations,
    "aggregate": aggregates,
    "CompactTrees": copies,
}


def test_every_kernel_is_asked():
    assert ("build", *QUESTIONS) == kernels.Kernels._fields


@pytest.mark.parametrize("other", ["uncompiled", "compiled"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_build_gives_the_same_answers(name, other):
    ours, theirs = (list(QUESTIONS[name](BUILDS[build]())) for build in ("pure", other))
    assert len(ours) == len(theirs)
    for one, two in zip(ours, theirs, strict=True):
        if isinstance(one, np.ndarray):
            # The order of sums is the same; logarithms and exponentials may differ in the last bit.
            np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-280)
        else:
            assert one == two


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 1.5, -2.0, math.nan, math.inf]),
            st.sampled_from([0, walk.IS_NUMBER, walk.ASCENDING]),
            st.booleans(),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_columns_are_in_order_in_every_build(columns):
    numbers, order, whole = zip(*columns, strict=True)
    order = (min(order[0], walk.IS_NUMBER), *order[1:])  # the first has none before it
    # What is not finite is not asked whether it is whole.
    whole = [own and math.isfinite(number) for own, number in zip(whole, numbers, strict=True)]
    expected = all(
        (expected == 0 or not math.isnan(number))
        and (expected != walk.ASCENDING or number >= numbers[k - 1])
        and (not own or number == int(number))
        for k, (number, expected, own) in enumerate(zip(numbers, order, whole, strict=True))
    )
    asked = np.array(numbers), bytes(order), bytes(whole)
    for build in BUILDS.values():
        assert build().in_order(*asked) == expected


@pytest.mark.parametrize("make", [models.ht, models.hat, models.arf, models.MIXED["HT binary"]])
@pytest.mark.parametrize("stream", [streams.prices, streams.five, streams.loans])
def test_the_loops_equal_plain_calls_before_they_are_compiled(monkeypatch, make, stream):
    monkeypatch.setattr(kernels, "current", UNCOMPILED)
    worst, ours = asked_along(make(), stream, n=200)
    assert worst < 1e-9
    assert ours.fault is None


def test_the_engine_says_which_build_runs(build):
    assert repr(engine(models.ht())).endswith(f"factored leaves ({build})>")
    assert ipdp.models.build() in ("pure", "compiled")


def test_the_environment_can_ask_for_the_pure_build(monkeypatch):
    monkeypatch.setenv("IPDP_PURE", "1")
    assert ipdp.models.build() == "pure"
    monkeypatch.delenv("IPDP_PURE")
    module = sys.modules["ipdp.core.kernels.build"]
    monkeypatch.setattr(module, "EXTENSIONS", ("ipdp.core._no_such_extension",))
    assert ipdp.models.build() == "pure"


def test_an_extension_that_cannot_be_loaded_is_reported_and_done_without(monkeypatch):
    monkeypatch.setattr(kernels, "build", lambda: "compiled")
    monkeypatch.setitem(sys.modules, "ipdp.models.trees.kernels._voting", None)
    with pytest.warns(RuntimeWarning, match="cannot be loaded, the slower one runs: "):
        assert kernels._installed() is kernels.PURE


def test_a_river_without_log_densities_is_asked_for_each_likelihood(monkeypatch):
    """Before river 0.24 naive Bayes took the log of the density."""
    for name in ("leaves", "_leaves"):
        module = sys.modules.get(f"ipdp.models.trees.kernels.{name}")
        if module is not None:
            monkeypatch.setattr(module, "_HAS_LOG_PDF", False)
            monkeypatch.setattr(module, "_is_gaussian", lambda splitter: False)
    worst, ours = asked_along(models.ht(), streams.prices)
    assert worst < 1e-9
    assert ours.fault is None
