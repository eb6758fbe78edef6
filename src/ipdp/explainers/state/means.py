"""The state of an explainer: a fold over the stream (Algorithm 1).

Every grid point of every effect is a *slot*, told from the others by (number of the effect, key of
the point). All slots stand side by side as the columns of one `Smoothing`, so that one step
updates all features and all outputs. Its rows are the position of the slot on the axis of its one
or two features (eq. 3), then the outputs (eq. 2): in the paper both are the same recursion.

Slots whose point has left the grid (a category out of the window, a knot out of the range) wait in
the attic, a smoothing of its own: they age, and go on where they stopped if their point comes back.
The attic has room for four times the points that an effect evaluates.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import kernels
from ipdp.core.curve import PREDICTION
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import FeatureName, FloatArray, Label, Observation
from ipdp.explainers.state.points import Layout, Positions, Slot
from ipdp.explainers.state.targets import Effect
from ipdp.grid.auto import takes_numbers
from ipdp.grid.base import LARGEST, Grid
from ipdp.grid.ranges import sample_of
from ipdp.models.base import Outputs

# How many recent observations are kept for the density over a pair.
_TOGETHER = 256
# How many points an effect may have in the attic, against those that it evaluates.
_ATTIC_ROOM = 4


class IceRecord(NamedTuple):
    """One ICE curve of all effects, kept for plotting."""

    layout: Layout
    positions: FloatArray  # (n_axes, n_points)
    values: FloatArray  # (n_outputs at that time, n_points)


class Fold:
    """What an explainer remembers, and the one step that changes it.

    Parameters
    ----------
    effects
        The curves to follow.
    grids
        The grid of every feature that is involved.
    alpha
        Smoothing parameter.
    n_ice
        Number of ICE curves kept.
    """

    def __init__(
        self,
        effects: Sequence[Effect],
        grids: dict[FeatureName, Grid],
        *,
        alpha: float | None,
        n_ice: int,
    ) -> None:
        self.effects = list(effects)
        self.grids = grids
        self.columns: tuple[FeatureName, ...] = ()
        self.seen = 0
        self.t: float | None = None
        self.outputs: list[Label] = []
        self.named = True  # whether the model itself names its outputs
        self._labels: tuple[Label, ...] | None = None
        self.layout = Layout()
        self.n_axes = max(len(effect.names) for effect in effects)
        self.smoothing = Smoothing(alpha=alpha, n_rows=self.n_axes, n_columns=0)
        self.attic: list[Slot] = []
        self.attic_smoothing = self.smoothing.copy()
        self.recent: deque[IceRecord] = deque(maxlen=n_ice)
        # Where there are pairs, recent observations whole: storages do not know what came together.
        has_pairs = any(effect.is_pair for effect in self.effects)
        self.together: deque[tuple[Any, ...]] = deque(maxlen=_TOGETHER if has_pairs else 0)
        # For a segment of a stream that is to be merged with an earlier one: how many observations
        # that one had seen, the slots that it had, and those of them that were given up since.
        self.starts_at: int | None = None
        self.inherited: frozenset[Slot] = frozenset()
        self.lost: set[Slot] = set()
        # What follows from the grids: who is ready, and where the points to evaluate next are.
        self._waiting = list(range(len(self.effects)))
        self._ready: list[int] = []
        self.positions = Positions(self.layout, self.effects, self.n_axes)
        self._admits = [(name, grid.admit) for name, grid in grids.items()]
        self._names = tuple(grids)
        self._only_numbers = all(takes_numbers(grid) for grid in grids.values())
        self._updates = [grid.update for grid in grids.values()]
        self._takers = list(grids.values())
        self._samples = [sample_of(grid) for grid in self._takers]

    # What to ask the model. Nothing here changes what the fold remembers.

    def admit(self, x: Observation) -> list[Any]:
        """The values that the storages will take, in the order of the grids."""
        if self._only_numbers and kernels.current is not None:
            values: list[Any] | None = kernels.current.numbers_of(x, self._names, LARGEST)
            if values is not None:
                return values
        try:
            return [admit(x.get(name)) for name, admit in self._admits]
        except TypeError:
            for name, admit in self._admits:
                try:
                    admit(x.get(name))
                except TypeError as error:
                    raise TypeError(f"feature {name!r}: {error}") from None
            raise

    def layout_now(self) -> Layout:
        """The slots to evaluate now; the one in force if nothing came or went."""
        if self._waiting:
            ready = [k for k in self._waiting if self.effects[k].ready]
            self._waiting = [k for k in self._waiting if k not in ready]
            self._ready = sorted(self._ready + ready)
        layout = self.positions.layout
        if len(layout.effects) == len(self._ready) and not self.positions.is_stale():
            return layout
        effects = [self.effects[k] for k in self._ready]
        keys = [effect.current_keys() for effect in effects]
        layout = Layout.of(self.effects, self._ready, keys, [effect.whole for effect in effects])
        if layout == self.layout:
            layout = self.layout  # so that being the same object says that nothing changed
        self.positions = Positions(layout, self.effects, self.n_axes)
        return layout

    def checked(self, outputs: Outputs) -> tuple[list[Label], FloatArray]:
        """The outputs' names after this answer, and its values in their order; or an error."""
        labels, values = outputs
        if not is_finite(values):
            raise ValueError(
                "the model answered with NaN or infinity; the observation was not explained"
            )
        if labels == self._labels and labels is not None:
            return self.outputs, values
        known = tuple(self.outputs)
        if labels is not None and labels == known:
            self._labels = known  # compared as one object from now on
            return self.outputs, values
        if not compatible(known, self.named, labels, values.shape[1]):
            raise ValueError(
                f"the model gave {_outputs_in_words(labels, values.shape[1])} where it gave "
                f"{_outputs_in_words(known if self.named else None, len(known))} before"
            )
        if labels is None:
            return list(range(values.shape[1])), values
        together = self.outputs + [label for label in labels if label not in self.outputs]
        aligned = np.zeros((values.shape[0], len(together), values.shape[2]))
        aligned[:, [together.index(label) for label in labels]] = values
        return together, aligned

    # What changes the fold. By now everything has been checked.

    def adopt(self, layout: Layout) -> None:
        """Put the slots of the layout in front and the others into the attic."""
        if layout is self.layout:
            return
        column = {slot: k for k, slot in enumerate(self.slots)}
        active = layout.slots
        staying = set(active)
        # Those that have been away longest are first, and go first.
        left = [slot for slot in self.layout.slots if slot not in staying]
        attic = [slot for slot in self.attic if slot not in staying] + left
        room = {
            k: _ATTIC_ROOM * len(keys) for k, keys in zip(layout.effects, layout.keys, strict=True)
        }
        kept: list[Slot] = []
        for slot in reversed(attic):
            room[slot[0]] = room.get(slot[0], 1) - 1
            if room[slot[0]] >= 0:
                kept.append(slot)
            elif slot in self.inherited:
                self.lost.add(slot)
        kept.reverse()
        everything = self.everything
        self.smoothing = everything.take([column.get(slot, -1) for slot in active])
        self.attic_smoothing = everything.take([column[slot] for slot in kept])
        self.attic = kept
        self.place(layout)

    @property
    def slots(self) -> list[Slot]:
        """All slots, those of the attic last."""
        return self.layout.slots + self.attic

    @property
    def everything(self) -> Smoothing:
        """The smoothing of all slots."""
        return self.smoothing.beside(self.attic_smoothing)

    @everything.setter
    def everything(self, smoothing: Smoothing) -> None:
        n_active = self.layout.n_points
        self.smoothing = smoothing.take(range(n_active))
        self.attic_smoothing = smoothing.take(range(n_active, n_active + len(self.attic)))

    def place(self, layout: Layout) -> None:
        """Put the layout in force: tell the effects which columns are theirs."""
        self.layout = layout
        for k, keys, probe in zip(layout.effects, layout.keys, layout.probes, strict=True):
            self.effects[k].keys, self.effects[k].start = keys, probe.start

    def add_outputs(self, outputs: list[Label], named: bool) -> None:
        """Make room for outputs that were not there before."""
        if len(outputs) > len(self.outputs):
            n_rows, n_columns = self.smoothing.mean.shape
            rows = [*range(n_rows), *[-1] * (len(outputs) - len(self.outputs))]
            self.smoothing = self.smoothing.take(range(n_columns), rows=rows)
            self.attic_smoothing = self.attic_smoothing.take(range(len(self.attic)), rows=rows)
            self.outputs, self.named, self._labels = outputs, named, None

    def count(self, layout: Layout, n: int) -> None:
        """Count n more ICE curves."""
        for k in layout.effects:
            self.effects[k].n += n

    def observe(self, values: Sequence[Any], t: float) -> None:
        """Let the storages have the observation: after it was explained, as in Algorithm 1."""
        if kernels.current is not None:
            kernels.current.take_in(values, self._takers, self._samples, self._updates)
        else:
            for update, value in zip(self._updates, values, strict=True):
                if value is not None:
                    update(value)
        if self.together.maxlen:
            self.together.append(tuple(values))
        self.seen += 1
        self.t = t

    def copy(self, grids: dict[FeatureName, Grid] | None = None) -> Fold:
        """An independent copy, with other grids if they are given."""
        if grids is None:
            grids = {name: grid.copy() for name, grid in self.grids.items()}
        effects = [
            replace(effect, grids=tuple(grids[name] for name in effect.names))
            for effect in self.effects
        ]
        twin = Fold(effects, grids, alpha=self.smoothing.alpha, n_ice=self.recent.maxlen or 0)
        twin.columns, twin.seen, twin.t = self.columns, self.seen, self.t
        twin.outputs, twin.named = list(self.outputs), self.named
        twin.layout, twin.attic = self.layout, list(self.attic)
        twin.smoothing = self.smoothing.copy()
        twin.attic_smoothing = self.attic_smoothing.copy()
        twin.recent.extend(self.recent)
        twin.together.extend(self.together)
        twin.starts_at = self.starts_at
        twin.inherited, twin.lost = self.inherited, set(self.lost)
        return twin


def is_finite(values: FloatArray) -> bool:
    """Whether there is neither NaN nor infinity among the values, of shape (n, n, n)."""
    if kernels.current is not None and values.dtype == float:
        return bool(kernels.current.is_finite(values))
    return math.isfinite(np.add.reduce(values, axis=None))


def compatible(
    known: tuple[Label, ...], named: bool, labels: tuple[Label, ...] | None, n: int
) -> bool:
    """Whether a model that had the outputs `known` may have n outputs of these labels.

    Classes may appear; one number does not turn into classes, and outputs without names stay as
    many as they were.
    """
    if not known or not n:
        return True
    if labels is None or not named:
        return labels is None and not named and len(known) == n
    return (labels == PREDICTION) == (known == PREDICTION)


def _outputs_in_words(labels: tuple[Label, ...] | None, n: int) -> str:
    return f"{n} outputs" if labels is None else f"the outputs {list(labels)}"
