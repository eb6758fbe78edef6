"""What goes wrong on the way from a word to a model."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class LoadError(ValueError):
    """A word that no model could be made of; the text says why and what to write instead."""


def meant(name: str, names: Iterable[str]) -> str:
    """The name that is most like another one, as the end of a sentence; nothing if none is.

    Examples
    --------
    >>> meant("ARFClassifer", ["ARFClassifier", "ARFRegressor"])
    "; did you mean 'ARFClassifier'?"
    """
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def first_line(error: BaseException) -> str:
    """The first line of an error's text, without the full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
