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
def stop_on_signals(run: Run) -> Iterator[None]:
    """Stop a run at SIGINT or SIGTERM while the context lasts; a second one raises.

    In a thread other than the main one, where Python takes no signals, it does nothing.

    Parameters
    ----------
    run
        The run to stop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def stop(_number: int, _frame: Any) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        run.interrupt()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
