"""An explainer of its own, as somebody else would write one: the mean prediction by category.

No model is asked anything but what it says of the observation itself; for each feature of
categories the mean of that is kept, exponentially weighted, for each category.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp import Curve, Explainer
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.smoothing import Smoothing
from ipdp.explainers.memory import Memory
from ipdp.explainers.state.targets import followed


class MeanByCategory(Explainer):
    """What the model says, on average, of the observations of each category."""

    name = "by_category"
    title = "mean prediction by category"

    @property
    def settings(self):
        return {"features": self.features, "alpha": self.alpha, "every": self.every}

    def _begin(self, x):
        return CategoryMemory(followed(x, self.features), tuple(x), self.alpha)

    def results(self):
        memory = self.memory
        if memory is None or not memory.smoothing.n:
            return {}
        return {feature: memory.curve(feature) for feature in memory.features}


class CategoryMemory(Memory):
    """A column for each feature and category, a row for each output."""

    def __init__(self, features: list[Any], columns: tuple[Any, ...], alpha: float | None) -> None:
        super().__init__(columns)
        self.features = features
        self.outputs: list[Any] = []
        self.cells: list[tuple[Any, Any]] = []
        self.smoothing = Smoothing(alpha=alpha, n_rows=0, n_columns=0)

    def ask(self, explainer, x, y, w):
        cells = [(feature, str(x.get(feature))) for feature in self.features]
        if not w:
            return cells, None
        labels, values = explainer.engine.predict([x])
        if not np.isfinite(values).all():
            raise ValueError("the model answered with NaN or infinity")
        return cells, dict(zip(labels or range(values.shape[1]), values[0, :, 0], strict=True))

    def commit(self, asked, w, t):
        cells, answer = asked
        if answer is None:
            return
        self._make_room([*self.outputs, *answer], [*self.cells, *cells])
        values = np.zeros(self.smoothing.mean.shape)
        values[:] = [[answer.get(output, 0.0)] for output in self.outputs]
        weights = np.array([w if cell in cells else 0.0 for cell in self.cells])
        self.smoothing.update(values, weights, t)

    def _make_room(self, outputs, cells):
        known, before = self.outputs, self.cells
        self.outputs, self.cells = list(dict.fromkeys(outputs)), list(dict.fromkeys(cells))
        rows = [known.index(o) if o in known else -1 for o in self.outputs]
        columns = [before.index(c) if c in before else -1 for c in self.cells]
        self.smoothing = self.smoothing.take(columns, rows=rows)

    def curve(self, feature):
        columns = sorted(
            (k for k, cell in enumerate(self.cells) if cell[0] == feature),
            key=lambda k: self.cells[k][1],
        )
        return Curve(
            feature=feature,
            outputs=tuple(self.outputs),
            grid_values=[np.array([self.cells[k][1] for k in columns], dtype=object)],
            average=self.smoothing.mean[:, columns],
            std_error=self.smoothing.std_error[:, columns],
            n_samples=self.smoothing.n,
            n_effective_points=self.smoothing.n_effective[columns],
            categorical=(True,),
            t=self.t,
        )

    def successor(self):
        later = CategoryMemory(self.features, self.columns, self.smoothing.alpha)
        later.seen, later.t, later.starts_at = self.seen, self.t, self.seen
        return later

    def merge(self, later):
        joined, other = self.copy(), later.copy()
        outputs, cells = [*self.outputs, *later.outputs], [*self.cells, *later.cells]
        for memory in (joined, other):
            memory._make_room(outputs, cells)
        joined.smoothing = joined.smoothing.merge(other.smoothing)
        joined.join_clocks(self, later)
        return joined

    def _saved(self):
        lists = {name: encode_name(tuple(getattr(self, name))) for name in ("outputs", "cells")}
        return {**lists, "means": self.smoothing.state}

    def _restore(self, state):
        self.outputs, self.cells = (list(decode_name(state[name])) for name in ("outputs", "cells"))
        self.smoothing = Smoothing.from_state(state["means"])
