"""Incremental permutation feature importance (Fumagalli et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.curve import PREDICTION
from ipdp.core.decay import Default, resolve_alpha
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.importance import Importance, Result
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.observations import arranged
from ipdp.core.random import Uniforms, seed_for
from ipdp.core.smoothing import Smoothing
from ipdp.core.student_t import student_quantile
from ipdp.core.typing import Feature, FeatureName, FloatArray, Observation, State
from ipdp.core.validation import next_time, sample_weight, unknown, whole_number
from ipdp.explainers.base import Explainer
from ipdp.explainers.losses import per_sample_loss
from ipdp.explainers.past import PastObservations
from ipdp.explainers.settings import VERSION, canonical, must_agree, must_fit
from ipdp.explainers.state.targets import as_features, names_of
from ipdp.models.base import Outputs


class IncrementalPFI(Explainer):
    """Permutation feature importance that follows a model along a stream.

    For every observation and every feature, the feature's value is replaced by one of a past
    observation, drawn from a geometric reservoir. How much larger the loss becomes, smoothed
    exponentially, is the incremental permutation feature importance (iPFI). All features are
    served by one call of the model.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` understands, as for `ipdp.IncrementalPDP`.
    features
        Names of features, and pairs of names as tuples, which are replaced together; None takes
        every feature of the first observation.
    loss
        A river metric, or a function `loss(y_true, y_pred)` that gives a number, smaller is better.
        `y_pred` is a dict of probabilities by class for a classifier, a number for a model of one
        output, an array for a model of several that it does not name. A metric that wants labels
        gets the most probable class.
    alpha, half_life, span
        How fast the past is forgotten, as for `ipdp.IncrementalPDP`.
    n_inner
        Number of values that a feature is replaced by at each observation. More of them make a
        step dearer and its increase of the loss less noisy.
    storage_size
        Number of past observations kept. Each observation takes the place of one picked at random,
        so that the age of those kept is geometric, with a mean of `storage_size`.
    seed
        Start of the random numbers. Each feature has its own, so that the result for one feature
        does not depend on the others, nor on their order.

    Notes
    -----
    *Metrics.* The loss is taken for one observation at a time, by a fresh copy of the metric. That
    has a meaning where the metric is a mean over observations: accuracy (whose loss is its
    negative), cross-entropy, mean absolute or squared error and the like. Metrics that are not
    (ROC AUC, F1, R2, RMSE) are refused.

    *Start.* The first observation is only stored. An unfitted model that says nothing yet uses no
    feature: the increase is zero.

    *Errors.* If the model or the loss raises, or the loss is not a finite number, the explainer
    is what it was before the call.

    Examples
    --------
    >>> import ipdp
    >>> from river import datasets, metrics, tree
    >>> model = tree.HoeffdingAdaptiveTreeClassifier(seed=42)
    >>> pfi = ipdp.IncrementalPFI(model, loss=metrics.Accuracy(), alpha=0.005, seed=42)
    >>> for x, y in datasets.synth.Agrawal(classification_function=2, seed=42).take(2_000):
    ...     pfi.explain_one(x, y)
    ...     model.learn_one(x, y)
    >>> max(pfi.importance, key=pfi.importance.get)
    'elevel'
    """

    name = "pfi"
    needs_label = True

    def __init__(
        self,
        model: Any,
        features: Any = None,
        *,
        loss: Any,
        alpha: float | Default | None = Default.ALPHA,
        half_life: float | None = None,
        span: float | None = None,
        n_inner: int = 1,
        storage_size: int = 100,
        seed: int | None = None,
    ) -> None:
        super().__init__(model)
        self.alpha = resolve_alpha(alpha, half_life=half_life, span=span)
        self.features = None if features is None else as_features(features)
        self.loss = loss
        self.n_inner = whole_number("n_inner", n_inner)
        self.storage_size = whole_number("storage_size", storage_size)
        self.seed = seed
        self._loss, self._wants_labels = per_sample_loss(loss)
        self._followed: list[Feature] = []
        self._columns: tuple[FeatureName, ...] = ()
        self._draws: list[Uniforms] = []
        self._storage = PastObservations(storage_size, seed_for(seed, ("storage",)))
        self._smoothing = Smoothing(alpha=self.alpha, n_columns=0)
        self._seen = 0
        self._t: float | None = None

    def explain_one(
        self, x: Observation, y: Any, w: float = 1.0, *, t: float | None = None
    ) -> None:
        """Explain one observation: explain first, then learn.

        Parameters
        ----------
        x
            The observation, a dict as in river; it is not changed.
        y
            What happened: the class, or the number, that the model was to predict.
        w
            Sample weight, not negative. With a weight of 0 the model is not asked.
        t
            Time of the observation on a clock of your own, as in `IncrementalPDP.explain_one`.
        """
        if not isinstance(x, Mapping):
            raise TypeError(f"one observation is a dict, got {type(x).__name__}")
        w = sample_weight(w)
        t = next_time(t, self._t)
        followed = self._followed or self._listed(x)
        increases = None
        if w and self._followed and self._storage.kept:
            increases = self._increases(x, y)
        # From here on nothing can go wrong, and everything changes together.
        if not self._followed:
            self._begin(followed, tuple(x))
        if increases is not None:
            self._smoothing.update(increases, w, t)
        self._storage.update(dict(x))
        self._seen += 1
        self._t = t

    def _listed(self, x: Observation) -> list[Feature]:
        listed = list(x) if self.features is None else self.features
        if not listed:
            raise ValueError("the first observation has no features")
        for name in (name for feature in listed for name in names_of(feature)):
            if name not in x:
                raise ValueError(unknown("feature", name, list(x)))
        return list(listed)

    def _begin(self, followed: list[Feature], columns: tuple[FeatureName, ...]) -> None:
        self._followed, self._columns = followed, columns
        self._draws = [Uniforms(seed=seed_for(self.seed, feature)) for feature in followed]
        self._smoothing = Smoothing(alpha=self.alpha, n_columns=len(followed))

    def _increases(self, x: Observation, y: Any) -> FloatArray:
        """By how much the loss grows with each feature replaced, of shape (1, n_features)."""
        before = [draws.state for draws in self._draws]
        try:
            rows: list[Observation] = [x]
            for feature, draws in zip(self._followed, self._draws, strict=True):
                for _ in range(self.n_inner):
                    rows.append(_replaced(x, names_of(feature), self._storage.draw(draws)))
            if self._engine.ordered:
                rows = [arranged(row, self._columns) for row in rows]
            losses = self._losses(y, self._engine.predict(rows))
        except BaseException:
            for draws, state in zip(self._draws, before, strict=True):
                draws.state = state
            raise
        replaced = losses[1:].reshape(len(self._followed), self.n_inner)
        return np.asarray((replaced.mean(axis=1) - losses[0])[None, :])

    def _losses(self, y: Any, outputs: Outputs) -> FloatArray:
        n = len(outputs.values)
        if not outputs.values.shape[1]:
            return np.zeros(n)
        loss = self._loss
        predictions = _predictions(outputs, self._wants_labels)
        losses = np.array([loss(y, prediction) for prediction in predictions], dtype=float)
        if losses.shape != (n,) or not np.isfinite(losses).all():
            raise ValueError(
                f"the loss must be a finite number, got {losses.ravel()[0]!r} for y = {y!r} and a "
                f"prediction of {predictions[0]!r}; the observation was not explained"
            )
        return losses

    # Reading.

    @property
    def n_seen(self) -> int:
        """Number of observations seen."""
        return self._seen

    @property
    def t(self) -> float | None:
        """Time of the last observation; None before the first."""
        return self._t

    @property
    def importance(self) -> dict[Feature, float]:
        """By how much the loss grows, on average, without each feature."""
        self._need_samples()
        return self._by_feature(self._smoothing.mean)

    @property
    def variance(self) -> dict[Feature, float]:
        """Weighted variance of the increases themselves; NaN where there is only one."""
        self._need_samples()
        return self._by_feature(self._smoothing.variance)

    @property
    def std_error(self) -> dict[Feature, float]:
        """Standard error of `importance`; NaN where it rests on one increase."""
        self._need_samples()
        return self._by_feature(self._smoothing.std_error)

    def band(self, level: float = 0.95) -> dict[Feature, tuple[float, float]]:
        """Confidence bound of each importance, lower and upper end.

        Parameters
        ----------
        level
            Probability with which it is to cover the importance, while model and data do not
            change.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be in (0, 1), got {level}")
        self._need_samples()
        smoothing = self._smoothing
        quantile = student_quantile((1 + level) / 2, smoothing.n_effective - 1)
        half = quantile * smoothing.std_error
        lower = self._by_feature(smoothing.mean - half)
        upper = self._by_feature(smoothing.mean + half)
        return {feature: (lower[feature], upper[feature]) for feature in self._followed}

    def results(self) -> dict[Feature, Result]:
        if not self._smoothing.n:
            return {}
        error = self.std_error
        n_effective = self._smoothing.n_effective.tolist()
        return {
            feature: Importance(
                feature, value, error[feature], self._smoothing.n, n_effective[k], self._t
            )
            for k, (feature, value) in enumerate(self.importance.items())
        }

    def _need_samples(self) -> None:
        if not self._smoothing.n:
            raise NotEnoughSamples("no importance yet: it comes with the second observation")

    def _by_feature(self, values: FloatArray) -> dict[Feature, float]:
        return dict(zip(self._followed, values[0].tolist(), strict=True))

    # Parts of a stream.

    def merge(self, later: IncrementalPFI) -> IncrementalPFI:
        """The explainer of this one's observations and of those of another.

        Parameters
        ----------
        later
            An explainer with the same settings. The importances are joined exactly as they are,
            each at the time of its observations: give both the times of one clock by
            `explain_one(..., t=...)`. The stored observations are joined by sampling: the later
            ones, topped up with earlier ones.

        Returns
        -------
        A new explainer with the model of this one; the two are left as they are.
        """
        must_agree(self.settings, later.settings)
        joined = self._twin()
        if not (self._seen and later._seen):
            joined.state = (self if self._seen else later).state
            return joined
        if set(self._followed) != set(later._followed):
            raise ValueError(f"features differ: {self._followed} and {later._followed}")
        joined.state = later.state
        joined._followed = self._followed
        order = [later._followed.index(feature) for feature in self._followed]
        joined._draws = [joined._draws[k] for k in order]
        joined._smoothing = self._smoothing.merge(later._smoothing.take(order))
        joined._storage.top_up(self._storage)
        joined._seen = self._seen + later._seen
        joined._t = max(t for t in (self._t, later._t) if t is not None)
        return joined

    def _twin(self) -> IncrementalPFI:
        return IncrementalPFI(self._engine, **self.settings, loss=self.loss, seed=self.seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "alpha": self.alpha,
            "n_inner": self.n_inner,
            "storage_size": self.storage_size,
        }

    # State out and in.

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe; the model, the loss and the settings are not in it.

        Assign it to an explainer with the same settings to go on from there, bit for bit.

        Examples
        --------
        >>> import json, ipdp
        >>> from river import metrics
        >>> settings = {"loss": metrics.MAE(), "seed": 1}
        >>> pfi = ipdp.IncrementalPFI(lambda x: x["a"], **settings)
        >>> for a in [1.0, 2.0, 4.0]:
        ...     pfi.explain_one({"a": a}, a)
        >>> other = ipdp.IncrementalPFI(lambda x: x["a"], **settings)
        >>> other.state = json.loads(json.dumps(pfi.state))
        >>> other.importance == pfi.importance
        True
        """
        return {
            "version": VERSION,
            "settings": {name: canonical(value) for name, value in self.settings.items()},
            "features": [encode_name(feature) for feature in self._followed],
            "columns": [encode_name(name) for name in self._columns],
            "seen": self._seen,
            "t": self._t,
            "smoothing": self._smoothing.state,
            "draws": [draws.state for draws in self._draws],
            "storage": self._storage.state,
        }

    @state.setter
    def state(self, state: State) -> None:
        must_fit(state, self.settings)
        self._begin(
            [decode_name(feature) for feature in state["features"]],
            tuple(decode_name(name) for name in state["columns"]),
        )
        self._seen, self._t = state["seen"], state["t"]
        self._smoothing = Smoothing.from_state(state["smoothing"])
        for draws, saved in zip(self._draws, state["draws"], strict=True):
            draws.state = saved
        self._storage.state = state["storage"]

    def __repr__(self) -> str:
        what = "all features" if self.features is None else f"features={self.features!r}"
        return (
            f"IncrementalPFI({self._engine!r}, {what}, loss={self.loss!r}, alpha={self.alpha}, "
            f"n_seen={self.n_seen})"
        )


def _replaced(x: Observation, names: Sequence[Any], drawn: Observation) -> dict[Any, Any]:
    """The observation with some features as they were in another one, missing where they were."""
    row = dict(x)
    for name in names:
        if name in drawn:
            row[name] = drawn[name]
        else:
            row.pop(name, None)
    return row


def _predictions(outputs: Outputs, wants_labels: bool) -> list[Any]:
    """What the model said of each row, as a loss takes it."""
    labels, values = outputs.labels, outputs.values[:, :, 0]
    if labels == PREDICTION:
        return list(values[:, 0].tolist())
    if labels is None:
        if wants_labels:
            raise ValueError("the metric wants classes, and the model does not name its outputs")
        return list(values)
    if wants_labels:
        return [labels[k] for k in values.argmax(axis=1).tolist()]
    return [dict(zip(labels, row, strict=True)) for row in values.tolist()]
