"""Partial dependence of a model on a table: what the incremental one converges to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ipdp.core.curve import Curve
from ipdp.core.link import Link
from ipdp.core.observations import observations
from ipdp.core.typing import FeatureName, Observation
from ipdp.core.validation import listed, sample_weight
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.segments.labels import By
from ipdp.explainers.segments.memory import SegmentsMemory
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.snapshot import Snapshot
from ipdp.explainers.state.stack import Stack
from ipdp.grid import Grid


def partial_dependence(
    model: Any,
    X: Any,
    features: Any = None,
    *,
    grid: Grid | Mapping[FeatureName, Grid] | None = None,
    weights: Sequence[float] | None = None,
    names: Sequence[FeatureName] | None = None,
    ice: bool = True,
    by: By | None = None,
    n_groups: int = 20,
    link: Link | None = None,
) -> list[Curve]:
    """Partial dependence curves of a model that does not change, over all rows of a table.

    The same as scikit-learn's `partial_dependence(method="brute")`, for every model that
    `ipdp.models.engine` takes, all features in one pass, a `Curve` for each.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes.
    X
        A frame (pandas, polars, ...), a 2-D array, or a list of dicts.
    features
        Names of features, and pairs of names as tuples; None takes all of them.
    grid
        A grid of `ipdp.grid`, or a dict of them by feature. Windows span the whole table here,
        and quantiles are those of all rows.
    weights
        Weight of each row.
    names
        Names of an array's columns.
    ice
        Whether the curves keep the ICE curve of every row, in the order of the rows.
    by
        A column, or a function of a row: after the curves of all rows those of each of its values,
        the most frequent first, called "age, where country = AT".
    n_groups
        Number of groups that have curves of their own, the most frequent ones; the rest is
        "others".
    link
        As for `ipdp.IncrementalPDP`.

    Returns
    -------
    The curves, in the order of `features`.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])
    >>> [curve] = ipdp.partial_dependence(
    ...     lambda x: x["a"] * x["b"], X, "a", names=["a", "b"], grid=ipdp.grid.Fixed([0, 1, 2])
    ... )
    >>> curve.average
    array([[0., 3., 6.]])
    """
    rows, w = table(X, weights, names)
    pdp = IncrementalPDP(
        model,
        features,
        grid=grid,
        alpha=None,
        estimator="pointwise",
        n_ice=len(rows) if ice else 0,
        n_past=0,
        dependence=False,  # the rows of a table are a sample: their order is not that of time
        by=by,
        n_groups=n_groups,
        link=link,
    )
    pdp.engine.remember(X)
    memory = pdp.begin_table(rows[0], len(rows))
    _fill(memory, rows, w)
    if isinstance(memory, SegmentsMemory):
        memory.groups.of_table([memory.groups.label_of(x) for x in rows], w)
    stack = Stack(memory, pdp.engine)
    for t, (x, weight) in enumerate(zip(rows, w, strict=True), start=1):
        if weight or ice:
            stack.add(x, memory.admit(x), weight, t)
    stack.flush()
    now = Snapshot(memory)
    shown = [k for k, target in enumerate(memory.targets) if target.ready]
    curves = [pdp.on_scale(now.curve(k)) for k in shown]
    if by is not None:
        curves += [curve for group in pdp.segment_curves().values() for curve in group]
    return [replace(curve, provisional=False) for curve in curves]


def table(
    X: Any, weights: Sequence[float] | None, names: Sequence[FeatureName] | None
) -> tuple[list[dict[Any, Any]], list[float]]:
    """The rows of a table and their weights, or an error."""
    rows = list(observations(X, names))  # they are gone through several times
    if not rows:
        raise ValueError("X has no rows: there is nothing to average over")
    w = (
        [1.0] * len(rows)
        if weights is None
        else [sample_weight(v) for v in listed("weights", weights)]
    )
    if len(w) != len(rows):
        raise ValueError(f"weights has {len(w)} values for {len(rows)} rows")
    if not any(w):
        raise ValueError("weights must not all be 0")
    return rows, w


def filled(grids: Mapping[FeatureName, Grid], admitted: Sequence[Sequence[Any]]) -> None:
    """Let the grids have all rows of a table, as they were admitted."""
    columns = list(zip(*admitted, strict=True))
    for (name, own), column in zip(grids.items(), columns, strict=True):
        values = [value for value in column if value is not None]
        if not values:
            raise ValueError(f"feature {name!r} has no values in X, only missing ones")
        own.take(values)
        own.settle()


def _fill(memory: CurveMemory, rows: Sequence[Observation], weights: Sequence[float]) -> None:
    admitted = [memory.admit(x) for x in rows]
    filled(memory.grids, admitted)
    memory.joint.extend(map(tuple, admitted[-(memory.joint.maxlen or 0) :]))
    for n, values in enumerate(admitted):
        memory.joint_values.add(n, values, weights[n], n + 1)
    memory.seen = memory.t = len(rows)
