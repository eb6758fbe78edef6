"""What a run's log may say about how to go on with the run, and what it may not.

A log may come from someone else, so its words must run no code of theirs and send nothing to them.
"""

from __future__ import annotations

import ast
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.core.redaction import redacted_url
from ipdp.models.load.files import is_file
from ipdp.models.load.names import LIBRARIES
from ipdp.models.load.open import is_factory
from ipdp.sources.open import without_secrets

if TYPE_CHECKING:
    from ipdp.runs.config import RunConfig

# Where the names in an expression may come from, by setting.
_LIBRARIES = {
    "model": LIBRARIES,
    "data": ("river.datasets",),
    "metric": ("river.metrics", "river.utils"),
    "loss": ("river.metrics",),
    "grid": ("ipdp.grid",),
}


def to_log(config: RunConfig) -> dict[str, Any]:
    """The settings as the log keeps them: files by their absolute path, no secrets."""
    plain: dict[str, Any] = config.model_dump(mode="json", exclude={"out"})
    for name in ("data", "model"):
        if os.path.exists(plain[name]):  # which takes any text, unlike Path.exists
            plain[name] = str(Path(plain[name]).resolve())
    plain["data"] = without_secrets(plain["data"])
    if config.webhook is not None:
        plain["webhook"] = redacted_url(config.webhook)
    return plain


def kept(run: str | Path, own: Mapping[str, Any], *, trust_run: bool) -> tuple[str, dict[str, Any]]:
    """The directory of a run, and the settings that its log may decide.

    Parameters
    ----------
    run
        The run's directory, or its log.
    own
        Settings of the one who resumes.
    trust_run
        Whether code that the log names may be run.
    """
    from ipdp.log import LogReader
    from ipdp.runs.toml import ConfigError

    with LogReader(run) as reader:
        logged, directory = reader.settings.get("command"), reader.path.parent
    if not isinstance(logged, dict):
        raise ConfigError(f"{run} was not made by `ipdp run`: it cannot be resumed from here")
    if logged.get("allow_pickle") and not own.get("allow_pickle"):
        raise ConfigError(
            f"{run} was made with --allow-pickle, and a pickle can run any code when it is loaded; "
            f"if you trust it: ipdp resume {run} --allow-pickle"
        )
    known = {name: value for name, value in logged.items() if name not in own}
    _need_secrets(known)
    if not trust_run:
        for code in _foreign(known):
            raise ConfigError(
                f"to go on with {run} would {code}, because its log says so; if you trust whoever "
                "made the run, allow it (--trust-run), or name what to use instead"
            )
    for name in ("allow_pickle", "trust", "webhook"):
        known.pop(name, None)
    return str(directory), known


def needed(config: RunConfig) -> list[str]:
    """The options without which a run with these settings cannot be resumed."""
    plain = config.model_dump(mode="json")
    options = []
    if any(_foreign({"model": plain["model"]})):
        options.append(f"--model {shlex.quote(config.model)}")
    if any(_foreign({name: value for name, value in plain.items() if name != "model"})):
        options.append("--trust-run")
    if config.trust:
        options.append(f"--trust {','.join(config.trust)}")
    if config.allow_pickle:
        options.append("--allow-pickle")
    if without_secrets(config.data) != config.data:
        options.append("--data ADDRESS")
    if config.webhook is not None:
        options.append("--webhook URL")
    return options


def _need_secrets(known: Mapping[str, Any]) -> None:
    """An error where the log says no more of an address than may be shown."""
    from ipdp.runs.toml import ConfigError

    data, webhook = str(known.get("data")), known.get("webhook")
    if without_secrets(data) != data:
        raise ConfigError(
            f"the log does not keep passwords, and {without_secrets(data)} had some: give the "
            "address again (--data)"
        )
    if webhook is not None:
        raise ConfigError(
            f"changes were posted to {redacted_url(str(webhook))}, and the log does not keep the "
            "address, which can be a secret: give it again (--webhook), or --webhook none"
        )


def _foreign(settings: Mapping[str, Any]) -> Iterator[str]:
    """What settings would run of other code than ipdp's and the known libraries', in words."""
    for name, libraries in _LIBRARIES.items():
        value = settings.get(name)
        for word in value.values() if isinstance(value, dict) else [value]:
            if not isinstance(word, str):
                continue
            if name == "model" and is_file(word):
                if word.strip().lower().endswith(".pt2"):  # which holds pickles
                    yield f"load {word}, which can run any code"
            elif name == "model" and is_factory(word.strip()):
                module, _, factory = word.strip().partition(":")
                yield f"import {module} and call {factory}"
            elif name != "data" or (word.endswith(")") and not os.path.exists(word)):
                yield from (f"import {path}" for path in _paths(word) if not _in(path, libraries))


def _in(path: str, libraries: tuple[str, ...]) -> bool:
    return f"{path}.".startswith(tuple(f"{library}." for library in libraries))


def _paths(word: str) -> Iterator[str]:
    """The dotted names in an expression, without looking at what they name.

    Examples
    --------
    >>> list(_paths("river.compose.Select('a') | helper.Model(depth=3, loss=Log())"))
    ['river.compose.Select', 'helper.Model']
    """
    try:
        inner = [ast.parse(word.strip(), mode="eval").body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the loader has a sentence for it
    while inner:
        node = inner.pop(0)
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)
        else:
            inner.extend(ast.iter_child_nodes(node))  # type: ignore[arg-type]
