"""Curves on their way to the page: the frames of a feature's history, and changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, Feature
from ipdp.plot.outputs import are_probabilities
from ipdp.plot.style import named
from ipdp.plot.support import seldom
from ipdp.web.packing import pack

if TYPE_CHECKING:
    from ipdp.log import LoggedChange, SnapshotInfo

LONGEST_NAME = 1000
"""Letters of a name that the page is given; it shortens them further where room is scarce."""


def label(name: object) -> str:
    """A name as text: all of it that can be printed; of a pair both names."""
    return named(name, LONGEST_NAME)


def frames(items: Iterable[tuple[SnapshotInfo, Curve]]) -> dict[str, Any]:
    """The curves of one feature, oldest first.

    Grids, categories and outputs come and go while a run goes on, so everything is flat: each
    frame says which of the distinct axes and of the distinct sets of outputs are its own, and its
    values follow those of the frame before.
    """
    infos, curves = _columns(items)
    return {
        "id": [info.id for info in infos],
        "n": [info.n for info in infos],
        **curves_payload(curves),
    }


def curves_payload(curves: Sequence[Curve]) -> dict[str, Any]:
    """What `frames` says of the curves themselves."""
    outputs = _Distinct()
    payload: dict[str, Any] = {
        "output": [outputs.index_of(tuple(map(label, curve.outputs))) for curve in curves],
        "dims": [_dimension(curves, axis) for axis in range(_n_axes(curves))],
        "average": pack(_flat([curve.average for curve in curves])),
        "half": pack(_flat([curve.band()[1] - curve.average for curve in curves])),
        "n_effective": pack([curve.n_effective for curve in curves]),
        "probabilities": bool(curves) and are_probabilities(curves[-1]),
    }
    payload["outputs"] = outputs.items
    payload.update(_missing(curves))
    thin = [seldom(curve) for curve in curves]
    if any(flags.any() for flags in thin):
        payload["thin"] = pack(np.concatenate([flags.ravel() for flags in thin]))
    return payload


def change(logged: LoggedChange, features: Sequence[Feature]) -> dict[str, Any]:
    """A change, with the curves before and after it as two frames."""
    found = logged.change
    return {
        "id": logged.id,
        "n": logged.n,
        "began": began(logged),
        "feature": features.index(found.feature) if found.feature in features else None,
        "name": label(found.feature),
        "output": label(found.output),
        "kind": found.kind,
        "sentence": label(found.summary()),
        "size": _number(found.size),
        "where": _where(found.where, found.is_categorical),
        "curves": curves_payload([found.before, found.after]),
    }


def began(logged: LoggedChange) -> int:
    """When a change began by estimate, on the log's clock, which counts observations."""
    found = logged.change
    if found.t == logged.n:
        return round(found.began)
    # The explainer has a clock of its own; how many were explained is the nearest to be had.
    return logged.n if found.n_since is None else max(0, logged.n - found.n_since)


@dataclass
class _Distinct:
    """Items, each once, in the order in which they first came."""

    items: list[Any] = field(default_factory=list)
    _known: dict[Any, int] = field(default_factory=dict)

    def index_of(self, item: Any) -> int:
        if item not in self._known:
            self._known[item] = len(self.items)
            self.items.append(item)
        return self._known[item]


def _columns(
    items: Iterable[tuple[SnapshotInfo, Curve]],
) -> tuple[list[SnapshotInfo], list[Curve]]:
    pairs = list(items)
    return [info for info, _ in pairs], [curve for _, curve in pairs]


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


def _rug(curves: Sequence[Curve], axis: int, *, categorical: bool) -> dict[str, Any]:
    """Recent values of the feature: how often each category came, or the numbers in order."""
    rugs = _rugs(curves, axis)
    if categorical:
        counts = []
        for curve, rug in zip(curves, rugs, strict=True):
            count = Counter(rug.tolist())
            counts.append(np.array([count[value] for value in curve.grid_values[axis].tolist()]))
        return {"counts": pack(_flat(counts))}
    numbers = [np.sort(np.asarray(rug, dtype=float)) for rug in rugs]
    return {"sizes": [len(rug) for rug in numbers], "values": pack(_flat(numbers))}


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
    """The point of missing values with its error, where any curve has one."""
    if all(curve.missing is None for curve in curves):
        return {}

    def column(name: str) -> str:
        values = [
            np.full(len(curve.outputs), np.nan)
            if getattr(curve, name) is None
            else getattr(curve, name)
            for curve in curves
        ]
        return pack(_flat(values))

    return {"missing": column("missing"), "missing_error": column("missing_std_error")}


def _flat(arrays: Sequence[Any]) -> Any:
    return np.concatenate([np.ravel(array) for array in arrays]) if arrays else np.empty(0)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _where(where: tuple[Any, ...] | None, is_categorical: bool) -> list[Any] | None:
    if where is None:
        return None
    return [label(value) if is_categorical else float(value) for value in where]
