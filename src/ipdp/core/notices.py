"""What a user is told once, at the line that made the call."""

from __future__ import annotations

import sys
import warnings


class ColumnWarning(UserWarning):
    """Some columns of the observations are not explained; the text says which, and why.

    Examples
    --------
    >>> import warnings
    >>> import ipdp
    >>> warnings.filterwarnings("ignore", category=ipdp.ColumnWarning)  # if you know
    """


def notice(sentence: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn, at the first line outside of ipdp: that of the user."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("ipdp."):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)
