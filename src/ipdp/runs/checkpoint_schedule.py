"""When and where a run writes its checkpoint."""

from __future__ import annotations

import glob
import math
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from time import perf_counter
from typing import Any

from ipdp.runs import checkpoint
from ipdp.runs.checkpoint_content import CheckpointContent
from ipdp.runs.errors import CheckpointError
from ipdp.runs.events import AnyEvent, Checkpointed
from ipdp.runs.recorder import Recorder

NAME = "checkpoint.ipdp"
"""Name of the checkpoint in a run's directory."""

# Without a number of observations between checkpoints: seconds between them, at least, and at
# least so many times as long as one takes.
_SECONDS, _TIMES = 10.0, 50.0

_BUSY = "{path} is being written by another run: wait until it ends, or choose another place"


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

    Attributes
    ----------
    was_there
        Whether there was a checkpoint to go on from.
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
        self.was_there = self._is_first = False
        self._content, self._recorder, self._stream = content, recorder, content.stream
        self._next = 0.0

    def open(self, stack: ExitStack, *, resume: bool) -> None:
        """Be the one run that writes the checkpoint, and see whether there is one to go on from."""
        if self.file is None:
            return
        stack.enter_context(_alone(self.file))
        self.was_there = self.file.exists()
        if self.was_there and not resume:
            raise FileExistsError(
                f"there is a checkpoint at {self.file}: resume it, or choose another place for "
                "this run"
            )

    def restore(self) -> Iterator[tuple[int, int]]:
        """Go on from the checkpoint, if there is one; as `CheckpointContent.restore`."""
        if self.file is not None and self.was_there:
            yield from self._content.restore(checkpoint.read(self.file))

    def begin(self) -> None:
        """Write a first one before anything is logged, so that a log always has its checkpoint."""
        self._next = perf_counter() + _SECONDS
        if self.file is not None and not self.was_there:
            checkpoint.write(self.file, self._content.parts())
            self._is_first = True

    def undo(self) -> None:
        """Take the first one back if the run has come to nothing: it can be tried again."""
        if self.file is not None and self._is_first and not self._recorder.has_results:
            self.file.unlink(missing_ok=True)

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
        size = checkpoint.write(self.file, parts)
        self._is_first = False
        self._stream.commit(parts["run"]["feed"])
        now = perf_counter()
        self._next = now + max(_SECONDS, _TIMES * (now - started))
        return [Checkpointed(self._stream.n, self.file, size, now - started)]


def checkpoint_file(path: Any) -> Path:
    """The checkpoint that a path means: the file itself, or the one in a run's directory."""
    file = Path(path)
    return file / NAME if file.is_dir() or not (file.suffix or file.exists()) else file


def _alone(file: Path) -> Any:
    """Keep other runs away from a checkpoint while the context lasts."""
    from ipdp.log import LogError, files

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        guard = files.lock(file, _BUSY)
    except OSError as error:
        raise CheckpointError(
            f"cannot write the checkpoint {file}: {error.strerror or error}"
        ) from error
    except LogError as error:
        raise CheckpointError(f"cannot write the checkpoint: {error}") from error
    # What a kill in the middle of writing has left.
    for draft in file.parent.glob(f".{glob.escape(file.stem)}.*.part{glob.escape(file.suffix)}"):
        draft.unlink(missing_ok=True)
    return closing(guard)
