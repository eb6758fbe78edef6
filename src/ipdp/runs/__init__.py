"""The loop: predict, score, explain, learn, with a log, checkpoints and progress."""

import warnings
from typing import Any

from ipdp.runs.errors import CheckpointError, RunFailed
from ipdp.runs.events import (
    AnyEvent,
    Changed,
    Checkpointed,
    Ended,
    Event,
    Heartbeat,
    PaceChanged,
    Replayed,
    Scored,
    Skipped,
    Snapshotted,
    Started,
)
from ipdp.runs.loop import Run
from ipdp.runs.progress import ProgressBar
from ipdp.runs.prometheus import Exporter
from ipdp.runs.signals import stop_on_signals
from ipdp.runs.summary import Summary, run

__all__ = [
    "AnyEvent",
    "Changed",
    "CheckpointError",
    "Checkpointed",
    "Ended",
    "Event",
    "Exporter",
    "Heartbeat",
    "PaceChanged",
    "ProgressBar",
    "Replayed",
    "Run",
    "RunFailed",
    "Scored",
    "Skipped",
    "Snapshotted",
    "Started",
    "Summary",
    "run",
    "stop_on_signals",
]

_RENAMED: dict[str, Any] = {"Beat": Heartbeat, "Paced": PaceChanged}


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f"module 'ipdp.runs' has no attribute {name!r}")
    now = _RENAMED[name]
    warnings.warn(
        f"{name} is now {now.__name__}; the old name goes with the next release",
        DeprecationWarning,
        stacklevel=2,
    )
    return now
