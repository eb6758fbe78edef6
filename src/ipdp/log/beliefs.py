"""What a curve says of the model, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipdp.core.curve import Curve, feature_text
from ipdp.core.places import is_time, place_text
from ipdp.core.typing import FloatArray, Label
from ipdp.core.words import few_digits, in_points, percent, signed

# A curve rises if its ends differ by this share of its range, and it never falls by more than the
# rest; it has a peak, or a dip, if both ends are this much of its range away from it.
_MOSTLY, _AWAY = 0.8, 0.35
# Of a probability a range of less than this is none.
_LEAST_CHANCE = 0.01
# Points that were seldom asked, and have less than this share of the recent values, do not count.
_SELDOM = 0.01


def value_text(curve: Curve) -> Callable[[float], str]:
    """How values of the curve are written: chances in per cent."""
    if curve.kind == "ale":
        return effect_text(curve)
    return percent if curve.are_probabilities else few_digits


def effect_text(curve: Curve) -> Callable[[float], str]:
    """How differences of its values are written: those of chances in percentage points."""
    if not curve.are_probabilities:
        return signed
    return in_points


def belief(curve: Curve, target: str | None = None) -> str:
    """What the model makes of a feature, as a clause: "the higher age, the higher ...".

    Examples
    --------
    >>> import numpy as np
    >>> curve = Curve("age", (False, True), [np.array([20.0, 40.0])],
    ...     np.array([[0.8, 0.3], [0.2, 0.7]]), np.full((2, 2), 0.01), 500, np.full(2, 400.0))
    >>> belief(curve, "churned")
    'the higher age, the higher the chance that churned is True: from 20 % at 20 to 70 % at 40'
    """
    output = curve.main_output
    name = feature_text(curve.feature)
    if output is None:
        return "the model has given no answer yet"
    on = curve.output_text(output, target)
    if len(curve.grid_values) > 1:
        return f"{' and '.join(map(str, curve.features))} act together on the {on}"
    places, values, half = _known(curve, output)
    say = value_text(curve)
    if not len(values):
        return "the model has given no answer yet"
    low, high = float(values.min()), float(values.max())
    if high - low <= _least(curve, half) or len(values) < 2:
        about = say(float(values.mean()))
        return f"no clear difference: the {on} stays about {about}, whatever {name} is"
    if curve.categorical[0]:
        top, bottom = (places[k] for k in (values.argmax(), values.argmin()))
        return f"the {on} is highest, {say(high)}, for {top}, and lowest, {say(low)}, for {bottom}"
    return _along_numbers(name, on, (places, values), (say, _rough_place(curve)))


def _along_numbers(
    name: str,
    on: str,
    points: tuple[Any, FloatArray],
    texts: tuple[Callable[[float], str], Callable[[float], str]],
) -> str:
    """The shape of a curve along numbers."""
    (places, values), (say, at_text) = points, texts
    reach = float(np.ptp(values))
    first, last = float(values[0]), float(values[-1])
    start, end = (f"{say(values[k])} at {at_text(places[k])}" for k in (0, -1))
    steps = np.diff(values)
    way = np.sign(last - first)
    back = float(-np.minimum(steps * way, 0).sum())
    if abs(last - first) >= _MOSTLY * reach and back <= (1 - _MOSTLY) * reach:
        word = "higher" if way > 0 else "lower"
        return f"the higher {name}, the {word} the {on}: from {start} to {end}"
    top, bottom = int(values.argmax()), int(values.argmin())
    high, low = float(values[top]), float(values[bottom])
    if min(high - first, high - last) >= _AWAY * reach:
        at = f"where {name} is about {at_text(places[top])}"
        return f"the {on} is highest, {say(high)}, {at}, and lower on both sides: {start}, {end}"
    if min(first - low, last - low) >= _AWAY * reach:
        at = f"where {name} is about {at_text(places[bottom])}"
        return f"the {on} is lowest, {say(low)}, {at}, and higher on both sides: {start}, {end}"
    return (
        f"the {on} goes up and down with {name}, between {say(low)} at "
        f"{at_text(places[bottom])} and {say(high)} at {at_text(places[top])}"
    )


def _rough_place(curve: Curve) -> Callable[[float], str]:
    """How places are written in a sentence: to a hundredth of the range, "71,000" for 70,997."""
    exact, span = place_text(curve), float(np.ptp(curve.grid_values[0]))
    if is_time(curve) or not 0 < span < math.inf:
        return exact
    decimals = 2 - math.floor(math.log10(span))
    return lambda value: exact(round(float(value), decimals))


def _known(curve: Curve, output: Label) -> tuple[Any, FloatArray, FloatArray]:
    """Places and values of one output where there are data, and half the width of the band."""
    one = curve.select(output)
    values, half = one.average[0], (one.band(simultaneous=True)[1] - one.average)[0]
    known = np.isfinite(values)
    # Recent values are few, and may be those of one day: what was often asked counts as well.
    has_data = curve.supported | (curve.weights >= _SELDOM)
    if (known & has_data).sum() > 1:
        known &= has_data
    if curve.are_probabilities and curve.kind != "ale":
        values = np.clip(values, 0.0, 1.0)  # a smoothed curve may be a little beyond
    return curve.grid_values[0][known], values[known], half[known]


def _least(curve: Curve, half: FloatArray) -> float:
    """Less than this is no difference: what may be chance, or nobody would notice."""
    sure = half[np.isfinite(half)]
    return max(float(np.median(sure)) if sure.size else 0.0, _least_seen(curve))


def _least_seen(curve: Curve) -> float:
    return _LEAST_CHANCE if curve.are_probabilities else 0.0
