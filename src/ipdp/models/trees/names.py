"""The names of river that the walk leans on.

Several of them are private, and other versions of river may not have them. A name that is not there
is None, which no method of a real class is, so that whatever would need it is not recognised.
"""

from __future__ import annotations

import importlib
from typing import Any


def find(module: str, *path: str) -> Any:
    """A name of river, None where this version does not have it.

    Examples
    --------
    >>> find("tree", "HoeffdingTreeClassifier").__name__
    'HoeffdingTreeClassifier'
    >>> find("tree.nodes", "SomethingElse") is None
    True
    """
    try:
        found: Any = importlib.import_module(f"river.{module}")
    except ImportError:
        return None
    for name in path:
        found = getattr(found, name, None)
    return found


def known(*entries: tuple[Any, Any]) -> dict[Any, Any]:
    """The entries as a dict, without those whose key is a name that is not there."""
    return {key: value for key, value in entries if key is not None}
