"""The loops of the core: compiled, or none, as operations on arrays are faster than Python's."""

from __future__ import annotations

import importlib
from typing import Any

from ipdp.core.kernels.build import build


def installed() -> Any:
    """The module of the compiled loops, see `looped.py`; None where it is not used."""
    try:
        return importlib.import_module("ipdp.core.kernels._loop") if build() == "compiled" else None
    except ImportError:
        return None


current = installed()
"""The loops that run."""
