"""What a user is told once, at the line that made the call."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable


class ColumnWarning(UserWarning):
    """Some columns of the observations are not explained; the text says which, and why.

    Examples
    --------
    >>> import warnings
    >>> import ipdp
    >>> warnings.filterwarnings("ignore", category=ipdp.ColumnWarning)  # if you know
    """


def notice(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn, at the first line outside of ipdp: that of the user."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("ipdp."):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)


def listed(names: Iterable[object], most: int = 10) -> str:
    """Names as a sentence lists them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ("'a'", "'a', 'b' and 'c'")
    >>> listed(range(5), most=2)
    '0, 1 and 3 more'
    """
    texts = [repr(name) for name in names]
    if len(texts) > most + 1:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
