"""A candidate for a change: compare the current with the earlier model, and describe the change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.models import Engine
from ipdp.monitor.change import Change, Kind, centred, extent
from ipdp.monitor.change_points import Side
from ipdp.monitor.feature_series import FeatureSeries, moved, range_of
from ipdp.monitor.features import keys_of, probe_of
from ipdp.monitor.history import History, Record

N_RECHECKED = 16
"""Number of stored observations on which the model is evaluated again before an alarm."""

# With fewer of them the two models are not compared.
_FEWEST = 8


class ModelDifference(NamedTuple):
    """How the centred curve of a feature differs between the current and the earlier model.

    Attributes
    ----------
    places
        Positions, or categories, of shape (m,).
    difference, std_error
        Shape (n_outputs, m); over places that both ranges have in common.
    """

    places: Array
    difference: FloatArray
    std_error: FloatArray

    def at(self, knots: Array) -> FloatArray:
        """The difference at other places, of shape (n_outputs, n_knots), centred there."""
        there = self._interpolate(knots)
        return np.asarray(there - there.mean(axis=1, keepdims=True))

    def along(self, knots: Array) -> tuple[Array, FloatArray]:
        """The places between the outermost knots, with the knots, and the difference there.

        It is centred at the knots, as `at` is, and nothing of it is lost between them.
        """
        if knots.dtype == object:
            return knots, self.at(knots)
        inside = (self.places > knots.min()) & (self.places < knots.max())
        axis = np.union1d(knots, self.places[inside])
        mean = self._interpolate(knots).mean(axis=1, keepdims=True)
        return axis, self._interpolate(axis) - mean

    def _interpolate(self, places: Array) -> FloatArray:
        if places.dtype == object:
            known = {place: k for k, place in enumerate(self.places.tolist())}
            picked = np.array([known.get(place, -1) for place in places.tolist()])
            return np.where(picked >= 0, self.difference[:, picked], 0.0)
        return np.array([np.interp(places, self.places, row) for row in self.difference])

    @property
    def size(self) -> FloatArray:
        """Root mean square of the difference of each output."""
        return np.asarray(np.sqrt((self.difference**2).mean(axis=1)))

    @property
    def z(self) -> FloatArray:
        """Largest difference of each output in standard errors; 0 where nothing differs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.abs(self.difference) / self.std_error
        return np.asarray(np.where(np.abs(self.difference) > 1e-12, ratio, 0.0).max(axis=1))


def compare_models(
    engine: Engine,
    records: Sequence[Record],
    number: int,
    outputs: Sequence[Label],
    support: tuple[float, float] | None,
) -> ModelDifference | None:
    """Re-evaluate the current model on stored observations, at the points of that time.

    A model that has not changed gives the same outputs to the last bit, whatever the data do.

    Parameters
    ----------
    engine
        Evaluates the model.
    records
        Stored observations; those with other points than the newest are left out.
    number, outputs
        Number of the effect, and names of the outputs in the order of the records' rows.
    support
        Current range, outside of which a difference does not count; None: all counts.

    Returns
    -------
    None if there are too few observations, or fewer than two common places.
    """
    alike = _with_the_same_points(records, number)
    if len(alike) < _FEWEST:
        return None
    places, difference = _difference(engine, alike, number, outputs)
    if support is not None and places.dtype != object:
        slack = 1e-9 * (support[1] - support[0])
        common = (places >= support[0] - slack) & (places <= support[1] + slack)
        places, difference = places[common], difference[:, :, common]
    if len(places) < 2:
        return None
    difference = difference - difference.mean(axis=2, keepdims=True)
    std_error = difference.std(axis=0, ddof=1) / np.sqrt(len(alike))
    return ModelDifference(places, difference.mean(axis=0), std_error)


def _with_the_same_points(records: Sequence[Record], number: int) -> list[Record]:
    """The records whose points of the effect are those of the newest one that has some."""
    keys, alike = None, []
    for record in records:
        own = keys_of(record.layout, number)
        if keys is None:
            keys = own
        if own is not None and own == keys:
            alike.append(record)
    return alike


def _difference(
    engine: Engine, records: Sequence[Record], number: int, outputs: Sequence[Label]
) -> tuple[Array, FloatArray]:
    """Places (m,), and current minus earlier outputs there, (n_records, n_outputs, m)."""
    probes = [probe for r in records if (probe := probe_of(r.layout, number)) is not None]
    columns = [slice(probe.start, probe.stop) for probe in probes]
    probe = probes[0]._replace(start=0, stop=probes[0].stop - probes[0].start)
    parts = list(zip(records, columns, strict=True))
    positions = np.array([record.positions[:, own] for record, own in parts])  # (n, n_axes, m)
    then = np.zeros((len(records), len(outputs), probe.stop))
    for k, (record, own) in enumerate(parts):
        then[k, : len(record.values)] = record.values[:, own]
    now = engine.ice([record.x for record in records], [probe], positions)
    difference = _aligned(now.labels, now.values, outputs) - then
    m = probe.stop - probe.missing
    categories = probe.categories[0]
    places = positions[:, 0, :m].mean(axis=0) if categories is None else categories[:m]
    return places, difference[:, :, :m]


def _aligned(
    labels: tuple[Label, ...] | None, values: FloatArray, outputs: Sequence[Label]
) -> FloatArray:
    """Values with their rows in the order of the outputs; a class not mentioned has 0."""
    if labels is None:
        return values
    aligned = np.zeros((values.shape[0], len(outputs), values.shape[2]))
    for k, label in enumerate(labels):
        if label in outputs:
            aligned[:, outputs.index(label)] = values[:, k]
    return aligned


class Candidate(NamedTuple):
    """All that is known of a change before it is reported.

    Attributes
    ----------
    row, output
        Its number, and that of the output, in the series.
    cut
        Where the window is divided.
    kind
        What it was found to be.
    difference
        That of the current model to the earlier one; None if they could not be compared.
    statistic
        What raised the alarm.
    """

    row: int
    output: int
    cut: int
    kind: Kind
    difference: ModelDifference | None
    statistic: str

    def to_change(self, series: FeatureSeries, newest: Record, history: History) -> Change:
        """The change to be reported."""
        places, axis = series.knots.places[self.row], series.axis(self.row, newest)
        assert places is not None
        assert axis is not None
        since, began = series.last_before(self.cut, newest), series.scan.time_of(self.cut)
        (shape, level), (shape_now, level_now) = series.sides(self.row, self.output, self.cut)
        before = self._curve(series, places, _with_level(shape, level), began)
        after = self._curve(series, places, _with_level(shape_now, level_now), newest.t)
        if self.kind == "virtual" or not np.isfinite(after.average).all():
            # Few or none of the old places are left: shown is where the points are now.
            recent = history.between(since, newest.n, at_most=N_RECHECKED)
            after = self._curve(series, axis, self._mean_ice(series, newest, recent), newest.t)
        difference = np.nan_to_num(centred(shape_now.mean) - centred(shape.mean))
        return Change(
            feature=before.feature,
            output=before.outputs[0],
            t=newest.t,
            began=began,
            before=before,
            after=after,
            **_sizes(difference, shape, shape_now),
            where=self._where(series, places, difference),
            kind=self.kind,
            shares=self._shares(series, before, axis),
            range_before=_ends(series.ranges[self.row]),
            range_after=_ends(range_of(axis)),
            level=float(np.nan_to_num(level_now.mean[0] - level.mean[0])),
            statistic=self.statistic,
            n_since=newest.n - since,
            is_probability=_are_probabilities(series.labels, newest.values),
        )

    def _curve(self, series: FeatureSeries, places: Array, side: Side, t: float) -> Curve:
        with np.errstate(invalid="ignore", divide="ignore"):
            error: FloatArray = np.sqrt(side.variance / side.n)
        return Curve(
            feature=series.names[self.row],
            outputs=(series.labels[series.outputs[self.output]],),
            grid_values=[places],
            average=side.mean[None],
            std_error=error[None],
            n_samples=int(side.n.max()),
            n_effective_points=side.n.astype(float),
            categorical=(places.dtype == object,),
            t=t,
        )

    def _mean_ice(self, series: FeatureSeries, newest: Record, recent: list[Record]) -> Side:
        """The mean of those recent ICE curves that have the current points."""
        number, row = series.numbers[self.row], series.outputs[self.output]
        keys = keys_of(newest.layout, number)
        curves = []
        for record in recent:
            probe = probe_of(record.layout, number)
            if probe is not None and keys_of(record.layout, number) == keys:
                curves.append(record.values[row, probe.start : probe.stop - probe.missing])
        values = np.array(curves)
        n = np.full(values.shape[1], float(len(values)))
        variance = values.var(axis=0, ddof=1) if len(values) > 1 else np.full(len(n), np.nan)
        return Side(n, values.mean(axis=0), variance)

    def _where(
        self, series: FeatureSeries, places: Array, difference: FloatArray
    ) -> tuple[Any, ...] | None:
        """The part of the axis that changed most, by the compared models where they were compared.

        The curve since the cut is a mean over a model that may have only begun to change.
        """
        if self.kind == "virtual":
            return None
        if self.difference is not None and self.kind in ("real", "both"):
            places, differences = self.difference.along(places)
            difference = differences[series.outputs[self.output]]
        return extent(places, difference)

    def _shares(self, series: FeatureSeries, before: Curve, axis: Array) -> dict[str, float]:
        """How much is real and virtual: relative change of the curve against that of the range."""
        if self.kind in ("real", "virtual"):
            return {"real": float(self.kind == "real"), "virtual": float(self.kind == "virtual")}
        size = 0.0
        if self.difference is not None:
            size = float(self.difference.size[series.outputs[self.output]])
        std = float(np.nan_to_num(before.average[0]).std())
        real = size / (size + std) if size else 0.0
        virtual = moved(series.ranges[self.row], range_of(axis))
        total = real + virtual
        if not total:
            return {"real": 0.5, "virtual": 0.5}
        return {"real": real / total, "virtual": virtual / total}


def _with_level(shape: Side, level: Side) -> Side:
    """The curve with its level; its error is that of the shape, which is what is compared."""
    return Side(shape.n, shape.mean + level.mean, shape.variance)


def _sizes(difference: FloatArray, before: Side, after: Side) -> dict[str, float]:
    """The largest difference, in units of the output and in standard errors."""
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(before.variance / before.n + after.variance / after.n)
    largest = int(np.abs(difference).argmax())
    size = float(abs(difference[largest]))
    in_errors = size / float(error[largest]) if error[largest] > 0 else np.inf
    return {"size": size, "size_in_errors": in_errors}


def _are_probabilities(outputs: tuple[Label, ...], values: FloatArray) -> bool:
    """Whether the outputs, all of them, are the probabilities of classes."""
    points, nan = np.arange(values.shape[1]), np.full(values.shape, np.nan)
    return Curve("all", outputs, [points], values, nan, 1, nan[0]).are_probabilities


def _ends(ends: Any) -> tuple[Any, ...]:
    return tuple(in_order(list(ends))) if isinstance(ends, frozenset) else tuple(ends)
