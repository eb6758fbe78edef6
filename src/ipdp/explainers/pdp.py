"""Algorithm 1: incremental partial dependence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from ipdp.core.curve import Curve
from ipdp.core.decay import Default
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.link import Link
from ipdp.core.observations import Rows
from ipdp.core.random import seed_for
from ipdp.core.typing import Feature, FeatureName, Observation
from ipdp.core.validation import next_time, unknown, whole_number
from ipdp.core.words import shown
from ipdp.explainers.asked_pairs import AskedPairs
from ipdp.explainers.off_data import off_data
from ipdp.explainers.segments.explainer import Segmented
from ipdp.explainers.segments.labels import By
from ipdp.explainers.segments.memory import SegmentsMemory
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.sampled_memory import SampledMemory
from ipdp.explainers.state.snapshot import Snapshot
from ipdp.explainers.state.stack import Stack
from ipdp.explainers.state.targets import (
    as_features,
    checked_grids,
    followed,
    make_targets,
    over_all,
)
from ipdp.explainers.turns import in_turn
from ipdp.grid import Grid

Estimator = Literal["pointwise", "regrid"]
"""What the mean of a curve belongs to: the number of a point, or its position."""

_MOST = "max_features"

# So many rows of a table are looked at together: they, and their answers, stay in the cache.
_BLOCK = 1_024


class IncrementalPDP(AskedPairs, Segmented):
    """Partial dependence curves that follow a model along a stream.

    For every observation and every feature, the model is evaluated at each point of the feature's
    current grid, with the rest of the observation left as it is: an ICE curve. The
    exponentially weighted mean of these curves is the incremental partial dependence plot (iPDP).
    All features and all outputs are computed in one pass; memory does not grow with the stream.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes. It is called as it is at that time, so it
        may learn in between: explain first, then learn.
    features
        Names of features, and pairs of names as tuples; None takes every feature of the first
        observation.
    alpha
        Weight of the newest observation, in (0, 1]; larger forgets faster. The default is the
        paper's 0.001. None is the plain mean of all observations, for a model and data that do
        not change.
    half_life, span
        The same in other words, as in pandas' `ewm`; give one of the three.
    grid
        Where the model is evaluated: a grid of `ipdp.grid` as a pattern for all features, or a
        dict of them by feature. By default `ipdp.grid.Auto()`, which chooses from the first
        values.
    estimator
        `"regrid"` keeps points at fixed positions, added and removed as the range moves.
        `"pointwise"` is the paper's: the k-th point's position and value are smoothed separately,
        which is unbiased only while the model is linear where the points move.
    every
        Explain every k-th observation only; this is k. Weights decay with all of them, so that
        alpha keeps its meaning.
    max_features
        Ask about so many features, or pairs, of an observation at most, drawn at random: those
        whose curves differ from one time to the next more often, and each now and then. Each curve
        is that of all observations up to chance, with a wider band. For streams with hundreds of
        features; None asks about all.
    n_ice
        Number of recent ICE curves to keep for plotting.
    n_past
        Number of past observations to keep, spread over all that the curves rest on, on which the
        model is asked again for its curve as it is now; with 0 there is none. Fewer are kept with
        more than some 800 features, so that their answers take 32 MB at most.
    dependence
        Whether error bands know how long the stream remembers, for which means of up to 64 blocks
        of time are kept. With False bands are those of independent observations, too narrow where
        one observation is like the next, and `Curve.provisional`; the state is small.
    seed
        Start of the random numbers of grids that need them; each feature has its own.
    by
        A column, or a function of an observation: a curve for each of its values too, from the
        same answers of the model; see `segments`.
    n_groups
        Number of groups that are followed, the most frequent ones; the rest is "others".
    link
        With "logit" curves are of log-odds instead of probabilities, on which the effect on a rare
        event can be seen; with "log" of logarithms. Means are taken on that scale. What is nearer
        than 1e-6 to 0 (or 1) counts as 1e-6.

    Notes
    -----
    *Warm-up.* A feature's first curve comes after its grid's warm-up (20 values unless said
    otherwise); `ipdp.grid.Fixed` needs none.

    *Missing values.* None, NaN and infinity never enter a storage. The observation is explained all
    the same: its own value of a feature does not matter for that feature's curve. A feature that
    is absent from an observation counts as missing, except from the first one, where it is an
    error.

    *Errors.* If the model raises, or its output cannot be used, the explainer is what it was
    before the call.

    Examples
    --------
    >>> from river import datasets, tree
    >>> import ipdp
    >>> model = tree.HoeffdingAdaptiveTreeClassifier(seed=42)
    >>> pdp = ipdp.IncrementalPDP(model, features=["salary", "age"], alpha=0.01)
    >>> for x, y in datasets.synth.Agrawal(classification_function=2, seed=42).take(1_000):
    ...     pdp.explain_one(x)
    ...     model.learn_one(x, y)
    >>> pdp.curve("salary")
    Curve(feature='salary', outputs=(0, 1), points=16, n_samples=980, t=1000)
    """

    name = "pdp"
    title = "partial dependence"

    def __init__(
        self,
        model: Any,
        features: Any = None,
        *,
        alpha: float | Default | None = Default.ALPHA,
        half_life: float | None = None,
        span: float | None = None,
        grid: Grid | Mapping[FeatureName, Grid] | None = None,
        estimator: Estimator = "regrid",
        every: int = 1,
        max_features: int | None = None,
        n_ice: int = 20,
        n_past: int = 288,
        dependence: bool = True,
        seed: int | None = None,
        by: By | None = None,
        n_groups: int = 20,
        link: Link | None = None,
    ) -> None:
        super().__init__(
            model, features, alpha=alpha, half_life=half_life, span=span, every=every, seed=seed
        )
        if estimator not in get_args(Estimator):
            raise ValueError(f"estimator must be pointwise or regrid, got {shown(estimator)}")
        self.grid = checked_grids(grid, self.features)
        self.estimator = estimator
        self.n_ice = whole_number("n_ice", n_ice, least=0)
        self.n_past = whole_number("n_past", n_past, least=0)
        self.dependence = bool(dependence)
        self.max_features = None if max_features is None else whole_number(_MOST, max_features)
        if self.max_features is not None and by is not None:
            raise ValueError("give by, or max_features, not both")
        self._check_groups(by, n_groups)
        self._take_link(link)

    def explain_many(
        self,
        X: Any,
        *y: Any,
        w: Sequence[float] | None = None,
        t: Sequence[float] | None = None,
        names: Sequence[FeatureName] | None = None,
    ) -> None:
        """Explain many observations, as `Explainer.explain_many` does.

        Each row gets the points that it would have had on its own; only the calls of the model are
        put together; with `max_features` they are not.
        """
        if self.max_features is not None:  # what is asked next depends on the answers
            super().explain_many(X, *y, w=w, t=t, names=names)
            return
        rows, _, weights, times = self._table(X, y, w, t, names)
        if not rows:
            return
        with self.turns.explaining():
            self._memory = self._with(rows, weights, times)

    def _with(self, rows: Rows, weights: list[float], times: list[float | None]) -> CurveMemory:
        """A copy of the memory that has explained these rows too."""
        memory: CurveMemory
        memory = self._first(rows[0]) if self._memory is None else self._memory.copy()
        self.hide()
        stack, first, time = Stack(memory, self.engine), 0, memory.t
        for block in rows.blocks(_BLOCK):
            own = slice(first, first := first + len(block))
            clock = [time := next_time(given, time) for given in times[own]]
            stack.explain(block, weights[own], clock, self.every)
        stack.flush()
        return memory

    def begin_table(self, x: Observation, n: int) -> CurveMemory:
        """A memory without data for a table of n rows, whose grids hold all of them."""
        self._check_first(x)
        self.grid = over_all(self.grid, followed(x, self.features, self.engine), n)
        self._memory = memory = self._begin(x)
        return memory

    def _begin(self, x: Observation) -> CurveMemory:
        targets = make_targets(
            followed(x, self.features, self.engine),
            self.grid,
            regrid=self.estimator == "regrid",
            seed=self.seed,
            orders=self.engine.orders(x),
            wary=self.features is None,
        )
        sizes: Any = {
            "alpha": self.alpha,
            "n_ice": self.n_ice,
            "n_past": self.n_past,
            "dependence": self.dependence,
        }
        if self.max_features is not None:
            sampled = SampledMemory(targets, tuple(x), **sizes)
            return sampled.begin(self.max_features, seed_for(self.seed, _MOST))
        if self.by is None:
            return CurveMemory(targets, tuple(x), **sizes)
        memory = SegmentsMemory(targets, tuple(x), **sizes).begin(self.by, self.n_groups)
        memory.groups.hidden = self._is_hidden
        return memory

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "alpha": self.alpha,
            "grid": self.grid,
            "estimator": self.estimator,
            "every": self.every,
            **({} if self.max_features is None else {_MOST: self.max_features}),
            **({} if self.dependence else {"dependence": False}),
            **({} if self.by is None else {"by": self.by, "n_groups": self.n_groups}),
            **self._link_settings,
        }

    @property
    def _unsaved(self) -> dict[str, Any]:
        return {"n_ice": self.n_ice, "n_past": self.n_past, "seed": self.seed}

    @property
    def _shown(self) -> dict[str, Any]:
        return {"alpha": self.alpha, "estimator": self.estimator}

    # Reading.

    @in_turn
    def curve(self, feature: Feature, *, now: bool = False) -> Curve:
        """A snapshot of one feature's curve.

        Parameters
        ----------
        feature
            A name, or a pair, that the explainer follows.
        now
            The smoothed curve is the mean of what the model said, and lags behind a model that
            learns. With True it is corrected to what the model says now, on some past
            observations (`n_past`) that it is asked about again; the smoothed one is in `smoothed`.
            For a model that does not change both are the same.

        Examples
        --------
        >>> import ipdp
        >>> slope = {"a": 1.0}
        >>> pdp = ipdp.IncrementalPDP(lambda x: slope["a"] * x["a"], grid=ipdp.grid.Fixed([0, 1]))
        >>> for a in range(1_000):
        ...     pdp.explain_one({"a": a % 7})
        >>> slope["a"] = -1.0
        >>> pdp.curve("a").average
        array([[0., 1.]])
        >>> pdp.curve("a", now=True).average
        array([[ 0., -1.]])
        """
        number = self._number_of(feature)
        return self.on_scale(self._snapshot(now=now).curve(number))

    def _number_of(self, feature: Feature | list[FeatureName]) -> int:
        """The number of a feature among those that are followed, or an error."""
        [feature] = as_features([feature])
        if self._memory is None:
            if self.features is not None and feature not in self.features:
                raise ValueError(unknown("curve for", feature, self.features))
            raise NotEnoughSamples("no observation yet: call explain_one first")
        known = [target.feature for target in self._memory.targets]
        if feature not in known:
            raise ValueError(unknown("curve for", feature, known))
        return known.index(feature)

    @in_turn
    def with_off_data(self, curve: Curve) -> Curve:
        found = None if self._memory is None else off_data(self._memory, curve)
        return curve if found is None else replace(curve, off_data=found)

    def _must_have_past(self, what: str) -> None:
        if self.where is not None:
            raise ValueError(f"{what} is not known of segments: ask that of all observations")
        if not self.n_past:
            raise ValueError(f"{what} needs past observations: give n_past, for instance 144")

    @property
    def curves(self) -> dict[Feature, Curve]:
        """A snapshot of every smoothed curve that there is by now, by feature."""
        return self.snapshot()

    @in_turn
    def snapshot(self, *, with_ice: bool = True, now: bool = False) -> dict[Feature, Curve]:
        """A snapshot of every curve that there is by now, by feature.

        Parameters
        ----------
        with_ice
            Whether the curves include the recent ICE curves, which take most of the time; a log
            does not store them.
        now
            As in `curve`; the model is asked once for all of them.
        """
        if self._memory is None:
            return {}
        snapshot = self._snapshot(now=now)
        return {
            target.feature: self.on_scale(snapshot.curve(k, with_ice=with_ice))
            for k, target in enumerate(self._memory.targets)
            if target.n
        }

    @property
    @in_turn
    def explained(self) -> Explained:
        """How much the curves of one feature together tell of the model, of each output.

        The curves are those of `results`: of the model as it is now, which is asked for them again
        unless `n_past` is 0.
        """
        found = Explained.of(self.snapshot(with_ice=False, now=self.n_past > 0).values())
        if found is None:
            raise NotEnoughSamples("too few observations to say how much the curves tell")
        return found

    def _snapshot(self, *, now: bool) -> Snapshot:
        if now:
            self._must_have_past("the curve of the model as it is now")
        self.hide()
        return Snapshot(self._memory, self.engine if now else None)

    @in_turn
    def baseline(self) -> Any:
        """What the model said so far, as a small file to compare later data or models with.

        Returns
        -------
        An `ipdp.comparison.Baseline`: `save` writes it, `ipdp.compare(baseline, other)` compares.
        """
        from ipdp.comparison import Baseline

        return Baseline.of(self)

    def _read(self) -> None:
        _ = self.curves

    @in_turn
    def results(self) -> dict[Feature, Result]:
        return {
            **self.snapshot(with_ice=False, now=self.n_past > 0),
            **self._segment_results(),
        }
