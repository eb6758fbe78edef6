"""When and where a run writes its checkpoint."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from ipdp.runs import checkpoint as checkpoints
from ipdp.runs.checkpoint_content import CheckpointContent
from ipdp.runs.events import AnyEvent, Checkpointed
from ipdp.runs.recorder import Recorder

NAME = "checkpoint.ipdp"
"""Name of the checkpoint in a run's directory."""

# Without a number of observations between checkpoints: seconds between them, at least, and at
# least so many times as long as one takes.
_SECONDS, _TIMES = 10.0, 50.0


class CheckpointSchedule:
    """Writes the checkpoint of a run when it is time to, and finds the one to go on from.

    Parameters
    ----------
    content, recorder
        Of the run.
    file
        Where it is; None if none is kept.
    every
        Number of observations between two of them; None: by time.
    """

    def __init__(
        self,
        content: CheckpointContent,
        recorder: Recorder,
        file: Path | None,
        every: int | None,
    ) -> None:
        self.file = file
        self.every = math.inf if every is None else every
        self._content, self._recorder, self._stream = content, recorder, content.stream
        self._next = 0.0

    def restore(self, *, resume: bool) -> Iterator[tuple[int, int]]:
        """Go on from the checkpoint, if there is one; as `CheckpointContent.restore`."""
        if self.file is None or not self.file.exists():
            return
        if not resume:
            raise FileExistsError(
                f"there is a checkpoint at {self.file}: resume it, or choose another place for "
                "this run"
            )
        yield from self._content.restore(checkpoints.read(self.file))

    def begin(self) -> None:
        """See whether the place can be written, before hours of work depend on it."""
        self._next = perf_counter() + _SECONDS
        if self.file is not None:
            checkpoints.prepare(self.file)

    def is_due(self, now: float) -> bool:
        """Whether it is time to write one."""
        return now >= self._next if self.every == math.inf else self._stream.n % self.every == 0

    def write(self) -> list[AnyEvent]:
        """Write one now, if one is kept."""
        if self.file is None:
            return []
        started = perf_counter()
        self._recorder.commit()  # the log may be ahead of the checkpoint, never behind
        parts = self._content.parts()
        size = checkpoints.write(self.file, parts)
        self._stream.commit(parts["run"]["feed"])
        now = perf_counter()
        self._next = now + max(_SECONDS, _TIMES * (now - started))
        return [Checkpointed(self._stream.n, self.file, size, now - started)]


def checkpoint_file(path: Any) -> Path:
    """The checkpoint that a path means: the file itself, or the one in a run's directory."""
    file = Path(path)
    return file / NAME if file.is_dir() or not (file.suffix or file.exists()) else file
