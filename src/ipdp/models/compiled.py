"""Whether the loops of the tree walk were compiled."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from pathlib import Path

EXTENSIONS = ("_walk", "_leaves", "_voting")
"""The modules of `ipdp.models.trees` that are there only if they were compiled."""

_ROOM = str(Path(__file__).parent / "trees")


def build() -> str:
    """Which build of the tree walk runs: "compiled", or "pure" (Python and numpy).

    The compiled one is there if a C compiler was found when the package was installed; the
    environment variable IPDP_PURE, if it is set to anything, says not to use it. Both give the same
    answers.

    Examples
    --------
    >>> import ipdp
    >>> ipdp.models.build() in ("compiled", "pure")
    True
    """
    # Only looked for, not imported: that would import river, which takes a while.
    found = all(PathFinder.find_spec(name, [_ROOM]) for name in EXTENSIONS)
    return "compiled" if found and not os.environ.get("IPDP_PURE") else "pure"
