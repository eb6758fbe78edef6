"""What an engine is asked, what it answers, and when two answers are the same."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.link import Link
from ipdp.core.notices import notice
from ipdp.core.output_names import PREDICTION
from ipdp.core.times import Kind, time_at
from ipdp.core.typing import Array, FeatureName, FloatArray, Label, Labels, Observation
from ipdp.models.schema import Schema

# The share of rounding that is granted: of the value itself, and of the largest of its curve.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


class Probe(NamedTuple):
    """What to replace in an observation: one feature, or two, by the values of some columns.

    The values themselves come as an array of positions, of shape (n_observations, n_axes,
    n_points): those of the probe's first feature stand at `[:, 0, start:stop]`, those of its second
    at `[:, 1, start:stop]`.

    Attributes
    ----------
    names
        The features that are replaced.
    start, stop
        The columns of the answer that belong to this probe.
    whole
        For each feature, whether its values are whole numbers.
    categories
        For each feature the categories, of shape (stop - start,), which do not stand in the array;
        None for numbers.
    missing
        Whether the last column stands for a missing value.
    times
        For each feature what kind of times the numbers stand for, None for numbers; may be empty.

    Examples
    --------
    >>> from ipdp.models import Probe
    >>> probe = Probe(("age",), start=0, stop=3, whole=(True,), categories=(None,))
    >>> probe.stop - probe.start
    3
    """

    names: tuple[FeatureName, ...]
    start: int
    stop: int
    whole: tuple[bool, ...]
    categories: tuple[Array | None, ...]
    missing: bool = False
    times: tuple[Kind | None, ...] = ()

    def values(self, positions: FloatArray, axis: int) -> list[Any]:
        """What one observation's feature is replaced by, as Python's own types."""
        categories = self.categories[axis]
        if categories is not None:
            return list(categories.tolist())
        values: list[Any] = positions[axis, self.start : self.stop].tolist()
        if self.whole[axis]:
            values = [int(value) for value in values]
        if self.missing:
            values[-1] = math.nan
        kind = self.times[axis] if self.times else None
        return values if kind is None else [time_at(value, kind) for value in values]

    def column(self, positions: FloatArray, axis: int) -> Array:
        """The same for many observations, as an array of shape (n_observations or 1, n_points)."""
        categories = self.categories[axis]
        if categories is not None:
            return categories[None, :]
        values = positions[:, axis, self.start : self.stop]
        if self.times and self.times[axis] is not None:
            made = np.empty(values.shape, dtype=object)
            made[:] = [self.values(each, axis) for each in positions]
            return made
        if self.missing:
            values = values.copy()
            values[:, -1] = math.nan
        elif self.whole[axis]:
            return values.astype(np.int64)
        return values

    def within(self, first: int, end: int) -> Probe:
        """Its points in the columns from `first` to before `end`, counted from `first` on."""
        start, stop = max(self.start, first), min(self.stop, end)
        own = slice(start - self.start, stop - self.start)
        return self._replace(
            start=start - first,
            stop=stop - first,
            categories=tuple(None if c is None else c[own] for c in self.categories),
            missing=self.missing and stop == self.stop,
        )


class Outputs(NamedTuple):
    """The outputs of a model.

    Attributes
    ----------
    labels
        Name of each output; None if the model gave an array of several that it does not name.
    values
        Shape (n_observations, n_outputs, n_points).

    Examples
    --------
    >>> import numpy as np
    >>> from ipdp.models import Outputs
    >>> Outputs(("no", "yes"), np.zeros((1, 2, 5))).values.shape
    (1, 2, 5)
    """

    labels: Labels | None
    values: FloatArray


class SlowPathWarning(RuntimeWarning):
    """A model is asked about one point at a time from now on: the same answers, more slowly.

    Examples
    --------
    >>> import warnings
    >>> from ipdp.models import SlowPathWarning
    >>> warnings.filterwarnings("ignore", category=SlowPathWarning)  # if you know
    """


def warn_of_slow_path(sentence: str) -> None:
    """Warn, at the first line outside of ipdp: that of the user."""
    notice(sentence, SlowPathWarning)


class Engine(ABC):
    """Computes the ICE curves of a model: its outputs if one feature had other values.

    Examples
    --------
    >>> import ipdp
    >>> isinstance(ipdp.models.engine(lambda x: x["a"]), ipdp.models.Engine)
    True
    """

    model: Any
    ordered: bool = False
    """Whether the order of an observation's features matters to the model."""
    by_column: bool = False
    """Whether `ice` reads columns of a `Block` (`core/observations.py`), some rows at a time."""
    has_gradients: bool = False
    """Whether `gradients` has an answer."""
    schema: Schema = Schema()
    """The columns of the first frame, as which the model gets its own."""
    link: Link | None = None
    """On which scale the answers are; None for that of the model itself."""

    @property
    def feature_names(self) -> tuple[FeatureName, ...] | None:
        """The features that the model was fitted on, in its order; None if it does not say."""
        return None

    def origin(self, output: Label) -> float:  # noqa: ARG002  (it is 0 without a link)
        """What is to be added to an output to have it on its scale, see `core/link.py`."""
        return 0.0

    def remember(self, X: Any) -> None:
        """Keep what the columns of a frame are, if it is the first."""
        if not self.schema.backend:
            self.schema = Schema.of(X)

    def orders(self, x: Observation) -> Mapping[FeatureName, Sequence[Any]]:  # noqa: ARG002
        """The categories of features in the order of their type, where that is known.

        `x` is the first observation.
        """
        return self.schema.orders

    def check_columns(self, columns: Sequence[FeatureName]) -> None:  # noqa: B027  (most take all)
        """Refuse observations with these columns if the model needs another one."""

    @abstractmethod
    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        """The ICE curves of some observations, all probes side by side.

        Parameters
        ----------
        observations
            The x_t; they are not changed.
        probes
            What to replace; together they fill all columns.
        positions
            By which values, of shape (n_observations, n_axes, n_points).
        """

    def ice_again(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        """The same for observations that were asked about before, and are so now and then.

        An engine that compares its answers with plain calls need not do so once more.
        """
        return self.ice(observations, probes, positions)

    def gradients(
        self, observations: Sequence[Observation], names: Sequence[FeatureName]
    ) -> tuple[Outputs, FloatArray]:
        """The outputs for some observations, and how fast they change along some numbers.

        The latter of shape (n_observations, n_outputs, n_names).
        """
        raise NotImplementedError(f"{self!r} has no gradients for {list(observations[0])}, {names}")

    @abstractmethod
    def predict(self, observations: Sequence[Observation]) -> Outputs:
        """The outputs for the observations as they are; one column."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What the model was taken for, in a few words."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.description}>"


Rows = tuple[Labels | None, FloatArray]
"""The names of the outputs where they are known, and values of shape (n_rows, n_outputs)."""


def as_rows(result: Any, n_rows: int) -> Rows:
    """The answer of a vectorised model."""
    labels: Labels | None = None
    is_frame = type(result) is not np.ndarray and hasattr(result, "to_numpy")
    if is_frame and hasattr(result, "columns"):
        labels = tuple(result.columns)
    values = np.array(result, dtype=float)  # a copy: some models answer in memory of their own
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[0] != n_rows:
        raise ValueError(
            f"the model was asked about {n_rows} rows and answered with an array of shape "
            f"{np.shape(result)}; it must give one number, or one row of numbers, for each"
        )
    if labels is None and values.shape[1] == 1:
        labels = PREDICTION
    return labels, values


def aligned(outputs: Outputs, labels: Labels) -> Outputs:
    """The same answer with its outputs in another order; those that it does not have are 0."""
    if outputs.labels == labels:
        return outputs
    values = np.zeros((len(outputs.values), len(labels), outputs.values.shape[2]))
    for label, value in zip(outputs.labels or (), outputs.values.swapaxes(0, 1), strict=True):
        values[:, labels.index(label)] = value
    return Outputs(labels, values)


def agree(labels: Labels, values: FloatArray, plain: Outputs) -> bool:
    """Whether an answer for one observation, of shape (n_outputs, n_points), is the plain one.

    The order of the outputs does not matter.
    """
    if not set(plain.labels or ()) <= set(labels):
        return False
    return all(map(_close, values, aligned(plain, labels).values[0]))


def agree_at(labels: Sequence[Label], values: FloatArray, column: int, plain: Any) -> bool:
    """Whether the answer at one point is that of a plain call there."""
    if type(plain) is not dict and not isinstance(plain, Mapping):
        plain = {PREDICTION[0]: plain}
    known = 0
    for k, label in enumerate(labels):
        ours, theirs = values.item(k, column), 0.0
        if label in plain:
            known += 1
            theirs = plain[label]
        # Almost always the first comparison is enough.
        same = abs(ours - theirs) <= _RELATIVE * abs(theirs) < math.inf
        if not same and not _close(ours, theirs, values[k]):
            return False
    return known == len(plain)


def _close(ours: Any, theirs: Any, curve: Any = None) -> bool:
    size = np.abs(theirs if curve is None else curve)
    size = size.max(initial=0.0, where=np.isfinite(size))
    with np.errstate(invalid="ignore"):
        close = np.abs(ours - theirs) <= _RELATIVE * np.abs(theirs) + _ABSOLUTE * size
    # What is not finite has to be the same.
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return bool(np.all(np.where(np.isfinite(ours) & np.isfinite(theirs), close, same)))
