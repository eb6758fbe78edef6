"""What an explainer of accumulated local effects remembers, and the one step that changes it.

The mean local effect of each bin is a slot of `Means`, as the mean output at each point is for
partial dependence. An observation is in one bin of a feature: the others only age. A bin that is no
bin any more, because its edges have moved, is dormant, and ages: nothing is moved from one bin to
another. What the bins say together, whichever edges they have, is worked out where a curve is read
(`reading.py`). So segments of a stream can be merged exactly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.observations import arranged
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import FeatureName, FloatArray, Label, Observation, State
from ipdp.core.words import shown
from ipdp.explainers.ale.bins import (
    NONE,
    Axis,
    Bins,
    CategoryAxis,
    NumberAxis,
    Question,
)
from ipdp.explainers.ale.order import Row, ordered
from ipdp.explainers.memory import Memory
from ipdp.explainers.state.curve_memory import NOT_FINITE
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.saved import check_names, plain
from ipdp.explainers.state.targets import Target, admitted, tell_of_left_out
from ipdp.grid import Fixed, Grid
from ipdp.grid.base import LARGEST
from ipdp.models import Engine
from ipdp.models.base import Outputs

# So many recent observations are kept for the order of categories and the density over a pair, and
# the order is looked at again after as many.
_N_ROWS = 256
# An engine that compares its answers with plain calls does so for the first observations, and then
# for one of so many: there are fewer points to compare than those of a curve.
_FIRST, _CHECKED = 20, 16


class Effects(NamedTuple):
    """The local effects of one observation, checked."""

    layout: Layout
    outputs: list[Label]
    named: bool  # whether the model names its outputs
    slots: list[int]  # -1 for none
    values: FloatArray  # (n_outputs, n); those of slots after the n-th are 0


class AleMemory(Memory):
    """Grids, smoothed local effects, and where categories are in their order.

    Parameters
    ----------
    targets
        The features, and pairs, to follow.
    columns
        Names of all features, in the order of the first observation.
    alpha
        Smoothing parameter.
    by_gradient
        Whether the effects of numbers are taken from gradients.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        columns: tuple[FeatureName, ...],
        *,
        alpha: float | None,
        by_gradient: bool = False,
    ) -> None:
        super().__init__(columns)
        self.targets = list(targets)
        self.by_gradient = by_gradient
        self.grids = {n: g for t in targets for n, g in zip(t.names, t.grids, strict=True)}
        self.means = Means(0, alpha=alpha)
        self.rows: deque[Row] = deque(maxlen=_N_ROWS)
        self.orders: dict[FeatureName, tuple[Any, ...]] = {}
        self.n_asked = 0
        self._names = tuple(self.grids)
        self._updates = [grid.update for grid in self.grids.values()]
        self._only_numbers = all(grid.admits_numbers for grid in self.grids.values())
        self._intakes = [grid.intake for grid in self.grids.values()]
        self._bins: Bins | None = None
        self._watched: Any = None
        self._points: list[tuple[Grid, Any]] = []
        self._waiting = True
        self._left_out: list[Target] = []
        self._in_order: dict[FeatureName, Any] = {}
        # Not where there are neither pairs nor categories with names.
        self.keeps_rows = True

    # One observation.

    def ask(
        self,
        explainer: Any,
        x: Observation,
        y: Any,  # noqa: ARG002  (effects need no label)
        w: float,
    ) -> tuple[list[Any], Observation, Effects | None]:
        values = self.admit(x)
        question = self.question(values) if w else None
        if question is None:
            return values, x, None
        engine = explainer.engine
        row = arranged(x, self.columns) if engine.ordered else x
        is_checked = self.n_asked < _FIRST or self.n_asked % _CHECKED == 0
        answer, slopes = asked_about(engine, [row], [question], is_checked=is_checked)
        return values, x, self.effects(question, answer, slopes)

    def commit(
        self, asked: tuple[list[Any], Observation, Effects | None], w: float, t: float
    ) -> None:
        values, x, effects = asked
        if effects is not None:
            self.fold_in(effects, w, t)
        # The grids have the observation after it was explained, as in Algorithm 1.
        kernels.current.take_in(values, self._intakes, self._updates)
        if self.keeps_rows:
            self._keep(x)
            self._put_in_order(now=(self.seen + 1) % _N_ROWS == 0)
        elif self.rows:
            self.rows.clear()

    def admit(self, x: Observation) -> list[Any]:
        """The values that the grids will take, in their order; nothing changes."""
        if self._only_numbers:
            values: list[Any] | None = kernels.current.numbers_of(x, self._names, LARGEST)
            if values is not None:
                return values
        return admitted(self.grids, x)

    def question(self, values: Sequence[Any]) -> Question | None:
        """What to ask the model about an observation; None if it is in no bin."""
        if self._bins is None or self._is_stale():
            self._bins = self._bins_now()
        return self._bins.question(values) if self._bins.parts else None

    def effects(self, question: Question, answer: Outputs, slopes: FloatArray | None) -> Effects:
        """The local effects of one observation, or an error; nothing changes."""
        outputs, values = self.means.outputs, answer.values
        if answer.labels is None or answer.labels != self.means.labels:
            if slopes is not None:
                # Outputs without names keep their order; others are aligned by them.
                _, slopes = self.means.aligned(Outputs(answer.labels, slopes))
            outputs, values = self.means.aligned(answer)
        bins, slots = question.bins, question.slots
        found = bins.effects(values[0], None if slopes is None else slopes[0], question.widths)
        if NONE in slots:
            found = np.where(np.array(slots[: found.shape[1]]) >= 0, found, 0.0)
        if not kernels.current.are_below(found[None], LARGEST):
            raise ValueError(NOT_FINITE)
        return Effects(bins.layout, outputs, answer.labels is not None, slots, found)

    def fold_in(self, effects: Effects, w: float, t: float) -> None:
        """Fold checked effects in."""
        layout, outputs, named, slots, values = effects
        means = self.means
        if layout is not means.layout:
            means.adopt(means.layout if layout == means.layout else layout, t)
        if outputs is not means.outputs:
            means.add_outputs(outputs, named)
        if t >= means.blocks.until:
            means.blocks.advance(means.smoothing, t)
        means.smoothing.update_at(slots, values, w, t)
        self.n_asked += 1
        for number in layout.targets:
            self.targets[number].n += 1

    # The bins.

    def _is_stale(self) -> bool:
        """Whether an edge, a category or a feature came, went or moved."""
        if self._waiting or self._watched.changed():
            return True
        if self._left_out and any(target.ready for target in self._left_out):
            return True
        return any(grid.points is not points for grid, points in self._points)

    def _bins_now(self) -> Bins:
        self._left_out = [target for target in self.targets if target.looks_like is not None]
        if self._left_out:
            tell_of_left_out(self.targets)
        ready = [k for k, target in enumerate(self.targets) if target.ready]
        known = [target for target in self._left_out if target.is_told]
        self._waiting = len(ready) + len(known) < len(self.targets)
        # A grid that has chosen its kind of points may take values as they are.
        self._intakes = [grid.intake for grid in self.grids.values()]
        names = {name for k in ready for name in self.targets[k].names}
        axes = {name: self._axis(name) for name in self._names if name in names}
        grids = [self.grids[name] for name in axes]
        watches = [grid.watch for grid in grids]
        self._watched = kernels.current.Versions([w for w in watches if w is not None])
        self._watched.changed()
        self._points = [
            (grid, grid.points) for grid, w in zip(grids, watches, strict=True) if w is None
        ]
        places = {name: k for k, name in enumerate(self._names)}
        bins = Bins(self.targets, ready, places, axes, by_gradient=self.by_gradient)
        if bins.layout == self.means.layout:
            bins.layout = self.means.layout  # one object: nothing has changed
        self.keeps_rows = (
            self._waiting
            or any(t.is_pair for t in self.targets)
            or any(isinstance(axis, CategoryAxis) and axis.named for axis in axes.values())
        )
        return bins

    def _axis(self, name: FeatureName) -> Axis:
        grid = self.grids[name]
        points = grid.points
        if grid.categorical:
            return CategoryAxis(self._order_of(name))
        whole = grid.whole and points.dtype.kind in "iu"
        return NumberAxis(np.unique(points).tolist(), whole)

    def _order_of(self, name: FeatureName) -> tuple[Any, ...]:
        """The categories of a feature, in their order."""
        present = self.grids[name].points.tolist()
        known = self.orders.get(name, ())
        return known if set(known) == set(present) else self._ordered(name, present)

    def _ordered(self, name: FeatureName, present: list[Any]) -> tuple[Any, ...]:
        grid: Any = self.grids[name]
        if isinstance(getattr(grid, "grid", grid), Fixed):
            return tuple(present)  # the user's own order
        return ordered(present, self.columns.index(name), self.rows)

    def _put_in_order(self, *, now: bool) -> None:
        """Look at the order of categories again, where some came or went or it is time to."""
        for name, grid in self.grids.items():
            if not (grid.categorical and grid.ready):
                continue
            points = grid.points
            if not now and self._in_order.get(name) is points:
                continue
            self._in_order[name] = points
            present, known = points.tolist(), self.orders.get(name)
            if now or known is None or set(known) != set(present):
                order = self._ordered(name, present)
                if order != known:
                    self.orders[name] = order
                    self._bins = None

    def _keep(self, x: Observation) -> None:
        self.rows.append(tuple([_plain_value(x.get(name)) for name in self.columns]))

    def keep_rows(self, rows: Sequence[Observation]) -> None:
        """Take the order of categories from the rows of a table, which the grids have already."""
        for x in rows[:: max(1, len(rows) // _N_ROWS)]:
            self._keep(x)
        self._put_in_order(now=True)

    # Copies, and segments of a stream.

    def copy(self, grids: dict[FeatureName, Grid] | None = None) -> AleMemory:
        """An independent copy, with other grids if they are given."""
        if grids is None:
            grids = {name: grid.copy() for name, grid in self.grids.items()}
        targets = [
            replace(target, grids=tuple(grids[name] for name in target.names))
            for target in self.targets
        ]
        alpha = self.means.smoothing.alpha
        twin = AleMemory(targets, self.columns, alpha=alpha, by_gradient=self.by_gradient)
        twin.seen, twin.t, twin.starts_at = self.seen, self.t, self.starts_at
        twin.means = self.means.copy()
        twin.rows.extend(self.rows)
        twin.orders = dict(self.orders)
        twin.n_asked, twin.keeps_rows = self.n_asked, self.keeps_rows
        return twin

    def successor(self) -> AleMemory:
        later = self.copy()
        later.means = self.means.successor()
        for target in later.targets:
            target.n = 0
        later.starts_at = self.seen
        return later

    def merge(self, later: AleMemory) -> AleMemory:
        if [a.feature for a in self.targets] != [b.feature for b in later.targets]:
            raise ValueError("explainers can be merged only if they follow the same features")
        means = self.means.merge(later.means, later.targets)
        if later.follows(self):
            joined = later.copy()
        else:
            joined = later.copy({n: grid.merge(later.grids[n]) for n, grid in self.grids.items()})
            joined.rows.clear()
            joined.rows.extend([*self.rows, *later.rows])
            joined.n_asked += self.n_asked
            joined._put_in_order(now=True)
        joined.means = means
        joined.columns = self.columns
        joined.join_clocks(self, later)
        for target, before in zip(joined.targets, self.targets, strict=True):
            target.n += before.n
        return joined

    # State out and in.

    def _saved(self) -> State:
        means = self.means
        return {
            "outputs": encode_name(tuple(means.outputs)),
            "named": means.named,
            "grids": [plain(grid.state) for grid in self.grids.values()],
            "counts": [target.n for target in self.targets],
            "targets": list(means.layout.targets),
            "bins": encode_name(means.layout.keys),
            "whole": encode_name(means.layout.whole),
            "dormant": encode_name(tuple(means.dormant)),
            "inherited": encode_name(tuple(sorted(means.inherited, key=repr))),
            "lost": encode_name(tuple(sorted(means.lost, key=repr))),
            "back": encode_name(tuple(sorted(means.back, key=repr))),
            "smoothing": means.smoothing.state,
            "dormant_smoothing": means.dormant_smoothing.state,
            "blocks": means.blocks.state,
            "rows": [encode_name(row) for row in self.rows],
            "orders": [encode_name((name, order)) for name, order in self.orders.items()],
            "n_asked": self.n_asked,
            "keeps_rows": self.keeps_rows,
        }

    def _restore(self, state: State) -> None:
        for grid, saved in zip(self.grids.values(), state["grids"], strict=True):
            grid.state = saved
        schema.check(state, counts=schema.each(schema.count), n_asked=schema.count)
        schema.check(state, keeps_rows=schema.flag)
        for target, n in zip(self.targets, state["counts"], strict=True):
            target.n = n
        means = self.means
        check_names(state, ("dormant", "inherited", "lost", "back"))
        means.outputs, means.named = list(decode_name(state["outputs"])), state["named"]
        means.layout = _restored_bins(self.targets, state)
        means.dormant = list(decode_name(state["dormant"]))
        means.inherited = frozenset(decode_name(state["inherited"]))
        means.lost, means.back = (set(decode_name(state[name])) for name in ("lost", "back"))
        means.smoothing = Smoothing.from_state(state["smoothing"])
        means.dormant_smoothing = Smoothing.from_state(state["dormant_smoothing"])
        for smoothing, n in (
            (means.smoothing, means.layout.n_points),
            (means.dormant_smoothing, len(means.dormant)),
        ):
            if smoothing.mean.shape != (len(means.outputs), n):
                raise ValueError(
                    f"the state is damaged: there are {n} bins of {len(means.outputs)} outputs, "
                    f"and means of the shape {smoothing.mean.shape}"
                )
        means.blocks = means.empty_blocks()
        means.blocks.restore(state["blocks"])
        self.must_be_past(means.smoothing.t, means.dormant_smoothing.t, means.blocks.last)
        schema.check(state, rows=schema.each(schema.parts))
        if any(len(row) != len(self.columns) for row in state["rows"]):
            raise ValueError("the state is damaged: a row has not a value for each column")
        self.rows.extend(decode_name(row) for row in state["rows"])
        self.orders = dict(decode_name(item) for item in state["orders"])
        self.n_asked, self.keeps_rows = state["n_asked"], state["keeps_rows"]
        self._bins = None


def _restored_bins(targets: Sequence[Target], state: State) -> Layout:
    """The layout of the bins of a state, or an error."""
    schema.check(state, targets=schema.each(schema.below(len(targets))))
    keys, whole = decode_name(state["bins"]), decode_name(state["whole"])
    if not len(state["targets"]) == len(keys) == len(whole) == len(set(state["targets"])):
        raise ValueError("the state is damaged: its bins are not those of its features")
    dormant = decode_name(state["dormant"])
    for number, own, flags in zip(state["targets"], keys, whole, strict=True):
        n_axes = len(targets[number].names)
        schema.check({"whole": flags}, whole=schema.each(schema.flag, n_axes))
        asleep = [key for n, key in dormant if n == number]
        if not own or not all(is_bin(key, n_axes) for key in (*own, *asleep)):
            raise ValueError(f"the state is damaged: {shown(own)} are no bins")
    return Layout.of(targets, state["targets"], keys, whole)


def is_bin(key: Any, n_axes: int) -> bool:
    """Whether this can be the key of a bin: two ends, or a category; for pairs one of each."""
    if not isinstance(key, tuple):
        return False
    if n_axes == 2:
        return len(key) == 2 and all(is_bin(part, 1) for part in key)
    if len(key) == 1:
        return schema.name.fits(key[0])
    return len(key) == 2 and all(map(schema.name.fits, key))


def asked_about(
    engine: Engine,
    rows: Sequence[Observation],
    questions: Sequence[Question],
    *,
    is_checked: bool = True,
) -> tuple[Outputs, FloatArray | None]:
    """The answers to questions with the same probes, and the gradients where they are asked for."""
    first = questions[0]
    slopes = None
    answer: Outputs | None = None
    if first.bins.slopes:
        answer, slopes = engine.gradients(rows, first.bins.slopes)
    if first.probes:
        ask = engine.ice if is_checked else engine.ice_again
        one = len(questions) == 1
        positions = first.positions[None] if one else np.array([q.positions for q in questions])
        answer = ask(rows, first.probes, positions)
    assert answer is not None
    return answer, slopes


def _plain_value(value: Any) -> Any:
    """A value as the order of categories is taken from: a number, a category, or None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, Real):
        number = float(value)
        return value if -LARGEST < number < LARGEST else None
    return None
