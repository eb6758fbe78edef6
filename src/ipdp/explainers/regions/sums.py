"""Means and spreads of ICE curves by the parts of every other feature.

For each *axis*, a feature by which observations may be told apart, and each of its parts, a row,
there are the weight, mean and spread of the ICE curves of the observations in it, at each point of
all curves: as they are, and centred, each by its own mean over the *anchors*, points that stay. A
new point is no anchor, so that centred curves do not change because a point came. Any split of an
axis follows from these sums (`splits.py`).

Observations wait until there are `_BLOCK` of them and are folded in together. Reading does not
change anything: it looks at a copy that has those that wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.blocks import Blocks
from ipdp.core.jsonable import decode_name, encode_name, pack_floats, unpack_floats
from ipdp.core.smoothing import Smoothing, pick
from ipdp.core.typing import Array, FeatureName, FloatArray, State
from ipdp.explainers.regions.axis import N_ROWS, NOWHERE, Axis
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.records import IceRecord
from ipdp.explainers.state.targets import MISSING
from ipdp.grid.base import Key

# So many observations are folded in together.
_BLOCK = 64
# With fewer than this share of the points anchors, a curve is centred, and begins, anew.
_ANCHORED = 0.3

_ROUNDING = 1e-13

_ARRAYS = ("weight", "squares", "mean", "spread")
# What those of a state stay below.
_MOST = {
    "weight": schema.LARGEST_WEIGHT,
    "squares": schema.LARGEST_SQUARES,
    "mean": schema.LARGEST_MEAN,
    "spread": schema.LARGEST_SQUARES,
}


class Waiting(NamedTuple):
    """An observation that is not folded in yet."""

    values: FloatArray  # (n_outputs, n_columns)
    own: list[Any]  # of the axes
    w: float
    t: float


class Column(NamedTuple):
    """A point of a curve: the number of its target, and its key."""

    target: int
    key: Key


class RegionSums:
    """The sums of all axes.

    Parameters
    ----------
    names
        The axes, in the order in which an observation's own values come.
    alpha
        Smoothing parameter.

    Attributes
    ----------
    columns
        The points of all curves of one feature.
    weight
        Of shape (n_axes, N_ROWS, n_columns), and `squares`, the sums of squared weights.
    mean, spread
        Of shape (n_axes, N_ROWS, 2 n_outputs, n_columns): first the curves as they are, then the
        centred ones. They are as of the last time that waiting observations were
        folded in.
    centred
        The smoothed centred curves of all observations, and their `blocks`.
    """

    def __init__(self, names: Sequence[FeatureName], *, alpha: float | None) -> None:
        self.alpha = alpha
        self._decay = 1.0 if alpha is None else 1.0 - alpha
        every = 4 if alpha is None else max(1, round(1 / (256 * alpha)))
        self.axes = [Axis(name, every=every) for name in names]
        self.n_outputs = 0
        self.columns: list[Column] = []
        self.anchors: Array = np.empty(0, dtype=bool)
        self.positions: FloatArray = np.empty(0)
        self.n = 0  # number of observations
        self.t: float | None = None
        self._as_of: float | None = None  # when the sums were last brought up to date
        self._waiting: list[Waiting] = []
        self._layout: Layout | None = None
        self._picked: Array = np.empty(0, dtype=int)
        # How often an observation of one row followed one of another, (n_axes, N_ROWS, N_ROWS).
        self.turns: FloatArray = np.zeros((len(self.axes), N_ROWS, N_ROWS))
        self._last: Array = np.full(len(self.axes), NOWHERE)
        self._make(0, 0)
        self.centred = Smoothing(alpha=alpha, n_rows=0, n_columns=0)
        self.blocks = Blocks(alpha=alpha, n_rows=0, n_columns=0)

    def _make(self, n_outputs: int, n_columns: int) -> None:
        shape = (len(self.axes), N_ROWS)
        self.weight: FloatArray = np.zeros((*shape, n_columns))
        self.squares: FloatArray = np.zeros((*shape, n_columns))
        self.mean: FloatArray = np.zeros((*shape, 2 * n_outputs, n_columns))
        self.spread: FloatArray = np.zeros_like(self.mean)

    # One observation.

    def fold(self, record: IceRecord, own: list[Any], w: float, t: float) -> None:
        """Take what the model said of one observation, with its own values of the axes."""
        layout, positions, values = record
        if layout is not self._layout:
            self._adopt(layout)
        if len(values) != self.n_outputs:
            self.flush()
            self._take_outputs([*range(self.n_outputs), *[-1] * (len(values) - self.n_outputs)])
        self.positions = positions[0].take(self._picked)
        self.n, self.t = self.n + 1, float(t)
        taken = values.take(self._picked, axis=1)
        self._waiting.append(Waiting(taken, own, float(w), float(t)))
        if len(self._waiting) >= _BLOCK:
            self.flush()

    def _adopt(self, layout: Layout) -> None:
        """Take the points of another layout; those that have gone are forgotten."""
        picked, columns = [], []
        for number, keys, probe in zip(layout.targets, layout.keys, layout.probes, strict=True):
            if len(probe.names) == 1:
                known = [(k, key) for k, key in enumerate(keys) if key is not MISSING]
                picked += [probe.start + k for k, _ in known]
                columns += [Column(number, key) for _, key in known]
        self._layout, self._picked = layout, np.array(picked, dtype=int)
        if columns != self.columns:
            self.flush()
            self._take_columns(columns)

    def _take_columns(self, columns: list[Column]) -> None:
        known = {column: k for k, column in enumerate(self.columns)}
        at = np.array([known.get(column, -1) for column in columns], dtype=int)
        anchors = pick(self.anchors.astype(float), at, axis=0) > 0
        numbers = np.array([column.target for column in columns])
        for number in dict.fromkeys(numbers.tolist()):
            own = numbers == number
            if anchors[own].sum() < max(_ANCHORED * own.sum(), 1):
                anchors[own], at[own] = True, -1
        before = self.anchors
        self.columns, self.anchors = columns, anchors
        self._arrange(at)
        if not np.array_equal(before, anchors):
            self._centre_means()

    def _centre_means(self) -> None:
        """Have the mean of each centred curve be 0 over the anchors that are left."""
        rows = slice(self.n_outputs, None)
        self.mean[:, :, rows] = self._centred(self.mean[:, :, rows])
        self.centred.mean = self._centred(self.centred.mean)
        weight, mean = self.blocks.weight.copy(), self._centred(self.blocks.mean)
        self.blocks = self.blocks.with_values(weight, mean)
        self.blocks.restart(self.centred)

    def _arrange(self, at: Array, rows: Sequence[int] | None = None) -> None:
        """Take some columns, and outputs; -1 stands for a new one."""
        self.weight, self.squares = (pick(a, at, axis=2) for a in (self.weight, self.squares))
        self.mean, self.spread = (pick(a, at, axis=3) for a in (self.mean, self.spread))
        self.blocks.close(self.centred)
        if rows is not None:
            twice = [*rows, *(self.n_outputs + k if k >= 0 else -1 for k in rows)]
            self.mean, self.spread = (pick(a, twice, axis=2) for a in (self.mean, self.spread))
            self.n_outputs = len(rows)
        self.centred = self.centred.take(at, rows=rows)
        self.blocks = self.blocks.take(at, rows=rows)
        self.blocks.restart(self.centred)

    def _take_outputs(self, rows: Sequence[int]) -> None:
        """Take other outputs; -1 stands for one that has been 0 so far."""
        self._arrange(np.arange(len(self.columns)), rows)

    # Many observations.

    def flush(self) -> None:
        """Fold in those that wait."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        values = np.array([one.values for one in waiting])
        w, t = (np.array([getattr(one, name) for one in waiting]) for name in ("w", "t"))
        centred = self._centred(values)
        self._smooth(centred, w, t)
        by_axis = list(zip(*(one.own for one in waiting), strict=True))
        for k, (axis, own) in enumerate(zip(self.axes, by_axis, strict=True)):
            axis.take(own)
            shares = axis.renewed(self.weight[k].max(axis=1, initial=0.0))
            if shares is not None:
                self._share_out(k, shares)
        rows = np.array([axis.locate(own) for axis, own in zip(self.axes, by_axis, strict=True)])
        self._fold_many(np.concatenate([values, centred], axis=1), rows, w, t)

    def _centred(self, values: FloatArray) -> FloatArray:
        """Each curve minus its mean over the anchors; values of shape (..., n_columns)."""
        if not self.columns:
            return values
        numbers = np.array([column.target for column in self.columns])
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        share = self.anchors / np.repeat(
            np.add.reduceat(self.anchors.astype(float), starts), np.diff([*starts, len(numbers)])
        )
        # From the first point, so that rounding is that of differences.
        first = np.repeat(values[..., starts], np.diff([*starts, len(numbers)]), axis=-1)
        values = values - first
        levels = np.add.reduceat(values * share, starts, axis=-1)
        return np.asarray(
            values - np.repeat(levels, np.diff([*starts, len(numbers)]), axis=-1), dtype=float
        )

    def _smooth(self, centred: FloatArray, w: FloatArray, t: FloatArray) -> None:
        """The same as `Means.fold_many`: blocks end where the clock says."""
        start = 0
        while start < len(t):
            if t[start] >= self.blocks.until:
                self.blocks.advance(self.centred, float(t[start]))
            stop = max(start + 1, int(np.searchsorted(t, self.blocks.until)))
            part = slice(start, stop)
            self.centred.update_many(centred[part], w[part], t[part])
            start = stop

    def _share_out(self, k: int, shares: FloatArray) -> None:
        """Let the sums of one axis go to other rows."""
        weight = self.weight[k]
        total = shares @ weight
        known = np.where(total > 0, total, 1.0)[:, None]
        around = self.mean[k].max(axis=0)  # so that a constant stays what it is
        off = self.mean[k] - around
        mean = _weighted(shares, weight[:, None] * off) / known
        squares = _weighted(shares, self.spread[k] + weight[:, None] * off * off)
        self.spread[k] = _difference(squares, total[:, None] * mean * mean)
        self.mean[k] = np.where(total[:, None] > 0, around + mean, 0.0)
        self.weight[k], self.squares[k] = total, shares @ self.squares[k]
        self.turns[k] = shares @ self.turns[k] @ shares.T
        self._last[k] = NOWHERE

    def _fold_many(self, values: FloatArray, rows: Array, w: FloatArray, t: FloatArray) -> None:
        """Fold many observations in: values (n, 2 n_outputs, n_columns), rows (n_axes, n)."""
        last = float(t[-1])
        self._age(last)
        weights = w * np.power(self._decay, last - t)
        around = values[0].ravel()
        off = values.reshape(len(t), -1) - around
        both = np.concatenate([off, off * off], axis=1)
        for k, own in enumerate(rows):
            before = np.concatenate([self._last[k : k + 1], own[:-1]])
            known = (before != NOWHERE) & (own != NOWHERE)
            np.add.at(self.turns[k], (before[known], own[known]), weights[known])
            self._last[k] = own[-1]
            there = np.unique(own[own != NOWHERE])
            if not len(there):
                continue
            chosen = np.where(own == there[:, None], weights, 0.0)
            weight, squares = (a.sum(axis=1, keepdims=True) for a in (chosen, chosen * chosen))
            first, second = np.split(chosen @ both, 2, axis=1)
            mean = first / np.where(weight > 0, weight, 1.0)
            spread = _difference(second, mean * first)
            shape = (len(there), *values.shape[1:])
            sums = weight, squares, (around + mean).reshape(shape), spread.reshape(shape)
            self._join(k, there, sums)

    def _age(self, t: float) -> None:
        """Have the sums be as of a later time."""
        decay = 1.0 if self._as_of is None else float(self._decay ** (t - self._as_of))
        self.weight *= decay
        self.spread *= decay
        self.turns *= decay
        self.squares *= decay * decay
        self._as_of = t

    def _join(self, k: int, rows: Array, sums: tuple[FloatArray, ...]) -> None:
        """Take further sums of some rows of an axis, of the same time."""
        weight, squares, mean, spread = sums
        before = self.weight[k, rows]
        total = before + weight
        share = (weight / np.where(total > 0, total, 1.0))[:, None]
        off = mean - self.mean[k, rows]
        step = off * share
        self.mean[k, rows] += step
        step *= off
        step *= before[:, None]
        step += spread
        self.spread[k, rows] += step
        self.squares[k, rows] += squares
        self.weight[k, rows] = total

    # Copies, and segments of a stream.

    def empty(self) -> RegionSums:
        """Sums of the same axes without any observation."""
        return RegionSums([axis.name for axis in self.axes], alpha=self.alpha)

    def copy(self) -> RegionSums:
        """An independent copy."""
        twin = self.empty()
        vars(twin).update(vars(self))
        twin.axes = [axis.copy() for axis in self.axes]
        for name in (*_ARRAYS, "turns", "_last"):
            setattr(twin, name, getattr(self, name).copy())
        twin.centred, twin.blocks = self.centred.copy(), self.blocks.copy()
        twin._waiting = list(self._waiting)
        return twin

    def flushed(self) -> RegionSums:
        """A copy in which nothing waits."""
        twin = self.copy()
        twin.flush()
        return twin

    def merge(
        self, later: RegionSums, rows: Sequence[int], later_rows: Sequence[int]
    ) -> RegionSums:
        """The sums of both, with the points of the later one and the outputs of these rows."""
        mine, theirs = self.flushed(), later.flushed()
        for sums, own in ((mine, rows), (theirs, later_rows)):
            sums._take_outputs(own)
        if not theirs.n or not mine.n:
            return mine if mine.n else theirs
        mine._take_parts_of(theirs)
        assert mine._as_of is not None
        assert theirs._as_of is not None
        t = max(mine._as_of, theirs._as_of)
        for sums in (mine, theirs):
            sums._age(t)
        for k in range(len(mine.axes)):
            mine._join(k, np.arange(N_ROWS), tuple(getattr(theirs, name)[k] for name in _ARRAYS))
        mine.turns, mine._last = mine.turns + theirs.turns, theirs._last
        for sums in (mine, theirs):
            sums.blocks.close(sums.centred)
        mine.centred, mine.blocks = (
            getattr(mine, name).merge(getattr(theirs, name)) for name in ("centred", "blocks")
        )
        mine.blocks.restart(mine.centred)
        mine.n, mine.t = mine.n + theirs.n, t
        mine.positions = theirs.positions
        mine._layout, mine._picked = theirs._layout, theirs._picked
        return mine

    def _take_parts_of(self, later: RegionSums) -> None:
        """Take the points and the parts of a later one; both are centred alike from then on."""
        self._take_columns(later.columns)
        common = self.anchors & later.anchors
        numbers = np.array([column.target for column in self.columns])
        at = np.arange(len(numbers))
        for number in dict.fromkeys(numbers.tolist()):
            own = numbers == number
            if not common[own].any():  # then nothing of before can be compared with it
                common[own], at[own] = later.anchors[own], -1
        self._arrange(at)
        for sums in (self, later):
            sums.anchors = common
            sums._centre_means()
        for k, axis in enumerate(self.axes):
            self.axes[k], shares = axis.merged(later.axes[k])
            self._share_out(k, shares)

    # State out and in.

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        return {
            "n": self.n,
            "t": self.t,
            "as_of": self._as_of,
            "n_outputs": self.n_outputs,
            "axes": [axis.state for axis in self.axes],
            "columns": encode_name(tuple(tuple(column) for column in self.columns)),
            "anchors": self.anchors.astype(int).tolist(),
            "positions": self.positions.tolist(),
            **{name: pack_floats(getattr(self, name)) for name in _ARRAYS},
            "turns": pack_floats(self.turns),
            "last": self._last.tolist(),
            "centred": self.centred.state,
            "blocks": self.blocks.state,
            "waiting": [
                [pack_floats(one.values), [encode_name(v) for v in one.own], one.w, one.t]
                for one in self._waiting
            ],
        }

    def restore(self, state: State, _layout: Any, n_outputs: int) -> None:
        """Take what `state` gave."""
        may = schema.maybe
        schema.check(state, n=schema.count, t=may(schema.number), as_of=may(schema.number))
        schema.check(state, n_outputs=schema.below(n_outputs + 1))
        for axis, saved in zip(self.axes, state["axes"], strict=True):
            axis.restore(saved)
        self.n, self.t, self._as_of = state["n"], state["t"], state["as_of"]
        self.n_outputs = int(state["n_outputs"])
        self.columns = [Column(*column) for column in decode_name(state["columns"])]
        numbers = [column.target for column in self.columns]
        if len({*self.columns}) < len(numbers) or numbers != sorted(numbers):
            raise ValueError("the state is damaged: the points of its regions are in no order")
        self.anchors = np.array(state["anchors"], dtype=bool)
        self.positions = np.array(state["positions"], dtype=float)
        n = len(self.columns)
        self._make(self.n_outputs, n)
        for name in _ARRAYS:
            values, shape = unpack_floats(state[name]), getattr(self, name).shape
            schema.must_fit(f"{name} of the regions", values, shape, most=_MOST[name])
            setattr(self, name, values)
        turns = unpack_floats(state["turns"]).reshape(self.turns.shape)
        schema.must_fit("turns", turns, self.turns.shape, most=schema.LARGEST_WEIGHT)
        self.turns = turns
        self._last = np.array(state["last"], dtype=int).reshape(self._last.shape)
        self.centred = Smoothing.from_state(state["centred"])
        if self.centred.mean.shape != (self.n_outputs, n) or len(self.anchors) != n:
            raise ValueError("the state is damaged: the centred curves do not fit the points")
        self.blocks = Blocks(alpha=self.alpha, n_rows=self.n_outputs, n_columns=n)
        self.blocks.restore(state["blocks"])
        schema.must_fit("positions", self.positions, (n,), finite=False)
        # The mean over the anchors of a curve is what it is centred on.
        if {k for k, anchor in zip(numbers, self.anchors, strict=True) if anchor} != {*numbers}:
            raise ValueError("the state is damaged: a curve of its regions has no anchors")
        self._waiting = [self._restored(*saved) for saved in state["waiting"]]
        for before in (self._as_of, self.centred.t):
            schema.must_ascend([before, *(one.t for one in self._waiting), self.t])
        schema.must_ascend([self.blocks.last, self.centred.t])

    def _restored(self, packed: State, own: list[Any], w: float, t: float) -> Waiting:
        values = unpack_floats(packed)
        shape = self.n_outputs, len(self.columns)
        schema.must_fit("waiting", values, shape, most=schema.LARGEST_MEAN)
        schema.check({"w": w, "t": t}, w=schema.weight, t=schema.number)
        if len(own) != len(self.axes):
            raise ValueError("the state is damaged: an observation has not a value for each axis")
        return Waiting(values, [decode_name(v) for v in own], w, t)


def _difference(one: FloatArray, other: FloatArray) -> FloatArray:
    """A sum of squares minus another; 0 where only rounding is left of it."""
    left = one - other
    return np.where(left > _ROUNDING * one, left, 0.0)


def _weighted(shares: FloatArray, values: FloatArray) -> FloatArray:
    """Sums over rows, of shape (n_rows, ...), by the shares of the new rows in the old ones."""
    return np.asarray(np.tensordot(shares, values, axes=1))
