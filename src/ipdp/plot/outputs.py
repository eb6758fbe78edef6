"""Which outputs of a curve are drawn, and what they are called."""

from __future__ import annotations

import numpy as np

from ipdp.core.curve import PREDICTION, Curve
from ipdp.core.typing import Label
from ipdp.plot.style import named

# So many letters fit along the axis of the outputs.
_LETTERS = 32


def chosen(curve: Curve, output: Label | None) -> Curve:
    """The curve with the outputs that are to be drawn."""
    if output is not None:
        return curve.select(output)
    if len(curve.outputs) == 2 and are_probabilities(curve):
        return curve.select(curve.outputs[1])
    if len(curve.grid_values) == 2 and len(curve.outputs) > 1:
        return curve.select(curve.outputs[int(np.nanargmax(curve.importance))])
    return curve


def are_probabilities(curve: Curve) -> bool:
    """Whether the outputs are the probabilities of classes.

    The newest ICE curve decides where there is one: an average may hold answers from before the
    model had met any class, which were all zero.
    """
    if not curve.outputs or curve.outputs == PREDICTION:
        return False
    newest = curve.ice is not None and curve.ice.shape[1] > 0
    values = curve.ice[:, -1] if curve.ice is not None and newest else curve.average
    values = values.reshape(len(curve.outputs), -1)
    values = values[:, ~np.isnan(values).any(axis=0)]
    return bool(
        values.size and values.min() >= -1e-9 and np.allclose(values.sum(axis=0), 1.0, atol=1e-6)
    )


def output_name(output: Label) -> str:
    """What a curve of one output shows, where a model of several outputs is a classifier."""
    return named(output) if (output,) == PREDICTION else f"P({named(output, _LETTERS)})"


def y_label(whole: Curve, drawn: Curve) -> str:
    """What the axis of the outputs shows: "P(True)", "probability", or the name of a target."""
    several = len(drawn.outputs) > 1
    if are_probabilities(whole):
        return "probability" if several else f"P({named(drawn.outputs[0], _LETTERS)})"
    return "prediction" if several else named(drawn.outputs[0], _LETTERS)
