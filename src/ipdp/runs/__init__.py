"""The loop: predict, score, explain, learn, with a log, checkpoints and progress."""

from ipdp.runs.errors import RunFailed
from ipdp.runs.events import (
    AnyEvent,
    Beat,
    Changed,
    Checkpointed,
    Ended,
    Event,
    Paced,
    Replayed,
    Scored,
    Skipped,
    Snapshotted,
    Started,
)
from ipdp.runs.exporting import Exporter
from ipdp.runs.loop import Run
from ipdp.runs.progress import ProgressBar
from ipdp.runs.signals import stop_on_signals
from ipdp.runs.whole import Summary, run

__all__ = [
    "AnyEvent",
    "Beat",
    "Changed",
    "Checkpointed",
    "Ended",
    "Event",
    "Exporter",
    "Paced",
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
