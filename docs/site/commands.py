"""The command line in the reference: what `--help` says, as a page."""

from __future__ import annotations

from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ipdp.cli.app import app


class Commands(SphinxDirective):
    """All commands, each a section with its arguments and options."""

    def run(self) -> list[nodes.Node]:
        group: Any = typer.main.get_command(app)
        context = group.make_context("ipdp", ["--help"], resilient_parsing=True)
        return [self.section(name, group.get_command(context, name)) for name in group.commands]

    def section(self, name: str, command: Any) -> nodes.Node:
        """One command: what it does, how it is called, its options."""
        if hasattr(command, "commands"):
            parts = [self.section(f"{name} {sub}", it) for sub, it in command.commands.items()]
        else:
            parts = [options(command)]
        title = f"ipdp {name}"
        section = nodes.section("", nodes.title("", title), ids=[nodes.make_id(title)])
        for paragraph in filter(None, (command.help or "").split("\n\n")):
            section += nodes.paragraph("", " ".join(paragraph.split()))
        section += parts
        return section


def options(command: Any) -> nodes.Node:
    """Arguments and options with their help and their defaults."""
    listed = nodes.definition_list()
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        is_option = parameter.param_type_name == "option"
        names = [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name]
        term = nodes.term("", "", nodes.literal("", ", ".join(names)))
        told = nodes.paragraph("", getattr(parameter, "help", None) or "")
        listed += nodes.definition_list_item("", term, nodes.definition("", told))
    return listed


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
