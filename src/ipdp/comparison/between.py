"""`compare`: two of anything that has curves."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.comparison.difference import Difference, difference
from ipdp.comparison.errors import output_variance
from ipdp.comparison.kinds import moved_features, with_kinds
from ipdp.comparison.result import Comparison
from ipdp.comparison.sides import Side, When, shares, sides_of
from ipdp.core.curve import Curve
from ipdp.core.packing import is_packed
from ipdp.core.parts import without_parts
from ipdp.core.typing import Feature, Label
from ipdp.core.validation import as_number, checked_level, listed, unknown
from ipdp.core.words import shown

SHARE = 0.1
"""The margin, as a share of the standard deviation of the predictions."""


def compare(
    a: Any,
    b: Any = None,
    *,
    at: When = None,
    against: When = None,
    features: Sequence[Feature] | None = None,
    level: float = 0.95,
    margin: float | None = None,
    explainer: str | None = None,
    names: tuple[str, str] | None = None,
) -> Comparison:
    """Compare the curves of two models, data sets, times or periods.

    For each feature and output the difference, b minus a, is cut into its *shape*, what the feature
    does, and its *level*, the mean over the points, which follows every other feature. Each is
    "different" if somewhere it is larger than the margin, beyond its error; "alike" if it is
    everywhere smaller, beyond its error; else one "cannot say". With probability `level` none of
    the bands, of all features and outputs together, is left by chance.

    Parameters
    ----------
    a, b
        Each a curve, several of them, an explainer, a log (`LogReader`), a baseline, or the path
        of a run or of a baseline. Without b, two times or periods of one log.
    at, against
        Of a log: its time, in observations, or a period as a pair of two times; `at` is that of a,
        `against` that of b. The last time if there is none.
    features
        Which features to compare; by default all that both have, without those of groups or
        regions beside them.
    level
        Probability with which no band is left by chance.
    margin
        The largest difference that counts as none, in units of the output. By default a tenth of
        the standard deviation of the predictions, of each output.
    explainer
        Of a log with several explainers with curves, which one; the first by default.
    names
        What a and b are called.

    Returns
    -------
    A `Comparison`.

    Notes
    -----
    The two sides are taken for independent, except for two times of one log: the later curve still
    remembers some of what the earlier one had seen, which is known exactly. Rows that are in both
    make the bands wider than they need to be. The memory of a stream (autocorrelation, cycles) is
    in the errors of its curves; of a table, if the curves have the ICE curves of all rows.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(1_000, 2))
    >>> one = ipdp.partial_dependence(lambda x: x["u"] + x["v"], X, names=["u", "v"])
    >>> other = ipdp.partial_dependence(lambda x: x["u"] + 2 * x["v"], X, names=["u", "v"])
    >>> found = ipdp.compare(one, other)
    >>> found.verdict, [each.feature for each in found.different]
    ('different', ['v'])
    """
    level = checked_level(level)
    if margin is not None and not 0 <= as_number(margin) <= sys.float_info.max:
        raise ValueError(f"margin must be a number of at least 0, got {shown(margin)}")
    if b is None:
        if at is None and against is None:
            raise TypeError("compare needs two: a and b, or a log and its times at and against")
        b = a
    a, b = _opened(a), _opened(b)
    sides = sides_of(a, b, at, against, explainer)
    _must_not_overlap(*sides)
    for given, side in ((a, sides[1]), (b, sides[0])):
        if hasattr(given, "must_fit"):
            given.must_fit(side.curves)
    chosen = _features(*sides, features)
    found = _differences(*sides, chosen, level=level, margin=margin)
    return _comparison(*sides, chosen, found, level=level, names=names)


def _opened(given: Any) -> Any:
    """The baseline, where a path is that of one."""
    from ipdp.comparison.baseline import Baseline  # which compares

    is_path = isinstance(given, (str, os.PathLike))
    return Baseline.load(given) if is_path and is_packed(given) else given


def _must_not_overlap(a: Side, b: Side) -> None:
    if a.log is None or a.log != b.log or a.period is None or b.period is None:
        return
    if max(a.period[0], b.period[0]) < min(a.period[1], b.period[1]):
        raise ValueError(f"the periods overlap ({a.name}, {b.name}): choose two that do not")


def _differences(
    a: Side, b: Side, features: Sequence[Feature], *, level: float, margin: float | None
) -> list[Difference]:
    """The difference of each feature and output."""
    outputs = _outputs(a, b, features)
    margins = dict.fromkeys(outputs, margin or 0.0)
    if margin is None:
        margins = _margins(a, b, features, outputs)
    # Shape and level of each feature and output are one of so many that may be left by chance.
    outside = (1 - level) / (2 * len(features) * len(outputs))
    return [
        difference(
            a.curves[feature],
            b.curves[feature],
            output=output,
            margin=margins[output],
            outside=outside,
            shares=shares(a, b, a.curves[feature], b.curves[feature]),
        )
        for feature in features
        for output in outputs
    ]


def _comparison(
    a: Side,
    b: Side,
    features: Sequence[Feature],
    found: list[Difference],
    *,
    level: float,
    names: tuple[str, str] | None,
) -> Comparison:
    """What comes of the differences: what made them, what moved, what is assumed."""
    moved = moved_features(
        {name: a.curves[name] for name in features}, {name: b.curves[name] for name in features}
    )
    # Groups and regions are not compared by default, nor missed.
    whole = [{c.feature for c in without_parts(side.curves.values())} for side in (a, b)]
    only = [
        [name for name in x.curves if name in own and name not in y.curves]
        for x, y, own in ((a, b, whole[0]), (b, a, whole[1]))
    ]
    names = _two_names(names) if names else (a.name, b.name)
    return Comparison(
        names=names,
        differences=with_kinds(found, a, b, moved),
        level=level,
        moved=moved,
        only=(only[0], only[1]),
        notes=_notes(a, b, features, names),
    )


def _features(a: Side, b: Side, wanted: Sequence[Feature] | None) -> list[Feature]:
    common = [name for name in a.curves if name in b.curves]
    wanted = None if wanted is None else listed("features", wanted)
    for name in wanted or ():
        if name not in common:
            raise ValueError(unknown("feature in both", name, common))
    # Each feature more makes the bands of all wider.
    whole = {curve.feature for curve in without_parts(a.curves[name] for name in common)}
    found = [name for name in common if name in whole] if wanted is None else list(wanted)
    if not found:
        raise ValueError(
            f"nothing to compare: {a.name} has curves of {list(a.curves)}, {b.name} of "
            f"{list(b.curves)}"
        )
    return found


def _two_names(names: Sequence[str]) -> tuple[str, str]:
    """What both sides are called, or an error."""
    given = listed("names", names)
    if len(given) != 2:
        raise ValueError(f"names must be two, of a and of b, got {shown(names)}")
    return str(given[0]), str(given[1])


def _outputs(a: Side, b: Side, features: Sequence[Feature]) -> list[Label]:
    """The outputs of both; of two classes the second, as the first says the same."""
    of_sides = [[side.curves[feature] for feature in features] for side in (a, b)]
    one, other = (max(curves, key=_n_outputs) for curves in of_sides)
    common = [output for output in one.outputs if output in other.outputs]
    if not common:
        raise ValueError(
            f"nothing to compare: {a.name} has the outputs {list(one.outputs)}, {b.name} "
            f"{list(other.outputs)}"
        )
    if len(common) == 2 == len(one.outputs) == len(other.outputs) and all(
        any(curve.of_classes for curve in curves) for curves in of_sides
    ):
        return common[1:]
    return common


def _n_outputs(curve: Curve) -> int:
    return len(curve.outputs)


def _margins(
    a: Side, b: Side, features: Sequence[Feature], outputs: Sequence[Label]
) -> dict[Label, float]:
    """For each output a tenth of the standard deviation of the predictions."""
    found = {}
    for output in outputs:
        curves = [s.curves[f].select(output) for s in (a, b) for f in features]
        variances = np.array([output_variance(curve)[0] for curve in curves])
        known = variances[np.isfinite(variances)]
        is_ale = curves[0].kind == "ale"  # whose effects add up
        total = known.sum() / 2 if is_ale else np.median(known) if known.size else 0.0
        found[output] = SHARE * math.sqrt(total)
    return found


def _notes(a: Side, b: Side, features: Sequence[Feature], names: tuple[str, str]) -> list[str]:
    """What is assumed, and what is not to be trusted yet."""
    notes = []
    if a.log is None or a.log != b.log:
        notes.append("the observations of both are taken for independent")
    elif a.smoothness is None:
        notes.append("the log does not say its alpha: both times are taken for independent")
    short = [
        name
        for name, side in zip(names, (a, b), strict=True)
        if any(side.curves[f].provisional for f in features)
    ]
    if short:
        notes.append(f"bands of {' and '.join(short)} are provisional: few observations yet")
    return notes
