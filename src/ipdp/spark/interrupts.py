"""Ctrl-C while Spark works: its jobs end, and it is told in one sentence.

Spark's own handler calls the JVM from within the signal, which is as a rule in the middle of
another call to it, and tells of that in pages.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def plain_interrupts() -> Any:
    """Let Ctrl-C raise KeyboardInterrupt and nothing else; gives the handler that there was.

    Only the main thread of a program can do that; elsewhere it is left as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    for name in ("", "py4j.clientserver"):
        logging.getLogger(name).addFilter(_is_news)
    return signal.signal(signal.SIGINT, signal.default_int_handler)


# What Spark's connection logs, with pages, beside raising it.
_RAISED = (
    "KeyboardInterrupt while sending command.",
    "Exception occurred while shutting down connection",
    "There was an exception while executing the Python Proxy on the Python Side.",
)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a message tells more than an exception that is raised as well."""
    return record.msg not in _RAISED


def restore_interrupts(before: Any) -> None:
    """Put a handler back."""
    if before is not None:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interruptible(context: Any, said: str) -> Iterator[None]:
    """While it lasts, Ctrl-C ends the jobs of Spark and is told in one sentence."""
    before = plain_interrupts()
    try:
        yield
    except KeyboardInterrupt:
        with suppress(Exception):  # the context may be gone
            context.cancelAllJobs()
        raise KeyboardInterrupt(said) from None
    finally:
        restore_interrupts(before)
