"""A candidate for a change: compare the current with the earlier model, and describe the change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.models.base import Engine, Outputs
from ipdp.monitor.change import Change, Kind, centred, extent
from ipdp.monitor.change_points import Side
from ipdp.monitor.feature_series import FeatureSeries, moved, range_of
from ipdp.monitor.features import probe_of
from ipdp.monitor.history import History, Record

N_RECHECKED = 16
"""Number of stored observations on which the model is evaluated again before an alarm."""

# With fewer of them the two models are not compared.
_FEWEST = 8


class ModelDifference(NamedTuple):
    """How the centred curve of a feature differs between the current and the earlier model."""

    places: Array  # (m,) positions, or categories, that both ranges have in common
    difference: FloatArray  # (n_outputs, m)
    std_error: FloatArray  # (n_outputs, m)

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
    Outside of `support`, the current range, a difference does not count; None: all counts.
    The result is None if there are too few observations with the same points of the effect, or
    fewer than two common places.
    """
    keys = [record.layout.keys_of(number) for record in records]
    newest = next(filter(None, keys), None)  # of those that have points
    alike = [record for record, own in zip(records, keys, strict=True) if own == newest]
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


def _difference(
    engine: Engine, records: Sequence[Record], number: int, outputs: Sequence[Label]
) -> tuple[Array, FloatArray]:
    """Places (m,), and current minus earlier outputs there, (n_records, n_outputs, m)."""
    probe = probe_of(records[0].layout, number)
    assert probe is not None
    probe = probe._replace(start=0, stop=probe.stop - probe.start)
    parts = [(record, record.layout.columns_of(number)) for record in records]
    positions = np.array([record.positions[:, own] for record, own in parts])  # (n, n_axes, m)
    then = np.zeros((len(records), len(outputs), probe.stop))
    for k, (record, own) in enumerate(parts):
        then[k, : len(record.values)] = record.values[:, own]
    now = engine.ice([record.x for record in records], [probe], positions)
    difference = _aligned(now, outputs) - then
    m = probe.stop - probe.missing
    categories = probe.categories[0]
    places = positions[:, 0, :m].mean(axis=0) if categories is None else categories[:m]
    return places, difference[:, :, :m]


def _aligned(answer: Outputs, outputs: Sequence[Label]) -> FloatArray:
    """Values with their rows in the order of the outputs; a class not mentioned has 0."""
    labels, values = answer
    if labels is None:
        return values
    aligned = np.zeros((values.shape[0], len(outputs), values.shape[2]))
    for k, label in enumerate(labels):
        if label in outputs:
            aligned[:, outputs.index(label)] = values[:, k]
    return aligned


class Candidate(NamedTuple):
    """All that is known of a change before it is reported."""

    row: int  # of the feature, in the series
    output: int  # its number in the series
    cut: int  # where the window is divided
    kind: Kind
    difference: ModelDifference | None  # None if the models could not be compared
    statistic: str  # what raised the alarm

    def to_change(self, series: FeatureSeries, newest: Record, history: History) -> Change:
        """The change to be reported."""
        places, axis = series.knots.places[self.row], series.axis(self.row, newest)
        assert places is not None
        assert axis is not None
        since, began = series.last_before(self.cut, newest), series.scan.time_of(self.cut)
        (shape, level), (shape_now, level_now) = series.sides(self.row, self.output, self.cut)
        # With the level; the error is that of the shape, which is what is compared.
        before = self._curve(series, places, shape._replace(mean=shape.mean + level.mean), began)
        now = shape_now._replace(mean=shape_now.mean + level_now.mean)
        after = self._curve(series, places, now, newest.t)
        if self.kind == "virtual" or not np.isfinite(after.average).all():
            # Few or none of the old places are left: shown is where the points are now.
            recent = history.between(since, newest.n, at_most=N_RECHECKED)
            now = self._mean_ice(series, recent, len(axis))
            after = self._curve(series, axis, now, newest.t)
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

    def _mean_ice(self, series: FeatureSeries, recent: list[Record], m: int) -> Side:
        """The mean of the recent ICE curves that have the m points of the newest, the first."""
        number, output = series.numbers[self.row], series.outputs[self.output]
        keys = recent[0].layout.keys_of(number)
        alike = [record for record in recent if record.layout.keys_of(number) == keys]
        values = np.array([r.values[output, r.layout.columns_of(number)[:m]] for r in alike])
        variance = values.var(axis=0, ddof=1) if len(values) > 1 else np.full(m, np.nan)
        return Side(np.full(m, float(len(values))), values.mean(axis=0), variance)

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
        real, virtual = 0.0, moved(series.ranges[self.row], range_of(axis))
        if self.difference is not None:
            size = float(self.difference.size[series.outputs[self.output]])
            std = float(np.nan_to_num(before.average[0]).std())
            real = size / (size + std) if size else 0.0
        total = real + virtual
        if not total:
            return {"real": 0.5, "virtual": 0.5}
        return {"real": real / total, "virtual": virtual / total}


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
