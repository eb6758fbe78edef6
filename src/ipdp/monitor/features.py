"""What the monitor reads of an explainer: the one file that knows its inside.

An ICE record holds one observation's ICE curves of all targets side by side, in the columns that
its layout gives to each of them. Effects are known by their number in the explainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.typing import Array, FeatureName, FloatArray, Label
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.records import IceRecord, Record
from ipdp.explainers.state.targets import Target
from ipdp.models.base import Probe

__all__ = ["IceRecord", "Layout", "Record", "Target"]  # for the other files of the monitor


def newest_ice(pdp: IncrementalPDP) -> IceRecord | None:
    """The newest ICE curves of all targets; None before the first ones."""
    memory = pdp.memory
    return memory.recent[-1] if memory is not None and memory.recent else None


def ice_since(pdp: IncrementalPDP, last: IceRecord | None) -> list[IceRecord]:
    """The ICE curves that are kept and came after a given one, oldest first."""
    recent = () if pdp.memory is None else pdp.memory.recent
    return list(takewhile(lambda ice: ice is not last, reversed(recent)))[::-1]


def targets(pdp: IncrementalPDP) -> list[Target]:
    """The curves that the explainer follows."""
    return [] if pdp.memory is None else pdp.memory.targets


def smoothed(pdp: IncrementalPDP, numbers: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
    """Positions (n_points,) and values (n_outputs, n_points) of some targets' smoothed curves."""
    means = pdp.memory.means
    mean, columns = means.smoothing.mean, map(means.layout.columns_of, numbers)
    return [(mean[0, own], mean[means.n_axes :, own]) for own in columns]


def outputs(pdp: IncrementalPDP, ice: IceRecord | Record) -> tuple[list[Label], list[int]]:
    """Names of the outputs, and the rows of those that are monitored.

    These are all, but of two probabilities one, as the other follows from it.
    """
    labels = pdp.memory.means.outputs[: len(ice.values)]  # new ones come last
    if len(labels) == 2 and np.allclose(ice.values.sum(axis=0), 1.0):
        return labels, [labels.index(in_order(labels)[1])]
    return labels, list(range(len(labels)))


def monitored(targets: Sequence[Target]) -> dict[int, FeatureName]:
    """Numbers and names of the targets that a monitor follows: those of single features."""
    return {k: target.names[0] for k, target in enumerate(targets) if not target.is_pair}


def probe_of(layout: Layout, number: int) -> Probe | None:
    """Which columns belong to an effect; None if it was not evaluated."""
    if number not in layout.targets:
        return None
    return layout.probes[layout.targets.index(number)]


def axis_of(layout: Layout, positions: FloatArray, number: int) -> Array | None:
    """Where the points of an effect are, or its categories; None if it was not evaluated."""
    probe = probe_of(layout, number)
    if probe is None:
        return None
    stop = probe.stop - probe.missing
    categories = probe.categories[0]
    if categories is not None:
        return categories[: stop - probe.start]
    return positions[0, probe.start : stop].copy()


def widest(layout: Layout, numbers: Sequence[int], *, categories_only: bool = False) -> int:
    """The most points that one of some targets has, and at least two."""
    probes = [probe for number in numbers if (probe := probe_of(layout, number)) is not None]
    if categories_only:
        probes = [probe for probe in probes if probe.categories[0] is not None]
    return max([2, *(probe.stop - probe.start for probe in probes)])
