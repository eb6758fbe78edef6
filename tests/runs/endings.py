"""What two runs came to, compared: exactly, and to rounding where sums are folded in by numpy."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ipdp.core import kernels
from ipdp.core.jsonable import unpack_floats
from ipdp.runs import Run


def assert_same_end(one: Run, other: Run) -> None:
    """Two runs came to the same: curves, importances, changes, scores, observations."""
    assert_same(_end(one), _end(other))


def assert_same(one: Any, other: Any) -> None:
    """Two JSON-safe values are the same; in the pure build their floats are so to rounding.

    There several observations are folded in at once, and reading, as a checkpoint does, decides
    how many: the same sum in another order.
    """
    if kernels.current is kernels.array:
        other = _to_rounding(_unpacked(other))
        one = _unpacked(one)
    assert one == other


def _unpacked(value: Any) -> Any:
    match value:
        case {"shape": _, "floats": str()}:
            return unpack_floats(value).tolist()
        case dict():
            return {name: _unpacked(item) for name, item in value.items()}
        case list() | tuple():
            return [_unpacked(item) for item in value]
    return value


def _to_rounding(value: Any) -> Any:
    match value:
        case dict():
            return {name: _to_rounding(item) for name, item in value.items()}
        case list():
            return [_to_rounding(item) for item in value]
        case float():
            return pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)
    return value


def _end(run: Run) -> Any:
    end = {
        "explainers": {name: e.state for name, e in run.explainers.items()},
        "monitor": None if run.monitor is None else run.monitor.state,
        "scores": run.scores,
        "n": run.n,
    }
    return json.loads(json.dumps(end))
