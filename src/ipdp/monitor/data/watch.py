"""Moves of the data as changes to be reported, with the curves where the data were, and are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FeatureName, FloatArray, Label
from ipdp.monitor.change import Change
from ipdp.monitor.data.move import Move
from ipdp.monitor.data.moves import DataMoves
from ipdp.monitor.features import Record, axis_of
from ipdp.monitor.history import History

# A curve is the mean over so many stored observations.
_N_RECORDS = 32

Found = tuple[int, Change]
"""The row of a feature, and its change."""


class Models(Protocol):
    """What is asked about the model where the data moved."""

    numbers: tuple[int, ...]
    labels: tuple[Label, ...]
    outputs: list[int]

    def also_changed(self, newest: Record, row: int) -> Change | None:
        """The change of the model where the data of a feature have moved, if there is one."""


@dataclass(eq=False)
class DataWatch:
    """Finds moves of the data, and reports them together with changes of the model.

    A change of the model that is found within `cool_down` observations after its data moved belongs
    to that.
    """

    moves: DataMoves
    history: History
    cool_down: int
    # Changes that were reported before, and of which there is more to say since.
    revised: list[Change] = field(default_factory=list)

    def join(
        self, newest: Record, model: Models, real: list[Found], changes: list[Change]
    ) -> list[Found]:
        """What is to be reported; further moves are written into the changes they belong to."""
        found = {row: self._with_last_move(row, change, newest, changes) for row, change in real}
        for row, move, is_further in self.moves.update(newest, self.history):
            names: dict[str, Any] = {"labels": model.labels, "outputs": model.outputs}
            moved = change_of(move, model.numbers[row], self.history, newest, **names)
            if moved is None:
                continue
            if is_further:
                if (revised := tell_further(changes, moved, move)) is not None:
                    self.revised.append(revised)
                continue
            changed = found.get(row)
            if changed is None and move.is_elsewhere:
                changed = model.also_changed(newest, row)
            found[row] = moved if changed is None else both(changed, moved)
        return list(found.items())

    def _with_last_move(
        self, row: int, real: Change, newest: Record, changes: Sequence[Change]
    ) -> Change:
        last = self.moves.moved_at(row)
        if last is None or newest.n - last > self.cool_down:
            return real
        for known in reversed(changes):
            if known.feature == real.feature and known.move and known.move.is_elsewhere:
                return both(real, known) if known.kind == "virtual" else real
        return real


def change_of(
    move: Move,
    number: int,
    history: History,
    newest: Record,
    *,
    labels: Sequence[Label],
    outputs: Sequence[int],
) -> Change | None:
    """The change to be reported; None if the model was never asked about the feature.

    `number` is that of the feature among the explainer's targets; `labels` name the model's
    outputs, of which those of the numbers `outputs` are monitored.
    """
    last = newest.n - move.n_since
    sides = [
        _asked(history.between(first, end, at_most=4 * _N_RECORDS), number)
        for first, end in ((0, last), (last + 1, newest.n))
    ]
    before, after = sides[0] or sides[1], sides[1] or sides[0]
    if not before:
        return None
    means = _mean_curve(before, number).mean
    known = [k for k in outputs if k < len(means)]
    output = max(known, key=lambda k: float(np.ptp(means[k])), default=0)
    name, label = move.feature, labels[output]
    curves = [_curve(name, label, output, side, number) for side in (before, after)]
    return Change(
        feature=move.feature,
        output=label,
        t=newest.t,
        began=move.since,
        before=curves[0],
        after=curves[1],
        kind="virtual",
        shares={"real": 0.0, "virtual": 1.0},
        range_before=move.range_before,
        range_after=move.range_after,
        statistic="values",
        n_since=move.n_since,
        is_probability=_are_probabilities(tuple(labels), newest.values),
        move=move,
    )


def curves_of(
    name: FeatureName,
    label: Label,
    which: tuple[int, int],
    history: History,
    cut: tuple[int, Record],
) -> tuple[Curve, Curve]:
    """The mean curves of observations up to a number, and since; `which` are target and output."""
    (number, output), (last, newest) = which, cut
    sides = [
        _asked(history.between(first, end, at_most=4 * _N_RECORDS), number)
        for first, end in ((0, last), (last + 1, newest.n))
    ]
    before, after = sides[0] or sides[1], sides[1] or sides[0]
    one, other = (_curve(name, label, output, side, number) for side in (before, after))
    return one, other


def both(real: Change, moved: Change) -> Change:
    """A change of the model and a move of the data of the same feature and time, as one."""
    size = real.size / (real.size + _std(real)) if real.size > 0 else 0.5
    return replace(
        real,
        kind="both",
        shares={"real": size, "virtual": 1 - size},
        range_before=moved.range_before,
        range_after=moved.range_after,
        move=moved.move,
    )


def _std(change: Change) -> float:
    """Standard deviation of the curve before a change."""
    return float(np.nan_to_num(change.before.average[0]).std())


def tell_further(changes: list[Change], further: Change, move: Move) -> Change | None:
    """Write a further move of a feature into the change that it belongs to, if that is kept.

    The result is the change as it is then.
    """
    for k, known in reversed(list(enumerate(changes))):
        first = known.move if known.feature == further.feature else None
        if first is not None and first.group == move.group:
            after, ends = further.after, further.range_after
            joined = first.followed_by(move)
            changes[k] = replace(
                known, move=joined, after=after, range_after=ends, score=None, severity=None
            )
            return changes[k]
    return None


def tell_end(changes: list[Change], ended: Change) -> Change | None:
    """Replace what was reported of a change of the model that has ended by what it came to.

    The result is the change as it is then.
    """
    kept = (
        "t",
        "began",
        "n_since",
        "kind",
        "shares",
        "range_before",
        "range_after",
        "move",
        "target",
    )
    for k, known in reversed(list(enumerate(changes))):
        if known.feature == ended.feature and known.kind in ("real", "both"):
            fields = {name: getattr(known, name) for name in kept}
            for name in ("explained", "differs"):  # where others ended at the same time
                if getattr(ended, name) is None:
                    fields[name] = getattr(known, name)
            changes[k] = replace(ended, **fields)
            return changes[k]
    return None


def _asked(records: Sequence[Record], number: int) -> list[Record]:
    """The newest records in which the model was asked about a feature, at the same points."""
    keys = [record.layout.keys_of(number) for record in records]
    newest = next(filter(None, keys), None)
    alike = [record for record, own in zip(records, keys, strict=True) if own and own == newest]
    return [r for r in alike if len(r.values) == len(alike[0].values)][:_N_RECORDS]


class _Mean(NamedTuple):
    axis: Array  # (m,)
    n: FloatArray  # (m,)
    mean: FloatArray  # (n_outputs, m)
    error: FloatArray  # (n_outputs, m)


def _mean_curve(records: Sequence[Record], number: int) -> _Mean:
    """The mean ICE curve at the places of the newest record, of those that reach them."""
    axis = axis_of(records[0].layout, records[0].positions, number)
    assert axis is not None
    own = [(record, record.layout.columns_of(number)[: len(axis)]) for record in records]
    values = np.array([record.values[:, columns] for record, columns in own])
    if axis.dtype != object:
        nowhere = {"left": np.nan, "right": np.nan}
        for k, (record, columns) in enumerate(own):
            places = record.positions[0, columns]
            values[k] = [np.interp(axis, places, row, **nowhere) for row in values[k]]
    n = (~np.isnan(values[:, 0])).sum(axis=0)
    mean = np.nansum(values, axis=0) / n  # the newest record reaches all of them
    squares = np.nansum((values - mean) ** 2, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(squares / (n - 1) / n)
    return _Mean(axis, n.astype(float), mean, error)


def _curve(
    name: FeatureName, label: Label, output: int, records: Sequence[Record], number: int
) -> Curve:
    axis, n, mean, error = _mean_curve(records, number)
    return Curve(
        feature=name,
        outputs=(label,),
        grid_values=[axis],
        average=mean[[output]],
        std_error=error[[output]],
        n_samples=len(records),
        n_effective_points=n,
        categorical=(axis.dtype == object,),
        t=records[0].t,
    )


def _are_probabilities(labels: tuple[Label, ...], values: FloatArray) -> bool:
    points, nan = np.arange(values.shape[1]), np.full(values.shape, np.nan)
    return Curve("all", labels[: len(values)], [points], values, nan, 1, nan[0]).are_probabilities
