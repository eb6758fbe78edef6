"""The command `ipdp` and its subcommands."""

from __future__ import annotations

import platform
import sys
from typing import Annotated

import typer

import ipdp
from ipdp.cli import baseline, changes, demo, diff, keys, log, paper, run, show, web
from ipdp.cli.options import flag

app = typer.Typer(
    name="ipdp",
    help="See how a model on a stream changes its mind.",
    epilog="Exit codes: 0 done; 1 'ipdp check' found a change, 'ipdp diff' a difference; "
    "2 it could not be done, a sentence says why; 130 ended by Ctrl-C, 143 by SIGTERM.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        sys.stdout.write(
            f"ipdp {ipdp.__version__} ({ipdp.models.build()}), river {version('river')}, "
            f"Python {platform.python_version()}\n"
        )
        raise typer.Exit


@app.callback()
def _app(
    _: Annotated[
        bool,
        flag("--version", callback=_version, is_eager=True, help="Show version and build."),
    ] = False,
) -> None: ...


for module in (run, baseline, demo, show, changes, diff, keys, log, web, paper):
    module.register(app)
