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
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import kernels
from ipdp.core.observations import arranged
from ipdp.core.typing import FeatureName, FloatArray, Label, Observation, State
from ipdp.explainers.ale.bins import (
    NO_WIDTHS,
    Axis,
    Bins,
    CategoryAxis,
    NumberAxis,
    Question,
    asked_about,
)
from ipdp.explainers.ale.order import Row, ordered
from ipdp.explainers.ale.saved import restore, saved_state
from ipdp.explainers.state.curve_memory import NOT_FINITE
from ipdp.explainers.state.folding import FoldingMemory
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.targets import Target, tell_of_left_out
from ipdp.grid import Fixed, Grid
from ipdp.grid.base import LARGEST
from ipdp.models.base import Outputs

# So many recent observations are kept for the order of categories and the density over a pair, and
# the order is looked at again after as many.
_N_ROWS = 256
# An engine that compares its answers with plain calls does so for the first observations, and then
# for one of so many: there are fewer points to compare than those of a curve.
_FIRST, _CHECKED = 20, 64


# So many observations are folded in together.
_TOGETHER = 32


class Answered(NamedTuple):
    """What the model said of one observation, checked: its local effects follow from it."""

    question: Question
    outputs: list[Label]
    named: bool  # whether the model names its outputs
    values: FloatArray  # (n_outputs, n_points)
    slopes: FloatArray | None  # (n_outputs, n_features)


class AleMemory(FoldingMemory):
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
        super().__init__(targets, columns, Means(0, alpha=alpha, dormant_blocks=True))
        self.by_gradient = by_gradient
        self._bins_of_last: Bins | None = None
        self.rows: deque[Row] = deque(maxlen=_N_ROWS)
        self.orders: dict[FeatureName, tuple[Any, ...]] = {}
        self.n_asked = 0
        self._bins: Bins | None = None
        self._watched: Any = None
        self._are_unwatched = False
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
    ) -> tuple[list[Any], Observation, Answered | None]:
        values = self.admit(x)
        question = self.question(values) if w else None
        if question is None:
            return values, x, None
        engine = explainer.engine
        row = arranged(x, self.columns) if engine.ordered else x
        is_checked = self.n_asked < _FIRST or self.n_asked % _CHECKED == 0
        answer, slopes = asked_about(engine, [row], [question], is_checked=is_checked)
        return values, x, self.answered(question, answer, slopes)

    def commit(
        self, asked: tuple[list[Any], Observation, Answered | None], w: float, t: float
    ) -> None:
        values, x, answered = asked
        if answered is not None:
            self.fold_in(answered, w, t)
        # The grids have the observation after it was explained, as in Algorithm 1.
        kernels.current.take_in(values, self._intakes, self._updates)
        if self.keeps_rows:
            self._keep(x)
            self._put_in_order(now=(self.seen + 1) % _N_ROWS == 0)
        elif self.rows:
            self.rows.clear()

    def question(self, values: list[Any]) -> Question | None:
        """What to ask the model about an observation; None if it is in no bin."""
        if self._bins is None or self._is_stale():
            self._bins = self._bins_now()
        return self._bins.question(values) if self._bins.parts else None

    def answered(self, question: Question, answer: Outputs, slopes: FloatArray | None) -> Answered:
        """What the model said of one observation, or an error; nothing changes."""
        means = self._means
        outputs, values = means.outputs, answer.values
        if answer.labels is None or answer.labels != means.labels:
            if slopes is not None:
                # Outputs without names keep their order; others are aligned by them.
                _, slopes = means.aligned(Outputs(answer.labels, slopes))
            outputs, values = means.aligned(answer)
        # The effect of a cell is the sum of four answers.
        if slopes is not None or not kernels.current.are_below(values, LARGEST / 4):
            self._check(question, values, slopes)
        # Copies: the arrays may be the model's own, or those of many observations.
        own = None if slopes is None else slopes[0].copy()
        return Answered(question, outputs, answer.labels is not None, values[0].copy(), own)

    @staticmethod
    def _check(question: Question, values: FloatArray, slopes: FloatArray | None) -> None:
        """Raise unless all effects that have a slot are numbers."""
        found = question.bins.effects(values, slopes, question.widths[None])
        found = found[:, :, question.slots[: found.shape[2]] >= 0]
        if not kernels.current.are_below(found, LARGEST):
            raise ValueError(NOT_FINITE)

    def fold_in(self, answered: Answered, w: float, t: float) -> None:
        """Take checked answers."""
        bins, outputs, means = answered.question.bins, answered.outputs, self._means
        if bins is not self._bins_of_last or outputs is not means.outputs:
            self._fold()
            self._bins_of_last, layout = bins, bins.layout
            if layout is not means.layout:
                means.adopt(means.layout if layout == means.layout else layout, t)
            if outputs is not means.outputs:
                means.add_outputs(outputs, answered.named)
        self.n_asked += 1
        self._unfolded.append((answered, w, t))
        if len(self._unfolded) >= _TOGETHER:
            self._fold()

    def _fold_together(self, last: list[tuple[Answered, float, float]]) -> None:
        answered, w, t = map(list, zip(*last, strict=True))
        questions = [one.question for one in answered]
        slopes, widths = None, NO_WIDTHS
        if answered[0].slopes is not None:
            slopes = np.array([one.slopes for one in answered])
            widths = np.array([question.widths for question in questions])
        answers = np.array([one.values for one in answered])
        effects = questions[0].bins.effects(answers, slopes, widths)
        slots = np.array([question.slots for question in questions])
        self._means.fold_many_at(slots, effects, w, t)

    def __getstate__(self) -> State:
        # The bins are found again.
        return {**super().__getstate__(), "_bins": None, "_bins_of_last": None}

    # The bins.

    def _is_stale(self) -> bool:
        """Whether an edge, a category or a feature came, went or moved."""
        if self._waiting:
            return True
        if self._left_out and any(target.ready for target in self._left_out):
            return True
        if not self._watched.changed() and not self._are_unwatched:
            return False
        return any(grid.points is not points for grid, points in self._points)

    def _bins_now(self) -> Bins:
        self._left_out = [target for target in self._targets if target.looks_like is not None]
        if self._left_out:
            tell_of_left_out(self._targets)
        ready = [k for k, target in enumerate(self._targets) if target.ready]
        known = [target for target in self._left_out if target.is_told]
        self._waiting = len(ready) + len(known) < len(self._targets)
        # A grid that has chosen its kind of points may take values as they are.
        self._intakes = [grid.intake for grid in self.grids.values()]
        names = {name for k in ready for name in self._targets[k].names}
        axes = {name: self._axis(name) for name in self._names if name in names}
        grids = [self.grids[name] for name in axes]
        watches = [grid.watch for grid in grids]
        self._watched = kernels.current.Versions([w for w in watches if w is not None])
        self._watched.changed()
        self._are_unwatched = None in watches
        self._points = [(grid, grid.points) for grid in grids]
        places = {name: k for k, name in enumerate(self._names)}
        bins = Bins(self._targets, ready, places, axes, by_gradient=self.by_gradient)
        if bins.layout == self._means.layout:
            bins.layout = self._means.layout  # one object: nothing has changed
        self.keeps_rows = (
            self._waiting
            or any(t.is_pair for t in self._targets)
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
        targets = self._copied_targets(grids)
        alpha = self.means.smoothing.alpha
        twin = AleMemory(targets, self.columns, alpha=alpha, by_gradient=self.by_gradient)
        twin._take_clock(self)
        twin.means = self.means.copy()
        twin.rows.extend(self.rows)
        twin.orders = dict(self.orders)
        twin.n_asked, twin.keeps_rows = self.n_asked, self.keeps_rows
        return twin

    def merge(self, later: AleMemory) -> AleMemory:
        joined = self._joined(later)
        if not later.follows(self):
            joined.rows.clear()
            joined.rows.extend([*self.rows, *later.rows])
            joined.n_asked += self.n_asked
            joined._put_in_order(now=True)
        return joined

    # State out and in.

    def _saved(self) -> State:
        return saved_state(self)

    def _restore(self, state: State) -> None:
        restore(self, state)
        self._bins = None


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
