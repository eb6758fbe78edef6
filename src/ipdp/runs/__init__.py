"""The loop: predict, score, explain, learn, with a log, checkpoints and progress."""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ipdp.runs.checkpoint import CheckpointError
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
from ipdp.runs.prometheus import Exporter, MetricsServer
from ipdp.runs.step import RunFailed
from ipdp.runs.summary import Summary, run
from ipdp.runs.terminal import ProgressBar, stop_on_signals

if TYPE_CHECKING:
    from ipdp.runs.config import RunConfig
    from ipdp.runs.toml import ConfigError

__all__ = [
    "AnyEvent",
    "Changed",
    "CheckpointError",
    "Checkpointed",
    "ConfigError",
    "Ended",
    "Event",
    "Exporter",
    "Heartbeat",
    "MetricsServer",
    "PaceChanged",
    "ProgressBar",
    "Replayed",
    "Run",
    "RunConfig",
    "RunFailed",
    "Scored",
    "Skipped",
    "Snapshotted",
    "Started",
    "Summary",
    "run",
    "stop_on_signals",
]

# Settings are checked by pydantic, which is needed for nothing else here.
_LATER = {"ConfigError": "ipdp.runs.toml", "RunConfig": "ipdp.runs.config"}
_RENAMED: dict[str, Any] = {"Beat": Heartbeat, "Paced": PaceChanged}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name not in _RENAMED:
        raise AttributeError(f"module 'ipdp.runs' has no attribute {name!r}")
    now = _RENAMED[name]
    warnings.warn(
        f"{name} is now {now.__name__}; the old name goes with the next release",
        DeprecationWarning,
        stacklevel=2,
    )
    return now
