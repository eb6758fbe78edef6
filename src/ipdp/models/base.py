"""What an engine is asked, and what it answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import PREDICTION
from ipdp.core.typing import Array, FeatureName, FloatArray, Label, Observation


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
    """

    names: tuple[FeatureName, ...]
    start: int
    stop: int
    whole: tuple[bool, ...]
    categories: tuple[Array | None, ...]
    missing: bool = False

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
        return values

    def column(self, positions: FloatArray, axis: int) -> Array:
        """The same for many observations, as an array of shape (n_observations or 1, n_points)."""
        categories = self.categories[axis]
        if categories is not None:
            return categories[None, :]
        values = positions[:, axis, self.start : self.stop]
        if self.missing:
            values = values.copy()
            values[:, -1] = math.nan
        elif self.whole[axis]:
            return values.astype(np.int64)
        return values


class Outputs(NamedTuple):
    """What a model said.

    Attributes
    ----------
    labels
        Name of each output; None if the model gave an array of several that it does not name.
    values
        Shape (n_observations, n_outputs, n_points).
    """

    labels: tuple[Label, ...] | None
    values: FloatArray


class SlowPathWarning(RuntimeWarning):
    """A model is asked about one point at a time from now on: the same answers, more slowly."""


class Engine(ABC):
    """Asks a model what it would say if one feature had other values."""

    model: Any
    ordered: bool = False
    """Whether the order of an observation's features matters to the model."""

    @abstractmethod
    def ice(
        self,
        observations: Sequence[Observation],
        probes: Sequence[Probe],
        positions: FloatArray,
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

    @abstractmethod
    def predict(self, observations: Sequence[Observation]) -> Outputs:
        """What the model says of the observations as they are; one column."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What the model was taken for, in a few words."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.description}>"


def as_rows(result: Any, n_rows: int) -> tuple[tuple[Label, ...] | None, FloatArray]:
    """The answer of a vectorised model, of shape (n_rows, n_outputs), with its labels."""
    labels: tuple[Label, ...] | None = None
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
