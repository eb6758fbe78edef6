"""Incremental permutation feature importance (Fumagalli et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.blocks import Blocks
from ipdp.core.decay import Default
from ipdp.core.dependence import independent_errors
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.importance import Importance, Result
from ipdp.core.jsonable import decode_name, encode_name, must_be_savable
from ipdp.core.observations import arranged
from ipdp.core.output_names import PREDICTION
from ipdp.core.random import Uniforms, seed_for
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import Feature, FeatureName, FloatArray, Observation, State
from ipdp.core.validation import whole_number
from ipdp.explainers.base import Explainer
from ipdp.explainers.losses import per_sample_loss
from ipdp.explainers.memory import Memory
from ipdp.explainers.state.left_out import LeftOut
from ipdp.explainers.state.past import PastObservations
from ipdp.explainers.state.targets import followed, names_of
from ipdp.explainers.turns import in_turn
from ipdp.models.base import Outputs


class IncrementalPFI(Explainer):
    """Permutation feature importance that follows a model along a stream.

    For every observation and every feature, the feature's value is replaced by one of a past
    observation, drawn from a geometric reservoir. How much larger the loss becomes, smoothed
    exponentially, is the incremental permutation feature importance (iPFI). All features are
    evaluated in one call of the model.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes, as for `ipdp.IncrementalPDP`.
    features
        Names of features, and pairs of names as tuples, which are replaced together; None takes
        every feature of the first observation but those that look like an id or a clock, as
        for `ipdp.IncrementalPDP`.
    loss
        A river metric, or a function `loss(y_true, y_pred)` that gives a number, smaller is better.
        `y_pred` is a dict of probabilities by class for a classifier, a number for a model of one
        output, an array for a model of several that it does not name. A metric that wants labels
        gets the most probable class.
    alpha, half_life, span
        How fast the past is forgotten, as for `ipdp.IncrementalPDP`.
    n_inner
        Number of values that a feature is replaced by at each observation. More of them cost more
        predictions and make the increase of the loss less noisy.
    storage_size
        Number of past observations kept. Each observation takes the place of one picked at random,
        so that the age of those kept is geometric, with a mean of `storage_size`.
    every
        Explain every k-th observation only; this is k.
    seed
        Start of the random numbers. Each feature has its own, so that the result for one feature
        does not depend on the others, nor on their order.

    Notes
    -----
    *Metrics.* The loss is taken for one observation at a time, by a fresh copy of the metric. That
    has a meaning where the metric is a mean over observations: accuracy (whose loss is its
    negative), cross-entropy, mean absolute or squared error and the like. Metrics that are not
    (ROC AUC, F1, R2, RMSE) are refused.

    *Start.* The first observation is only stored. An unfitted model without outputs uses no
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
    title = "permutation importance"
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
        every: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            model, features, alpha=alpha, half_life=half_life, span=span, every=every, seed=seed
        )
        self.loss = loss
        self.n_inner = whole_number("n_inner", n_inner)
        self.storage_size = whole_number("storage_size", storage_size)
        self._loss, self._wants_labels = per_sample_loss(loss)

    def losses(self, y: Any, outputs: Outputs) -> FloatArray:
        """The loss of each row of an answer; 0 where an unfitted model says nothing yet.

        Parameters
        ----------
        y
            What happened.
        outputs
            What the model said, of some rows as they are.
        """
        n = len(outputs.values)
        if not outputs.values.shape[1]:
            return np.zeros(n)
        predictions = _predictions(outputs, self._wants_labels)
        loss = self._loss
        losses = np.array([loss(y, prediction) for prediction in predictions], dtype=float)
        if losses.shape != (n,) or not np.isfinite(losses).all():
            raise ValueError(
                f"the loss must be a finite number, got {losses.ravel()[0]!r} for y = {y!r} and a "
                f"prediction of {predictions[0]!r}; the observation was not explained"
            )
        return losses

    def _begin(self, x: Observation) -> _Memory:
        return _Memory(
            followed(x, self.features, self.engine),
            tuple(x),
            alpha=self.alpha,
            storage_size=self.storage_size,
            seed=self.seed,
            orders=None if self.features is not None else self.engine.orders(x),
        )

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "alpha": self.alpha,
            "n_inner": self.n_inner,
            "storage_size": self.storage_size,
        }

    @property
    def _unsaved(self) -> dict[str, Any]:
        return {"loss": self.loss, "every": self.every, "seed": self.seed}

    @property
    def _shown(self) -> dict[str, Any]:
        return {"loss": self.loss, "alpha": self.alpha}

    def _saved_memory(self, state: State) -> State | None:
        if "fold" in state:
            return super()._saved_memory(state)
        return state if state["seen"] else None  # as the first version wrote it

    # Reading.

    @property
    def importance(self) -> dict[Feature, float]:
        """By how much the loss grows, on average, without each feature."""
        return {feature: result.value for feature, result in self._known().items()}

    @property
    @in_turn
    def variance(self) -> dict[Feature, float]:
        """Weighted variance of the increases themselves; NaN where there is only one."""
        known = self._known()
        variances = self._memory.smoothing.variance[0].tolist()
        pairs = zip(self._memory.features, variances, strict=True)
        return {feature: variance for feature, variance in pairs if feature in known}

    @property
    def std_error(self) -> dict[Feature, float]:
        """Standard error of `importance`, with the dependence between observations.

        NaN where it rests on one increase.
        """
        return {feature: result.std_error for feature, result in self._known().items()}

    def band(self, level: float = 0.95) -> dict[Feature, tuple[float, float]]:
        """Confidence bound of each importance, lower and upper end.

        Parameters
        ----------
        level
            Probability with which it is to cover the importance, while model and data do not
            change. The memory of the series is taken into account, as far as it has been seen.
        """
        return {feature: result.band(level) for feature, result in self._known().items()}

    def _read(self) -> None:
        self.results()

    @in_turn
    def results(self) -> dict[Feature, Result]:
        memory = self._memory
        if memory is None or not memory.smoothing.n:
            return {}
        smoothing = memory.smoothing
        error, n_effective = independent_errors(smoothing, memory.blocks)
        columns = smoothing.mean[0], error[0], n_effective[0]
        return {
            feature: Importance(feature, value, std_error, smoothing.n, n, memory.t)
            for feature, value, std_error, n in zip(
                memory.features, *(column.tolist() for column in columns), strict=True
            )
            if feature not in memory.left_out.features
        }

    def _known(self) -> dict[Feature, Any]:
        results = self.results()
        if not results:
            raise NotEnoughSamples("no importance yet: it comes with the second observation")
        return results


class _Memory(Memory):
    """What permutation importance remembers: past observations, and how the loss grew."""

    def __init__(
        self,
        features: list[Feature],
        columns: tuple[FeatureName, ...],
        *,
        alpha: float | None,
        storage_size: int,
        seed: int | None,
        orders: Mapping[FeatureName, Sequence[Any]] | None = None,
    ) -> None:
        super().__init__(columns)
        self.features = features
        self.left_out = LeftOut() if orders is None else LeftOut(features, orders)
        self.smoothing = Smoothing(alpha=alpha, n_columns=len(features))
        self.blocks = Blocks(alpha=alpha, n_columns=len(features))
        self.draws = [Uniforms(seed=seed_for(seed, feature)) for feature in features]
        self.storage = PastObservations(storage_size, seed_for(seed, ("storage",)))

    def ask(
        self, explainer: IncrementalPFI, x: Observation, y: Any, w: float
    ) -> tuple[dict[Any, Any], FloatArray | None]:
        must_be_savable(x)
        if not (w and self.storage.kept):
            return dict(x), None
        self.left_out.tell()
        before = [draws.state for draws in self.draws]
        try:
            return dict(x), self._increases(explainer, x, y)
        except BaseException:
            for draws, state in zip(self.draws, before, strict=True):
                draws.state = state
            raise

    def commit(self, asked: tuple[dict[Any, Any], FloatArray | None], w: float, t: float) -> None:
        x, increases = asked
        if increases is not None:
            if t >= self.blocks.until:
                self.blocks.advance(self.smoothing, t)
            if self.left_out.features:
                self.smoothing.update_at(self._asked, increases, w, t)
            else:
                self.smoothing.update(increases, w, t)
        self.left_out.update(x)
        self.storage.update(x)

    @property
    def _asked(self) -> list[int]:
        """Numbers of the features that are not left out."""
        left_out = self.left_out.features
        return [k for k, feature in enumerate(self.features) if feature not in left_out]

    def _increases(self, pfi: IncrementalPFI, x: Observation, y: Any) -> FloatArray:
        """By how much the loss grows with each feature replaced, of shape (1, n_asked)."""
        rows: list[Observation] = [x]
        asked = self._asked
        for k in asked:
            names, draws = names_of(self.features[k]), self.draws[k]
            rows += [_replaced(x, names, self.storage.draw(draws)) for _ in range(pfi.n_inner)]
        if pfi.engine.ordered:
            rows = [arranged(row, self.columns) for row in rows]
        losses = pfi.losses(y, pfi.engine.predict(rows))
        replaced = losses[1:].reshape(len(asked), pfi.n_inner)
        return np.asarray((replaced.mean(axis=1) - losses[0])[None, :])

    # Segments of a stream.

    def successor(self) -> _Memory:
        later = self.copy()
        alpha, n = self.smoothing.alpha, len(self.features)
        later.smoothing = Smoothing(alpha=alpha, n_columns=n)
        later.blocks = Blocks(alpha=alpha, n_columns=n)
        later.starts_at = self.seen
        return later

    def merge(self, later: _Memory) -> _Memory:
        if set(self.features) != set(later.features):
            raise ValueError(f"features differ: {self.features} and {later.features}")
        joined = later.copy()
        order = [later.features.index(feature) for feature in self.features]
        joined.features = self.features
        joined.draws = [joined.draws[k] for k in order]
        joined.smoothing = self.smoothing.merge(later.smoothing.take(order))
        joined.blocks = self._closed_blocks().merge(later._closed_blocks().take(order))
        joined.blocks.restart(joined.smoothing)
        joined.left_out = self.copy().left_out.merge(joined.left_out)
        if not later.follows(self):
            joined.storage.top_up(self.storage)
        joined.join_clocks(self, later)
        return joined

    def _closed_blocks(self) -> Blocks:
        blocks = self.blocks.copy()
        blocks.close(self.smoothing)
        return blocks

    def _saved(self) -> State:
        return {
            "features": [encode_name(feature) for feature in self.features],
            "smoothing": self.smoothing.state,
            "blocks": self.blocks.state,
            "draws": [draws.state for draws in self.draws],
            "storage": self.storage.state,
            "left_out": self.left_out.state,
        }

    def _restore(self, state: State) -> None:
        if [decode_name(feature) for feature in state["features"]] != self.features:
            raise ValueError("the state is damaged: its features are not those of its columns")
        self.smoothing = Smoothing.from_state(state["smoothing"])
        schema.must_fit("mean", self.smoothing.mean, (1, len(self.features)))
        self.blocks = Blocks(alpha=self.smoothing.alpha, n_columns=len(self.features))
        self.blocks.restart(self.smoothing)
        if "blocks" in state:  # not in those of version 0.3 and before
            self.blocks.restore(state["blocks"])
        self.must_be_past(self.smoothing.t)
        schema.must_ascend([self.blocks.last, self.smoothing.t])
        for draws, saved in zip(self.draws, state["draws"], strict=True):
            draws.state = saved
        self.storage.state = state["storage"]
        self.left_out.state = state.get("left_out", {})  # not in those of version 0.3 and before


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
