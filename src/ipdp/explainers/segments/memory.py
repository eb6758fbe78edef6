"""A memory of curves that also sums the same ICE curves by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ipdp.core import schema
from ipdp.core.typing import FeatureName, Label, Observation, State
from ipdp.explainers.segments.groups import Groups
from ipdp.explainers.segments.labels import By, label_of
from ipdp.explainers.state.curve_memory import Answers, CurveMemory
from ipdp.explainers.state.records import IceRecord
from ipdp.grid import Grid

# Bound once: they are called for each observation.
_ask, _take = CurveMemory.ask, CurveMemory._take


class SegmentsMemory(CurveMemory):
    """What an explainer of curves remembers, and the same for each group of observations."""

    groups: Groups

    def begin(self, by: By, n_groups: int) -> Self:
        """Follow the groups from now on."""
        means = self.means
        self.groups = Groups(
            by,
            n_groups,
            n_axes=means.n_axes,
            n_targets=len(self._targets),
            alpha=means.smoothing.alpha,
        )
        # The observation that was asked about last, and its group.
        self._asked: Observation | None = None
        self._label: Label | None = None
        return self

    def ask(self, explainer: Any, x: Observation, y: Any, w: float) -> Any:
        groups = self.groups
        if groups.hidden:
            explainer.hide()
        asked = _ask(self, explainer, x, y, w)
        if asked[2] is not None:
            # Here, because a function of the user's may raise.
            self._asked, self._label = asked[1], label_of(groups.by, x)
        return asked

    def _follow(self, answers: Answers, t: float) -> None:
        means = self._means
        if answers.layout is not means.layout or answers.outputs is not means.outputs:
            super()._follow(answers, t)
            self.groups.follow(means)

    def _take(self, record: IceRecord, x: Observation, own: list[Any], w: float, t: float) -> None:
        _take(self, record, x, own, w, t)
        if w:
            groups = self.groups
            label = self._label if self._asked is x else label_of(groups.by, x)
            groups.add(label, record, own, w, t)

    def fold_in(
        self,
        answers: Answers,
        rows: Sequence[Observation],
        own: list[list[Any]],
        w: list[float],
        t: list[float],
    ) -> None:
        super().fold_in(answers, rows, own, w, t)
        groups = self.groups
        for k, x in enumerate(rows):
            if w[k]:
                groups.add(label_of(groups.by, x), answers.record(k), own[k], w[k], t[k])

    def copy(self, grids: dict[FeatureName, Grid] | None = None) -> Self:
        twin = super().copy(grids)
        twin.groups, twin._asked = self.groups.copy(), None
        return twin

    def successor(self) -> Self:
        later = super().successor()
        later.groups = self.groups.successor()
        return later

    def merge(self, later: Self) -> Self:
        joined = super().merge(later)
        parts = self.means, later.means
        joined.groups = self.groups.merge(
            later.groups, joined.means, parts, follows=later.follows(self)
        )
        return joined

    def _saved(self) -> State:
        return {**super()._saved(), "groups": self.groups.state}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.groups.restore(state["groups"], self.means, self.targets)
        self.must_be_past(*self.groups.times)
        rows = [values for recent in self.groups.recent for values in recent]
        for grid, column in zip(self.grids.values(), zip(*rows, strict=True), strict=bool(rows)):
            is_number = grid.ready and grid.points.dtype != object
            if is_number and not all(map(_is_number, column)):
                raise ValueError("the state is damaged: recent values of a group are no numbers")


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, bool) or schema.number.fits(value)
