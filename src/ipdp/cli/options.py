"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def examples(*commands: str) -> str:
    """The end of a command's help: how it is used."""
    lines = "\n\n".join(f"`{command}`" for command in commands)
    return f"Example{'s' * (len(commands) > 1)}:\n\n{lines}"


RunPath = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run's directory, or its log.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Port = Annotated[int, typer.Option(metavar="PORT", help="Where to listen; 0 takes a free one.")]
