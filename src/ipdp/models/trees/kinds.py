"""Which parts of river the walk knows, told by the methods that river would call.

A class is never recognised by its name or its ancestors alone: a subclass that overrides one of the
methods that matter is another kind of node, or an unknown one. Several of the names are private,
and other versions of river may not have them. A name that is not there is None, which no method of
a real class is, so that whatever would need it is not recognised.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple

from ipdp.core.typing import FeatureName


class Absent(Enum):
    """What stands for a missing value: the point does not have the feature."""

    ABSENT = "absent"  # a member of an enumeration stays itself when it is copied or pickled


ABSENT: Final = Absent.ABSENT

LEAF, NUMERIC, OTHER = 0, 1, 2
"""Kinds of nodes: a leaf; a branch at a threshold; a branch that river decides, value by value."""

DEEPEST = 100_000
"""Nodes on a way through a tree; what has more is edited, and goes round in a circle."""

OPAQUE, MAJORITY, BAYES, ADAPTIVE, WEIGHTED = range(5)
"""Kinds of leaves of classifiers: only river knows; majority class; naive Bayes; the better of
both; either of them, weighted by the leaf's error (the leaves of Hoeffding adaptive trees)."""

MEAN, MODEL, SELECTED = 5, 6, 7
"""Kinds of leaves of regressors: the mean; a model; the better of both."""

Features = Collection[FeatureName] | None
"""The features that a tree sees; None for all."""


def find(module: str, *path: str) -> Any:
    """A name of river, None where this version does not have it."""
    try:
        found: Any = importlib.import_module(f"river.{module}")
    except ImportError:
        return None
    for name in path:
        found = getattr(found, name, None)
    return found


def known(*entries: tuple[Any, Any]) -> dict[Any, Any]:
    """The entries as a dict, without those whose key is a name that is not there."""
    return {key: value for key, value in entries if key is not None}


_BRANCH = find("tree.base", "Branch")
_DT_BRANCH = find("tree.nodes.branch", "DTBranch")
_HT_LEAF = find("tree.nodes.leaf", "HTLeaf")
_WALK_OF_A_LEAF = find("tree.base", "Leaf", "walk")
_BRANCH_NO = known(
    (find("tree.nodes.branch", "NumericBinaryBranch", "branch_no"), NUMERIC),
    (find("tree.nodes.branch", "NominalBinaryBranch", "branch_no"), OTHER),
    (find("tree.nodes.branch", "NumericMultiwayBranch", "branch_no"), OTHER),
    (find("tree.nodes.branch", "NominalMultiwayBranch", "branch_no"), OTHER),
)
_PREDICTION = known(
    (find("tree.nodes.htc_nodes", "LeafMajorityClass", "prediction"), MAJORITY),
    (find("tree.nodes.htc_nodes", "LeafNaiveBayes", "prediction"), BAYES),
    (find("tree.nodes.htc_nodes", "LeafNaiveBayesAdaptive", "prediction"), ADAPTIVE),
    (find("tree.nodes.hatc_nodes", "AdaLeafClassifier", "prediction"), WEIGHTED),
    (find("tree.nodes.htr_nodes", "LeafMean", "prediction"), MEAN),
    (find("tree.nodes.htr_nodes", "LeafModel", "prediction"), MODEL),
    (find("tree.nodes.htr_nodes", "LeafAdaptive", "prediction"), SELECTED),
)
_UNTOUCHED = (
    ("is_active", find("tree.nodes.leaf", "HTLeaf", "is_active")),
    ("total_weight", find("tree.nodes.htc_nodes", "LeafMajorityClass", "total_weight")),
)


class Unsupported(Exception):
    """A part of a model that the walk does not know."""


class NodeKinds(dict[type, int]):
    """The kind of each class of nodes; by `traverse` river finds the leaves of such a tree."""

    def __init__(self, traverse: Any, *entries: tuple[Any, int]) -> None:
        super().__init__(known(*entries))
        self.traverse = traverse

    def __missing__(self, cls: Any) -> int:
        kind: int | None = None
        if _DT_BRANCH is not None and issubclass(cls, _DT_BRANCH):
            ways = (cls.next, cls.walk, cls.traverse)
            if ways == (_DT_BRANCH.next, _BRANCH.walk, self.traverse):
                kind = _BRANCH_NO.get(cls.branch_no)
        elif _HT_LEAF is not None and issubclass(cls, _HT_LEAF) and cls.walk is _WALK_OF_A_LEAF:
            kind = LEAF
        if kind is None:
            raise Unsupported(f"nodes of class {cls.__name__}")
        self[cls] = kind
        return kind


class Form(NamedTuple):
    """How a class of trees is walked: kinds of its nodes, and whether it has alternate trees."""

    kinds: NodeKinds
    adaptive: bool


class Forms(dict[type, Form]):
    """The form of each class of trees, told by its `method`, which one of river's trees has."""

    def __init__(self, method: str, **forms: Form) -> None:
        super().__init__()
        self._method = method
        self._known = known(*[(find("tree", name, method), form) for name, form in forms.items()])

    def knows(self, cls: type) -> bool:
        """Whether trees of a class can be walked."""
        return getattr(cls, self._method, None) in self._known

    def __missing__(self, cls: type) -> Form:
        if not self.knows(cls):
            raise Unsupported(f"trees of class {cls.__name__}")
        form: Form = self._known[getattr(cls, self._method)]
        self[cls] = form
        return form


@cache
def leaf_kind(cls: Any) -> int:
    """The kind of a class of leaves."""
    kind: int = _PREDICTION.get(cls.prediction, OPAQUE)
    # A prediction may call that of a parent class: all of them must be river's.
    definitions = [k.__dict__["prediction"] for k in cls.__mro__ if "prediction" in k.__dict__]
    if any(d not in _PREDICTION and d is not _HT_LEAF.prediction for d in definitions):
        return OPAQUE
    if kind in (BAYES, ADAPTIVE, WEIGHTED):
        untouched = all(getattr(cls, name) is method for name, method in _UNTOUCHED)
        return kind if untouched else OPAQUE
    return kind


_GROWTH = tuple(
    (name, find("tree", "HoeffdingTreeClassifier", name))
    for name in (
        "learn_one", "_attempt_to_split", "_estimate_model_size", "_enforce_size_limit",
    )
)  # fmt: skip
_LEAF_LEARNING = tuple(
    (name, {find("tree.nodes.htc_nodes", leaf, name) for leaf in leaves})
    for name, leaves in (
        ("learn_one", ("LeafMajorityClass", "LeafNaiveBayesAdaptive")),
        ("update_stats", ("LeafMajorityClass",)),
        ("activate", ("LeafMajorityClass",)),
        ("deactivate", ("LeafMajorityClass",)),
    )
)


@cache
def grows_at_leaves(cls: Any) -> bool:
    """Whether learning changes trees of a class at one leaf only, see `kernels.compact`."""
    return all(
        method is not None and getattr(cls, name, None) is method for name, method in _GROWTH
    )


@cache
def learns_by_weight(cls: Any) -> bool:
    """Whether leaves of a class, which are known, add up the weight of what they learn."""
    if leaf_kind(cls) not in (MAJORITY, BAYES, ADAPTIVE):
        return False
    return all(getattr(cls, name, None) in methods - {None} for name, methods in _LEAF_LEARNING)


def _adaptive(module: str, branch: str) -> Form:
    return Form(NodeKinds(find(module, branch, "traverse")), adaptive=True)


_PLAIN = Form(NodeKinds(find("tree.base", "Branch", "traverse")), adaptive=False)
CLASSIFIER_FORMS = Forms(
    "predict_proba_one",
    HoeffdingTreeClassifier=_PLAIN,
    HoeffdingAdaptiveTreeClassifier=_adaptive("tree.nodes.hatc_nodes", "AdaBranchClassifier"),
)
REGRESSOR_FORMS = Forms(
    "predict_one",
    HoeffdingTreeRegressor=_PLAIN,
    HoeffdingAdaptiveTreeRegressor=_adaptive("tree.nodes.hatr_nodes", "AdaBranchRegressor"),
)
_MONDRIAN_NODES = "tree.mondrian.mondrian_tree_nodes"
# river walks such trees in compiled code: subclasses of these nodes are not known.
MONDRIAN_KINDS = NodeKinds(
    None,
    (find(_MONDRIAN_NODES, "MondrianBranchClassifier"), NUMERIC),
    (find(_MONDRIAN_NODES, "MondrianLeafClassifier"), LEAF),
)
