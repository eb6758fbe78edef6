"""Stored observations asked about again: what the model said of them then, and says now.

A model that has not changed gives the same answers, whatever the data do: the difference of the two
is that of two models, and of nothing else but rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ipdp.core import kernels
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.models.base import Engine, Outputs, Probe
from ipdp.monitor.features import Layout, Record, axis_of, probe_of

# A record is compared if it has been evaluated on all of the common places; these are the range
# of the records but for the narrowest of them, this share on either side.
_NARROWEST = 1 / 3
# A range may end earlier by this share of it: ends move with every extreme value.
_EDGE = 0.05


def said_then(
    records: Sequence[Record],
    columns: Array | Sequence[Array | slice],
    outputs: Sequence[Label],
    n_columns: int,
) -> FloatArray:
    """What the model said, (n_records, n_outputs, n_columns); 0 for a class not known then."""
    then = np.zeros((len(records), len(outputs), n_columns))
    for k, (record, own) in enumerate(zip(records, columns, strict=True)):
        then[k, : len(record.values)] = record.values[:, own]
    return then


def aligned(answer: Outputs, outputs: Sequence[Label]) -> FloatArray:
    """Values with their rows in the order of the outputs; a class not mentioned has 0."""
    labels, values = answer
    if labels is None:
        return values
    aligned = np.zeros((values.shape[0], len(outputs), values.shape[2]))
    for k, label in enumerate(labels):
        if label in outputs:
            aligned[:, outputs.index(label)] = values[:, k]
    return aligned


class Answers(NamedTuple):
    """What the model says about one feature, at places that the observations have in common."""

    numbers: Array  # (n_records,) of the observations, ascending
    times: FloatArray  # (n_records,)
    places: Array  # (m,) positions or categories
    then: FloatArray  # (n_records, n_outputs, m)
    now: FloatArray  # of the same shape

    def of(self, picked: Array | slice) -> Answers:
        """The same of some of the observations."""
        numbers, times, places, then, now = self
        return Answers(numbers[picked], times[picked], places, then[picked], now[picked])

    @property
    def difference(self) -> FloatArray:
        """Now minus then, each curve centred: (n_records, n_outputs, m)."""
        difference = self.now - self.then
        return np.asarray(difference - difference.mean(axis=2, keepdims=True))


def ask_about(
    engine: Engine,
    records: Sequence[Record],
    number: int,
    outputs: Sequence[Label],
    ends: tuple[float, float] | None,
    *,
    renewed_at: tuple[int, float] | None = None,
) -> Answers | None:
    """Ask again about one effect, at places that most of the observations have in common.

    Of an effect over numbers only what lies between two ends is compared, None: all. The result
    is None if there are fewer than two such places, or no observations. What was answered anew, at
    an observation of the given number and time, counts as if it had been stored then.
    """
    records = sorted((r for r in records if probe_of(r.layout, number)), key=lambda r: r.n)
    if not records:
        return None
    newest = axis_of(records[-1].layout, records[-1].positions, number)
    assert newest is not None
    is_category = newest.dtype == object
    records = [r for r in records if _has_categories(r, number) == is_category]
    if is_category:
        places, records = _common_categories(records, number)
    else:
        places, records = _common_range(records, number, newest, ends)
    if len(places) < 2:
        return None
    then, now = _at_places(engine, records, number, outputs, places)
    fine = np.asarray(np.isfinite(then + now).all(axis=(1, 2)))
    numbers, times = np.array([r.n for r in records]), np.array([r.t for r in records])
    if renewed_at is not None:
        numbers, times = np.maximum(numbers, renewed_at[0]), np.maximum(times, renewed_at[1])
    return Answers(numbers, times, places, then, now).of(fine)


def _axis(record: Record, number: int) -> Array:
    axis = axis_of(record.layout, record.positions, number)
    assert axis is not None
    return axis


def _has_categories(record: Record, number: int) -> bool:
    probe = probe_of(record.layout, number)
    return probe is not None and probe.categories[0] is not None


def _common_categories(records: list[Record], number: int) -> tuple[Array, list[Record]]:
    """The categories of most observations, and the observations that have them all."""
    known = [set(_axis(record, number).tolist()) for record in records]
    newest = _axis(records[-1], number).tolist()
    common = [c for c in newest if 2 * sum(c in own for own in known) > len(records)]
    places = np.array(common, dtype=object)
    return places, [r for r, own in zip(records, known, strict=True) if own.issuperset(common)]


def _common_range(
    records: list[Record], number: int, newest: FloatArray, ends: tuple[float, float] | None
) -> tuple[FloatArray, list[Record]]:
    """Points in the range of most observations, from end to end, and those observations."""
    axes = [_axis(record, number).tolist() for record in records]
    ranges = np.array([(min(axis), max(axis)) for axis in axes])
    low, high = np.quantile(ranges[:, 0], 1 - _NARROWEST), np.quantile(ranges[:, 1], _NARROWEST)
    if ends is not None:
        low, high = max(low, ends[0]), min(high, ends[1])
    if high <= low:
        return np.empty(0), []
    slack = _EDGE * (high - low)
    covered = (ranges[:, 0] <= low + slack) & (ranges[:, 1] >= high - slack)
    inside = newest[(newest > low + 1e-9 * slack) & (newest < high - 1e-9 * slack)]
    places = np.concatenate([[low], inside, [high]])
    return places, [record for record, own in zip(records, covered, strict=True) if own]


def _at_places(
    engine: Engine, records: list[Record], number: int, outputs: Sequence[Label], places: Array
) -> tuple[FloatArray, FloatArray]:
    """Then and now at these places, (n_records, n_outputs, n_places) each."""
    then, now = np.zeros((2, len(records), len(outputs), len(places)))
    for group, columns, answer in _asked_again(engine, records, [number], outputs):
        own = [records[k] for k in group]
        probes = [probe for record in own if (probe := probe_of(record.layout, number))]
        curves = [(record.positions, record.values) for record in own]
        said = np.zeros((2, len(own), *then.shape[1:]))
        if places.dtype == object:
            at = [_places_of(probe, places) for probe in probes]
            known = np.take_along_axis(columns, np.array(at), axis=1)
            said[0] = said_then(own, known, outputs, len(places))
            said[1] = np.take_along_axis(answer, np.array(at)[:, None], axis=2)
        else:
            sizes = np.array([probe.stop - probe.missing - probe.start for probe in probes])
            kernels.differences_kernel().read_at(curves, columns, sizes, answer, places, *said)
        then[group], now[group] = said
    return then, now


def renewed(
    engine: Engine, records: Sequence[Record], numbers: Sequence[int], outputs: Sequence[Label]
) -> list[Record]:
    """The records with what the model says now about some effects."""
    values = [np.zeros((len(outputs), record.values.shape[1])) for record in records]
    for record, own in zip(records, values, strict=True):
        own[: len(record.values)] = record.values  # 0 for a class not known then
    for group, columns, answer in _asked_again(engine, records, numbers, outputs):
        for k, own, said in zip(group, columns, answer, strict=True):
            values[k][:, own] = said
    return [r._replace(values=own) for r, own in zip(records, values, strict=True)]


def _asked_again(
    engine: Engine, records: Sequence[Record], numbers: Sequence[int], outputs: Sequence[Label]
) -> Iterator[tuple[list[int], Array, FloatArray]]:
    """For those asked together: their places, (n, n_columns) columns, and the answers there.

    The answers are of shape (n, n_outputs, n_columns). A column may be there several times, after
    all others of its effect.
    """
    groups: dict[object, list[int]] = {}
    for k, record in enumerate(records):
        groups.setdefault(_asked_alike(record.layout, numbers), []).append(k)
    for group in groups.values():
        own = [records[k] for k in group]
        probes, columns = _side_by_side([record.layout for record in own], numbers)
        if not probes:
            continue
        # A feature has one axis; the second one is that of pairs, which may have come since.
        positions = np.array([r.positions[:1, c] for r, c in zip(own, columns, strict=True)])
        answer = engine.ice_again([record.x for record in own], probes, positions)
        yield group, columns, aligned(answer, outputs)


def _asked_alike(layout: Layout, numbers: Sequence[int]) -> object:
    """The same for two layouts if an engine can be asked about both at once."""
    probes = [probe_of(layout, number) for number in numbers]
    return tuple(
        probe
        and (probe.missing, probe.whole, probe.categories[0] is not None and layout.keys_of(number))
        for number, probe in zip(numbers, probes, strict=True)
    )


def _side_by_side(
    layouts: Sequence[Layout], numbers: Sequence[int]
) -> tuple[tuple[Probe, ...], Array]:
    """How to ask about some effects at once, and the columns of each layout, as many for all.

    Where one has fewer points than another, its last one is there several times.
    """
    probes, parts, start = [], [], 0
    for number in numbers:
        known = [probe_of(layout, number) for layout in layouts]
        own = [probe for probe in known if probe is not None]
        if not own:
            continue
        stops = np.array([probe.stop - probe.missing for probe in own])[:, None]
        first = np.array([probe.start for probe in own])[:, None]
        columns = np.minimum(first + np.arange((stops - first).max()), stops - 1)
        if own[0].missing:
            columns = np.hstack([columns, stops])
        stop = start + columns.shape[1]
        probes.append(own[0]._replace(start=start, stop=stop))
        parts.append(columns)
        start = stop
    return tuple(probes), np.hstack(parts) if parts else np.empty((len(layouts), 0), dtype=int)


def _places_of(probe: Probe, places: Array) -> list[int]:
    """Where some categories are among those of an effect."""
    categories = probe.categories[0]
    known = {category: k for k, category in enumerate(() if categories is None else categories)}
    return [known[place] for place in places.tolist()]
