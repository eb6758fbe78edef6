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
from ipdp.log.beliefs import belief
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import (
    Rug,
    chosen_outputs,
    past_beside,
    rug_of,
    spread_ends,
    thin_points,
)

if TYPE_CHECKING:
    from ipdp.log import LoggedChange, SnapshotInfo

LONGEST_NAME = 1000
"""Letters of a name that the page is given; it shortens them further where room is scarce."""

LEVEL = 0.95
"""Probability with which a band covers the whole curve."""

# Single precision is taken where it moves no value by more than this share of the values' range:
# a hundredth of a pixel of any screen.
_TOLERANCE = 1e-6

_NO_RUG = Rug(np.empty(0), np.empty(0), np.empty(0))


def label(name: object) -> str:
    """A feature, a pair, an output or a sentence as text that can be printed."""
    return named(feature_text(name), LONGEST_NAME)


def to_json(data: Any) -> bytes:
    """A payload as it is sent."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode(errors="replace")


def pack(values: Any) -> str:
    """Numbers as text: a letter for their type, then their bytes in base 64.

    "f" is single precision, "d" double precision where single would show, "b" a byte. NaN and
    infinities stay what they are. `unpack` in page/base.js reads it.
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


def _is_precise(single: Array, array: Array) -> bool:
    known = np.isfinite(array)
    if not known.any():
        return True
    moved = np.abs(single[known] - array[known]).max()  # inf where too large for single precision
    return bool(np.isfinite(moved) and moved <= _TOLERANCE * np.ptp(array[known]))


def thin(n: Array, limit: int, moments: Iterable[float] = ()) -> Array:
    """Positions of at most `limit` ascending times, at least 2.

    The first, the last, the last one at or before each moment, and others evenly.
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


def frames(
    items: Iterable[tuple[SnapshotInfo, Result]], target: str | None = None
) -> dict[str, Any]:
    """What an explainer says of one feature, oldest first: curves, or importances.

    The newest curve is also put into words; the target is what the model predicts.
    """
    pairs = list(items)
    curves = [result for _, result in pairs if isinstance(result, Curve)]
    numbers = [result for _, result in pairs if isinstance(result, Importance)]
    return {
        "id": [info.id for info, _ in pairs],
        "n": [info.n for info, _ in pairs],
        **(_importances_payload(numbers) if numbers else curves_payload(curves, target)),
        **({"belief": label(_sentence(belief(curves[-1], target)))} if curves else {}),
    }


def _importances_payload(numbers: Sequence[Importance]) -> dict[str, Any]:
    return {
        "value": pack([number.value for number in numbers]),
        "half": pack([number.band(LEVEL)[1] - number.value for number in numbers]),
        "n_effective": pack([number.n_effective for number in numbers]),
    }


def curves_payload(curves: Sequence[Curve], target: str | None = None) -> dict[str, Any]:
    """Curves of one feature.

    Grids, categories and outputs come and go while a run goes on, so everything is flat: each
    frame says which of the distinct axes and of the distinct sets of outputs are its own, and its
    values follow those of the frame before.
    """
    index, sets = _distinct([tuple(map(label, curve.outputs)) for curve in curves])
    n_axes = len(curves[0].grid_values) if curves else 1
    payload: dict[str, Any] = {
        "output": index,
        "outputs": sets,
        "dims": [_dimension(curves, axis, is_pair=n_axes == 2) for axis in range(n_axes)],
        "average": pack(_flat([curve.average for curve in curves])),
        "half": pack(
            _flat([curve.band(LEVEL, simultaneous=True)[1] - curve.average for curve in curves])
        ),
        "n_effective": pack([curve.n_effective for curve in curves]),
    }
    if curves:
        payload |= _output_texts(curves, sets, target)
    if any(curve.missing is not None for curve in curves):
        payload |= _missing(curves)
    if n_axes == 1 and any(curve.ice_spread is not None for curve in curves):
        payload["spread"] = pack(
            _flat([spread_ends(curve, within=False)[1] - curve.average for curve in curves])
        )
    few = [thin_points(curve) for curve in curves]
    if any(flags.any() for flags in few):
        payload["thin"] = pack(_flat(few))
    past = [past_beside(curve, probabilities=curve.are_probabilities) for curve in curves]
    if any(values is not None for values in past):
        nothing = [np.full(curve.average.shape, np.nan) for curve in curves]
        payload["past"] = pack(
            _flat([b if a is None else a for a, b in zip(past, nothing, strict=True)])
        )
    return payload


def change(logged: LoggedChange, features: Sequence[Feature]) -> dict[str, Any]:
    """A change, with the curves before and after it as two frames."""
    found = logged.change
    where = found.where
    curves = curves_payload([found.before, found.after])
    # One output of several: the curves alone do not tell whether it is a class.
    text, is_chance = label(found.output_text), found.is_of_class and found.before.link is None
    curves |= {"texts": [[text] for _ in curves["outputs"]], "chances": is_chance}
    return {
        "id": logged.id,
        "n": logged.n,
        "began": began(logged),
        "feature": features.index(found.feature) if found.feature in features else None,
        "name": label(found.feature),
        "output": label(found.output),
        "kind": found.kind,
        "sentence": label(found.summary()),
        "short": label(found.summary(evidence=False)),
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


def _distinct(items: Iterable[Any]) -> tuple[list[int], list[Any]]:
    """Which of the distinct items each of them is, and these, in order of appearance."""
    known: dict[Any, int] = {}
    return [known.setdefault(item, len(known)) for item in items], list(known)


def _output_texts(
    curves: Sequence[Curve], sets: Sequence[Sequence[str]], target: str | None
) -> dict[str, Any]:
    """What the numbers of each output are, and which outputs are drawn unless one is chosen."""
    newest = curves[-1]
    # By the outputs themselves: a class that is a number is named otherwise than a text.
    texts = {
        label(output): label(newest.output_text(output, target))
        for curve in curves
        for output in curve.outputs
    }
    return {
        "texts": [[texts[name] for name in names] for names in sets],
        "several": label(newest.output_text(None, target)),
        "chances": newest.are_probabilities,
        "relative": newest.kind == "ale",
        "main": label(newest.main_output),
        "shown": list(map(label, chosen_outputs(newest, None).outputs)),
    }


def _dimension(curves: Sequence[Curve], axis: int, *, is_pair: bool) -> dict[str, Any]:
    """One axis of all curves: its distinct grids, which of them each has, and recent values."""
    categorical = any(curve.categorical[axis] for curve in curves)
    index, grids = _distinct(tuple(curve.grid_values[axis].tolist()) for curve in curves)
    read = _joint_rug if is_pair else _rug
    rug = read(curves, axis, categorical=categorical)
    payload = {"categorical": categorical, "index": index, "rug": rug}
    if any(len(curve.times) > axis and curve.times[axis] for curve in curves):
        payload["time"] = True
    if categorical:
        return {**payload, "grids": [list(map(label, grid)) for grid in grids]}
    return {**payload, "grids": pack(_flat(grids)), "sizes": list(map(len, grids))}


def _rug(curves: Sequence[Curve], _axis: int, *, categorical: bool) -> dict[str, Any]:
    """Histogram of recent values: the height of each bar, and along numbers their edges."""
    rugs = []
    for curve in curves:
        [grid] = curve.grid_values
        x = np.arange(len(grid), dtype=float) if categorical else np.asarray(grid, dtype=float)
        rug = rug_of(curve, x) if curve.categorical[0] == categorical else None
        rugs.append(rug or _NO_RUG)
    counts = [rug.counts for rug in rugs]
    payload: dict[str, Any] = {"sizes": list(map(len, counts)), "counts": pack(_flat(counts))}
    if not categorical:
        payload["edges"] = pack(_flat([np.append(rug.left, rug.right[-1:]) for rug in rugs]))
    return payload


def _joint_rug(curves: Sequence[Curve], axis: int, *, categorical: bool) -> dict[str, Any]:
    """Recent values as they came, so that those of both axes belong together.

    Categories are numbered as on the curve's axis, and NaN where they are not on it.
    """
    columns = []
    for curve in curves:
        values = curve.rug[axis].tolist() if len(curve.rug) > axis else []
        if categorical:
            places = {value: k for k, value in enumerate(curve.grid_values[axis].tolist())}
            values = [places.get(value, np.nan) for value in values]
        columns.append(values)
    return {"sizes": list(map(len, columns)), "values": pack(_flat(columns))}


def _missing(curves: Sequence[Curve]) -> dict[str, str]:
    """The point of missing values and half the width of its band, NaN where a curve has none."""
    values = _flat(
        [np.full(len(c.outputs), np.nan) if c.missing is None else c.missing for c in curves]
    )
    highs = _flat([curve.missing_band(LEVEL)[1] for curve in curves])
    return {"missing": pack(values), "missing_half": pack(highs - values)}


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."


def _flat(arrays: Sequence[Any]) -> Any:
    return np.concatenate([np.ravel(array) for array in arrays]) if arrays else np.empty(0)
