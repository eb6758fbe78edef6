"""The votes of a leaf of a classifier, taken apart.

Naive Bayes adds the log-likelihoods of all features to the log of the prior. Points that differ in
one feature differ in one term of that sum, so a leaf is taken apart into its terms once, and the
parts are kept for as long as the leaf does not learn.

This file is compiled as it is, into `_leaves`; the types are in `_leaves.pxd`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import cache
from typing import Any

from ipdp.core.typing import FeatureName, Label, Labels
from ipdp.models.trees.kinds import ABSENT, ADAPTIVE, BAYES, MAJORITY, WEIGHTED, find, leaf_kind

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import log

_GAUSSIAN_SPLITTER = find("tree.splitter", "GaussianSplitter")
# Before river 0.24 naive Bayes took the log of the density, which can be 0 far out.
_HAS_LOG_PDF = find("proba", "Gaussian", "log_pdf") is not None
_NAN = math.nan
_KINDS = (MAJORITY, BAYES, ADAPTIVE, WEIGHTED)

# Stands for a feature that no observation has.
NO_FEATURE = object()


class ClassifierLeaf:
    """The parts of a leaf, as of the last time that it learned."""

    def __init__(self, leaf: Any) -> None:
        self.leaf = leaf
        self.opaque = leaf_kind(leaf.__class__) not in _KINDS  # only river can tell its prediction
        self.number, self.turn = 0, -1  # see `LeafCache`
        self.entered = -1  # the question whose observation `at_x` is about
        # When it was read: the weight of all classes, of each, -1 for those that it did not have,
        # and the splitters.
        self.weight = 0.0
        self.seen = array("d")
        self.splitters: Any = None
        # Whether it is naive Bayes; if not, its votes, whatever the observation, one a class.
        self.bayes = False
        self.votes = array("d")
        self.scale = 1.0  # how much its votes count beside those of alternate trees
        # Logs of the priors, one a class, then for each of the leaf's features and each class the
        # mean, -2 variance and log(variance) / 2; NaN for what naive Bayes leaves out.
        self.terms = array("d")
        # The log-likelihoods of an observation, for each of the leaf's features and each class.
        self.at_x = array("d")
        self.laid_out: Any = None  # the splitters when the places of the terms were set
        # The leaf's features, in river's order, NO_FEATURE for those that are not Gaussian; where
        # each stands among them.
        self.names: list[Any] = []
        self.slots: dict[FeatureName, int] = {}
        # For each Gaussian feature where its terms begin, and its distributions by class.
        self.gaussians: list[tuple[int, dict[Any, Any]]] = []
        self.general: dict[int, tuple[FeatureName, Any]] = {}  # the other splitters, by slot
        self.counted: list[float] = []  # the weight of each class when its terms were read
        # Where the features of some question stand, as bytes; the question's features.
        self.places = b""
        self.places_of: object = None

    def refuse(self, non_numeric: frozenset[FeatureName]) -> None:
        """Raise an error if a feature that is not a number would have a density."""
        for name in self.names:
            if name in non_numeric:
                raise TypeError(f"the leaf takes {name!r} for a number")

    def find_places(self, asked: Sequence[FeatureName], places: dict[Any, int]) -> None:
        """Remember where the features that are asked about stand, and where those of the leaf.

        The first part is the slot of each feature that is asked about, -1 if it has none, and
        another -1 for columns that replace no feature; the second is the place of each of the
        leaf's features among those of all leaves.
        """
        self.places_of = asked
        slots = [self.slots.get(name, -1) for name in asked]
        own = [places.setdefault(name, len(places)) for name in self.names]
        self.places = array("q", [*slots, -1, *own]).tobytes()


def parts_of(
    known: dict[int, ClassifierLeaf], leaf: Any, tree: Any, classes: Labels, turn: int
) -> ClassifierLeaf:
    """The parts of a leaf as it is now, given those `known` by their address; see `LeafCache`."""
    parts = known.get(id(leaf))
    if parts is None:
        parts = known[id(leaf)] = ClassifierLeaf(leaf)
    if parts.turn != turn:
        parts.turn = turn
        # A leaf that was deactivated has no splitters any more.
        if not parts.opaque and (
            parts.splitters is not leaf.splitters or _has_learned(parts, leaf.stats, classes)
        ):
            _read(parts, tree, classes)
    return parts


def _has_learned(parts: ClassifierLeaf, stats: dict[Label, float], classes: Labels) -> bool:
    """Whether a leaf has learned since it was read."""
    seen = parts.seen
    if len(seen) != len(classes):
        return True
    for k in range(len(classes)):
        weight = stats.get(classes[k], -1.0)
        if seen[k] != weight:
            return True
    return False


def _read(parts: ClassifierLeaf, tree: Any, classes: Labels) -> None:
    """Read a leaf as it is now, its numbers in the order of the classes."""
    leaf = parts.leaf
    stats = leaf.stats
    n_classes = len(classes)
    if len(parts.seen) != n_classes:
        parts.seen = array("d", [-1.0]) * n_classes
        parts.votes = array("d", [0.0]) * n_classes
    for k in range(n_classes):
        parts.seen[k] = stats.get(classes[k], -1.0)
    total = 0.0
    for weight in stats.values():
        total += weight
    parts.weight = total
    kind = leaf_kind(leaf.__class__)
    if kind == WEIGHTED:
        if not stats:
            raise ValueError("a leaf that has seen nothing has no prediction")
        error = leaf._mean_error.get()
        parts.scale = 1 / (error * error) if error else 1.0
    is_bayes = _is_bayes(leaf, tree, kind, total)
    parts.bayes = is_bayes and total != 0
    if parts.bayes:
        _read_bayes(parts, total, classes)
    else:
        share = 1 / total if total and not math.isnan(total) else 1.0
        for k in range(n_classes):
            parts.votes[k] = 0.0 if is_bayes else stats.get(classes[k], 0.0) * share
    parts.splitters = leaf.splitters


def _is_bayes(leaf: Any, tree: Any, kind: int, total: float) -> bool:
    if leaf.splitters is None or kind == MAJORITY:
        return False
    if kind == WEIGHTED:
        setting = tree.leaf_prediction
        if setting == tree._MAJORITY_CLASS:
            return False
        kind = BAYES if setting == tree._NAIVE_BAYES else ADAPTIVE
    if kind == BAYES:
        return bool(total >= tree.nb_threshold)
    return bool(leaf._nb_correct_weight >= leaf._mc_correct_weight)


def _read_bayes(parts: ClassifierLeaf, total: float, classes: Labels) -> None:
    leaf = parts.leaf
    stats, splitters = leaf.stats, leaf.splitters
    if splitters is not parts.laid_out or len(splitters) != len(parts.names):
        _lay_out(parts, len(classes))
    terms, counted = parts.terms, parts.counted
    for k, label in enumerate(classes):
        # A class that the leaf has not seen has no vote; one of weight 0 has, in river, exp(0).
        weight = stats.get(label, -1.0)
        if weight > 0:
            terms[k] = log(weight / total)
        else:
            terms[k] = 0.0 if label in stats else -math.inf
        # What is known of a class changes only with its weight.
        if weight != counted[k]:
            counted[k] = weight
            _read_gaussians(parts, k, label if weight > 0 else NO_FEATURE)


def _lay_out(parts: ClassifierLeaf, n_classes: int) -> None:
    """Make room for the terms of the leaf's features."""
    parts.laid_out = None  # until there is: a splitter may not be as expected
    parts.slots, parts.names, parts.gaussians, parts.general = {}, [], [], {}
    parts.places_of = None
    for slot, (name, splitter) in enumerate(parts.leaf.splitters.items()):
        parts.slots[name] = slot
        if _is_gaussian(splitter.__class__):
            parts.names.append(name)
            parts.gaussians.append((n_classes * (1 + 3 * slot), splitter._att_dist_per_class))
        else:
            parts.names.append(NO_FEATURE)
            parts.general[slot] = (name, splitter)
    n_slots = len(parts.names)
    parts.terms = array("d", [math.nan]) * (n_classes * (1 + 3 * n_slots))
    parts.at_x = array("d", [0.0]) * (n_classes * n_slots)
    parts.counted = [0.0] * n_classes
    parts.laid_out = parts.leaf.splitters


def _read_gaussians(parts: ClassifierLeaf, k: int, label: Any) -> None:
    """Read the mean, -2 variance and log(variance) / 2 of each feature, for the k-th class."""
    terms = parts.terms
    for start, distributions in parts.gaussians:
        at = start + 3 * k
        terms[at] = _NAN
        gaussian = distributions.get(label)
        if gaussian is not None:
            var = gaussian._var
            mean = var.mean
            n, ddof, squares = mean.n, var.ddof, var._S
            if n > ddof:
                variance = squares / (n - ddof)
                if variance > 0:
                    terms[at] = mean._mean
                    terms[at + 1] = -2.0 * variance
                    terms[at + 2] = 0.5 * log(variance)


@cache
def _is_gaussian(splitter: Any) -> bool:
    """Whether the Gaussians of a class of splitters can be read."""
    return _HAS_LOG_PDF and all(
        getattr(splitter, name, None) is getattr(_GAUSSIAN_SPLITTER, name)
        for name in ("cond_log_proba", "update")
    )


def likelihoods(
    splitter: Any, value: Any, classes: Sequence[Label], weights: Sequence[float]
) -> list[float]:
    """The log-likelihoods of a value, as river asks for them; 0 for those that it leaves out."""
    if value is ABSENT:
        return [0.0] * len(classes)
    log_proba = getattr(splitter, "cond_log_proba", None)
    found = []
    for label, weight in zip(classes, weights, strict=True):
        term = 0.0
        if weight > 0 and log_proba is not None:
            term = log_proba(value, label)
            term = term if term > -math.inf else 0.0
        elif weight > 0:
            share = splitter.cond_proba(value, label)
            term = math.log(share) if share > 0 else 0.0
        found.append(term)
    return found
