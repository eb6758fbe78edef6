"""The command `ipdp`. A command parses, calls the library, prints."""

from __future__ import annotations

import io
import sys

_LIBRARIES = ("typer", "rich", "pydantic")


def main() -> None:
    """Run the command line, or say in one sentence which library is missing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal has no letters for is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        from ipdp.cli.app import app

        app()
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _LIBRARIES:
            raise
        sys.stderr.write(f"ipdp: the command line needs {missing}: pip install 'ipdp[cli]'\n")
        sys.exit(2)
