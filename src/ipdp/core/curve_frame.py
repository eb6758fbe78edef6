"""A curve as a table of rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ipdp.core.curve import Curve


def long_frame(curve: Curve, backend: Any) -> Any:
    """One row for each output and point; see `Curve.to_frame`."""
    n_points = math.prod(len(axis) for axis in curve.grid_values)
    axes = np.meshgrid(*curve.grid_values, indexing="ij")
    columns: dict[str, Any] = {
        str(name): list(axis.ravel().tolist()) * len(curve.outputs)
        for name, axis in zip(curve.features, axes, strict=True)
    }
    columns["output"] = [output for output in curve.outputs for _ in range(n_points)]
    columns["average"] = curve.average.ravel().tolist()
    columns["std_error"] = curve.std_error.ravel().tolist()
    return frame_of(columns, backend)


def frame_of(columns: dict[str, Any], backend: Any) -> Any:
    """A frame of these columns, of a library that narwhals names."""
    import narwhals as nw

    columns = {_writable(name): list(map(_writable, own)) for name, own in columns.items()}
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ImportError:
        raise ImportError(
            f"a frame of {backend} needs it: pip install {backend}, or give another backend"
        ) from None


def _writable(value: Any) -> Any:
    """A text that can be UTF-8, as frames want it; JSON may hold halves of letters."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
