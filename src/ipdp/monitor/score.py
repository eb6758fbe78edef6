"""What a change did to the mean prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.interpolation import continued
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.change import Change
from ipdp.monitor.data.value_blocks import is_missing
from ipdp.monitor.history import History, Record

# So many stored observations of each side say where the values are, and fewer than so many nothing.
_AT_MOST, _FEWEST = 256, 8


def with_score(change: Change, pdp: IncrementalPDP, history: History, newest: Record) -> Change:
    """The change as it is shown, with what it did to the mean prediction where that is known.

    Of a change of the model: what it says otherwise of the same observations, at their own values.
    Of a move of the data: what the curves say of the values since, minus that of those before.
    """
    records = history.evenly(0, newest.n, at_most=2 * _AT_MOST, closer=True)
    sides = [
        _values([r for r in records if (r.t >= change.began) == is_after], change.feature)
        for is_after in (False, True)
    ]
    curves = change.before, change.after
    moves: list[float] = []
    if change.kind != "virtual" and len(sides[0]) >= _FEWEST:
        moves.append(_mean(*curves[::-1], sides[0]) - _mean(*curves, sides[0]))
    if change.kind in ("virtual", "both") and min(map(len, sides)) >= _FEWEST:
        pairs = curves, curves[::-1]
        both = [_mean(*pair, sides[1]) - _mean(*pair, sides[0]) for pair in pairs]
        moves.append(float(np.mean(both)))
    if change.before.link is None:  # else it was done before
        change = replace(change, before=pdp.on_scale(curves[0]), after=pdp.on_scale(curves[1]))
    if not moves or not np.isfinite(moves).all():
        return change
    score, std = sum(moves), _std(pdp, change, records)
    return replace(change, score=score, severity=abs(score) / std if std > 0 else None)


def _values(records: Sequence[Record], feature: Any) -> list[Any]:
    values = [record.x.get(feature) for record in records]
    return [value for value in values if not is_missing(value)][:_AT_MOST]


def _mean(curve: Curve, other: Curve, values: list[Any]) -> float:
    """The mean of a curve at some values; where it does not reach it goes on as the other one."""
    pairs = [(c.grid_values[0], c.average[0]) for c in (curve, other)]
    if not curve.categorical[0]:
        pairs = [(axis.astype(float), said) for axis, said in pairs]
        values = [float(value) for value in values]
    said = continued(pairs[0], pairs[1], values)
    known = said[~np.isnan(said)]
    return float(known.mean()) if len(known) >= _FEWEST else float("nan")


def _std(pdp: IncrementalPDP, change: Change, records: Sequence[Record]) -> float:
    """Standard deviation of what the model said of stored observations.

    Not that of the explainer, which may have got further.
    """
    outputs, features = pdp.memory.means.outputs, [t.feature for t in pdp.memory.targets]
    if change.output not in outputs:
        return 0.0
    row, number = outputs.index(change.output), features.index(change.feature)
    said = [_said(r, number, r.x.get(change.feature)) for r in records if row < len(r.values)]
    known = [values[row] for values in said if values is not None]
    return float(np.std(known)) if len(known) >= _FEWEST else 0.0


def _said(record: Record, number: int, own: Any) -> Any:
    """The predictions for an observation, (n_outputs,), read from an ICE curve at its own value."""
    keys, columns = record.layout.keys_of(number), record.layout.columns_of(number)
    if is_missing(own) or not keys:
        return None
    if isinstance(keys[0], tuple):
        at = [c for key, c in zip(keys, columns, strict=True) if key == (own,)]
        return record.values[:, at[0]] if at else None
    inner = slice(columns.start, columns.stop - record.layout.probe_of(number).missing)
    positions = record.positions[0, inner]
    return [np.interp(float(own), positions, values[inner]) for values in record.values]
