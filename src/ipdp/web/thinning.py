"""Fewer snapshots than there are, and the ones that matter among them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ipdp.core.typing import Array


def thin(n: Array, limit: int, moments: Iterable[float] = ()) -> Array:
    """Positions of at most `limit` times: the first, the last, those at moments, others evenly.

    Parameters
    ----------
    n
        Times, ascending.
    limit
        How many to keep, at least 2.
    moments
        When something happened: the last time at or before each is kept.

    Examples
    --------
    >>> import numpy as np
    >>> thin(np.arange(100, 2100, 100), 5, moments=[750]).tolist()
    [0, 5, 6, 14, 19]
    """
    if len(n) <= limit:
        return np.arange(len(n))
    at = np.searchsorted(n, np.fromiter(moments, dtype=float), side="right") - 1
    special = np.unique(np.concatenate([[0, len(n) - 1], np.clip(at, 0, len(n) - 1)]))
    if len(special) >= limit:
        return np.asarray(special[np.linspace(0, len(special) - 1, limit).round().astype(int)])
    others = np.setdiff1d(np.arange(len(n)), special)
    room = limit - len(special)
    middles = ((np.arange(room) + 0.5) * len(others) / room).astype(int)
    return np.sort(np.concatenate([special, others[middles]]))
