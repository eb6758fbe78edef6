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
    """Something that happened in a run; `n` is the number of observations by then."""

    n: int


@dataclass(frozen=True)
class Started(Event):
    """The run begins, or goes on: `n` is where from.

    `total` is the number of observations that the stream has in all, if it says so; `is_watched`,
    whether a monitor looks for changes.
    """

    total: int | None
    is_watched: bool = False


@dataclass(frozen=True)
class Replayed(Event):
    """The model learns again the observations before a checkpoint, `until` where the run goes on.

    Reported now and then.
    """

    until: int


@dataclass(frozen=True)
class Snapshotted(Event):
    """The results of all explainers were taken.

    `results` are curves or importances, by the name of the explainer, then by feature.
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
    """The source left out `count` records so far that were no observations.

    `last` says what was wrong with the last of them.
    """

    count: int
    last: str | None


@dataclass(frozen=True)
class Checkpointed(Event):
    """A checkpoint of `size` bytes is on disk at `path`; that took `seconds`."""

    path: Path
    size: int
    seconds: float


@dataclass(frozen=True)
class Heartbeat(Event):
    """The run is alive; reported a few times a second.

    Since the start or resume `explained` observations were explained, which took `explain_seconds`,
    the monitor's included.
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
