"""Naive Bayes: the logarithms of all features' densities but one, and of that one's points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.models.river import kernels
from ipdp.models.river.copies import Asked, Copies, Groups, as_table
from ipdp.models.river.kernels.bayes import Density
from ipdp.models.river.kernels.linear import Order
from ipdp.models.river.parts import PROBABILITIES, Part, by_groups, register
from ipdp.models.river.steps import Steps
from ipdp.models.trees.base import Answer, ClassOrder
from ipdp.models.trees.kinds import ABSENT, find

_GAUSSIAN = find("naive_bayes", "GaussianNB")


class GaussianPart(Part):
    """Naive Bayes with normal densities."""

    # River's own call takes twice as long as explaining an observation.
    checked_every = 128

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._steps = Steps(_make_step)
        self._order = ClassOrder()

    def ice(self, points: Asked) -> Answer | None:
        if isinstance(points, Groups):
            return by_groups(self.ice, points)
        model = self.model
        classes = self._order.of(model.class_counts.keys())
        if not classes:
            return None
        counts = [model.class_counts[label] for label in classes]
        total = sum(counts)
        priors = [math.log(count / total) for count in counts]
        gaussians = [model.gaussians.get(label, {}) for label in classes]
        if isinstance(points, Copies):
            sums = _of_copies(points, gaussians, priors)
        else:
            if points.non_numeric:
                raise TypeError("normal densities are of numbers only")
            _, step = self._steps.of(points)
            sums = step.sums(points.x, gaussians, counts, priors, points.numbers)
            for column in points.columns.absent:
                _leave_out(sums, column, points.at(column), gaussians, priors)
        kernels.current.softmax(sums)
        return classes, sums


def _make_step(order: Order, n_columns: int) -> Any:
    return kernels.current.BayesStep(order, n_columns)


def _leave_out(
    sums: FloatArray, column: int, point: dict[Any, Any], gaussians: Any, priors: list[float]
) -> None:
    """Write the sums of a copy that lacks a feature."""
    for row, own in enumerate(gaussians):
        terms = [Density(own.get(name)).term(value) for name, value in point.items()]
        sums[row, column] = priors[row] + sum(terms)


def _of_copies(copies: Copies, gaussians: Any, priors: list[float]) -> FloatArray:
    """The sums at each copy, whose blocks may differ in several features."""
    x, n = copies.x, copies.columns.n
    sums = np.empty((len(gaussians), n))
    for row, own in enumerate(gaussians):
        terms = {name: Density(own.get(name)).term(value) for name, value in x.items()}
        sums[row] = priors[row] + sum(terms.values())
        for lo, hi, names, rows in copies.blocks:
            if not names:
                continue
            changed = set(names)
            total = priors[row] + sum([t for name, t in terms.items() if name not in changed])
            sums[row, lo:hi] = total
            for name, values in zip(names, rows, strict=True):
                density = Density(own.get(name))
                there = as_table([values], math.nan)[0].tolist()
                absent = values if isinstance(values, list) else there
                sums[row, lo:hi] += [
                    0.0 if given is ABSENT else density.term(value)
                    for given, value in zip(absent, there, strict=True)
                ]
    return sums


def _make(model: Any) -> Part | None:
    cls = type(model)
    untouched = ("joint_log_likelihood", "p_class")
    if _GAUSSIAN is None or any(getattr(cls, k) is not getattr(_GAUSSIAN, k) for k in untouched):
        return None
    return GaussianPart(model)


register(PROBABILITIES, find("naive_bayes", "GaussianNB", PROBABILITIES), _make)
