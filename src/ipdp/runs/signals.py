"""Ctrl-C and SIGTERM: end cleanly at the first, at once at the second."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipdp.runs.loop import Run


@contextmanager
def stop_on_signals(run: Run) -> Iterator[list[int]]:
    """Stop a run at SIGINT or SIGTERM while the context lasts; a second one raises.

    The context gives the list of the signals received.

    In a thread other than the main one, where Python takes no signals, it does nothing.

    Parameters
    ----------
    run
        The run to stop.
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
