"""The laws of a grid."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ipdp.explainers import IncrementalPDP
from ipdp.grid import Grid
from ipdp.grid.base import LARGEST, is_missing

# After so many values, and as many again, a grid must not have become larger.
_ENOUGH = 3000


def check_grid(grid: Grid, values: Sequence[Any]) -> None:
    """Check that a grid obeys the laws of grids.

    The model is asked exactly at `points`, under both estimators; `keys` are distinct;
    `span`, `intake` and `admits_numbers`, where the grid has them, are right; `admit` changes
    nothing, and the same seed gives the same points; a grid restored from its state (through
    JSON), a copy or a pickle (where the class can be imported) continues bit for bit; a merged grid
    has the values of both parts; memory is bounded.

    Parameters
    ----------
    grid
        The grid, as it would be given to an explainer; it is not changed.
    values
        Some values of a feature, in the order of a stream; a hundred or so.

    Raises
    ------
    AssertionError
        If a law is broken; the text says which.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.checks import check_grid
    >>> values = [k % 17 / 4 for k in range(60)]
    >>> check_grid(ipdp.grid.MinMax(5, window=20), values)
    >>> class Forgetful(ipdp.grid.MinMax):
    ...     @property
    ...     def keys(self):
    ...         return ()
    >>> check_grid(Forgetful(5, window=20), values)
    Traceback (most recent call last):
    ...
    AssertionError: a grid of 5 points has 0 keys
    """
    if not values:
        raise ValueError("a grid is checked with some values, and there are none")
    before = _text(grid)
    _check_points(grid, values)
    _check_shortcuts(grid, values)
    _check_state(grid, values)
    _check_merge(grid, values)
    _check_memory(grid, values)
    for estimator in ("pointwise", "regrid"):
        _check_questions(grid, values, estimator)
    assert _text(grid) == before, "fresh() must give a grid of its own: this one has changed"


def _filled(grid: Grid, values: Sequence[Any]) -> Grid:
    filled = grid.fresh(7)
    for value in values:
        _put(filled, value)
    return filled


def _put(grid: Grid, value: Any) -> None:
    admitted = grid.admit(value)
    if admitted is not None:
        grid.update(admitted)


def _text(grid: Grid) -> str:
    return json.dumps(grid.state)


def _points(grid: Grid) -> list[Any]:
    return list(grid.points.tolist()) if grid.ready else []


def _check_points(grid: Grid, values: Sequence[Any]) -> None:
    """Points, keys and the rug, after each value; admitting a value changes nothing."""
    own, twin = grid.fresh(7), grid.fresh(7)
    for value in values:
        before = _text(own)
        own.admit(value)
        assert _text(own) == before, f"admit({value!r}) must not change the grid"
        _put(own, value)
        _put(twin, value)
        same = _points(own) == _points(twin)
        assert same, "two grids with the same seed and values have different points"
        if own.ready:
            _check_now(own)


def _check_now(grid: Grid) -> None:
    points, keys = grid.points, grid.keys
    assert len(points) == len(keys), f"a grid of {len(points)} points has {len(keys)} keys"
    assert len(set(keys)) == len(keys), f"two points have the same key: {keys}"
    ascend = points.dtype == object or not (np.diff(points) < 0).any()
    assert ascend, f"the points are not in ascending order: {points}"
    assert len(grid.rug) <= 200, f"the rug has {len(grid.rug)} values, and may have 200"


def _check_shortcuts(grid: Grid, values: Sequence[Any]) -> None:
    """What the grid says of itself so that others can do its work, is true."""
    own, twin = grid.fresh(7), grid.fresh(7)
    for value in values:
        if own.admits_numbers and type(value) in (int, float) and abs(value) < LARGEST:
            same = own.admit(value) is value
            assert same, f"admits_numbers is True, and admit({value!r}) gives another one"
        intake, admitted = twin.intake, twin.admit(value)
        _put(own, value)
        if admitted is not None:
            (twin.update if intake is None else intake.offer)(admitted)
        assert _text(own) == _text(twin), "intake.offer() does something else than update()"
        if own.ready and own.span is not None:
            low, high = own.span.ends()
            even = np.arange(len(own.points)) / (len(own.points) - 1) * (high - low) + low
            same = np.array_equal(own.points, even)
            assert same, f"span says {low} to {high}, but the points are {own.points}"


def _check_state(grid: Grid, values: Sequence[Any]) -> None:
    """A copy in any form continues as the original does."""
    half = len(values) // 2
    own = _filled(grid, values[:half])
    restored = grid.fresh(7)
    restored.state = json.loads(_text(own))
    twins = {"state": restored, "copy()": own.copy()}
    if _has_a_name(type(grid)):
        twins["pickle"] = pickle.loads(pickle.dumps(own))
    for value in values[half:]:
        for twin in (own, *twins.values()):
            _put(twin, value)
    for name, twin in twins.items():
        same = (_text(twin), _points(twin)) == (_text(own), _points(own))
        assert same, f"a grid that went through {name} continues differently"


def _has_a_name(kind: type) -> bool:
    """Whether a class can be imported; one that was made inside a function cannot be pickled."""
    try:
        pickle.dumps(kind)
    except (pickle.PicklingError, AttributeError):
        return False
    return True


def _check_merge(grid: Grid, values: Sequence[Any]) -> None:
    half = len(values) // 2
    first, second = _filled(grid, values[:half]), _filled(grid, values[half:])
    before = _text(first), _text(second)
    joined = first.merge(second)
    assert (_text(first), _text(second)) == before, "merge() must leave both parts as they are"
    n_first, n_second, n = first.n_values, second.n_values, joined.n_values
    assert n == n_first + n_second, f"parts of {n_first} and {n_second} values are merged to {n}"
    if joined.ready:
        _check_now(joined)


def _check_memory(grid: Grid, values: Sequence[Any]) -> None:
    enough = max(_ENOUGH, 3 * getattr(grid, "window", 0))
    many = [values[k % len(values)] for k in range(enough)]
    own = _filled(grid, many)
    before = len(_text(own))
    for value in many:
        _put(own, value)
    assert len(_text(own)) <= 1.5 * before + 1000, (
        f"the state grows with the stream: {before} characters after {enough} values, "
        f"{len(_text(own))} after {2 * enough}"
    )


def _check_questions(
    grid: Grid, values: Sequence[Any], estimator: Literal["pointwise", "regrid"]
) -> None:
    """An explainer asks the model exactly at the points of the grid."""
    asked: list[Any] = []

    def model(x: Any) -> float:
        asked.append(x.get("feature"))
        return 0.0

    pdp = IncrementalPDP(model, ["feature"], grid=grid, estimator=estimator, n_ice=0, seed=7)
    for value in values:
        memory, wanted = pdp.memory, []
        if memory is not None and memory.grids["feature"].ready:
            wanted = memory.grids["feature"].points.tolist()
        asked.clear()
        pdp.explain_one({"feature": value})
        where = [x for x in asked if not is_missing(x)] if grid.missing else asked
        assert memory is None or where == wanted, (
            f"under {estimator} the model was asked at {where}, the grid's points are {wanted}"
        )
