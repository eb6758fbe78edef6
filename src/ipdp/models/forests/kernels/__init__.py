"""The walk over flat trees, where it was compiled.

Python would be slower than the libraries themselves, so that without the compiled build there is
none. Whatever needs it looks it up in `current`, so that another can be put in its place.
"""

from __future__ import annotations

import importlib
from typing import Any

from ipdp.core.kernels.build import build, is_of_its_source
from ipdp.models.forests.kernels import ice


def _installed() -> Any:
    if build() == "pure":
        return None
    compiled = importlib.import_module(f"{__name__}._ice")
    return compiled if is_of_its_source(compiled, ice) else None


current: Any = _installed()
"""The module with the compiled `Walk`; None in the pure build."""
