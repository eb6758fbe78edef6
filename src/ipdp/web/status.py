"""How far a page has read a run, and how the run is doing."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ipdp.core.redaction import short_paths
from ipdp.log.files import NAME as LOG
from ipdp.web.payload import label

if TYPE_CHECKING:
    from ipdp.log import LogReader

_CURSOR = re.compile(r"(-1|[0-9]{1,18})\.(-1|[0-9]{1,18})\.(-1|[0-9]{1,18})")


class Cursor(NamedTuple):
    """How far a page has read: the last snapshot, the last change, the last metric."""

    snapshot: int = -1
    change: int = -1
    metric: int = -1

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """The cursor that `str` wrote; a ValueError says what is wrong with any other text."""
        match = _CURSOR.fullmatch(text)
        if not match:
            raise ValueError("after must be what an earlier answer gave as `next`: 1200.3.1250")
        return cls(*map(int, match.groups()))

    def __str__(self) -> str:
        return f"{self.snapshot}.{self.change}.{self.metric}"


class NotFound(LookupError):
    """No run, feature or explainer of that name or number."""


def status_of(reader: LogReader) -> dict[str, Any]:
    """The state of a run, and when it was last heard of; an error where that makes no sense."""
    status = reader.status
    started, heartbeat = (
        None if moment is None else float(moment) for moment in (status.started, status.heartbeat)
    )
    return {
        "state": label(status.state),
        "n": int(status.n),
        "message": None if status.message is None else label(short_paths(status.message)),
        "started": started,
        "heartbeat": heartbeat,
        "silence": None if heartbeat is None else round(max(0.0, time.time() - heartbeat), 1),
    }


def run_name(path: Path) -> str:
    """What a run is called: its directory, or its file if that is not called log.db."""
    path = path.resolve()
    return label(plain_name(path.parent.name if path.name == LOG else path.stem))


def plain_name(name: str) -> str:
    """The name of a file as text that can stand in an address; two names stay two."""
    return os.fsencode(name).decode("utf-8", errors="backslashreplace")
