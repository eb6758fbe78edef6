"""Trees that somebody has edited: the compiled walk reads beyond no list and no array."""

from __future__ import annotations

import random
import warnings
from contextlib import suppress

import numpy as np
import pytest
from river import forest, tree

import ipdp
from ipdp.models.trees import classification, kernels
from ipdp.models.trees.engine import TreeEngine
from ipdp.models.trees.kernels import voting

ROWS = [
    {name: random.Random(f"{k}{name}").random() for name in ("a", "b", "d")} for k in range(700)
]


def _learned(model):
    for x in ROWS[:600]:
        model.learn_one(x, "uvw"[(x["a"] > 0.5) + (x["b"] > 0.3)])
    return model


def _single():
    model = _learned(tree.HoeffdingTreeClassifier(grace_period=20, delta=0.1, tau=0.2))
    assert model.n_branches > 1
    return model


def _forest():
    return _learned(forest.ARFClassifier(n_models=3, seed=1, grace_period=20, tau=0.2))


def _asked(model):
    pdp = ipdp.IncrementalPDP(model, ["a", "b"], n_past=0, n_ice=0, seed=1)
    for x in ROWS[600:630]:
        pdp.explain_one(x)
    return pdp


def _go_on(pdp):
    """Whatever river says of such a tree; the process must survive it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in ROWS[630:660]:
            with suppress(IndexError, AttributeError, TypeError, ValueError, KeyError):
                pdp.explain_one(x)


def _branches(node):
    if hasattr(node, "children"):
        yield node
        for child in node.children:
            yield from _branches(child)


def _mondrian():
    return _learned(forest.AMFClassifier(n_estimators=2, seed=1))


def _leftmost(model):
    """The branch above the leaf at the left end of a Mondrian tree."""
    node = model[0]._root
    while hasattr(node, "children"):
        node = node.children[0]
    return node.parent


class _Plain(Exception):
    """River is asked, which goes round in a circle for ever."""


@pytest.fixture
def without_plain_calls(monkeypatch):
    def refuse(*_):
        raise _Plain

    monkeypatch.setattr(TreeEngine, "_plain", refuse)
    # Trees of before river 0.24 are asked themselves, leaf by leaf.
    monkeypatch.setattr(classification, "_shares_by_call", refuse)


def test_a_circle_among_the_parents_of_a_mondrian_tree(request):
    model = _mondrian()
    pdp = _asked(model)
    request.getfixturevalue("without_plain_calls")
    model[0]._root.parent = _leftmost(model)
    with pytest.raises(_Plain):
        pdp.explain_one(ROWS[630])


@pytest.mark.parametrize("make", [_mondrian, _single, _forest])
def test_a_circle_among_the_branches(make, request):
    model = make()
    pdp = _asked(model)
    request.getfixturevalue("without_plain_calls")
    grown = model if make is _single else model[0]
    root = grown._root
    root.children = type(root.children)([root, root])
    if make is not _mondrian:
        grown._train_weight_seen_by_model += 1
    with pytest.raises(_Plain):
        pdp.explain_one(ROWS[630])


def test_a_tree_whose_branches_have_both_children_in_common():
    """Few branches, and 2**60 ways down."""
    model = _single()
    root = node = model._root
    for _ in range(60):
        other = type(root)(root.stats, root.feature, root.threshold, 0, node, node)
        node = other
    model._root = node
    _go_on(_asked(model))


def test_branches_that_lose_their_children_after_a_copy_was_made():
    """The copy is not half made: what was read of the former tree does not stay in it."""
    model = _single()
    pdp = _asked(model)
    root = model._root
    lost = type(root)(root.stats, root.feature, root.threshold, 0, root, root)
    lost.children.clear()
    model._root = type(root)(root.stats, "d", 0.5, 0, lost, lost)
    model._train_weight_seen_by_model += 1
    for _ in range(3):
        _go_on(pdp)
    model._root = root  # as it was
    again = _asked(model)
    for x in ROWS[630:660]:
        pdp.explain_one(x)
        again.explain_one(x)


def test_branches_that_lose_their_children():
    model = _single()
    pdp = _asked(model)
    for branch in list(_branches(model._root)):
        branch.children.clear()
    model._train_weight_seen_by_model += 1
    _go_on(pdp)


def test_another_tree_of_as_many_leaves_in_its_place():
    model = _single()
    pdp = _asked(model)
    for branch in _branches(model._root):
        branch.feature = "d"  # which no copy has a place for
    other = model._root
    model._root = type(other)(other.stats, other.feature, other.threshold, 0, *other.children)
    model._train_weight_seen_by_model += 1
    _go_on(pdp)


def test_a_splitter_without_its_distributions():
    model = _single()
    pdp = _asked(model)
    for leaf in model._root.iter_leaves():
        leaf._nb_correct_weight = 1e9
        leaf.splitters = dict(leaf.splitters)
        for splitter in list(leaf.splitters.values())[-1:]:  # a new leaf has none yet
            del splitter._att_dist_per_class
    _go_on(pdp)


def test_more_trees_than_weights():
    model = _forest()
    pdp = _asked(model)
    model._metrics.clear()
    _go_on(pdp)
    votes = np.ones((2, 3, 4))
    with pytest.raises(ValueError, match="3 trees vote, and 2 of them have a weight"):
        voting.combine(votes, [1.0, 1.0])
    with pytest.raises(ValueError, match=r"3 trees vote|broadcast"):
        kernels.current.combine(votes, [1.0, 1.0])
