"""The loops over flat trees, where they were compiled.

Python would be slower than the libraries themselves, so that without the compiled build there are
none. Whatever needs them looks them up in `current`, so that others can be put in their place.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from ipdp.core.kernels.build import build, is_of_its_source
from ipdp.models.forests.kernels import ice, masks


class Kernels(NamedTuple):
    """The compiled loops: `ice.Walk` and `masks.Masks`."""

    Walk: Any
    Masks: Any


def compiled() -> Kernels | None:
    """The loops as they were compiled; None if that was of other sources."""
    found = [importlib.import_module(f"{__name__}.{name}") for name in ("_ice", "_masks")]
    if not all(map(is_of_its_source, found, (ice, masks))):
        return None
    return Kernels(found[0].Walk, found[1].Masks)


current: Any = None if build() == "pure" else compiled()
"""The `Kernels`; None in the pure build."""
