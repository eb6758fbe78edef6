"""How far a run is, in the terminal."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Self

from ipdp.runs.events import Changed, Ended, Event, Heartbeat, Replayed, Scored, Started


class ProgressBar:
    """A listener that shows rate, metrics, changes so far and the time left.

    Parameters
    ----------
    console
        A console of rich; by default one that writes to the standard error.
    """

    def __init__(self, console: Any = None) -> None:
        self._progress = _progress(console)
        self._task = self._progress.add_task("starting", total=None, rate="", more="")
        self._started, self._from = perf_counter(), 0
        self._scores, self._changes = "", 0
        self._is_watched = False

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, event: Event) -> None:
        """Show what the event says."""
        match event:
            case Started():
                self._started, self._from = perf_counter(), event.n
                self._is_watched = event.is_watched
                self._show(description="explaining", total=event.total, completed=event.n)
            case Replayed():
                self._show(description="replaying", total=event.until, completed=event.n)
            case Scored():
                self._scores = ", ".join(f"{k} {v:.4g}" for k, v in event.values.items())
            case Changed():
                self._changes += 1
            case Heartbeat() | Ended():
                seconds = max(perf_counter() - self._started, 1e-9)
                self._show(completed=event.n, rate=f"{(event.n - self._from) / seconds:,.0f}/s")

    def _show(self, **fields: Any) -> None:
        changes = f"{self._changes} change{'' if self._changes == 1 else 's'}"
        changes = changes if self._is_watched else ""
        more = ", ".join(text for text in (self._scores, changes) if text)
        self._progress.update(self._task, more=more, **fields)


def _progress(console: Any) -> Any:
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        raise ImportError(
            "a progress bar needs rich: pip install 'ipdp[cli]', or give progress=False"
        ) from None
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[more]}", markup=False),
        console=console or Console(stderr=True),
    )
