"""What a run tells on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ipdp.core.curve import Curve
from ipdp.core.typing import Feature
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
    """The model learns again what it had learnt before a checkpoint; told now and then.

    Attributes
    ----------
    until
        Where the run itself goes on.
    """

    until: int


@dataclass(frozen=True)
class Snapshotted(Event):
    """The curves were taken.

    Attributes
    ----------
    curves
        All curves by feature.
    reason
        "every", "change" or "end".
    """

    curves: Mapping[Feature, Curve]
    reason: Literal["every", "change", "end"]


@dataclass(frozen=True)
class Changed(Event):
    """The monitor found a change."""

    change: Change


@dataclass(frozen=True)
class Scored(Event):
    """The metrics were read, by name."""

    values: Mapping[str, float]


@dataclass(frozen=True)
class Paced(Event):
    """The budget has another pace from here on: each `every`-th observation is explained."""

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
class Beat(Event):
    """The run is alive; told a few times a second.

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
    | Paced
    | Skipped
    | Checkpointed
    | Beat
    | Ended
)
"""Any of them."""
