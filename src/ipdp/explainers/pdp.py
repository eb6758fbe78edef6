"""Algorithm 1: incremental partial dependence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from ipdp.core.curve import Curve
from ipdp.core.decay import Default, resolve_alpha
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.importance import Result
from ipdp.core.observations import arranged, observations
from ipdp.core.typing import Feature, FeatureName, Observation, State
from ipdp.core.validation import next_time, sample_weight, unknown, whole_number
from ipdp.explainers.base import Explainer
from ipdp.explainers.settings import VERSION, canonical, must_agree, must_fit
from ipdp.explainers.state import merging, saving
from ipdp.explainers.state.build import build, checked_grids
from ipdp.explainers.state.means import Fold, IceRecord
from ipdp.explainers.state.snapshot import Means, curve_of
from ipdp.explainers.state.stack import Stack
from ipdp.explainers.state.targets import as_features
from ipdp.grid import Grid

Estimator = Literal["pointwise", "regrid"]
"""What the mean of a curve belongs to: the number of a point, or its position."""


class IncrementalPDP(Explainer):
    """Partial dependence curves that follow a model along a stream.

    For every observation and every feature, the model is asked what it would say at each point of
    the feature's current grid with the rest of the observation left as it is: an ICE curve. The
    exponentially weighted mean of these curves is the incremental partial dependence plot (iPDP).
    All features and all outputs are served in one pass; memory does not grow with the stream.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` understands. It is called as it is at that time, so it
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
        `"pointwise"` is the paper's: the k-th point's position and value are smoothed separately,
        which is right while the model is linear where the points wander. `"regrid"` keeps
        points at fixed positions, which come and go with the range, and is right for curved
        models under virtual drift too.
    every
        Explain each `every`-th observation only. Weights decay with all of them, so that alpha
        keeps its meaning.
    n_ice
        Number of recent ICE curves to keep for plotting.
    seed
        Start of the random numbers of grids that need them; each feature has its own.

    Notes
    -----
    *Warm-up.* A feature's first curve comes after its grid's warm-up (20 values unless said
    otherwise); `ipdp.grid.Fixed` needs none.

    *Missing values.* None, NaN and infinity never enter a storage. The observation is explained all
    the same: its own value of a feature does not matter for that feature's curve. A feature that
    is absent from an observation counts as missing, except from the first one, where it is an
    error.

    *Errors.* If the model raises, or answers with something that cannot be used, the explainer is
    what it was before the call.

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
    Curve(feature='salary', outputs=(0, 1), points=10, n_samples=980, t=1000)
    """

    name = "pdp"

    def __init__(
        self,
        model: Any,
        features: Any = None,
        *,
        alpha: float | Default | None = Default.ALPHA,
        half_life: float | None = None,
        span: float | None = None,
        grid: Grid | Mapping[FeatureName, Grid] | None = None,
        estimator: Estimator = "pointwise",
        every: int = 1,
        n_ice: int = 20,
        seed: int | None = None,
    ) -> None:
        super().__init__(model)
        self.alpha = resolve_alpha(alpha, half_life=half_life, span=span)
        self.features = None if features is None else as_features(features)
        if estimator not in get_args(Estimator):
            raise ValueError(f"estimator must be pointwise or regrid, got {estimator!r}")
        self.grid = checked_grids(grid, self.features)
        self.estimator = estimator
        self._every = whole_number("every", every)
        self.n_ice = whole_number("n_ice", n_ice, least=0)
        self.seed = seed
        self._fold: Fold | None = None

    @property
    def fold(self) -> Fold | None:
        """What it remembers, for parts that build on it, as the monitor does: to be read only.

        None before the first observation.
        """
        return self._fold

    # Algorithm 1.

    def explain_one(self, x: Observation, w: float = 1.0, *, t: float | None = None) -> None:
        """Explain one observation.

        Parameters
        ----------
        x
            The observation, a dict as in river; it is not changed.
        w
            Sample weight, not negative. With a weight of 0 the model is not asked.
        t
            Time of the observation on a clock of your own, which must not go back; alpha then
            refers to one unit of it. By default observations are counted.
        """
        if type(x) is not dict and not isinstance(x, Mapping):
            raise TypeError(
                f"one observation is a dict, got {type(x).__name__}; use explain_many for a table"
            )
        if w != 1.0:
            w = sample_weight(w)
        fold = self._fold or self._begin(x)
        t = next_time(t, fold.t)
        values = fold.admit(x)
        answer = None
        layout = fold.layout
        if w and (fold.seen + 1) % self.every == 0:
            layout = fold.layout_now()
            if layout.effects:
                positions = fold.positions.now()
                if self._engine.ordered:
                    x = arranged(x, fold.columns)
                answer = self._engine.ice([x], layout.probes, positions[None])
                outputs, curves = fold.checked(answer)
        # From here on nothing can go wrong, and everything changes together.
        if answer is not None:
            if layout is not fold.layout:
                fold.adopt(layout)
            if outputs is not fold.outputs:
                fold.add_outputs(outputs, answer.labels is not None)
            ice = curves[0]
            fold.smoothing.update_rows(positions, ice, w=w, t=t)
            fold.count(layout, 1)
            if self.n_ice:
                fold.recent.append(IceRecord(layout, positions, ice))
        fold.observe(values, t)
        self._fold = fold

    def explain_many(
        self,
        X: Any,
        w: Sequence[float] | None = None,
        *,
        t: Sequence[float] | None = None,
        names: Sequence[FeatureName] | None = None,
    ) -> None:
        """Explain many observations, with the model as it is now; the same as one by one.

        Each row gets the points that it would have had on its own; only the calls of the model are
        put together. Either all rows are explained or, after an error, none.

        Parameters
        ----------
        X
            A frame (pandas, polars, ...), a 2-D array, or a list of dicts.
        w, t
            Weights and times of the rows, as in `explain_one`.
        names
            Names of an array's columns.
        """
        rows = observations(X, names)
        weights = [1.0] * len(rows) if w is None else [sample_weight(v) for v in w]
        times: list[float | None] = [None] * len(rows) if t is None else list(t)
        for name, given in (("w", weights), ("t", times)):
            if len(given) != len(rows):
                raise ValueError(f"{name} has {len(given)} values for {len(rows)} rows")
        if not rows:
            return
        fold = self._begin(rows[0]) if self._fold is None else self._fold.copy()
        stack = Stack(fold, self._engine, self.n_ice)
        for x, weight, given_time in zip(rows, weights, times, strict=True):
            time = next_time(given_time, fold.t)
            values = fold.admit(x)
            if weight and (fold.seen + 1) % self.every == 0:
                stack.add(x, weight, time)
            fold.observe(values, time)
        stack.flush()
        self._fold = fold

    def _begin(self, x: Observation) -> Fold:
        return build(
            x,
            self.features,
            self.grid,
            alpha=self.alpha,
            regrid=self.estimator == "regrid",
            n_ice=self.n_ice,
            seed=self.seed,
        )

    # Reading.

    @property
    def every(self) -> int:
        return self._every

    @property
    def n_seen(self) -> int:
        """Number of observations seen, explained or not."""
        return 0 if self._fold is None else self._fold.seen

    @property
    def t(self) -> float | None:
        """Time of the last observation; None before the first."""
        return None if self._fold is None else self._fold.t

    def curve(self, feature: Feature) -> Curve:
        """A snapshot of one feature's curve.

        Parameters
        ----------
        feature
            A name, or a pair, that the explainer follows.
        """
        if isinstance(feature, list):
            feature = tuple(feature)
        if self._fold is None:
            if self.features is not None and feature not in self.features:
                raise ValueError(unknown("curve for", feature, self.features))
            raise NotEnoughSamples("no observation yet: call explain_one first")
        for k, effect in enumerate(self._fold.effects):
            if effect.feature == feature:
                return curve_of(self._fold, k)
        raise ValueError(
            unknown("curve for", feature, [effect.feature for effect in self._fold.effects])
        )

    @property
    def curves(self) -> dict[Feature, Curve]:
        """A snapshot of every curve that there is by now, by feature."""
        return self.snapshot()

    def snapshot(self, *, with_ice: bool = True) -> dict[Feature, Curve]:
        """The same as `curves`.

        Parameters
        ----------
        with_ice
            Whether the curves get the recent ICE curves along, which take most of the time; a log
            has no use for them.
        """
        if self._fold is None:
            return {}
        means = Means.of(self._fold)
        return {
            effect.feature: curve_of(self._fold, k, with_ice=with_ice, means=means)
            for k, effect in enumerate(self._fold.effects)
            if effect.n
        }

    def results(self) -> dict[Feature, Result]:
        return dict(self.snapshot(with_ice=False))

    # Parts of a stream.

    def successor(self) -> IncrementalPDP:
        """An explainer for the observations that follow, to be merged with this one later.

        It has the same settings, model and storages, and has explained nothing. What it explains
        is what this one would have explained next, so that `a.merge(b)` is what `a` would be had
        it seen the observations of `b` too.
        """
        later = self._twin()
        if self._fold is not None:
            later._fold = merging.successor(self._fold)
        return later

    def merge(self, later: IncrementalPDP) -> IncrementalPDP:
        """The explainer of this one's observations and of those of another.

        Parameters
        ----------
        later
            A `successor` of this one: then the result is, to rounding, that of one explainer that
            has seen both parts. Or any explainer with the same settings: then the curves are
            joined exactly as they are, each at the time of its observations, and the storages as
            if its observations followed this one's (windows exactly, reservoirs by sampling).

        Returns
        -------
        A new explainer with the model of this one; the two are left as they are.
        """
        must_agree(self.settings, later.settings)
        joined = self._twin()
        if self._fold is None or later._fold is None:
            fold = self._fold or later._fold
            joined._fold = None if fold is None else fold.copy()
        else:
            joined._fold = merging.merge(self._fold, later._fold)
        return joined

    def _twin(self) -> IncrementalPDP:
        return IncrementalPDP(self._engine, **self.settings, n_ice=self.n_ice, seed=self.seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "alpha": self.alpha,
            "grid": self.grid,
            "estimator": self.estimator,
            "every": self.every,
        }

    # State out and in.

    @property
    def state(self) -> State:
        """Everything the explainer remembers, JSON-safe; the model and the settings are not in it.

        Assign it to an explainer with the same settings to go on from there, bit for bit.

        Examples
        --------
        >>> import json, ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], grid=ipdp.grid.Fixed([0, 1]))
        >>> pdp.explain_one({"a": 3.0})
        >>> other = ipdp.IncrementalPDP(lambda x: x["a"], grid=ipdp.grid.Fixed([0, 1]))
        >>> other.state = json.loads(json.dumps(pdp.state))
        >>> other.curve("a").average
        array([[0., 1.]])
        """
        settings = {name: canonical(value) for name, value in self.settings.items()}
        fold = None if self._fold is None else saving.save(self._fold)
        return {"version": VERSION, "settings": settings, "fold": fold}

    @state.setter
    def state(self, state: State) -> None:
        try:
            self._fold = self._restored(state)
        except (KeyError, IndexError) as error:
            raise ValueError(f"the state is damaged: {error} is missing from it") from error

    def _restored(self, state: State) -> Fold | None:
        must_fit(state, self.settings)
        if state["fold"] is None:
            return None
        names = [name for effect in state["fold"]["effects"] for name in effect["names"]]
        fold = self._begin(dict.fromkeys(names))
        saving.restore(fold, state["fold"])
        return fold

    def _repr_html_(self) -> str:
        from ipdp.plot import explainer_html

        return explainer_html(self)

    def __repr__(self) -> str:
        what = "all features" if self.features is None else f"features={self.features!r}"
        return (
            f"IncrementalPDP({self._engine!r}, {what}, alpha={self.alpha}, "
            f"estimator={self.estimator!r}, n_seen={self.n_seen})"
        )
