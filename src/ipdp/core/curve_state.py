"""A curve read back from its JSON-safe dict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ipdp.core.typing import Array, State


def curve_fields(state: State) -> dict[str, Any]:
    """The fields of the curve that gave this dict."""
    if state.get("version") != 1:
        raise ValueError(
            f"this is a curve of version {state.get('version')!r}; this ipdp reads version 1"
        )
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
        **_arrays(state),
    }


def _arrays(state: State) -> dict[str, Any]:
    """The arrays of numbers, in their shapes; None where an earlier version did not have one."""
    n_outputs, ice = len(state["outputs"]), state["ice"]
    grid = tuple(len(axis) for axis in state["grid_values"])
    n_ice = 0 if ice is None else (len(ice[0]) if n_outputs else 0)
    shapes = {
        "n_effective_points": grid,
        "density": grid,
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
    given = ((name, state.get(name), shape) for name, shape in shapes.items())
    return {
        name: None if value is None else np.array(value, dtype=float).reshape(shape)
        for name, value, shape in given
    }


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
