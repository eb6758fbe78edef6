"""The same as `linear.py` and `bayes.py`, by arrays, which are faster than Python's loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.river.kernels.bayes import _LEAST, Density
from ipdp.models.river.kernels.linear import _FAR, Order, Scale


def scaled(
    x: dict[FeatureName, Any],
    numbers: FloatArray,
    places: Sequence[tuple[FeatureName, int, int]],
    scale: Scale,
) -> tuple[dict[FeatureName, float], FloatArray]:
    """See `linear.scaled`."""
    centres, spreads, squared = scale
    centre = (centres or {}).get
    spread = _spreads([*x, *[place[0] for place in places]], spreads, squared)
    scaled_x = {
        name: (value - centre(name, 0.0)) / spread[name] if spread[name] else 0.0
        for name, value in x.items()
    }
    made = numbers.copy()
    shift, divisor = np.zeros(len(made)), np.ones(len(made))
    for name, lo, hi in places:
        shift[lo:hi] = centre(name, 0.0)
        # A constant becomes 0, as in river.
        divisor[lo:hi] = spread[name] or math.inf
    made -= shift
    made /= divisor
    return scaled_x, made


def _spreads(
    names: Sequence[FeatureName], spreads: dict[FeatureName, float] | None, squared: bool
) -> dict[FeatureName, float]:
    if spreads is None:
        return dict.fromkeys(names, 1.0)
    found = {name: spreads.get(name, 0.0) for name in names}
    return {name: value**0.5 for name, value in found.items()} if squared else found


class LinearStep:
    """See `linear.LinearStep`."""

    def __init__(self, order: Order, n_columns: int) -> None:
        self.names, self.places = order
        self.n_columns = n_columns
        self.named = [(self.names[at], lo, hi) for at, lo, hi in self.places]

    def sums(
        self,
        x: dict[FeatureName, Any],
        weights: Mapping[FeatureName, float],
        intercept: float,
        numbers: FloatArray,
        scales: Sequence[Scale],
    ) -> FloatArray:
        """See `linear.LinearStep`."""
        for scale in scales:
            x, numbers = scaled(x, numbers, self.named, scale)
        own = [float(weights.get(name, 0.0)) for name in self.names]
        terms = [weight * x.get(name, 0.0) for weight, name in zip(own, self.names, strict=True)]
        after = [0.0]
        for term in reversed(terms):
            after.append(after[-1] + term)
        after.reverse()
        sums = np.full(len(numbers), after[0] + intercept)
        before, done = 0.0, 0
        slopes, rests = np.zeros(len(numbers)), sums
        for at, lo, hi in self.places:
            while done < at:
                before += terms[done]
                done += 1
            slopes[lo:hi] = own[at]
            rests[lo:hi] = before + after[at + 1] + intercept
        # Not where nothing is replaced: a missing value that was dropped is not a number.
        sums += np.multiply(slopes, numbers, out=slopes, where=slopes != 0)
        return sums

    def shares(self, *asked: Any) -> FloatArray:
        """See `linear.LinearStep`."""
        return logistic(self.sums(*asked))


def logistic(sums: FloatArray) -> FloatArray:
    """See `linear.logistic`."""
    values = np.empty((2, len(sums)))
    share = values[1]
    np.clip(sums, -_FAR, _FAR, out=share)
    np.negative(share, out=share)
    np.exp(share, out=share)
    share += 1.0
    np.divide(1.0, share, out=share)
    far = np.abs(sums) > _FAR
    if far.any():
        share[far] = sums[far] > 0
    np.subtract(1.0, share, out=values[0])
    return values


class BayesStep:
    """See `bayes.BayesStep`; all densities are read each time."""

    def __init__(self, order: Order, n_columns: int) -> None:
        self.names, self.places = order
        self.n_columns = n_columns

    def sums(
        self,
        x: dict[FeatureName, Any],
        gaussians: Sequence[dict[FeatureName, Any]],
        counts: Sequence[float],  # noqa: ARG002  (all is read)
        priors: Sequence[float],
        numbers: FloatArray,
    ) -> FloatArray:
        """See `bayes.BayesStep`."""
        names, places = self.names, self.places
        known = [[Density(own.get(name)) for name in names] for own in gaussians]
        # One more feature, of no effect, for columns that replace none.
        means = np.array([[*[one.mean for one in own], 0.0] for own in known])
        deviations = np.array([[*[one.deviation for one in own], 0.0] for own in known])
        at_x = np.array(
            [
                [
                    one.term(x[name]) if name in x else 0.0
                    for one, name in zip(own, names, strict=True)
                ]
                for own in known
            ]
        )
        before = np.cumsum(at_x, axis=1) - at_x
        after = np.cumsum(at_x[:, ::-1], axis=1)[:, ::-1]
        rest = np.concatenate(
            [before[:, :] + np.pad(after[:, 1:], ((0, 0), (0, 1))), after[:, :1]], 1
        )
        feature = np.full(len(numbers), len(names))
        for at, lo, hi in places:
            feature[lo:hi] = at
        mean, deviation = means.take(feature, axis=1), deviations.take(feature, axis=1)
        with np.errstate(all="ignore"):
            terms = (numbers - mean) / deviation
            terms *= terms
            terms *= -0.5
            np.exp(terms, out=terms)
            terms /= math.sqrt(math.tau)
            terms /= deviation
        terms = np.log(_LEAST + np.where(deviation > 0, terms, 0.0))
        terms[:, feature == len(names)] = 0.0
        sums: FloatArray = np.array(priors)[:, None] + rest.take(feature, axis=1) + terms
        return sums


def softmax(sums: FloatArray) -> None:
    """See `bayes.softmax`."""
    sums -= sums.max(axis=0)
    np.exp(sums, out=sums)
    sums /= sums.sum(axis=0)
