"""Where the observations are among the points of a curve, when these come, go and move."""

from __future__ import annotations

import numpy as np

from ipdp.core.interpolation import weights_beyond
from ipdp.core.typing import FloatArray
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import MISSING


def shared_out(mass: FloatArray, was: FloatArray, now: FloatArray) -> FloatArray:
    """Weights at positions `was`, shared by the nearest of the ascending positions `now`.

    The mean of every curve that is a line between two of the new positions stays what it is. Beyond
    the ends the lines go on, and weights may be negative.

    Examples
    --------
    >>> shared_out(np.array([1.0, 2.0]), np.array([0.5, 2.0]), np.array([0.0, 1.0, 2.0]))
    array([0.5, 0.5, 2. ])
    """
    return np.asarray(mass @ weights_beyond(now, was.tolist()))


def handed_over(
    before: Layout,
    after: Layout,
    density: FloatArray,
    positions: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """What columns of a new layout gain from points of an old one that have gone.

    Of numbers only: a category that is not on the curve any more is nowhere. The density is that of
    the old columns; `positions` are those of the old and of the new ones.
    """
    gained = np.zeros(after.n_points)
    was, now = positions
    for probe, number, keys in zip(after.probes, after.targets, after.keys, strict=True):
        own_before = before.keys_of(number)
        if len(probe.names) > 1 or probe.categories[0] is not None or own_before == keys:
            continue
        stay, known = {*keys, MISSING}, zip(own_before, before.columns_of(number), strict=True)
        gone = [c for key, c in known if key not in stay and density[c]]
        if gone:
            own = np.arange(probe.start, probe.stop - probe.missing)
            own = own[np.argsort(now[own], kind="stable")]
            gained[own] += shared_out(density[gone], was[gone], now[own])
    return gained


def joined_weights(
    one: tuple[FloatArray, float], other: tuple[FloatArray, float], decay: float
) -> FloatArray:
    """Weights of two segments of a stream, each with its time, at the later time."""
    latest = max(one[1], other[1])
    return np.asarray(sum(decay ** (latest - t) * weights for weights, t in (one, other)))


def go_on(rows: FloatArray, values: FloatArray, was: FloatArray, now: FloatArray) -> None:
    """Let rows that were carried to other positions go on as lines beyond the ends of before."""
    for end, next_to_it, beyond in ((0, 1, now < was[0]), (-1, -2, now > was[-1])):
        run = was[end] - was[next_to_it]
        if beyond.any() and run != 0:
            slope = (values[:, end] - values[:, next_to_it]) / run
            rows[:, beyond] = values[:, end, None] + slope[:, None] * (now[beyond] - was[end])
