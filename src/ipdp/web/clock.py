"""The axis of time of the report's drawings: observations, or the clock of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.times import moment
from ipdp.core.typing import FloatArray
from ipdp.plot.shown.clock import clock_ticks
from ipdp.web.svg import Drawing, Scale, ticks

# So much of an axis is not left without a date at its start.
_BARE = 0.4

Clock = tuple[FloatArray, FloatArray]
"""Numbers of observations, and the time of each."""


def clock_of(history: Sequence[tuple[int, Curve]]) -> Clock | None:
    """The numbers of observations of some curves and their times, if these are moments."""
    dated = [(float(n), curve.t) for n, curve in history if moment(curve.t) is not None]
    if len(dated) < 2 or len(dated) < len(history):
        return None
    n, times = np.array(dated, dtype=float).T
    return n, times


def draw_clock(
    drawing: Drawing, across: Scale, y: tuple[float, float], clock: Clock | None
) -> None:
    """An axis of observations, with dates where the data have a clock: both may run unevenly."""
    if clock is None:
        drawing.x_axis(across, y[0], lambda n: f"{n:,.0f}", ticks(across.low, across.high, 5))
        drawing.text((across.start + across.end) / 2, y[1], "observations", anchor="middle")
        return
    n, times = clock
    moments, texts = clock_ticks(float(times[0]), float(times[-1]))
    places = np.interp(moments, times, n).tolist()
    if places[0] - n[0] > _BARE * (across.high - across.low):
        places, texts = [float(n[0]), *places], [f"{moment(times[0]):%d %b}", *texts]
    drawing.x_axis(across, y[0], dict(zip(places, texts, strict=True)).__getitem__, places)
    drawing.text((across.start + across.end) / 2, y[1], "time of the data (UTC)", anchor="middle")
