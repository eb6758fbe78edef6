"""The one answer to "no data yet"."""

from __future__ import annotations


class NotEnoughSamples(ValueError):
    """Something was read before there was anything to read.

    Raised by every part of ipdp that needs data first: a storage without values, a curve before
    the end of the warm-up.

    Examples
    --------
    >>> from ipdp.core.extremes import WindowedExtremes
    >>> WindowedExtremes(window=3).max
    Traceback (most recent call last):
    ...
    ipdp.core.errors.NotEnoughSamples: no value yet: call update first
    """
