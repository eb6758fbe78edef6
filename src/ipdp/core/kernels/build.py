"""Whether the loops were compiled."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from pathlib import Path

EXTENSIONS = (
    "ipdp.core.kernels._loop",
    "ipdp.models.trees.kernels._walk",
    "ipdp.models.trees.kernels._leaves",
    "ipdp.models.trees.kernels._voting",
    "ipdp.models.trees.kernels._aggregation",
    "ipdp.models.river.kernels._linear",
)
"""The modules that are there only if they were compiled."""

_PACKAGE = Path(__file__).parent.parent.parent


def build() -> str:
    """Which build of the loops runs: "compiled", or "pure" (Python and numpy).

    The compiled one is there if a C compiler was found when the package was installed; the
    environment variable IPDP_PURE, if it is set to anything, says not to use it. Both give the same
    answers.

    Examples
    --------
    >>> import ipdp
    >>> ipdp.models.build() in ("compiled", "pure")
    True
    """
    # Only looked for, not imported: those of the trees would import river, which takes a while.
    found = all(map(_is_there, EXTENSIONS))
    return "compiled" if found and not os.environ.get("IPDP_PURE") else "pure"


def _is_there(extension: str) -> bool:
    _, *rooms, name = extension.split(".")
    return PathFinder.find_spec(name, [str(_PACKAGE.joinpath(*rooms))]) is not None
