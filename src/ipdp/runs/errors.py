"""What ends a run before its time, in one sentence."""

from __future__ import annotations


class RunFailed(RuntimeError):
    """The model, an explainer or a metric failed on an observation; the text says which.

    The error itself is its `__cause__`. The last checkpoint is as it was: mend what was wrong, and
    resume.

    Attributes
    ----------
    n
        Number of observations that went well.
    """

    def __init__(self, n: int, doing: str, error: BaseException) -> None:
        what = str(error) or "no reason given"
        super().__init__(
            f"could not {doing} observation {n + 1:,}: {what} ({type(error).__name__})"
        )
        self.n = n


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be written, read, or gone on from; the text says why.

    Examples
    --------
    >>> from ipdp.runs.checkpoint import read
    >>> read("nowhere.ipdp")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ipdp.runs.errors.CheckpointError: cannot read the checkpoint nowhere.ipdp: No such file...
    """
