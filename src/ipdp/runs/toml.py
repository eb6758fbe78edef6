"""Settings from a TOML file, and the line that is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ipdp.core.redaction import redacted, redacted_url
from ipdp.core.validation import did_you_mean
from ipdp.core.words import shown
from ipdp.sources.open import without_secrets

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(#.*)?$")
_BRANCH = re.compile(r"(constrained-)?(str|int|float)|\w+\[.*\]")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")
# What a new user can type at once.
_EXAMPLES = {"model": ' "river.forest.ARFClassifier(seed=42)" or another one', "data": " FILE"}

_LONGEST = 1_000_000  # letters of a file
_LONGEST_NAME, _LONGEST_VALUE = 80, 120  # letters, in a message

Model = TypeVar("Model", bound=BaseModel)


class ConfigError(ValueError):
    """Settings that are not valid; the text says which and where.

    Examples
    --------
    >>> import ipdp
    >>> try:
    ...     ipdp.runs.RunConfig.from_toml("missing.toml")
    ... except ipdp.runs.ConfigError as error:
    ...     print("missing.toml" in str(error))
    True
    """


def read(
    kind: type[Model], given: Mapping[str, Any], file: Path | None, known: Mapping[str, Any] = {}
) -> Model:
    """The settings of a run, or a `ConfigError` that says what is wrong and where.

    Those given win over those in the TOML file, and these over those that are known.
    """
    text, found = ("", {}) if file is None else read_toml(file)
    try:
        return kind.model_validate({**known, **found, **given})
    except ValidationError as error:
        problem = _worst(error.errors())
        place = _place(problem)
        where, name = "the settings", place[0]
        if name in given:
            where = f"--{_name(place[:1]).replace('_', '-')}"
        elif name in found:
            where = f"{file}, line {line_of(text, place)}"
        raise ConfigError(f"{where}: {_words(problem, kind.model_fields)}") from None


def read_toml(file: Path) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file, and the settings in it."""
    try:
        with file.open(encoding="utf-8-sig") as opened:
            text = opened.read(_LONGEST + 1)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8") from None
    if len(text) > _LONGEST:
        raise ConfigError(f"{file} is too long: settings have at most {_LONGEST:,} letters")
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not TOML: {error}") from None
    except ValueError:  # of Python, for a number of more digits than it reads
        raise ConfigError(f"{file} has a number of far more digits than any setting") from None
    except RecursionError:
        raise ConfigError(f"{file} has lists within lists, far deeper than any setting") from None


def line_of(text: str, place: Sequence[str]) -> int:
    """The number of the line in which a setting, or a part of one, is given."""
    table: list[str] = []
    found, depth = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _parts(header[1].strip())
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


def _words(problem: Any, known: Iterable[str]) -> str:
    """What is wrong, in our words."""
    name = _name(_place(problem))
    kind, given = problem["type"], _shown(name, problem["input"])
    if kind == "extra_forbidden":
        hint = did_you_mean(name, known)
        return f"there is no setting {name!r}" + (f"; {hint}" if hint else "")
    if kind == "missing":
        option = f"--{name.replace('_', '-')}{_EXAMPLES.get(name, '')}"
        return f"{name} is missing: give {option}, or {name} = ... in the file"
    if kind == "value_error":
        return f"{name} {problem['ctx']['error']}, got {given}"
    what = problem["msg"]
    return f"{name}: {what[:1].lower()}{what[1:]}, got {given}"


def _name(place: Sequence[str]) -> str:
    """What a setting is called in a message."""
    name = ".".join(place)
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def _shown(name: str, value: Any) -> str:
    """A value for a message: not too long, and without the secrets of an address."""
    if name.partition(".")[0] == "webhook":  # also where it is no text
        value = redacted_url(value) if isinstance(value, str) else redacted(shown(value))
    elif isinstance(value, str):
        value = without_secrets(value)
    return shown(value, _LONGEST_VALUE)


def _worst(problems: Sequence[Any]) -> Any:
    """The problem to report: an unknown name, else the innermost part of the first setting."""
    strange = [problem for problem in problems if problem["type"] == "extra_forbidden"]
    first = (strange or problems)[0]["loc"][0]
    return max((p for p in problems if p["loc"][0] == first), key=lambda p: len(_place(p)))


def _place(problem: Any) -> list[str]:
    """Where a problem is, without pydantic's names for the branches of a union."""
    return [str(part) for part in problem["loc"] if not _BRANCH.fullmatch(str(part))]
