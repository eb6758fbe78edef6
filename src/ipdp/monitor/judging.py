"""Has the model changed, or only the data? It is asked again about observations of before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ipdp.core.typing import Array, FloatArray, Label
from ipdp.models import Engine
from ipdp.monitor.features import keys_of, probe_of
from ipdp.monitor.records import Record

WITNESSES = 16
"""So many observations of before are asked about again before an alarm is raised."""

# With fewer of them nothing can be said.
_FEWEST = 8


class Verdict(NamedTuple):
    """How the centred curve of a feature differs between the model now and the model then.

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
        there = self._read(knots)
        return np.asarray(there - there.mean(axis=1, keepdims=True))

    def along(self, knots: Array) -> tuple[Array, FloatArray]:
        """The places asked about between the outermost knots, with these, and the difference.

        It is centred at the knots, as `at` is, and nothing of it is lost between them.
        """
        if knots.dtype == object:
            return knots, self.at(knots)
        inside = (self.places > knots.min()) & (self.places < knots.max())
        axis = np.union1d(knots, self.places[inside])
        return axis, self._read(axis) - self._read(knots).mean(axis=1, keepdims=True)

    def _read(self, places: Array) -> FloatArray:
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


def judge(
    engine: Engine,
    records: Sequence[Record],
    number: int,
    outputs: Sequence[Label],
    support: tuple[float, float] | None,
) -> Verdict | None:
    """Ask the model of now about observations of before, at the places of before.

    A model that has not changed gives the same answers to the last bit, whatever the data do.

    Parameters
    ----------
    engine
        Asks the model.
    records
        Observations of before; those with other points than the newest are left out.
    number
        Number of the effect.
    outputs
        Names of the outputs, in the order of the records' rows.
    support
        Range of now, outside of which a difference does not count; None: all counts.

    Returns
    -------
    None if there are too few observations, or fewer than two common places.
    """
    alike = _alike(records, number)
    if len(alike) < _FEWEST:
        return None
    probes = [probe_of(record.layout, number) for record in alike]
    columns = [slice(p.start, p.stop) for p in probes if p is not None]
    probe = probes[0]
    assert probe is not None
    positions = np.array(
        [r.positions[:, c] for r, c in zip(alike, columns, strict=True)]
    )  # (n, n_axes, m)
    then = np.zeros((len(alike), len(outputs), probe.stop - probe.start))
    for k, (record, column) in enumerate(zip(alike, columns, strict=True)):
        then[k, : len(record.values)] = record.values[:, column]
    moved_probe = probe._replace(start=0, stop=probe.stop - probe.start)
    answer = engine.ice([record.x for record in alike], [moved_probe], positions)
    difference = _aligned(answer.labels, answer.values, outputs) - then
    m = probe.stop - probe.start - probe.missing
    difference, positions = difference[:, :, :m], positions[:, 0, :m]
    categories = probe.categories[0]
    places = positions.mean(axis=0) if categories is None else categories[:m]
    common = np.ones(m, dtype=bool)
    if support is not None and categories is None:
        slack = 1e-9 * (support[1] - support[0])
        common = (places >= support[0] - slack) & (places <= support[1] + slack)
    if common.sum() < 2:
        return None
    difference = difference[:, :, common]
    difference = difference - difference.mean(axis=2, keepdims=True)
    std_error = difference.std(axis=0, ddof=1) / np.sqrt(len(alike))
    return Verdict(places[common], difference.mean(axis=0), std_error)


def _alike(records: Sequence[Record], number: int) -> list[Record]:
    """The records whose points of the effect are those of the newest one that has some."""
    keys, alike = None, []
    for record in records:
        own = keys_of(record.layout, number)
        if keys is None:
            keys = own
        if own is not None and own == keys:
            alike.append(record)
    return alike


def _aligned(
    labels: tuple[Label, ...] | None, values: FloatArray, outputs: Sequence[Label]
) -> FloatArray:
    """The answer with its rows in the order of the outputs; a class not mentioned has 0."""
    if labels is None:
        return values
    aligned = np.zeros((values.shape[0], len(outputs), values.shape[2]))
    for k, label in enumerate(labels):
        if label in outputs:
            aligned[:, outputs.index(label)] = values[:, k]
    return aligned
