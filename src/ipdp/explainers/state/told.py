"""How much the curves tell of the model: the share of the variance of its predictions.

The smoothed variance of what the curves do not say compares each observation with the curves of its
own time. Those of a model that learns lag behind it, and what is missing then is no interaction.
Some of the last observations are therefore kept with what the model said of them, and compared with
the curves of today. As far as the curves say more of them than they did at the time, these count
instead of the smoothed ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.jsonable import decode_name, encode_name, pack_floats, unpack_floats
from ipdp.core.typing import Array, FloatArray, State

# So many are kept, over half of the time that the smoothing reaches back.
_SIZE, _REACH = 256, 0.5
# If today's curves leave this share less of the last observations than the curves of their time
# did, the smoothed variances begin to be out of date; with the second they are.
_FEW, _MANY = 0.1, 0.5


class Told(NamedTuple):
    """One observation: its values, the model's outputs, and what the curves did not say of them."""

    own: list[Any]
    said: FloatArray  # (n_outputs,)
    rest: FloatArray


class Recent:
    """Some of the last observations."""

    def __init__(self, alpha: float | None) -> None:
        self.every = 4 if alpha is None else max(1, round(_REACH / (alpha * _SIZE)))
        self.kept: deque[Told] = deque(maxlen=_SIZE)

    def with_outputs(self, rows: Sequence[int]) -> Recent:
        """The same with other outputs; -1 stands for one that has been 0 so far."""
        twin = Recent(None)
        twin.every = self.every

        def ordered(values: FloatArray) -> FloatArray:
            return np.array([values[k] if 0 <= k < len(values) else 0.0 for k in rows])

        twin.kept.extend(Told(k.own, ordered(k.said), ordered(k.rest)) for k in self.kept)
        return twin

    def share(
        self,
        smoothed: tuple[FloatArray, FloatArray],
        effects: Iterable[tuple[int, Curves]],
    ) -> FloatArray:
        """The share that curves tell of each output, NaN where that is not known.

        Parameters
        ----------
        smoothed
            The smoothed variances of the predictions, and of what the curves did not say.
        effects
            For each curve which value of an observation is its feature's, and the curve.
        """
        whole, rest = smoothed
        if len(self.kept) > 1:
            said = np.array([k.said for k in self.kept])
            left = said.copy()
            for place, curve in effects:
                left -= curve.at([k.own[place] for k in self.kept])
            then = np.array([k.rest for k in self.kept]).var(axis=0)
            now = left.var(axis=0)
            better = 1 - now / np.where(then > 0, then, 1.0)
            late = ((better - _FEW) / (_MANY - _FEW)).clip(0.0, 1.0)
            whole = whole + late * (said.var(axis=0) - whole)
            rest = rest + late * (now - rest)
        known = whole > 0
        return np.where(known, 1 - rest / np.where(known, whole, 1.0), np.nan)

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        numbers = [np.concatenate([k.said, k.rest]) for k in self.kept]
        return {
            "own": [[encode_name(value) for value in k.own] for k in self.kept],
            "numbers": pack_floats(np.concatenate([np.empty(0), *numbers])),
        }

    def restore(self, state: State) -> None:
        """Take what `state` gave."""
        own = [list(map(decode_name, values)) for values in state["own"]]
        numbers = unpack_floats(state["numbers"])
        if len(numbers) % (2 * max(len(own), 1)):
            raise ValueError("the state is damaged: its last observations are not complete")
        table = numbers.reshape(len(own), 2, -1) if own else ()
        self.kept.clear()
        self.kept.extend(Told(o, *pair) for o, pair in zip(own, table, strict=True))


class Curves:
    """One curve, all outputs, to be read off at the values of observations.

    Parameters
    ----------
    values
        Of shape (n_outputs, n_points).
    positions
        Of the points, ascending; None for categories.
    categories
        The number of each category's point.
    missing
        The outputs for a missing value; None if they are not known.
    """

    def __init__(
        self,
        values: FloatArray,
        positions: FloatArray | None,
        categories: Mapping[Any, int],
        missing: FloatArray | None,
    ) -> None:
        self.values = values
        self.positions = positions
        self.categories = categories
        self.missing = missing

    def at(self, own: Sequence[Any]) -> FloatArray:
        """The curve at some values, (n, n_outputs); where it says nothing, the mean of the rest."""
        found = np.full((len(own), len(self.values)), np.nan)
        numbers = self.positions is not None
        known = [
            k for k, v in enumerate(own) if v is not None and (numbers or v in self.categories)
        ]
        if known and self.values.shape[1]:
            if self.positions is not None:
                found[known] = _on_lines(
                    self.positions, self.values, np.array([own[k] for k in known], dtype=float)
                )
            else:
                found[known] = self.values[:, [self.categories[own[k]] for k in known]].T
        if self.missing is not None:
            found[[k for k, v in enumerate(own) if v is None]] = self.missing
        unknown = np.isnan(found).any(axis=1)
        found[unknown] = found[~unknown].mean(axis=0) if not unknown.all() else 0.0
        return found


def _on_lines(at: FloatArray, values: FloatArray, x: Array) -> FloatArray:
    """Values between the points, and as far beyond them as the kernel goes, (n, n_outputs)."""
    if len(at) < 2:
        return np.repeat(values.T, len(x), axis=0)
    right = np.clip(np.searchsorted(at, x, side="right"), 1, len(at) - 1)
    left = right - 1
    width = at[right] - at[left]
    share = np.where(width > 0, (x - at[left]) / np.where(width > 0, width, 1.0), 0.0)
    share = share.clip(-1.0, 2.0)[:, None]
    return values.T[left] + share * (values.T[right] - values.T[left])


def go_on(rows: FloatArray, values: FloatArray, was: FloatArray, now: FloatArray) -> None:
    """Let rows that were carried to other positions go on as lines beyond the ends of before."""
    for end, next_to_it, beyond in ((0, 1, now < was[0]), (-1, -2, now > was[-1])):
        run = was[end] - was[next_to_it]
        if beyond.any() and run != 0:
            slope = (values[:, end] - values[:, next_to_it]) / run
            rows[:, beyond] = values[:, end, None] + slope[:, None] * (now[beyond] - was[end])
