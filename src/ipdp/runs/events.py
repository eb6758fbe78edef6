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
    """Something that happened in a run; `n` is the number of observations by then.

    Examples
    --------
    >>> from ipdp.runs import Ended, Event
    >>> isinstance(Ended(n=2_000, state="ended"), Event)
    True
    """

    n: int


@dataclass(frozen=True)
class Started(Event):
    """The run begins, or goes on: `n` is where from.

    `total` is the number of observations that the stream has in all, if it says so; `is_watched`,
    whether a monitor looks for changes.

    Examples
    --------
    >>> from ipdp.runs import Started
    >>> Started(n=0, total=1_000)
    Started(n=0, total=1000, is_watched=False)
    """

    total: int | None
    is_watched: bool = False


@dataclass(frozen=True)
class Replayed(Event):
    """The model learns again the observations before a checkpoint, `until` where the run goes on.

    Reported now and then.

    Examples
    --------
    >>> from ipdp.runs import Replayed
    >>> Replayed(n=200, until=1_000)
    Replayed(n=200, until=1000)
    """

    until: int


@dataclass(frozen=True)
class Snapshotted(Event):
    """The results of all explainers were taken.

    `results` are curves or importances, by the name of the explainer, then by feature.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.runs import Snapshotted
    >>> def model(x):
    ...     return x["a"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"])
    >>> run = ipdp.Run([{"a": k % 7} for k in range(100)], model, pdp, learn=False)
    >>> [(event.n, event.reason) for event in run if isinstance(event, Snapshotted)]
    [(100, 'every'), (100, 'end')]
    """

    results: Mapping[str, Mapping[Feature, Result]]
    reason: Literal["every", "change", "end"]

    @property
    def curves(self) -> dict[Feature, Curve]:
        """The curves of the first explainer, by feature."""
        return curves_of(self.results)


@dataclass(frozen=True)
class Changed(Event):
    """The monitor found a change.

    Examples
    --------
    >>> from ipdp.runs import Changed
    >>> def tell(event):
    ...     if isinstance(event, Changed):
    ...         print(event.n, event.change.summary())
    """

    change: Change


@dataclass(frozen=True)
class Scored(Event):
    """The metrics were read, by name.

    Examples
    --------
    >>> from ipdp.runs import Scored
    >>> Scored(n=100, values={"Accuracy": 0.87}).values["Accuracy"]
    0.87
    """

    values: Mapping[str, float]


@dataclass(frozen=True)
class PaceChanged(Event):
    """By the budget, every k-th observation is explained from here on; `every` is k.

    Examples
    --------
    >>> from ipdp.runs import PaceChanged
    >>> PaceChanged(n=300, every=4)
    PaceChanged(n=300, every=4)
    """

    every: int


@dataclass(frozen=True)
class Skipped(Event):
    """The source left out `count` records so far that were no observations.

    `last` says what was wrong with the last of them.

    Examples
    --------
    >>> from ipdp.runs import Skipped
    >>> Skipped(n=100, count=2, last="line 17: 3 fields instead of 4").count
    2
    """

    count: int
    last: str | None


@dataclass(frozen=True)
class Checkpointed(Event):
    """A checkpoint of `size` bytes is on disk at `path`; that took `seconds`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from ipdp.runs import Checkpointed
    >>> Checkpointed(n=500, path=Path("checkpoint.ipdp"), size=20_480, seconds=0.01).size
    20480
    """

    path: Path
    size: int
    seconds: float


@dataclass(frozen=True)
class Heartbeat(Event):
    """The run is alive; reported a few times a second.

    Since the start or resume `explained` observations were explained, which took `explain_seconds`,
    the monitor's included.

    Examples
    --------
    >>> from ipdp.runs import Heartbeat
    >>> beat = Heartbeat(n=1_000, explained=980, explain_seconds=0.49)
    >>> round(1e6 * beat.explain_seconds / beat.explained)  # microseconds an observation
    500
    """

    explained: int
    explain_seconds: float


@dataclass(frozen=True)
class Ended(Event):
    """The run is over: the stream "ended", or the run was "stopped" on request.

    Examples
    --------
    >>> from ipdp.runs import Ended
    >>> Ended(n=2_000, state="ended")
    Ended(n=2000, state='ended')
    """

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
