"""Names of the types that are passed between the rooms."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
"""An array of floats; its shape is said where it is made."""

Array: TypeAlias = npt.NDArray[Any]
"""An array of numbers or of objects (categories)."""

FeatureName: TypeAlias = Hashable
"""What a feature is called: a string as a rule, a column number for bare arrays."""

Feature: TypeAlias = Hashable
"""What a curve is about: a feature name, or a tuple of two of them."""

Label: TypeAlias = Hashable
"""The name of an output: a class, a target, or "prediction"."""

Labels: TypeAlias = tuple[Label, ...]
"""The names of all outputs of a model, in their order."""

Observation: TypeAlias = Mapping[Any, Any]
"""One observation x_t: feature name to value, as in river."""

State: TypeAlias = dict[str, Any]
"""What `state` gives and takes: JSON-safe, so that it can be kept without pickle."""
