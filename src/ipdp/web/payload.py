"""What the page is sent: curves and changes as small JSON, and which snapshots are among them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve, feature_text
from ipdp.core.importance import Importance, Result
from ipdp.core.jsonable import readable
from ipdp.core.typing import Array, Feature
from ipdp.plot.shown.style import named, output_label
from ipdp.plot.shown.values import chosen_outputs, rug_of, thin_points

if TYPE_CHECKING:
    from ipdp.log import LoggedChange, SnapshotInfo

LONGEST_NAME = 1000
"""Letters of a name that the page is given; it shortens them further where room is scarce."""

LEVEL = 0.95
"""Probability with which a band covers the curve."""

# Single precision is taken where it moves no value by more than this share of the values' range:
# a hundredth of a pixel of any screen.
_TOLERANCE = 1e-6


def label(name: object) -> str:
    """A feature, a pair, an output or a sentence as text that can be printed."""
    return named(feature_text(name), LONGEST_NAME)


def to_json(data: Any) -> str:
    """A payload as text."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def pack(values: Any) -> str:
    """Numbers as text: a letter for their type, then their bytes in base 64.

    "f" is single precision, "d" double precision where single would show, "b" a byte. NaN and
    infinities stay what they are. `unpack` in page/base.js reads it.

    Examples
    --------
    >>> pack([0.0, 0.5, 1.0])
    'fAAAAAAAAAD8AAIA/'
    >>> pack([1e9, 1e9 + 1])[0]
    'd'
    >>> unpack(pack([1e9, 1e9 + 1])).tolist()
    [1000000000.0, 1000000001.0]
    """
    array = np.asarray(values)
    if array.dtype == bool:
        kind, array = "b", array.astype(np.uint8)
    else:
        kind, array = "d", array.astype("<f8")
        with np.errstate(over="ignore"):
            single = array.astype("<f4")
        if _is_precise(single, array):
            kind, array = "f", single
    return kind + base64.b64encode(array.tobytes()).decode("ascii")


def unpack(text: str) -> Any:
    """The numbers that gave this text, as one flat array."""
    kinds = {"f": "<f4", "d": "<f8", "b": "u1"}
    return np.frombuffer(base64.b64decode(text[1:]), dtype=kinds[text[0]])


def _is_precise(single: Any, array: Any) -> bool:
    known = array[np.isfinite(array)]
    if not known.size:
        return True
    moved = np.abs(single[np.isfinite(array)].astype(float) - known).max()
    if not np.isfinite(moved):  # too large for single precision
        return False
    return bool(moved <= _TOLERANCE * np.ptp(known))


def thin(n: Array, limit: int, moments: Iterable[float] = ()) -> Array:
    """Positions of at most `limit` times: the first, the last, those at moments, others evenly.

    Parameters
    ----------
    n
        Times, ascending.
    limit
        How many to keep, at least 2.
    moments
        When something happened: the last time at or before each is kept.

    Examples
    --------
    >>> import numpy as np
    >>> thin(np.arange(100, 2100, 100), 5, moments=[750]).tolist()
    [0, 5, 6, 14, 19]
    """
    if len(n) <= limit:
        return np.arange(len(n))
    at = np.searchsorted(n, np.fromiter(moments, dtype=float), side="right") - 1
    special = np.unique(np.concatenate([[0, len(n) - 1], np.clip(at, 0, len(n) - 1)]))
    if len(special) >= limit:
        return np.asarray(special[np.linspace(0, len(special) - 1, limit).round().astype(int)])
    others = np.setdiff1d(np.arange(len(n)), special)
    room = limit - len(special)
    middles = ((np.arange(room) + 0.5) * len(others) / room).astype(int)
    return np.sort(np.concatenate([special, others[middles]]))


def frames(items: Iterable[tuple[SnapshotInfo, Result]]) -> dict[str, Any]:
    """What an explainer says of one feature, oldest first: curves, or importances."""
    pairs = list(items)
    curves = [result for _, result in pairs if isinstance(result, Curve)]
    numbers = [result for _, result in pairs if isinstance(result, Importance)]
    return {
        "id": [info.id for info, _ in pairs],
        "n": [info.n for info, _ in pairs],
        **(_importances_payload(numbers) if numbers else curves_payload(curves)),
    }


def _importances_payload(numbers: Sequence[Importance]) -> dict[str, Any]:
    return {
        "value": pack([number.value for number in numbers]),
        "half": pack([number.band(LEVEL)[1] - number.value for number in numbers]),
        "n_effective": pack([number.n_effective for number in numbers]),
    }


def curves_payload(curves: Sequence[Curve]) -> dict[str, Any]:
    """Curves of one feature.

    Grids, categories and outputs come and go while a run goes on, so everything is flat: each
    frame says which of the distinct axes and of the distinct sets of outputs are its own, and its
    values follow those of the frame before.
    """
    outputs = _Distinct()
    payload: dict[str, Any] = {
        "output": [outputs.index_of(tuple(map(label, curve.outputs))) for curve in curves],
        "dims": [_dimension(curves, axis) for axis in range(_n_axes(curves))],
        "average": pack(_flat([curve.average for curve in curves])),
        "half": pack(_flat([curve.band(LEVEL)[1] - curve.average for curve in curves])),
        "n_effective": pack([curve.n_effective for curve in curves]),
    }
    payload["outputs"] = outputs.items
    if curves:
        payload.update(_output_texts(curves[-1], outputs.items))
    payload.update(_missing(curves))
    few = [thin_points(curve) for curve in curves]
    if any(flags.any() for flags in few):
        payload["thin"] = pack(np.concatenate([flags.ravel() for flags in few]))
    return payload


def change(logged: LoggedChange, features: Sequence[Feature]) -> dict[str, Any]:
    """A change, with the curves before and after it as two frames."""
    found = logged.change
    where = found.where
    curves = curves_payload([found.before, found.after])
    # One output of several: the curves alone do not tell whether it is a class.
    curves["texts"] = [[label(found.output_text)] for _ in curves["outputs"]]
    return {
        "id": logged.id,
        "n": logged.n,
        "began": began(logged),
        "feature": features.index(found.feature) if found.feature in features else None,
        "name": label(found.feature),
        "output": label(found.output),
        "kind": found.kind,
        "sentence": label(found.summary()),
        "size": readable(float(found.size)),
        "where": list(map(label, where)) if where and found.is_categorical else readable(where),
        "curves": curves,
    }


def began(logged: LoggedChange) -> int:
    """When a change began by estimate, on the log's clock, which counts observations."""
    found = logged.change
    if found.t == logged.n:
        return round(found.began)
    # The explainer has a clock of its own; how many were explained is the nearest to be had.
    return logged.n if found.n_since is None else max(0, logged.n - found.n_since)


class _Distinct:
    """Items, each once, in the order in which they first came."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._known: dict[Any, int] = {}

    def index_of(self, item: Any) -> int:
        if item not in self._known:
            self._known[item] = len(self.items)
            self.items.append(item)
        return self._known[item]


def _output_texts(newest: Curve, sets: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What the numbers of each output are, and which outputs are drawn unless one is chosen."""
    return {
        "texts": [[label(newest.output_text(output)) for output in names] for names in sets],
        "several": output_label(newest, newest),
        "main": label(newest.main_output),
        "shown": list(map(label, chosen_outputs(newest, None).outputs)),
    }


def _n_axes(curves: Sequence[Curve]) -> int:
    return len(curves[0].grid_values) if curves else 1


def _dimension(curves: Sequence[Curve], axis: int) -> dict[str, Any]:
    """One axis of all curves: its distinct grids, and which of them each curve has."""
    categorical = any(curve.categorical[axis] for curve in curves)
    distinct = _Distinct()
    index = [
        distinct.index_of(_key(curve.grid_values[axis], categorical=categorical))
        for curve in curves
    ]
    payload: dict[str, Any] = {"categorical": categorical, "index": index}
    if categorical:
        payload["grids"] = [list(map(label, grid)) for grid in distinct.items]
    else:
        grids = [np.frombuffer(grid) for grid in distinct.items]
        payload["sizes"] = [len(grid) for grid in grids]
        payload["grids"] = pack(_flat(grids))
    read = _rug if _n_axes(curves) == 1 else _joint_rug
    payload["rug"] = read(curves, axis, categorical=categorical)
    return payload


def _key(grid: Array, *, categorical: bool) -> Any:
    return tuple(grid.tolist()) if categorical else np.asarray(grid, dtype=float).tobytes()


def _rug(curves: Sequence[Curve], _axis: int, *, categorical: bool) -> dict[str, Any]:
    """Histogram of recent values: how often each category came, or bars and their edges."""
    if categorical:
        return {"counts": pack(_flat([_category_counts(curve) for curve in curves]))}
    rugs = [rug_of(curve, np.asarray(curve.grid_values[0], dtype=float)) for curve in curves]
    edges = [np.empty(0) if rug is None else np.append(rug.left, rug.right[-1:]) for rug in rugs]
    return {
        "sizes": [0 if rug is None else len(rug.counts) for rug in rugs],
        "edges": pack(_flat(edges)),
        "counts": pack(_flat([[] if rug is None else rug.counts for rug in rugs])),
    }


def _category_counts(curve: Curve) -> Array:
    n = len(curve.grid_values[0])
    rug = rug_of(curve, np.arange(n, dtype=float)) if curve.categorical[0] else None
    return np.zeros(n) if rug is None else rug.counts


def _joint_rug(curves: Sequence[Curve], axis: int, *, categorical: bool) -> dict[str, Any]:
    """Recent values as they came, so that those of both axes belong together.

    Categories are numbered as on the curve's axis, and NaN where they are not on it.
    """
    numbers = []
    for curve, rug in zip(curves, _rugs(curves, axis), strict=True):
        if categorical:
            places = {value: k for k, value in enumerate(curve.grid_values[axis].tolist())}
            numbers.append(np.array([places.get(value, np.nan) for value in rug.tolist()]))
        else:
            numbers.append(np.asarray(rug, dtype=float))
    return {"sizes": [len(values) for values in numbers], "values": pack(_flat(numbers))}


def _rugs(curves: Sequence[Curve], axis: int) -> list[Array]:
    return [curve.rug[axis] if len(curve.rug) > axis else np.empty(0) for curve in curves]


def _missing(curves: Sequence[Curve]) -> dict[str, str]:
    """The point of missing values and half the width of its band, where any curve has one."""
    if all(curve.missing is None for curve in curves):
        return {}

    values = _flat(
        [np.full(len(c.outputs), np.nan) if c.missing is None else c.missing for c in curves]
    )
    highs = _flat([curve.missing_band(LEVEL)[1] for curve in curves])
    return {"missing": pack(values), "missing_half": pack(highs - values)}


def _flat(arrays: Sequence[Any]) -> Any:
    return np.concatenate([np.ravel(array) for array in arrays]) if arrays else np.empty(0)
