"""What a log gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ipdp.core.curve import Curve
from ipdp.core.importance import Result
from ipdp.core.typing import Feature
from ipdp.monitor.change import Change

# A snapshot may be taken for several reasons at once; the strongest is reported.
REASONS = {"every": 1, "end": 2, "change": 4}


def reason_of(flags: int) -> str:
    """The strongest of the reasons."""
    return [name for name, flag in REASONS.items() if flags & flag][-1]


def curves_of(results: Mapping[str, Mapping[Feature, Result]]) -> dict[Feature, Curve]:
    """The curves of the first of several explainers."""
    first = next(iter(results.values()), {})
    return {name: result for name, result in first.items() if isinstance(result, Curve)}


@dataclass(frozen=True)
class Status:
    """How a run is doing.

    Attributes
    ----------
    state
        "empty" before a run began, "running", "ended", "stopped" (by its user), "failed" (by an
        error), or "died": it neither ended nor is anybody writing.
    n
        Observations seen so far.
    message
        What was said at the end, such as the error.
    started, heartbeat
        When the run began and when it last gave a sign, in unix seconds.

    Examples
    --------
    >>> from ipdp.log import Status
    >>> Status("failed", n=120, message="the disk is full").state
    'failed'
    """

    state: str
    n: int = 0
    message: str | None = None
    started: float | None = None
    heartbeat: float | None = None


@dataclass(frozen=True)
class SnapshotInfo:
    """When and why a snapshot was taken.

    Attributes
    ----------
    id
        Grows from snapshot to snapshot: what follows a log asks for those after the last one.
    n
        Observations seen.
    time
        Unix seconds: of the observation in a run with a clock, else of the snapshot itself.
    reason
        "every", "change" or "end".

    Examples
    --------
    >>> from ipdp.log import SnapshotInfo
    >>> SnapshotInfo(id=1, n=100, time=0.0, reason="every").reason
    'every'
    """

    id: int
    n: int
    time: float
    reason: str


@dataclass(frozen=True, eq=False)
class Snapshot(SnapshotInfo):
    """What all explainers said of all features at one time.

    Attributes
    ----------
    results
        By the name of the explainer, then by feature.

    Examples
    --------
    >>> from ipdp.log import Snapshot
    >>> snapshot = Snapshot(id=1, n=100, time=0.0, reason="every", results={"pdp": {}})
    >>> snapshot.n, list(snapshot.results)
    (100, ['pdp'])
    """

    results: dict[str, dict[Feature, Result]]

    @property
    def curves(self) -> dict[Feature, Curve]:
        """The curves of the first explainer, by feature."""
        return curves_of(self.results)


@dataclass(frozen=True, eq=False)
class LoggedChange:
    """A change, with its number in the log and how many observations were seen.

    Examples
    --------
    >>> import tempfile
    >>> import ipdp
    >>> with ipdp.Log(tempfile.mkdtemp()) as log:
    ...     log.begin({}, features=["a"])
    ...     reader = ipdp.LogReader(log.path)
    >>> reader.changes()  # a list of them; none here
    []
    >>> reader.close()
    """

    id: int
    n: int
    change: Change
