"""What the monitor reads of an explainer: the one file that knows its inside.

An ICE record holds one observation's ICE curves of all effects side by side, in the columns that
its layout gives to each of them. Effects are known by their number in the explainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import Array, FeatureName, FloatArray, Label, State
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.state.means import IceRecord
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import Effect
from ipdp.models.base import Probe

__all__ = [
    "Effect",
    "IceRecord",
    "Layout",
    "axis_of",
    "decode_layout",
    "distinct_outputs",
    "effects",
    "encode_layout",
    "ice_since",
    "keys_of",
    "monitored",
    "newest_ice",
    "outputs",
    "probe_of",
    "smoothed",
    "widest",
]


# Of the explainer.


def newest_ice(pdp: IncrementalPDP) -> IceRecord | None:
    """The newest ICE curves of all effects; None before the first ones."""
    fold = pdp.fold
    return fold.recent[-1] if fold is not None and fold.recent else None


def ice_since(pdp: IncrementalPDP, last: IceRecord | None) -> list[IceRecord]:
    """The ICE curves that are kept and came after a given one, oldest first."""
    found: list[IceRecord] = []
    for ice in reversed(pdp.fold.recent if pdp.fold is not None else ()):
        if ice is last:
            break
        found.append(ice)
    return found[::-1]


def outputs(pdp: IncrementalPDP) -> list[Label]:
    """Names of the model's outputs."""
    return [] if pdp.fold is None else pdp.fold.outputs


def effects(pdp: IncrementalPDP) -> list[Effect]:
    """The curves that the explainer follows."""
    return [] if pdp.fold is None else pdp.fold.effects


def smoothed(pdp: IncrementalPDP, numbers: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
    """Positions (n_points,) and values (n_outputs, n_points) of some effects' smoothed curves."""
    fold = pdp.fold
    assert fold is not None
    mean = fold.smoothing.mean
    columns = [slice(e.start, e.start + len(e.keys)) for e in (fold.effects[k] for k in numbers)]
    return [(mean[0, own], mean[fold.n_axes :, own]) for own in columns]


def distinct_outputs(labels: Sequence[Label], ice: IceRecord) -> list[int]:
    """Rows of the outputs: all, but of two probabilities one, as the other follows from it."""
    if len(labels) == 2 and np.allclose(ice.values.sum(axis=0), 1.0):
        return [labels.index(in_order(list(labels))[1])]
    return list(range(len(labels)))


# Of its effects and layouts.


def monitored(effects: Sequence[Effect]) -> dict[int, FeatureName]:
    """Numbers and names of the effects that a monitor follows: those of single features."""
    return {k: effect.names[0] for k, effect in enumerate(effects) if not effect.is_pair}


def probe_of(layout: Layout, number: int) -> Probe | None:
    """Which columns belong to an effect; None if it was not evaluated."""
    if number not in layout.effects:
        return None
    return layout.probes[layout.effects.index(number)]


def keys_of(layout: Layout, number: int) -> tuple[Any, ...] | None:
    """What identifies the points of an effect; None if it was not evaluated."""
    return layout.keys[layout.effects.index(number)] if number in layout.effects else None


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
    """The most points that one of some effects has, and at least two."""
    probes = [probe_of(layout, number) for number in numbers]
    widths = [
        probe.stop - probe.start
        for probe in probes
        if probe is not None and not (categories_only and probe.categories[0] is None)
    ]
    return max([2, *widths])


def encode_layout(layout: Layout) -> State:
    """A layout, JSON-safe."""
    return {
        "effects": list(layout.effects),
        "keys": [[encode_name(key) for key in keys] for keys in layout.keys],
        "whole": [list(whole) for whole in layout.whole],
    }


def decode_layout(saved: State, effects: Sequence[Effect]) -> Layout:
    """The layout that `encode_layout` was given."""
    return Layout.of(
        effects,
        saved["effects"],
        [tuple(decode_name(key) for key in keys) for keys in saved["keys"]],
        [tuple(whole) for whole in saved["whole"]],
    )
