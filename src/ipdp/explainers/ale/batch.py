"""Accumulated local effects of a model on a table: what the incremental ones converge to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ipdp.core.curve import Curve
from ipdp.core.link import Link
from ipdp.core.typing import FeatureName
from ipdp.explainers.ale.explainer import IncrementalALE
from ipdp.explainers.ale.memory import AleMemory
from ipdp.explainers.ale.snapshot import AleSnapshot
from ipdp.explainers.batch import filled, table
from ipdp.explainers.state.targets import (
    as_features,
    check_columns,
    checked_grids,
    followed,
    make_targets,
    over_all,
)
from ipdp.grid import Grid
from ipdp.models import engine
from ipdp.models.linked import on_link


def accumulated_local_effects(
    model: Any,
    X: Any,
    features: Any = None,
    *,
    grid: Grid | Mapping[FeatureName, Grid] | None = None,
    weights: Sequence[float] | None = None,
    names: Sequence[FeatureName] | None = None,
    link: Link | None = None,
) -> list[Curve]:
    """Accumulated local effects of a model that does not change, over all rows of a table.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes.
    X
        A frame (pandas, polars, ...), a 2-D array, or a list of dicts.
    features
        Names of features, and pairs of names as tuples; None takes all of them.
    grid
        A grid of `ipdp.grid`, or a dict of them by feature, for the edges of the bins. Windows span
        the whole table here, and quantiles are those of all rows.
    weights
        Weight of each row.
    names
        Names of an array's columns.
    link
        As for `ipdp.IncrementalALE`.

    Returns
    -------
    The curves, in the order of `features`.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])
    >>> [curve] = ipdp.accumulated_local_effects(
    ...     lambda x: x["a"] * x["b"], X, "a", names=["a", "b"], grid=ipdp.grid.Fixed([0, 1, 2])
    ... )
    >>> curve.average
    array([[-2.16666667, -0.16666667,  4.83333333]])
    """
    rows, w = table(X, weights, names)
    listed = None if features is None else as_features(features)
    grid = checked_grids(grid, listed)
    asked = on_link(engine(model), link)
    asked.remember(X)
    check_columns(rows[0], listed, asked)
    listed = followed(rows[0], listed, asked)
    targets = make_targets(
        listed,
        over_all(grid, listed, len(rows)),
        regrid=False,
        seed=None,
        orders=asked.orders(rows[0]),
        wary=features is None,
    )
    memory = AleMemory(targets, tuple(rows[0]), alpha=None)
    filled(memory.grids, [memory.admit(x) for x in rows])
    memory.keep_rows(rows)
    # The rows of a table are a sample: their order is not that of time.
    memory.means.blocks.until = math.inf
    explainer = IncrementalALE(asked, listed)
    explainer.fold_in(memory, rows, w)
    memory.seen, memory.t = len(rows), len(rows)
    snapshot = AleSnapshot(memory)
    shown = [k for k, target in enumerate(targets) if target.ready]
    return [replace(explainer.on_scale(snapshot.curve(k)), provisional=False) for k in shown]
