"""Options that several commands share, and those that are made of the table of settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand
from typer.main import get_command

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def examples(*commands: str) -> str:
    """The end of a command's help: how it is used."""
    lines = "\n\n".join(f"`{command}`" for command in commands)
    return f"Example{'s' * (len(commands) > 1)}:\n\n{lines}"


def flag(*names: str, help: str, **further: Any) -> Any:  # noqa: A002
    """An option that takes no value, and whose help names none."""
    return typer.Option(*names, help=help, metavar="", **further)


RunPath = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run's directory, or its log.", show_default=False)
]
Config = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="Take settings from a TOML file."),
]
Json = Annotated[bool, flag("--json", help="Print JSON, for machines.")]
Quiet = Annotated[bool, flag("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, flag("--debug", help="Show the traceback of an error.")]
Port = Annotated[int, typer.Option(metavar="PORT", help="Where to listen; 0 takes a free one.")]


def with_settings(*names: str) -> type[TyperCommand]:
    """A kind of command with options for these settings, or all; `context.obj` has those given."""
    return type("Command", (_SettingsCommand,), {"names": names})


class _SettingsCommand(TyperCommand):
    """Makes the options of settings when it is asked for its options.

    Their table needs pydantic, for which the help of all other commands need not wait.
    """

    names: ClassVar[tuple[str, ...]] = ()
    _params: list[Any]
    _settings: list[Any] | None = None

    @property
    def params(self) -> list[Any]:
        """The options and arguments; click adds to this very list."""
        if self._settings is None:
            self._settings = _options(self.names)
            self._params += self._settings
        return self._params

    @params.setter
    def params(self, params: list[Any]) -> None:
        self._params = params

    def invoke(self, ctx: Any) -> Any:
        """Call the command."""
        given = {option.name: ctx.params.pop(option.name) for option in self._settings or ()}
        ctx.obj = {name: value for name, value in given.items() if value is not None}
        return super().invoke(ctx)


def _options(names: Sequence[str]) -> list[Any]:
    """The options of settings, as typer makes them of the parameters of a function."""
    from ipdp.runs.config import RunConfig

    def function(**_: Any) -> None: ...

    fields = RunConfig.model_fields
    parameters = [_parameter(name, fields[name]) for name in names or fields]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(function)
    return list(get_command(app).params)


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """The option of a setting. Its value is checked with the others, so here it is any text."""
    extra: Any = field.json_schema_extra
    option = name.replace("_", "-")
    is_flag = field.annotation in (bool, bool | None)
    info = typer.Option(
        f"--{option}/--no-{option}" if is_flag else f"--{option}",
        autocompletion=_completion(name, field),
        help=described(field),
        metavar="" if is_flag else extra["metavar"],
        rich_help_panel=extra["group"],
        show_default=False,
    )
    annotation: Any = Annotated[bool | None, info] if is_flag else Annotated[str | None, info]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=None, annotation=annotation)


def completing(*choices: str) -> Callable[[str], list[str]]:
    """What completes an option of these choices; after a comma there is another one."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        return [
            f"{before}{comma}{choice}"
            for choice in choices
            if choice.startswith(last) and not (comma and choice in given)
        ]

    return complete


def _completion(name: str, field: FieldInfo) -> Callable[[str], list[str]] | None:
    """What completes a setting whose values can be listed."""
    if name == "data":
        return _data
    choices = _choices(name, field)
    return completing(*choices) if choices else None


def _choices(name: str, field: FieldInfo) -> list[str]:
    """The values that a setting can have, where they can be listed."""
    from ipdp.sources.open import formats

    known = {
        "format": formats(),
        "explainers": ["pdp", "ale", "pfi", "regions"],
        "metric": ["auto", "none"],
        "loss": ["auto"],
        "grid": ["Auto()", "MinMax(", "Quantiles("],
    }
    return known[name] if name in known else _literals(field.annotation)


def _data(incomplete: str) -> list[str]:
    """Data sets, and the files here that can be read: too slow to list for a page of help."""
    from ipdp.datasets import DATASETS
    from ipdp.sources.open import readable_files

    return completing(*DATASETS, *readable_files(Path()))(incomplete)


def _literals(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    return [value for part in get_args(annotation) for value in _literals(part)]


def described(field: FieldInfo) -> str:
    """What a setting means, and its default if it has one."""
    default = field.default
    if field.is_required() or default is None or default in ([], {}):
        return f"{field.description}."
    shown = ("yes" if default else "no") if isinstance(default, bool) else default
    shown = ",".join(shown) if isinstance(shown, list) else shown
    return f"{field.description}. Default: {shown}"
