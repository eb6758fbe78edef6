"""The loops of the walk, which are there in one or two builds.

Everything that asks for a loop looks it up in `current`, so that the other build can be put in its
place.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any, NamedTuple

from ipdp.core.kernels.build import EXTENSIONS, build
from ipdp.models.trees import leaves, mixing, walk


class Loops(NamedTuple):
    """One build.

    Attributes
    ----------
    build
        "compiled" or "pure".
    Walker
        The class that walks trees, see `walk.py`.
    parts_of
        The function that reads leaves, see `leaves.py`.
    has_only_numbers
        Says whether all values of an observation are numbers, see `walk.py`.
    mix
        Mixes what the nodes of Mondrian trees say, see `mixing.py`.
    in_order, cast, combine
        Says whether columns are in order, see `walk.py`; lets the leaves of trees vote point by
        point, and weighs their votes, see `voting.py`. None in pure Python, where operations on
        arrays are faster, see `columns.py`, `votes.py` and `ensembles.py`.
    """

    build: str
    Walker: Any
    parts_of: Any
    has_only_numbers: Any
    mix: Any
    in_order: Any = None
    cast: Any = None
    combine: Any = None


PURE = Loops("pure", walk.Walker, leaves.parts_of, walk.has_only_numbers, mixing.mix)


def compiled() -> Loops:
    """The compiled loops; raises ImportError where there are none."""
    walking, reading, voting, mixed = map(importlib.import_module, EXTENSIONS[1:])
    return Loops(
        "compiled",
        walking.Walker,
        reading.parts_of,
        walking.has_only_numbers,
        mixed.mix,
        walking.in_order,
        voting.cast,
        voting.combine,
    )


def _installed() -> Loops:
    if build() == "pure":
        return PURE
    try:
        return compiled()
    except ImportError as error:
        warnings.warn(
            f"the compiled tree walk cannot be loaded, the slower one runs: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return PURE


current = _installed()
"""The build that runs."""
