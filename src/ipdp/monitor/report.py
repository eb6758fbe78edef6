"""From a case that was decided to the `Change` that is told."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.curve import Curve
from ipdp.core.typing import Array, Feature, FloatArray, Label
from ipdp.monitor.change import Change, Kind, centred, extent
from ipdp.monitor.detection import Watch, moved, range_of
from ipdp.monitor.features import keys_of, probe_of
from ipdp.monitor.judging import WITNESSES, Verdict
from ipdp.monitor.records import Record, Records
from ipdp.monitor.scan import Side


class Case(NamedTuple):
    """All that is known of a change.

    Attributes
    ----------
    row, output
        Its number, and that of the output, in the watch.
    cut
        Where the window is divided.
    kind
        What it was found to be.
    verdict
        What the model said when it was asked again; None if it could not be.
    statistic
        What raised the alarm.
    """

    row: int
    output: int
    cut: int
    kind: Kind
    verdict: Verdict | None
    statistic: str


def cut_number(watch: Watch, newest: Record, cut: int) -> int:
    """The number of the last observation before a cut."""
    return newest.n - int(watch.scan.steps_since(cut)) - watch.scan.steps


def change_of(case: Case, watch: Watch, newest: Record, records: Records) -> Change:
    """The change to be told."""
    feature = watch.names[case.row]
    label = watch.labels[watch.outputs[case.output]]
    places, axis = watch.knots.places[case.row], watch.axis(case.row, newest)
    assert places is not None
    assert axis is not None
    since, began = cut_number(watch, newest, case.cut), watch.scan.time_of(case.cut)
    (shape, level), (later_shape, later_level) = watch.sides(case.row, case.output, case.cut)
    before = _curve(feature, label, places, _sum(shape, level), began)
    after = _curve(feature, label, places, _sum(later_shape, later_level), newest.t)
    if case.kind == "virtual" or not np.isfinite(after.average).all():
        # Few or none of the old places are left: shown is where the points are now.
        recent = _recent(case, watch, newest, records.between(since, newest.n, at_most=WITNESSES))
        after = _curve(feature, label, axis, recent, newest.t)
    difference = np.nan_to_num(centred(later_shape.mean) - centred(shape.mean))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(shape.variance / shape.n + later_shape.variance / later_shape.n)
    largest = int(np.abs(difference).argmax())
    size = float(abs(difference[largest]))
    return Change(
        feature=feature,
        output=label,
        t=newest.t,
        began=began,
        before=before,
        after=after,
        size=size,
        size_in_errors=size / float(error[largest]) if error[largest] > 0 else np.inf,
        where=_where(case, watch, places, difference),
        kind=case.kind,
        shares=_shares(case, watch, before, axis),
        range_before=_ends(watch.ranges[case.row]),
        range_after=_ends(range_of(axis)),
        level=float(np.nan_to_num(later_level.mean[0] - level.mean[0])),
        statistic=case.statistic,
        n_since=newest.n - since,
        is_probability=_are_probabilities(watch, newest),
    )


def _are_probabilities(watch: Watch, newest: Record) -> bool:
    """Whether the outputs are the probabilities of classes: of all of them, where one is shown."""
    n = newest.values.shape[1]
    points, nan = np.arange(n), np.full(newest.values.shape, np.nan)
    return Curve("all", watch.labels, [points], newest.values, nan, 1, nan[0]).are_probabilities


def _where(
    case: Case, watch: Watch, places: Array, difference: FloatArray
) -> tuple[Any, ...] | None:
    """The part of the axis that changed most: what the model says of it now, if it was asked.

    The curve since the cut is a mean over a model that may have only begun to change.
    """
    if case.kind == "virtual":
        return None
    if case.verdict is not None and case.kind in ("real", "both"):
        places, differences = case.verdict.along(places)
        difference = differences[watch.outputs[case.output]]
    return extent(places, difference)


def _sum(shape: Side, level: Side) -> Side:
    """The curve with its level; its error is that of the shape, which is what is compared."""
    return Side(shape.n, shape.mean + level.mean, shape.variance)


def _curve(feature: Feature, label: Label, places: Array, side: Side, t: float) -> Curve:
    with np.errstate(invalid="ignore", divide="ignore"):
        error: FloatArray = np.sqrt(side.variance / side.n)
    return Curve(
        feature=feature,
        outputs=(label,),
        grid_values=[places],
        average=side.mean[None],
        std_error=error[None],
        n_samples=int(side.n.max()),
        n_effective_points=side.n.astype(float),
        categorical=(places.dtype == object,),
        t=t,
    )


def _recent(case: Case, watch: Watch, newest: Record, records: list[Record]) -> Side:
    """The mean of recent ICE curves that have the points of now."""
    number, row = watch.numbers[case.row], watch.outputs[case.output]
    keys = keys_of(newest.layout, number)
    curves = []
    for record in records:
        probe = probe_of(record.layout, number)
        if probe is not None and keys_of(record.layout, number) == keys:
            curves.append(record.values[row, probe.start : probe.stop - probe.missing])
    values = np.array(curves)
    n = np.full(values.shape[1], float(len(values)))
    variance = values.var(axis=0, ddof=1) if len(values) > 1 else np.full(len(n), np.nan)
    return Side(n, values.mean(axis=0), variance)


def _shares(case: Case, watch: Watch, before: Curve, axis: Array) -> dict[str, float]:
    """How much is real and virtual: relative change of the curve against that of the range."""
    if case.kind in ("real", "virtual"):
        return {"real": float(case.kind == "real"), "virtual": float(case.kind == "virtual")}
    size = 0.0 if case.verdict is None else float(case.verdict.size[watch.outputs[case.output]])
    spread = float(np.nan_to_num(before.average[0]).std())
    real = size / (size + spread) if size else 0.0
    virtual = moved(watch.ranges[case.row], range_of(axis))
    total = real + virtual
    if not total:
        return {"real": 0.5, "virtual": 0.5}
    return {"real": real / total, "virtual": virtual / total}


def _ends(ends: Any) -> tuple[Any, ...]:
    return tuple(in_order(list(ends))) if isinstance(ends, frozenset) else tuple(ends)
