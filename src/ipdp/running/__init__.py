"""The loop: predict, score, explain, learn, with a log, checkpoints and progress."""

from ipdp.running.errors import RunFailed
from ipdp.running.events import (
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
from ipdp.running.exporting import Exporter
from ipdp.running.loop import Run
from ipdp.running.progress import ProgressBar
from ipdp.running.signals import stop_on_signals
from ipdp.running.whole import Summary, run

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
