"""A memory of curves that asks about some of the features of an observation only."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from ipdp.core import schema
from ipdp.core.typing import FeatureName, FloatArray, Observation, State
from ipdp.explainers.state.curve_memory import Answers, CurveMemory
from ipdp.explainers.state.feature_sampler import FeatureSampler
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.records import IceRecord, joined, parted
from ipdp.grid import Grid

# Points that came or went are noticed after so many observations at the latest.
_LONGEST = 250


class Questions(NamedTuple):
    """The points of all features, of which some are asked about at a time."""

    layout: Layout = Layout()
    positions: FloatArray = np.zeros((1, 0))
    seen: int = 0  # after how many observations they were looked at


class SampledMemory(CurveMemory):
    """What an explainer of curves remembers that asks about some features at a time.

    Each observation is folded in at once, so that which features are asked about next does not
    depend on who has read the curves in between. How much ICE curves differ (`spreads`) is not
    known: it needs all curves of an observation.
    """

    sampler: FeatureSampler

    def begin(self, size: int, seed: int | None) -> Self:
        """Ask about so many features from now on."""
        self.sampler = FeatureSampler(size, seed)
        self._asked, self._to_ask = Questions(), Questions()
        return self

    def _questions(self) -> tuple[Layout, FloatArray]:
        questions = self._asked
        if self._is_due():
            questions = Questions(*super()._questions(), self.seen)
        self._to_ask = questions
        if not questions.layout.targets:
            return questions.layout, questions.positions
        sample = self.sampler.sample(questions.layout)
        return sample.layout, questions.positions[:, sample.columns]

    def _is_due(self) -> bool:
        """Whether to look which points came and went: what follows takes as long as 100 others."""
        if len(self._asked.layout.targets) <= self.sampler.size:
            return True
        return self.seen - self._asked.seen >= min(self.seen // 4, _LONGEST)

    def _follow(self, answers: Answers, t: float) -> None:
        super()._follow(answers._replace(layout=self._to_ask.layout), t)
        self._asked = self._to_ask._replace(layout=self._means.layout)
        self.sampler.follow(self._means.layout)

    def _take(self, record: IceRecord, x: Observation, own: list[Any], w: float, t: float) -> None:
        del own  # of features that were not asked about, too
        sample = self.sampler.sample(self._means.layout)
        rows = np.vstack([record.positions, record.values])
        self._means.fold_some(sample.columns, rows, w * sample.weights, t)
        for number in record.layout.targets:
            self._targets[number].n += 1
        self._keep(record, x, w, t)
        self.sampler.advance(record.values)

    def copy(self, grids: dict[FeatureName, Grid] | None = None) -> Self:
        twin = super().copy(grids)
        twin.sampler = self.sampler.copy()
        twin._asked, twin._to_ask = self._asked, Questions()
        return twin

    def merge(self, later: Self) -> Self:
        both = super().merge(later)
        both.sampler = later.sampler.copy()
        both.sampler.follow(both.means.layout)
        both._asked = later._asked if later.follows(self) else Questions()
        return both

    def _saved(self) -> State:
        layout, positions, seen = self._asked
        has_points = layout is self.means.layout
        asked = {"seen": seen, "positions": joined([positions])} if has_points else None
        return {**super()._saved(), "sampler": self.sampler.state, "asked": asked}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        layout = self.means.layout
        self.sampler.restore(state["sampler"], layout, len(self.targets))
        self._asked = Questions()
        if state["asked"] is not None:
            schema.check(state["asked"], seen=schema.below(self.seen + 1))
            (positions,) = parted(state["asked"]["positions"])
            schema.must_fit("positions", positions, (self.means.n_axes, layout.n_points))
            self._asked = Questions(layout, positions, state["asked"]["seen"])
