"""One file that a run can go on from: atomic, checksummed, versioned, with no pickle of ours."""

from ipdp.runs.checkpoint.errors import CheckpointError
from ipdp.runs.checkpoint.file import prepare, read, write

__all__ = ["CheckpointError", "prepare", "read", "write"]
