"""From the table of settings to the options of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo

from ipdp.cli.settings import RunSettings


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each setting; it gets those that were given as `options`.

    Parameters
    ----------
    command
        Its parameter `options` is a dict of settings by name.
    """
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "options"]
    names = list(RunSettings.model_fields)

    def wrapped(**given: Any) -> None:
        options = {name: given.pop(name) for name in names}
        command(options={k: v for k, v in options.items() if v is not None}, **given)

    settings = [_parameter(name, field) for name, field in RunSettings.model_fields.items()]
    resolved = inspect.get_annotations(command, eval_str=True)
    own = [p.replace(annotation=resolved[p.name]) for p in own]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in [*own, *settings]]
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    wrapped.__doc__ = command.__doc__
    wrapped.__name__ = command.__name__
    return wrapped


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """The option of a setting. Its value is checked with the others, so here it is any text."""
    extra: Any = field.json_schema_extra
    option = name.replace("_", "-")
    is_flag = field.annotation in (bool, bool | None)
    info = typer.Option(
        f"--{option}/--no-{option}" if is_flag else f"--{option}",
        help=described(field),
        metavar=None if is_flag else extra["metavar"],
        rich_help_panel=extra["group"],
        show_default=False,
    )
    annotation: Any = Annotated[bool | None, info] if is_flag else Annotated[str | None, info]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def described(field: FieldInfo) -> str:
    """What a setting means, and its default if it has one."""
    default = field.default
    if field.is_required() or default is None or default in ([], {}):
        return f"{field.description}."
    shown = ("yes" if default else "no") if isinstance(default, bool) else default
    return f"{field.description}. Default: {shown}"
