"""A curve read back from its JSON-safe dict."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.link import checked_link
from ipdp.core.typing import Array, State

_ALWAYS = ("average", "std_error", "n_effective_points")


def curve_fields(state: State) -> dict[str, Any]:
    """The fields of the curve that gave this dict."""
    schema.must_be_version("a curve", state.get("version"), 1)
    feature, categorical = state["feature"], tuple(state["categorical"])
    positions = state["ice_grid_values"]
    return {
        "feature": tuple(feature) if len(state["grid_values"]) > 1 else feature,
        "outputs": tuple(state["outputs"]),
        "grid_values": _axes(state["grid_values"], categorical),
        "n_samples": state["n_samples"],
        "categorical": categorical,
        "t": state["t"],
        "ice_grid_values": positions and [np.array(p, dtype=float) for p in positions],
        "rug": _axes(state["rug"], categorical),
        "provisional": bool(state.get("provisional", False)),
        "follows_all": bool(state.get("follows_all", True)),
        "kind": state.get("kind", "pdp"),
        "where": state.get("where"),
        "times": tuple(state.get("times", ())),
        "link": state.get("link"),
        **_arrays(state),
    }


def _arrays(state: State) -> dict[str, Any]:
    """The arrays of numbers, in their shapes; None where an earlier version did not have one."""
    n_outputs, ice = len(state["outputs"]), state["ice"]
    grid = tuple(len(axis) for axis in state["grid_values"])
    n_ice = 0 if ice is None else (len(ice[0]) if n_outputs else 0)
    wanted = shapes(grid, n_outputs, n_ice)
    given = ((name, state.get(name), shape) for name, shape in wanted.items())
    return {
        name: None if value is None else np.array(value, dtype=float).reshape(shape)
        for name, value, shape in given
    }


def shapes(grid: tuple[int, ...], n_outputs: int, n_ice: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a curve."""
    return {
        "n_effective_points": grid,
        "density": grid,
        "off_data": grid,
        "ice": (n_outputs, n_ice, *grid),
        **dict.fromkeys(
            ("average", "std_error", "centred_std_error", "smoothed", "ice_spread"),
            (n_outputs, *grid),
        ),
        **dict.fromkeys(
            (
                "missing",
                "missing_std_error",
                "inflation",
                "degrees",
                "path_length",
                "centred_path_length",
                "explained",
                "h_squared",
                "prediction",
                "prediction_std",
            ),
            (n_outputs,),
        ),
    }


def check_curve(fields: Mapping[str, Any]) -> None:
    """Raise unless the fields of a curve that was saved fit each other."""
    axes, categorical, outputs = (fields[n] for n in ("grid_values", "categorical", "outputs"))
    n, count, may = len(axes), schema.count, schema.maybe
    feature = schema.each(schema.name, 2) if n == 2 else schema.name
    flags, text = schema.each(schema.flag, n), schema.text
    schema.check(fields, feature=feature, n_samples=count, t=may(schema.number), kind=text)
    schema.check(fields, categorical=flags, outputs=schema.each(schema.name))
    schema.check(fields, provisional=schema.flag, follows_all=schema.flag)
    schema.check(fields, where=may(text), link=may(text))
    checked_link(fields.get("link"))
    if fields.get("times"):
        schema.check(fields, times=flags)
    rugs = {len(values) for values in fields["rug"]}
    is_rug = len(fields["rug"]) in (0, n) and len(rugs) <= 1  # of a pair, values that came together
    if n not in (1, 2) or not is_rug:
        raise ValueError("the curve is damaged: its axes are not those of a curve")
    for axis, is_category in zip([*axes, *fields["rug"]], categorical * 2, strict=False):
        is_axis = isinstance(axis, np.ndarray) and axis.ndim == 1
        if not is_axis or not (_are_categories(axis) if is_category else axis.dtype.kind in "iuf"):
            raise ValueError("the curve is damaged: the values of a feature are of another kind")
        if not is_category and not np.isfinite(axis).all():
            raise ValueError("the curve is damaged: a value of a feature is not finite")
    _check_arrays(fields, tuple(len(axis) for axis in axes), len(outputs))


def _are_categories(axis: Array) -> bool:
    return all(isinstance(c, Hashable) for c in axis.tolist())


def _check_arrays(fields: Mapping[str, Any], grid: tuple[int, ...], n_outputs: int) -> None:
    ice = fields.get("ice")
    for name, shape in shapes(grid, n_outputs, 0 if ice is None else ice.shape[1]).items():
        array = fields.get(name)
        if array is None:
            if name in _ALWAYS:
                raise ValueError(f"the curve is damaged: it has no {name}")
        elif not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            raise ValueError(f"the curve is damaged: its {name} are no numbers")
        elif array.shape != shape:
            raise ValueError("the curve is damaged: its arrays do not fit the grid")


def _axes(axes: Iterable[Iterable[Any]], categorical: tuple[bool, ...]) -> list[Array]:
    return [
        _axis(values, is_category) for values, is_category in zip(axes, categorical, strict=False)
    ]


def _axis(values: Iterable[Any], is_category: bool) -> Array:
    items = list(values)
    if not is_category:
        return np.array(items)
    axis = np.empty(len(items), dtype=object)
    axis[:] = items
    return axis
