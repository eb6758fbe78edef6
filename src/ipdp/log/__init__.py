"""The explanation log: what a run saw and when, in one SQLite file.

The `Log` writes it, any number of `LogReader` read it while it is written.
"""

from ipdp.log.files import LogError
from ipdp.log.reader import LogReader
from ipdp.log.records import LoggedChange, Snapshot, SnapshotInfo, Status
from ipdp.log.retention import Retention
from ipdp.log.writer import Log

__all__ = [
    "Log",
    "LogError",
    "LogReader",
    "LoggedChange",
    "Retention",
    "Snapshot",
    "SnapshotInfo",
    "Status",
]
