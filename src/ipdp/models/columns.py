"""Which columns of an observation a model uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray, Labels, Observation
from ipdp.core.validation import did_you_mean
from ipdp.core.words import quoted
from ipdp.models.base import Outputs, Probe

Ice = Callable[[Sequence[Observation], Sequence[Probe], FloatArray], Outputs]


def must_have(model: Any, fitted: Sequence[FeatureName], columns: Sequence[FeatureName]) -> None:
    """Refuse observations that lack a column of the model: it would be told a missing value."""
    absent = [name for name in fitted if name not in set(columns)]
    if not absent:
        return
    kind = type(model).__name__
    if all(isinstance(name, int) for name in columns):
        raise ValueError(
            f"{kind} was fitted on columns with names and the array has none: give a frame, or "
            f"names=[{', '.join(map(repr, fitted[:3]))}{', ...' if len(fitted) > 3 else ''}]"
        )
    surplus = [name for name in columns if name not in set(fitted)]
    hint = did_you_mean(absent[0], surplus) if len(absent) == 1 else ""
    hint = f" ({hint})" if hint else ""
    raise ValueError(
        f"{kind} was fitted on {quoted(absent)}{hint}, which the observation does not have; it "
        f"has {quoted(columns)}"
    )


def dropped_by(model: Any) -> frozenset[FeatureName]:
    """The columns that the ColumnTransformer at the start of an estimator leaves out."""
    first = model
    while getattr(first, "steps", None):  # a pipeline, perhaps one in another
        first = first.steps[0][1]
    if type(first).__name__ != "ColumnTransformer" or not hasattr(first, "transformers_"):
        return frozenset()
    names = getattr(first, "feature_names_in_", None)
    if names is None:
        return frozenset()
    used: set[FeatureName] = set()
    for _, transformer, columns in first.transformers_:
        if transformer != "drop":
            used |= set(_named(columns, names.tolist()))
    return frozenset(names.tolist()) - used


def _named(columns: Any, names: list[str]) -> list[str]:
    """The names of columns that were given as names, numbers, a slice or a mask."""
    if isinstance(columns, str):
        return [columns]
    if isinstance(columns, slice):
        return names if isinstance(columns.start or columns.stop, str) else names[columns]
    found = np.asarray(columns)
    if found.dtype.kind in "biu":
        return list(np.asarray(names, dtype=object)[found].tolist())
    return [str(name) for name in found.ravel()]


def ice_beside_idle(
    ice: Ice,
    plain: Outputs,
    observations: Sequence[Observation],
    probes: Sequence[tuple[Probe, bool]],
    positions: FloatArray,
) -> Outputs:
    """The curves of some probes where others replace what the model does not use.

    Those are flat, and need no more than `plain`, the prediction for the observations themselves.
    The probes come with whether they are one of them.
    """
    active = [probe for probe, is_idle in probes if not is_idle]
    labels: Labels | None = plain.labels
    values = np.repeat(plain.values, positions.shape[2], axis=2)
    if active:
        moved: list[Probe] = []
        columns: list[int] = []
        start = 0
        for probe in active:
            stop = start + probe.stop - probe.start
            moved.append(probe._replace(start=start, stop=stop))
            columns += range(probe.start, probe.stop)
            start = stop
        answer = ice(observations, tuple(moved), positions.take(columns, axis=2))
        labels = answer.labels
        values[:, :, np.array(columns)] = answer.values
    return Outputs(labels, values)
