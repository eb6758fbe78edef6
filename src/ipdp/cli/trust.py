"""What to say where types of a model's file are not trusted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def trust_again() -> Iterator[None]:
    """Where types of a model's file are not trusted, say the whole command that trusts them."""
    from ipdp.models.load import LoadError

    try:
        yield
    except LoadError as error:
        if not error.untrusted:
            raise
        trusted = [f"--trust={','.join(error.untrusted)}"]
        again = shlex.join(["ipdp", *_without_secrets(sys.argv[1:]), *trusted])
        raise LoadError(f"{error}. If you trust them: {again}") from None


def _without_secrets(arguments: list[str]) -> list[str]:
    """A command as it may be shown: an address of a webhook has to be filled in again."""
    from ipdp.sources import without_secrets

    shown = list(arguments)
    for k, argument in enumerate(arguments):
        if argument == "--webhook" and k + 1 < len(arguments):
            shown[k + 1] = "URL"
        elif argument.startswith("--webhook="):
            shown[k] = "--webhook=URL"
        elif shown[k] == argument:
            shown[k] = without_secrets(argument)
    return shown
