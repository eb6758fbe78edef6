"""One file that a run can go on from: atomic, checksummed, versioned, with no pickle of ours."""

from ipdp.checkpoint.errors import CheckpointError
from ipdp.checkpoint.file import prepare, read, write

__all__ = ["CheckpointError", "prepare", "read", "write"]
