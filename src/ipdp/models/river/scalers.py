"""Scalers, which treat each feature on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.river import kernels
from ipdp.models.river.copies import Asked, Block, Copies, Row
from ipdp.models.river.kernels.linear import Numbers, Scale
from ipdp.models.river.transform import by_calls, register
from ipdp.models.trees.kinds import ABSENT, find
from ipdp.models.trees.points import Points

Read = Callable[[Any, Asked], Scale | None]
"""Gives the scale of a scaler for the features that are asked about; None if it is not known."""

_READERS: dict[Any, Read] = {}


def _scaler(read: Read) -> Any:
    """The transform of a scaler whose scale is read."""

    def transform(scaler: Any, asked: Asked) -> Asked:
        scale = read(scaler, asked)
        if scale is None:
            return by_calls(scaler, asked)
        if isinstance(asked, Points) and not asked.non_numeric:
            columns = asked.columns
            x, numbers = kernels.current.scaled(asked.x, asked.numbers, columns.places, scale)
            return Points(columns, x, numbers, unordered=asked.unordered, made=True)
        return _scaled_copies(Copies.of(asked), scale)

    return transform


def n_before(steps: Sequence[Any]) -> int:
    """How many steps come before those that are scalers to the end."""
    n = len(steps)
    while n and getattr(type(steps[n - 1]), "transform_one", None) in _READERS:
        n -= 1
    return n


def scales_of(scalers: Sequence[Any], points: Asked) -> list[Scale] | None:
    """What some steps do to points of numbers, if each is a scaler that is known; else None."""
    if type(points) is not Points or points.non_numeric or points.columns.absent:
        return None
    scales = []
    for scaler in scalers:
        read = _READERS.get(getattr(type(scaler), "transform_one", None))
        scale = None if read is None else read(scaler, points)
        if scale is None:
            return None
        scales.append(scale)
    return scales


def _names(asked: Asked) -> set[FeatureName]:
    """All features that are asked about."""
    if isinstance(asked, Points):
        return {*asked.x, *asked.columns.names}
    return {*asked.x, *chain.from_iterable(block.names for block in asked.blocks)}


def _scaled_copies(copies: Copies, scale: Scale) -> Copies:
    x = {name: _scaled(name, value, scale) for name, value in copies.x.items()}
    blocks = [
        Block(
            lo,
            hi,
            names,
            [_scaled_row(name, row, scale) for name, row in zip(names, rows, strict=True)],
        )
        for lo, hi, names, rows in copies.blocks
    ]
    return Copies(copies.columns, x, blocks)


def _scaled_row(name: FeatureName, row: Row, scale: Scale) -> Row:
    if isinstance(row, list) and any(type(value) is not float for value in row):
        return [value if value is ABSENT else _scaled(name, value, scale) for value in row]
    scaled: FloatArray = _scaled(name, np.asarray(row), scale)
    return scaled


def _scaled(name: FeatureName, value: Any, scale: Scale) -> Any:
    """A number, or an array of them."""
    centres, spreads, squared = scale
    centre = 0.0 if centres is None else centres.get(name, 0.0)
    if spreads is None:
        return value - centre
    spread = spreads.get(name, 0.0)
    if squared:
        spread = spread**0.5  # as river does it: math.sqrt may differ in the last bit
    return (value - centre) / spread if spread else 0.0 * (value - centre)


def _standard(scaler: Any, asked: Asked) -> Scale | None:
    del asked  # it has all features
    if getattr(scaler, "window_size", None) is not None:
        return None
    return scaler.means, scaler.vars if scaler.with_std else None, True


def _got(statistics: Any, names: set[FeatureName]) -> Numbers | None:
    """The values of statistics; None if it is not known what one says of a feature not met."""
    # Nothing may be added to a dict with defaults.
    found = {name: statistics.get(name) for name in names}
    if None in found.values():
        return None
    return {name: statistic.get() for name, statistic in found.items()}


def _min_max(scaler: Any, asked: Asked) -> Scale | None:
    names = _names(asked)
    low, high = _got(scaler.min, names), _got(scaler.max, names)
    if low is None or high is None:
        return None
    return low, {name: high[name] - low[name] for name in names}, False


def _max_abs(scaler: Any, asked: Asked) -> Scale | None:
    largest = _got(scaler.abs_max, _names(asked))
    return None if largest is None else (None, largest, False)


def _adaptive(scaler: Any, asked: Asked) -> Scale | None:
    names = _names(asked)
    means, variances = _got(scaler.means, names), _got(scaler.vars, names)
    if means is None or variances is None:
        return None
    return means, {name: max(value, 0.0) for name, value in variances.items()}, True


def _robust(scaler: Any, asked: Asked) -> Scale | None:
    names = _names(asked)
    centres = _got(scaler.median, names) if scaler.with_centering else {}
    spreads = _got(scaler.iqr, names) if scaler.with_scaling else {}
    if centres is None or spreads is None or None in (*centres.values(), *spreads.values()):
        return None
    return centres, spreads if scaler.with_scaling else None, False


for _name, _read in (
    ("StandardScaler", _standard),
    ("MinMaxScaler", _min_max),
    ("MaxAbsScaler", _max_abs),
    ("AdaptiveStandardScaler", _adaptive),
    ("RobustScaler", _robust),
):
    _own = find("preprocessing", _name, "transform_one")
    register(_own, _scaler(_read))
    _READERS[_own] = _read
