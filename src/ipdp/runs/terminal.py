"""A run in the terminal: how far it is, and Ctrl-C and SIGTERM, which end it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from ipdp.runs.events import Changed, Ended, Event, Heartbeat, Replayed, Scored, Started
from ipdp.runs.metrics import scores_text

if TYPE_CHECKING:
    from ipdp.runs.loop import Run


class ProgressBar:
    """A listener that shows rate, metrics, changes so far and the time left.

    Parameters
    ----------
    console
        A console of rich; by default one that writes to the standard error.

    Examples
    --------
    >>> import ipdp
    >>> def model(x):
    ...     return x["a"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"])
    >>> stream = [{"a": k % 7} for k in range(100)]
    >>> ipdp.run(stream, model, pdp, learn=False, progress=False).n
    100
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
                self._scores = ", ".join(scores_text(event.values, recent="now {}"))
            case Changed():
                self._changes += 1
            case Heartbeat() | Ended():
                seconds = max(perf_counter() - self._started, 1e-9)
                self._show(completed=event.n, rate=f"{(event.n - self._from) / seconds:,.0f}/s")

    def _show(self, **fields: Any) -> None:
        said = [self._scores] if self._scores else []
        if self._is_watched:
            said.append(f"{self._changes} change{'' if self._changes == 1 else 's'}")
        more = ", ".join(said)
        self._progress.update(self._task, more=more, **fields)


def _progress(console: Any) -> Any:
    try:
        from rich import console as consoles
        from rich import progress as shown
    except ImportError:
        raise ImportError(
            "a progress bar needs rich: pip install 'ipdp[cli]', or give progress=False"
        ) from None
    return shown.Progress(
        shown.TextColumn("{task.description}"),
        shown.BarColumn(bar_width=24),
        shown.MofNCompleteColumn(),
        shown.TextColumn("{task.fields[rate]}"),
        shown.TimeRemainingColumn(compact=True),
        shown.TextColumn("{task.fields[more]}", markup=False),
        console=console or consoles.Console(stderr=True),
    )


def wait_for_signal(ready: Callable[[], None]) -> None:
    """Wait for Ctrl-C, which is not an error here; `ready` is called once it is waited for.

    Also where it was ignored, as shells do for what they start in the background: a run ends by it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            ready()
            threading.Event().wait()
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stop_on_signals(run: Run) -> Iterator[list[int]]:
    """Stop a run at SIGINT or SIGTERM while the context lasts; a second one raises.

    The context gives the list of the signals received. In a thread other than the main one, where
    Python takes no signals, it does nothing.

    Parameters
    ----------
    run
        The run to stop.

    Examples
    --------
    >>> import ipdp
    >>> def model(x):
    ...     return x["a"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"])
    >>> run = ipdp.Run([{"a": k % 7} for k in range(100)], model, pdp, learn=False)
    >>> with ipdp.runs.stop_on_signals(run) as received:
    ...     for event in run:
    ...         pass
    >>> received
    []
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def stop(number: int, _frame: Any) -> None:
        received.append(number)
        if len(received) > 1:
            raise KeyboardInterrupt
        run.interrupt()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
