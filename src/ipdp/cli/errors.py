"""Errors and warnings of one sentence, and what the exit codes mean."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from ipdp.core.redaction import without_secrets
from ipdp.core.words import harmless

CHANGED = 1  # `ipdp check`: an effect changed
REFUSED = 2  # what was asked could not be done; a sentence on the standard error says why
INTERRUPTED = 130  # Ctrl-C; with SIGTERM it is 143

_LONGEST = 2_000  # letters of what an error says

_EXPECTED = (ValueError, TypeError, OSError, ImportError, RuntimeError, LookupError)


@contextmanager
def sentences(*, debug: bool = False) -> Iterator[None]:
    """Print what goes wrong in one sentence and exit with its code; `debug` lets errors through."""
    try:
        yield
    except typer.Exit:  # which is a RuntimeError, and no error at all
        raise
    except BrokenPipeError:
        # Whoever read the output, such as `head`, has had enough.
        sys.stdout = None  # nothing is left to be flushed at the end
        raise typer.Exit(0) from None
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        if isinstance(error, KeyboardInterrupt):
            say("Stopped.")
            raise typer.Exit(INTERRUPTED) from None
        kind = "" if isinstance(error, _EXPECTED) else type(error).__name__
        say(f"ipdp: {sentence(error)}{kind and f' ({kind}; --debug shows where)'}")
        raise typer.Exit(REFUSED) from None


@contextmanager
def warned(
    worded: Callable[[Warning | str], Warning | str] = lambda warning: warning, *, quiet: bool
) -> Iterator[None]:
    """Say what is warned of in one line each, once, without the place in the code.

    `worded` gives a warning in the words of the command; of an empty one nothing is said.
    """
    said = set()

    def shown(message: Warning | str, *_: Any, **__: Any) -> None:
        left = worded(message)
        text = sentence(Warning(left)) if str(left) else ""
        # Python forgets what it has said when a module is imported meanwhile.
        if not quiet and text and text not in said:
            said.add(text)
            say(f"ipdp: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = shown
        yield


def sentence(error: BaseException) -> str:
    """What an error says, on one line that is not too long."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, KeyError):
        text = f"{error} is missing"
    said = str(without_secrets(" ".join(harmless(text).split()))) or type(error).__name__
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."


def say(line: str) -> None:
    """A line on the standard error."""
    sys.stderr.write(f"{line}\n")
