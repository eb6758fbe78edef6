"""Errors of one sentence, and what the exit codes mean."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ipdp.core.redaction import without_secrets

CHANGED = 1  # `ipdp check`: an effect changed
REFUSED = 2  # what was asked could not be done; a sentence on the standard error says why
INTERRUPTED = 130  # Ctrl-C; with SIGTERM it is 143

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


def sentence(error: BaseException) -> str:
    """What an error says, on one line."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    said = without_secrets(" ".join(harmless(str(error)).split()))
    return str(said) or type(error).__name__


def harmless(text: object) -> str:
    """A text without characters that a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in str(text))


def say(line: str) -> None:
    """A line on the standard error."""
    sys.stderr.write(f"{line}\n")
