"""The move of the mean prediction between two sides, feature by feature.

With p the distribution of a feature, PD its curve, and E(p, PD) the mean of the curve under it, the
*data part* of a feature is the mean of E(p', PD) - E(p, PD) with the curve of before and with that
of after. These parts add up to the move exactly for a model that has not changed, if no more than
two features act together and their values are independent. What *dependence* adds is the mean
prediction minus E(p, PD): a pair is seen in two curves, hence the half of the sum. What is left is
the *model's*: what it says otherwise of the same observations.

The constant of an effect is not known: what is the same for all observations may be anybody's. A
curve that has moved by D on average, and by less somewhere, tells that its feature made it, by at
most the difference: there the model has stayed more alike. The features get so much of the model's
part, in proportion if that is more than there is; what remains is the *level*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.interpolation import continued, weights_beyond
from ipdp.core.typing import Feature, FloatArray, Label

# Points with less than this share of the observations say nothing of where a curve moved least.
_FEW = 0.01
# A curve moved as far as it did so by more than so many standard errors.
_ERRORS = 2.0


class Parts(NamedTuple):
    """The parts of a move, which add up to it."""

    before: float
    after: float
    data: dict[Feature, float]
    model: dict[Feature, float]
    level: float
    rest: float

    @property
    def move(self) -> float:
        """By what the mean prediction moved."""
        return self.after - self.before


class Side(NamedTuple):
    """The curve of one feature and output, and where the observations are."""

    axis: Any
    mean: FloatArray  # of what the model said, (m,)
    error: FloatArray  # standard error of its shape
    density: FloatArray
    missing: float | None  # what the model said of a missing value

    @classmethod
    def of(cls, curve: Curve, output: Label) -> Side:
        """That of a curve of one feature."""
        k = curve.outputs.index(output)
        means = curve.average if curve.smoothed is None else curve.smoothed
        # As of independent observations: the errors of a curve that moved know of that move.
        errors = curve.ice_spread
        n = np.sqrt(np.maximum(curve.n_effective_points, 1.0))
        assert curve.density is not None
        return cls(
            curve.grid_values[0] if curve.categorical[0] else curve.grid_values[0].astype(float),
            means[k],
            np.zeros(means.shape[1]) if errors is None else np.nan_to_num(errors[k]) / n,
            curve.density,
            None if curve.missing is None else float(curve.missing[k]),
        )

    def under(self, there: Side, other: Side) -> float:
        """The mean of this curve under the distribution of a side; `other` is the other curve."""
        said = self.at(there.axis, other)
        known = ~np.isnan(said)
        weight, total = there.density[known].sum(), float(there.density[known] @ said[known])
        if self.missing is not None:
            lacks = 1.0 - there.density.sum()
            weight, total = weight + lacks, total + lacks * self.missing
        # Of what is on no curve nothing is known but the mean of the rest.
        return float(total / weight) if weight > 0 else float(self.mean.mean())

    def at(self, places: Any, other: Side) -> FloatArray:
        """The curve at some places, going on as the other one where it does not reach."""
        curves = (self.axis, self.mean), (other.axis, other.mean)
        return continued(*curves, places.tolist())

    def errors_at(self, places: Any) -> FloatArray:
        """Its standard errors there, no less than between two points."""
        weights = np.nan_to_num(weights_beyond(self.axis, places.tolist()))
        return np.asarray(np.abs(weights) @ self.error)


def split_move(
    a: Mapping[Feature, Curve],
    b: Mapping[Feature, Curve],
    features: Sequence[Feature],
    output: Label,
    *,
    same_model: bool,
) -> Parts:
    """The parts of the move of one output from a to b."""
    means = [_prediction(curves[features[0]], output) for curves in (a, b)]
    sides = {f: (Side.of(a[f], output), Side.of(b[f], output)) for f in features}
    data, dependence = {}, 0.0
    for feature, (one, other) in sides.items():
        own = one.under(one, other), other.under(other, one)
        crossed = one.under(other, other), other.under(one, one)
        data[feature] = (crossed[0] - own[0] + own[1] - crossed[1]) / 2
        dependence += ((means[1] - own[1]) - (means[0] - own[0])) / 2
    left = means[1] - means[0] - sum(data.values())
    if same_model:
        return Parts(means[0], means[1], data, dict.fromkeys(features, 0.0), 0.0, left)
    by_model = left - dependence
    reach = {feature: _reach(*pair, np.sign(by_model)) for feature, pair in sides.items()}
    total = sum(reach.values())
    share = min(1.0, abs(by_model) / total) if total > 0 else 0.0
    model = {feature: float(np.sign(by_model)) * share * size for feature, size in reach.items()}
    level = by_model - sum(model.values())
    return Parts(means[0], means[1], data, model, level, dependence)


def _prediction(curve: Curve, output: Label) -> float:
    assert curve.prediction is not None
    return float(curve.prediction[curve.outputs.index(output)])


def _reach(a: Side, b: Side, sign: float) -> float:
    """How much less than on average a curve has moved somewhere, in the direction of the sign."""
    differences, errors, weights = [], [], []
    for side in (a, b):
        differences.append(b.at(side.axis, a) - a.at(side.axis, b))
        errors.append(np.hypot(a.errors_at(side.axis), b.errors_at(side.axis)))
        weights.append(side.density / 2)
    apart, error, weight = (np.concatenate(each) for each in (differences, errors, weights))
    known = ~np.isnan(apart) & (weight > _FEW / 2)
    if not known.any():
        return 0.0
    apart, error, weight = apart[known], error[known], weight[known]
    shape = apart - weight @ apart / weight.sum()
    return float(np.max(-sign * shape - _ERRORS * error, initial=0.0))
