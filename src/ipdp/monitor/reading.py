"""What the monitor reads of an explainer: the one place that knows its inside."""

from __future__ import annotations

from typing import NamedTuple

from ipdp.effects import Effect
from ipdp.explainer import IncrementalPDP
from ipdp.layout import Layout
from ipdp.typing import FloatArray, Label


class Reading(NamedTuple):
    """The newest ICE curves of all effects.

    Attributes
    ----------
    layout
        Which columns belong to which effect.
    positions
        Shape (n_axes, n_points).
    values
        Shape (n_outputs, n_points).
    outputs
        Names of the outputs, in the order of the rows.
    t
        Time of the observation.
    """

    layout: Layout
    positions: FloatArray
    values: FloatArray
    outputs: tuple[Label, ...]
    t: float


def newest(pdp: IncrementalPDP) -> Reading | None:
    """The newest ICE curves; None before the first ones."""
    fold = pdp._fold
    if fold is None or not fold.recent or fold.t is None:
        return None
    record = fold.recent[-1]
    return Reading(record.layout, record.positions, record.values, tuple(fold.outputs), fold.t)


def effects(pdp: IncrementalPDP) -> list[Effect]:
    """The curves that the explainer follows."""
    return [] if pdp._fold is None else pdp._fold.effects


def smoothed(pdp: IncrementalPDP, effect: Effect) -> tuple[FloatArray, FloatArray]:
    """Positions (n_points,) and values (n_outputs, n_points) of the smoothed curve of an effect."""
    fold = pdp._fold
    assert fold is not None
    mean = fold.smoothing.mean[:, effect.start : effect.start + len(effect.keys)]
    return mean[0], mean[fold.n_axes :]
