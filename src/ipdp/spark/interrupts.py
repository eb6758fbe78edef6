"""Ctrl-C while Spark works: its jobs end, which is reported in one sentence.

Spark's own handler calls the JVM from within the signal, which is as a rule in the middle of
another call to it, and reports that in pages.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


def plain_interrupts() -> Any:
    """Let Ctrl-C raise KeyboardInterrupt and nothing else; gives the handler that there was.

    Only the main thread of a program can do that; elsewhere it is left as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    for name in ("", "py4j.clientserver"):
        logging.getLogger(name).addFilter(_is_needed)
    return signal.signal(signal.SIGINT, signal.default_int_handler)


# What Spark's connection logs, with pages, beside raising it.
_RAISED = (
    "KeyboardInterrupt while sending command.",
    "Exception occurred while shutting down connection",
    "There was an exception while executing the Python Proxy on the Python Side.",
)


def _is_needed(record: logging.LogRecord) -> bool:
    """Whether a message is more than an exception that is raised as well."""
    return record.msg not in _RAISED


def restore_interrupts(before: Any) -> None:
    """Put a handler back."""
    if before is not None:
        signal.signal(signal.SIGINT, before)


def was_interrupted(error: BaseException | None) -> bool:
    """Whether it is Ctrl-C, or what failed because of it: a call to the JVM that was cut off.

    Examples
    --------
    >>> was_interrupted(KeyboardInterrupt()), was_interrupted(ValueError())
    (True, False)
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


PATIENCE = 6.0
"""Seconds for which cancelled jobs are waited for; Spark kills a Python worker after 2 to 4."""


def end_jobs(context: Any) -> None:
    """Cancel the jobs of Spark, and wait until they and their tasks have ended, but not for long.

    The JVM reports in pages what still runs when a program ends.
    """
    with suppress(Exception):  # the context may be gone
        context.cancelAllJobs()
        _wait_while(lambda: is_busy(context))


def is_busy(context: Any) -> bool:
    """Whether Spark has jobs, or tasks that did not end with their job."""
    tracker = context.statusTracker()
    return bool(
        tracker.getActiveJobsIds()
        or any(executor.numRunningTasks for executor in tracker.getExecutorInfos())
    )


def await_end(query: str | None) -> None:
    """Wait, but not for long, until the query of that id has noticed that it cannot go on."""
    from pyspark.sql import SparkSession

    with suppress(Exception):  # as above
        spark: Any = SparkSession.getActiveSession()
        _wait_while(lambda: query in [own.id for own in spark.streams.active])


def _wait_while(lasts: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while lasts() and time.monotonic() < until:
        time.sleep(0.05)


@contextmanager
def interruptible(context: Any, message: str) -> Iterator[None]:
    """While it lasts, Ctrl-C ends the jobs of Spark with one sentence."""
    before = plain_interrupts()
    try:
        yield
    except BaseException as error:
        if not was_interrupted(error):
            raise
        end_jobs(context)
        raise KeyboardInterrupt(message) from None
    finally:
        restore_interrupts(before)
