"""What the monitor reads of an explainer: the one place that knows its inside."""

from __future__ import annotations

from collections.abc import Sequence

from ipdp.core.typing import FloatArray, Label
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.state.means import IceRecord
from ipdp.explainers.state.targets import Effect


def newest(pdp: IncrementalPDP) -> IceRecord | None:
    """The newest ICE curves of all effects; None before the first ones."""
    fold = pdp.fold
    return fold.recent[-1] if fold is not None and fold.recent else None


def since(pdp: IncrementalPDP, last: IceRecord | None) -> list[IceRecord]:
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
