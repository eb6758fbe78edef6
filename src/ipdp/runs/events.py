"""What a run reports on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ipdp.core.curve import Curve
from ipdp.core.importance import Result
from ipdp.core.typing import Feature
from ipdp.log.records import curves_of
from ipdp.monitor import Change


@dataclass(frozen=True)
class Event:
    """Something that happened in a run.

    Attributes
    ----------
    n
        Number of observations by then.
    """

    n: int


@dataclass(frozen=True)
class Started(Event):
    """The run begins, or goes on: `n` is where from.

    Attributes
    ----------
    total
        Number of observations that the stream has in all, if it says so.
    is_watched
        Whether a monitor looks for changes.
    """

    total: int | None
    is_watched: bool = False


@dataclass(frozen=True)
class Replayed(Event):
    """The model learns again the observations before a checkpoint; reported now and then.

    Attributes
    ----------
    until
        Where the run itself goes on.
    """

    until: int


@dataclass(frozen=True)
class Snapshotted(Event):
    """The results of all explainers were taken.

    Attributes
    ----------
    results
        Curves or importances, by the name of the explainer, then by feature.
    reason
        "every", "change" or "end".
    """

    results: Mapping[str, Mapping[Feature, Result]]
    reason: Literal["every", "change", "end"]

    @property
    def curves(self) -> dict[Feature, Curve]:
        """The curves of the first explainer, by feature."""
        return curves_of(self.results)


@dataclass(frozen=True)
class Changed(Event):
    """The monitor found a change."""

    change: Change


@dataclass(frozen=True)
class Scored(Event):
    """The metrics were read, by name."""

    values: Mapping[str, float]


@dataclass(frozen=True)
class PaceChanged(Event):
    """By the budget, every k-th observation is explained from here on; `every` is k."""

    every: int


@dataclass(frozen=True)
class Skipped(Event):
    """The source left out records that were no observations.

    Attributes
    ----------
    count
        How many so far.
    last
        What was wrong with the last of them.
    """

    count: int
    last: str | None


@dataclass(frozen=True)
class Checkpointed(Event):
    """A checkpoint is on disk.

    Attributes
    ----------
    path
        The file.
    size
        Its bytes.
    seconds
        How long it took.
    """

    path: Path
    size: int
    seconds: float


@dataclass(frozen=True)
class Heartbeat(Event):
    """The run is alive; reported a few times a second.

    Attributes
    ----------
    explained
        Number of observations explained since the start or resume.
    explain_seconds
        Time that took, the monitor's included.
    """

    explained: int
    explain_seconds: float


@dataclass(frozen=True)
class Ended(Event):
    """The run is over: the stream "ended", or the run was "stopped" on request."""

    state: Literal["ended", "stopped"]


AnyEvent: TypeAlias = (
    Started
    | Replayed
    | Snapshotted
    | Changed
    | Scored
    | PaceChanged
    | Skipped
    | Checkpointed
    | Heartbeat
    | Ended
)
"""Any of them."""
