"""What a leaf of a classifier says.

Naive Bayes adds the log-likelihoods of all features to the log of the prior. Points that differ in
one feature differ in one term of that sum, so a leaf is taken apart into its terms once, and the
parts are kept for as long as the leaf does not learn.

Plain functions over lists, dicts and numbers, so that this file can be compiled as it is.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

from ipdp.models.trees.kinds import ADAPTIVE, BAYES, LEAVES, MAJORITY, WEIGHTED
from ipdp.models.trees.names import find
from ipdp.models.trees.points import ABSENT
from ipdp.models.trees.store import LeafParts
from ipdp.typing import FeatureName, Label

_GAUSSIAN_SPLITTER = find("tree.splitter", "GaussianSplitter")
# Before river 0.24 naive Bayes took the log of the density, which can be 0 far out.
_HAS_LOG_PDF = find("proba", "Gaussian", "log_pdf") is not None
_KINDS = (MAJORITY, BAYES, ADAPTIVE, WEIGHTED)

# Stands for a feature that no observation has.
NO_FEATURE = object()


class ClassifierLeaf(LeafParts):
    """The parts of a leaf, as of the last time that it learned.

    Attributes
    ----------
    stats, splitters
        Its class weights and splitters at that time.
    votes
        What it says whatever the observation, one number a class; None if it is naive Bayes.
    scale
        How much its votes count beside those of alternate trees.
    terms
        Logs of the priors, one a class, then for each of the leaf's features and each class the
        mean, -2 variance and log(variance) / 2; NaN for what naive Bayes leaves out.
    raw
        The same as bytes.
    names
        The leaf's features, in river's order; NO_FEATURE for those that are not Gaussian.
    slots
        Where each feature stands among them.
    laid_out
        The splitters when the places of the terms were set.
    gaussians
        For each Gaussian feature where its terms begin, and its distributions by class.
    general
        The splitters that are not Gaussian: slot, feature, splitter.
    counted
        The weight of each class when its terms were read.
    places, places_of
        Where the features of some question stand, as bytes; the question's features.
    """

    __slots__ = (
        "counted",
        "gaussians",
        "general",
        "laid_out",
        "names",
        "places",
        "places_of",
        "raw",
        "scale",
        "slots",
        "splitters",
        "stats",
        "terms",
        "votes",
    )

    def __init__(self, leaf: Any) -> None:
        super().__init__(leaf, LEAVES[leaf.__class__] not in _KINDS)
        self.stats: dict[Label, float] = {}
        self.splitters: Any = None
        self.votes: list[float] | None = []
        self.scale = 1.0
        self.laid_out: Any = None
        self.terms = array("d")
        self.raw = b""
        self.names: list[Any] = []
        self.slots: dict[FeatureName, int] = {}
        self.gaussians: list[tuple[int, dict[Any, Any]]] = []
        self.general: list[tuple[int, FeatureName, Any]] = []
        self.counted: list[float] = []
        self.places = b""
        self.places_of: object = None

    def refuse(self, odd: frozenset[FeatureName]) -> None:
        """Raise an error if a feature that is not a number would have a density."""
        for name in self.names:
            if name in odd:
                raise TypeError(f"the leaf takes {name!r} for a number")

    def find_places(self, asked: Sequence[FeatureName], known: dict[Any, int]) -> None:
        """Write down where the features that are asked about stand, and where those of the leaf.

        The first part is the slot of each feature that is asked about, -1 if it has none, and
        another -1 for columns that replace no feature; the second is the place of each of the
        leaf's features among all known ones.
        """
        self.places_of = asked
        slots = [self.slots.get(name, -1) for name in asked]
        own = [known.setdefault(name, len(known)) for name in self.names]
        self.places = array("q", [*slots, -1, *own]).tobytes()


def read(parts: ClassifierLeaf, tree: Any, classes: Sequence[Label]) -> None:
    """Read what a leaf says now, its numbers in the order of the classes."""
    leaf = parts.leaf
    stats = leaf.stats
    total = sum(stats.values())
    kind = LEAVES[leaf.__class__]
    if kind == WEIGHTED:
        if not stats:
            raise ValueError("a leaf that has seen nothing has no prediction")
        error = leaf._mean_error.get()
        parts.scale = 1 / (error * error) if error else 1.0
    if not _is_bayes(leaf, tree, kind, total):
        share = 1 / total if total and not math.isnan(total) else 1.0
        parts.votes = [stats[label] * share if label in stats else 0.0 for label in classes]
    elif total == 0:
        parts.votes = [0.0] * len(classes)
    else:
        parts.votes = None
        _read_bayes(parts, total, classes)
    parts.stats = dict(stats)
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


def _read_bayes(parts: ClassifierLeaf, total: float, classes: Sequence[Label]) -> None:
    leaf = parts.leaf
    stats, splitters = leaf.stats, leaf.splitters
    if splitters is not parts.laid_out or len(splitters) != len(parts.names):
        _lay_out(parts, len(classes))
    terms, counted = parts.terms, parts.counted
    for k, label in enumerate(classes):
        # A class that the leaf has not seen has no vote; one of weight 0 has, in river, exp(0).
        weight = stats.get(label, -1.0)
        if weight > 0:
            terms[k] = math.log(weight / total)
        else:
            terms[k] = 0.0 if label in stats else -math.inf
        # What is known of a class changes only with its weight.
        if weight != counted[k]:
            counted[k] = weight
            _read_gaussians(parts, k, label if weight > 0 else NO_FEATURE)
    parts.raw = terms.tobytes()


def _lay_out(parts: ClassifierLeaf, n_classes: int) -> None:
    """Make room for the terms of the leaf's features."""
    parts.laid_out = parts.leaf.splitters
    parts.slots, parts.names, parts.gaussians, parts.general = {}, [], [], []
    parts.places_of = None
    for slot, (name, splitter) in enumerate(parts.leaf.splitters.items()):
        parts.slots[name] = slot
        if _GAUSSIAN[splitter.__class__]:
            start = n_classes * (1 + 3 * slot)
            parts.names.append(name)
            parts.gaussians.append((start, splitter._att_dist_per_class))
        else:
            parts.names.append(NO_FEATURE)
            parts.general.append((slot, name, splitter))
    parts.terms = array("d", [math.nan]) * (n_classes * (1 + 3 * len(parts.names)))
    parts.counted = [0.0] * n_classes


def _read_gaussians(parts: ClassifierLeaf, k: int, label: Any) -> None:
    """Read the mean, -2 variance and log(variance) / 2 of each feature, for the k-th class."""
    terms = parts.terms
    for start, distributions in parts.gaussians:
        at = start + 3 * k
        terms[at] = math.nan
        gaussian = distributions.get(label)
        if gaussian is not None:
            var = gaussian._var
            mean = var.mean
            n = mean.n - var.ddof
            if n > 0:
                variance = var._S / n
                if variance > 0:
                    terms[at] = mean._mean
                    terms[at + 1] = -2.0 * variance
                    terms[at + 2] = 0.5 * math.log(variance)


class _Gaussian(dict[type, bool]):
    """Whether each class of splitters is Gaussian, looked up once."""

    def __missing__(self, cls: Any) -> bool:
        self[cls] = _HAS_LOG_PDF and all(
            getattr(cls, name, None) is getattr(_GAUSSIAN_SPLITTER, name)
            for name in ("cond_log_proba", "update")
        )
        return self[cls]


_GAUSSIAN = _Gaussian()


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
