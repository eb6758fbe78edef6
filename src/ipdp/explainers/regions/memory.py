"""What an explainer of regions remembers: that of curves, and the sums by which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ipdp.core.typing import FeatureName, Observation, State
from ipdp.explainers.regions.predictions import Predictions
from ipdp.explainers.regions.sums import RegionSums
from ipdp.explainers.state.curve_memory import Answers, CurveMemory, rows_of
from ipdp.explainers.state.records import IceRecord
from ipdp.explainers.state.spreads import Spreads
from ipdp.grid import Grid


class RegionsMemory(CurveMemory):
    """A memory of curves that also sums the same ICE curves by the parts of the other features."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        sums = RegionSums(tuple(self.grids), alpha=self.means.smoothing.alpha)
        self.sums = Spreads(sums)
        self.predictions = Spreads(Predictions(alpha=sums.alpha))

    def _take(self, record: IceRecord, x: Observation, own: list[Any], w: float, t: float) -> None:
        super()._take(record, x, own, w, t)
        self._tell_apart(record, own, w, t)

    def fold_in(
        self,
        answers: Answers,
        rows: Sequence[Observation],
        own: list[list[Any]],
        w: list[float],
        t: list[float],
    ) -> None:
        super().fold_in(answers, rows, own, w, t)
        for k, values in enumerate(own):
            self._tell_apart(answers.record(k), values, w[k], t[k])

    def _tell_apart(self, record: IceRecord, own: list[Any], w: float, t: float) -> None:
        """Add what was said of one observation to the sums of the parts that it is in."""
        for sums in self.sums.all:
            sums.fold(record, own, w, t)
        values = dict(zip(self.grids, own, strict=True))
        for predictions in self.predictions.all:
            predictions.fold(record, values, t)

    def copy(self, grids: dict[FeatureName, Grid] | None = None) -> Self:
        twin = super().copy(grids)
        twin.sums, twin.predictions = self.sums.copy(), self.predictions.copy()
        return twin

    def successor(self) -> Self:
        later = super().successor()
        later.sums, later.predictions = self.sums.successor(), self.predictions.successor()
        return later

    def merge(self, later: Self) -> Self:
        joined = super().merge(later)
        outputs = joined.means.outputs
        rows = [rows_of(outputs, part.means.outputs) for part in (self, later)]
        joined.sums = self.sums.merge(later.sums, later.follows(self), *rows)
        joined.predictions = self.predictions.merge(later.predictions, later.follows(self), *rows)
        return joined

    def _saved(self) -> State:
        return {**super()._saved(), "regions": self.sums.state, "told": self.predictions.state}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        if "regions" in state:
            self.sums = self.sums.restored(
                state["regions"], self.means.layout, len(self.means.outputs)
            )
        if "told" in state:
            self.predictions = self.predictions.restored(
                state["told"], self.means.layout, len(self.means.outputs)
            )
        self.must_be_past(*(part.t for part in (*self.sums.all, *self.predictions.all)))
