"""Settings from a TOML file, and the line that is wrong."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ipdp.cli.settings import RunSettings

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_BRANCH = re.compile(r"(constrained-)?(str|int|float)|\w+\[.*\]")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")


class SettingsError(ValueError):
    """Settings that are not valid; the text says which and where."""


def settings_of(options: Mapping[str, Any], file: Path | None = None) -> RunSettings:
    """The settings of a run: from a file if there is one, and from options, which win.

    Parameters
    ----------
    options
        Settings by name.
    file
        A TOML file.
    """
    text, given = ("", {}) if file is None else _read(file)
    try:
        return RunSettings.model_validate({**given, **options})
    except ValidationError as error:
        problem = _worst(error.errors())
        place = _place(problem)
        name = place[0]
        if name in given and name not in options:
            where = f"{file}, line {line_of(text, place)}"
        elif name in options:
            where = f"--{name.replace('_', '-')}"
        else:
            where = "the settings"
        raise SettingsError(f"{where}: {_words(problem)}") from None


def _read(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{file} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is not TOML: {error}") from None


def line_of(text: str, place: Sequence[str]) -> int:
    r"""The number of the line in which a setting, or a part of one, is given.

    Examples
    --------
    >>> line_of("alpha = 1\n[types]\nzip = 3\n", ["types", "zip"])
    3
    """
    table: list[str] = []
    found, depth = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            path = table
        elif key := _KEY.match(line):
            path = [*table, *_parts(key[1])]
        else:
            continue
        if len(path) > depth and list(place[: len(path)]) == path:
            found, depth = number, len(path)
    return found


def _parts(name: str) -> list[str]:
    if name[:1] in "\"'":
        return [name[1:-1]]
    return [part.strip() for part in name.split(".")]


def _words(problem: Any) -> str:
    """What is wrong, in our words."""
    name = ".".join(_place(problem))
    kind, given = problem["type"], problem["input"]
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(name, list(RunSettings.model_fields), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"there is no setting {name!r}{hint}"
    if kind == "missing":
        return f"{name} is missing: give --{name.replace('_', '-')}, or {name} = ... in the file"
    if kind == "value_error":
        return f"{name} {problem['ctx']['error']}, got {given!r}"
    return f"{name}: {_lower(problem['msg'])}, got {given!r}"


def _worst(problems: Sequence[Any]) -> Any:
    """The problem to tell: a name that is not there, else of the first setting the inmost part."""
    strange = [problem for problem in problems if problem["type"] == "extra_forbidden"]
    first = (strange or problems)[0]["loc"][0]
    return max((p for p in problems if p["loc"][0] == first), key=lambda p: len(_place(p)))


def _place(problem: Any) -> list[str]:
    """Where a problem is, without pydantic's names for the branches of a union."""
    return [str(part) for part in problem["loc"] if not _BRANCH.fullmatch(str(part))]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
