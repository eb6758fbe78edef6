"""Whether the loops were compiled."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

EXTENSIONS = (
    "ipdp.core.kernels._loop",
    "ipdp.core.kernels._sums",
    "ipdp.core.kernels._bins",
    "ipdp.core.kernels._storages",
    "ipdp.core.kernels._spread",
    "ipdp.core.kernels._nearest",
    "ipdp.core.kernels._moves",
    "ipdp.core.kernels._differences",
    "ipdp.core.kernels._news",
    "ipdp.models.trees.kernels._walk",
    "ipdp.models.trees.kernels._leaves",
    "ipdp.models.trees.kernels._voting",
    "ipdp.models.trees.kernels._aggregation",
    "ipdp.models.trees.kernels._compact",
    "ipdp.models.river.kernels._linear",
    "ipdp.models.river.kernels._bayes",
    "ipdp.models.forests.kernels._ice",
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


def is_of_its_source(compiled: ModuleType, source: ModuleType) -> bool:
    """Whether a compiled module has what its source has; else it warns that the slow one runs.

    In a working tree the source may have gone on since it was compiled.

    Parameters
    ----------
    compiled
        The extension.
    source
        The Python file that it is made of.
    """
    absent = sorted(set(_names(source, source.__name__)) - set(_names(compiled, None)))
    if absent:
        warnings.warn(
            f"{compiled.__name__} was compiled from an older source (it has no {absent[0]}), the "
            "slower pure build runs; compile again: python setup.py build_ext --inplace",
            RuntimeWarning,
            stacklevel=2,
        )
    return not absent


def _names(module: ModuleType, made_in: str | None) -> Iterator[str]:
    """The public functions and classes of a module, those made there only.

    What is inside of classes, and what is private, may be C's alone.
    """
    for name, made in vars(module).items():
        is_own = made_in is None or getattr(made, "__module__", None) == made_in
        if callable(made) and is_own and not name.startswith("_"):
            yield name
