"""Incremental accumulated local effects (Apley and Zhu 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.curve import Curve
from ipdp.core.decay import Default
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.importance import Result
from ipdp.core.link import Link
from ipdp.core.observations import arranged
from ipdp.core.typing import Feature, FeatureName, Observation
from ipdp.core.validation import next_time, unknown
from ipdp.explainers.ale.bins import Question, asked_about
from ipdp.explainers.ale.memory import AleMemory
from ipdp.explainers.ale.snapshot import AleSnapshot
from ipdp.explainers.drawing import CurveExplainer
from ipdp.explainers.state.targets import as_features, checked_grids, followed, make_targets
from ipdp.explainers.turns import in_turn
from ipdp.grid import Grid
from ipdp.models.base import Outputs

# So many observations are asked about together.
_BLOCK = 1000


class IncrementalALE(CurveExplainer):
    """Accumulated local effects that follow a model along a stream.

    A partial dependence curve asks the model about every observation at every point, also where
    such observations cannot occur. An accumulated local effect asks how the output changes between
    both ends of the *bin* that the observation is in, with the rest left as it is: two predictions
    an observation and feature, close to the data. The exponentially weighted means of these local
    effects, added up from bin to bin and centred, are the curve: the effect of the feature
    relative to the mean over the data. Where features depend on each other, it is the effect of
    this feature alone.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes. It is called as it is at that time, so it may
        learn in between: explain first, then learn.
    features
        Names of features, and pairs of names as tuples; None takes every feature of the first
        observation. The surface of a pair is its second-order effect: what the two do together
        beyond what each does alone.
    alpha, half_life, span
        How fast the past is forgotten, as for `ipdp.IncrementalPDP`.
    grid
        The edges of the bins, as for `ipdp.IncrementalPDP`: a grid of `ipdp.grid` as a pattern for
        all features, or a dict of them by feature.
    every
        Explain every k-th observation only; this is k.
    gradient
        Whether the local effects of single numbers are gradients, times the widths of the bins,
        instead of differences: for torch modules, which have them. One pass forwards and backwards
        for each output then does for all features.
    link
        As for `ipdp.IncrementalPDP`: effects on log-odds ("logit") or logarithms ("log").
    seed
        Start of the random numbers of grids that need them; each feature has its own.

    Notes
    -----
    *Bins that move.* Points are at fixed positions, which come and go with the range of the data
    (as for `estimator="regrid"` of `ipdp.IncrementalPDP`). Bins that keep their edges keep their
    means; those that do not still tell the slope where they were, until it is forgotten.

    *Categories* are put in order by how alike the other features are at them (numbers keep the
    order of numbers); an observation tells the step to the category before and to the one after
    its own. With categories of two kinds only, the order does not matter.

    *Missing values.* An observation without a value of a feature, or with one beyond the outermost
    points, is in no bin: it says nothing of that feature.

    *Errors.* If the model raises, or its output cannot be used, the explainer is what it was
    before the call.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> rng = np.random.default_rng(42)
    >>> def model(x):
    ...     return x["a"] + x["b"] ** 2
    >>> ale = ipdp.IncrementalALE(model, ["a"], alpha=None, grid=ipdp.grid.Fixed([-1, 0, 1]))
    >>> for a in rng.uniform(-1, 1, size=1_000):
    ...     ale.explain_one({"a": a, "b": a + 0.1 * rng.normal()})
    >>> ale.curve("a").average.round(2)
    array([[-1.,  0.,  1.]])
    """

    name = "ale"
    title = "accumulated local effects"

    def __init__(
        self,
        model: Any,
        features: Any = None,
        *,
        alpha: float | Default | None = Default.ALPHA,
        half_life: float | None = None,
        span: float | None = None,
        grid: Grid | Mapping[FeatureName, Grid] | None = None,
        every: int = 1,
        gradient: bool = False,
        seed: int | None = None,
        link: Link | None = None,
    ) -> None:
        super().__init__(
            model, features, alpha=alpha, half_life=half_life, span=span, every=every, seed=seed
        )
        self.grid = checked_grids(grid, self.features)
        self.gradient = gradient
        self._take_link(link)
        if gradient and not self.engine.has_gradients:
            raise ValueError(
                f"gradient=True needs a model with gradients, a torch module; {self.engine!r} has "
                "none: leave it out, and differences are taken"
            )

    def explain_many(
        self,
        X: Any,
        *y: Any,
        w: Sequence[float] | None = None,
        t: Sequence[float] | None = None,
        names: Sequence[FeatureName] | None = None,
    ) -> None:
        """Explain many observations, as `Explainer.explain_many` does.

        Each row is in the bins that it would have been in on its own; only the calls of the model
        are put together.
        """
        rows, _, weights, times = self._table(X, y, w, t, names)
        if not rows:
            return
        with self.turns.explaining():
            self._memory = self._with(rows, weights, times)

    def _with(
        self, rows: Sequence[Observation], weights: list[float], times: list[float | None]
    ) -> AleMemory:
        """A copy of the memory that has explained these rows too."""
        memory: AleMemory
        memory = self._first(rows[0]) if self._memory is None else self._memory.copy()
        waiting: list[_Waiting] = []
        for x, weight, given_time in zip(rows, weights, times, strict=True):
            time = next_time(given_time, memory.t)
            values = memory.admit(x)
            if weight and (memory.seen + 1) % self.every == 0:
                question = memory.question(values)
                if question is not None:
                    waiting.append((x, question, weight, time))
            memory.commit((values, x, None), weight, time)
            memory.seen += 1
            memory.t = time
            if len(waiting) >= _BLOCK:
                self._fold_in(memory, waiting)
                waiting = []
        self._fold_in(memory, waiting)
        return memory

    def _fold_in(self, memory: AleMemory, waiting: Sequence[_Waiting]) -> None:
        """Ask the model, about those with the same probes at once, and fold all of them in."""
        groups: dict[Any, list[int]] = {}
        for k, (_, question, _, _) in enumerate(waiting):
            groups.setdefault((id(question.bins), id(question.probes)), []).append(k)
        answers: dict[int, tuple[Outputs, Any]] = {}
        for numbers in groups.values():
            rows = [waiting[k][0] for k in numbers]
            if self.engine.ordered:
                rows = [arranged(row, memory.columns) for row in rows]
            answer, slopes = asked_about(self.engine, rows, [waiting[k][1] for k in numbers])
            for place, k in enumerate(numbers):
                one = Outputs(answer.labels, answer.values[place : place + 1])
                answers[k] = one, None if slopes is None else slopes[place : place + 1]
        for k, (_, question, weight, time) in enumerate(waiting):
            memory.fold_in(memory.answered(question, *answers[k]), weight, time)

    def fold_in(
        self, memory: AleMemory, rows: Sequence[Observation], weights: Sequence[float]
    ) -> None:
        """Ask about rows of a table, and fold them into a memory whose grids have all of them."""
        waiting: list[_Waiting] = []
        for t, (x, weight) in enumerate(zip(rows, weights, strict=True), start=1):
            question = memory.question(memory.admit(x)) if weight else None
            if question is not None:
                waiting.append((x, question, weight, float(t)))
            if len(waiting) >= _BLOCK or t == len(rows):
                self._fold_in(memory, waiting)
                waiting = []

    def _begin(self, x: Observation) -> AleMemory:
        targets = make_targets(
            followed(x, self.features, self.engine),
            self.grid,
            regrid=True,
            seed=self.seed,
            orders=self.engine.orders(x),
            wary=self.features is None,
        )
        return AleMemory(targets, tuple(x), alpha=self.alpha, by_gradient=self.gradient)

    @property
    def settings(self) -> dict[str, Any]:
        names = ("features", "alpha", "grid", "every", "gradient")
        return {name: getattr(self, name) for name in names} | self._link_settings

    # Reading.

    @in_turn
    def curve(self, feature: Feature) -> Curve:
        """A snapshot of one feature's accumulated local effect; its mean over the data is 0.

        Parameters
        ----------
        feature
            A name, or a pair, that the explainer follows.
        """
        [feature] = as_features([feature])
        if self._memory is None:
            if self.features is not None and feature not in self.features:
                raise ValueError(unknown("curve for", feature, self.features))
            raise NotEnoughSamples("no observation yet: call explain_one first")
        known = [target.feature for target in self._memory.targets]
        if feature not in known:
            raise ValueError(unknown("curve for", feature, known))
        return self.on_scale(AleSnapshot(self._memory).curve(known.index(feature)))

    @property
    @in_turn
    def curves(self) -> dict[Feature, Curve]:
        """A snapshot of every curve that there is by now, by feature."""
        if self._memory is None:
            return {}
        snapshot = AleSnapshot(self._memory)
        targets = self._memory.targets
        return {targets[k].feature: self.on_scale(snapshot.curve(k)) for k in snapshot.numbers}

    def _read(self) -> None:
        _ = self.curves

    def results(self) -> dict[Feature, Result]:
        return dict(self.curves)


_Waiting = tuple[Observation, Question, float, float]
"""An observation, what is asked about it, its weight and its time."""
