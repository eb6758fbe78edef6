"""What is wrong with a checkpoint, in one sentence."""

from __future__ import annotations


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be written, read, or gone on from; the text says why.

    Examples
    --------
    >>> from ipdp.runs.checkpoint import read
    >>> read("nowhere.ipdp")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ipdp.runs.checkpoint.errors.CheckpointError: cannot read the checkpoint nowhere.ipdp: No such...
    """
