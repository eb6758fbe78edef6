"""What a run's log may say about how to go on with the run, and what it may not.

A log may come from someone else: what it says must run no code of theirs and post nothing to them.
"""

from __future__ import annotations

import ast
import math
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.core.hosts import is_loopback
from ipdp.core.redaction import is_redacted, redacted_url
from ipdp.core.words import shown
from ipdp.grid.auto import with_extremes
from ipdp.models.detect import parameters_of
from ipdp.models.load.files import is_file, is_read_natively
from ipdp.models.load.names import LIBRARIES, MAKERS, LoadError, resolve
from ipdp.models.load.open import is_factory
from ipdp.runs.toml import ConfigError
from ipdp.sources.open import is_address, without_secrets

if TYPE_CHECKING:
    from ipdp.runs.config import RunConfig

# Where the names in an expression may come from, by setting.
_LIBRARIES = {
    "model": LIBRARIES,
    "challenger": LIBRARIES,
    "data": ("river.datasets",),
    "metric": ("river.metrics", "river.utils"),
    "loss": ("river.metrics",),
    "grid": ("ipdp.grid",),
}
# They read, write and download files.
_NO_PARTS = ("river.stream.", "river.datasets.", "sklearn.datasets.")
# Of these only estimators: others open ports, connect and read files when they are made.
_BOOSTERS = ("lightgbm.", "xgboost.", "catboost.")
_ESTIMATORS = ("Classifier", "Regressor", "Ranker", "CatBoost")
# The largest numbers in an expression: of trees, points and the like, of anything else, and of what
# a model's size grows with exponentially.
_MOST_PARTS, _MOST = 10_000, 100_000_000
_LARGEST = {"height": 20, "degree": 8, "size": _MOST_PARTS, "n_features": _MOST}


def to_log(config: RunConfig) -> dict[str, Any]:
    """The settings as the log keeps them: files by their absolute path, no secrets."""
    plain: dict[str, Any] = config.model_dump(mode="json", exclude={"out"})
    for name in ("data", "model", "challenger"):
        if plain[name] is not None and os.path.exists(
            plain[name]
        ):  # which takes any text, unlike Path.exists
            plain[name] = str(Path(plain[name]).resolve())
    plain["data"] = without_secrets(plain["data"])
    if config.webhook is not None:
        plain["webhook"] = redacted_url(config.webhook)
    return plain


def kept(run: str | Path, own: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The directory of a run, and what of its log's settings the one who resumes has not set.

    `must_be_safe` has to see them before they are used.
    """
    from ipdp.log import LogReader

    with LogReader(run) as reader:
        logged, directory = reader.settings.get("command"), reader.path.parent
        described = str(reader.settings.get("explainers"))
        has_begun = reader.status.state != "empty"
    if not has_begun:
        raise ConfigError(f"{run} was stopped before its run began: start it again with `ipdp run`")
    if not isinstance(logged, dict):
        raise ConfigError(f"{run} was not made by `ipdp run`: it cannot be resumed from here")
    if "ends=" not in described:  # made when Auto knew no other ends
        grid = with_extremes(logged.get("grid", "Auto()"))
        logged = {"estimator": "pointwise", **logged, "grid": grid}
    if logged.get("allow_pickle") and not own.get("allow_pickle"):
        raise ConfigError(
            f"{run} was made with --allow-pickle, and a pickle can run any code when it is loaded; "
            f"if you trust it: ipdp resume {run} --allow-pickle"
        )
    webhook = logged.get("webhook")
    if webhook is not None and "webhook" not in own:
        raise ConfigError(
            f"changes were posted to {redacted_url(str(webhook))}, and the log does not keep the "
            "address, which can be a secret: give it again (--webhook), or --webhook none"
        )
    never = ("allow_pickle", "trust", "webhook")
    return str(directory), {k: v for k, v in logged.items() if k not in own and k not in never}


def must_be_safe(config: RunConfig, names: Collection[str], run: str | Path) -> None:
    """Raise unless the settings of these names, which a log has decided, run no code of others.

    Nor may they let other machines in, or speak to them.
    """
    for code in (*_foreign(config, names), *_connected(config, names)):
        raise ConfigError(
            f"to go on with {run} would {code}, because its log says so; if you trust whoever made "
            "the run, allow it (--trust-run), or name what to use instead"
        )


def must_be_complete(config: RunConfig) -> None:
    """Raise if the address of the data has gaps where passwords were."""
    address = without_secrets(config.data)
    if address != config.data or is_redacted(address):
        lost = f"the log does not keep passwords, and {address} had some"
        raise ConfigError(f"{lost}: give the address again (--data)")


def needed(config: RunConfig) -> list[str]:
    """The options without which a run with these settings cannot be resumed."""
    options = []
    if any(_foreign(config, ["model"])):
        options.append(f"--model {shlex.quote(config.model)}")
    is_given_again = without_secrets(config.data) != config.data
    others = {*_LIBRARIES, "prometheus_host"} - {"model", *(["data"] if is_given_again else [])}
    if any((*_foreign(config, others), *_connected(config, others))):
        options.append("--trust-run")
    if config.trust:
        options.append(f"--trust {','.join(config.trust)}")
    if config.allow_pickle:
        options.append("--allow-pickle")
    if is_given_again:
        options.append("--data ADDRESS")
    if config.webhook is not None:
        options.append("--webhook URL")
        if config.page_url:
            options.append(f"--page-url {shlex.quote(config.page_url)}")
    return options


def _connected(config: RunConfig, names: Collection[str]) -> Iterator[str]:
    """To which machines settings would speak, and to which they would show something, in words."""
    host = config.prometheus_host
    if "data" in names and is_address(config.data):
        yield f"connect to {config.data.partition('?')[0][:200]!r}"
    if config.prometheus is not None and "prometheus_host" in names and not is_loopback(host):
        yield f"show its metrics to other machines, at {host}"
    if config.webhook is not None and config.page_url and "page_url" in names:
        yield f"post links to {config.page_url[:200]!r}"


def _foreign(config: RunConfig, names: Collection[str]) -> Iterator[str]:
    """What settings would run of other code than ipdp's and the known libraries', in words."""
    for name in _LIBRARIES:
        value = getattr(config, name) if name in names else {}
        for text in value.values() if isinstance(value, dict) else [value]:
            if text is not None:
                yield from _foreign_in(name, text)


def _foreign_in(name: str, text: str) -> Iterator[str]:
    if name == "data" and (not text.endswith(")") or os.path.exists(text)):
        return
    is_model = name in ("model", "challenger")
    if is_model and is_file(text):
        # Others are pickles, or hold types: neither can be allowed by the log.
        if is_read_natively(text):
            yield f"load {text[:200]}, a file that can be made to crash the library that reads it"
    elif is_model and is_factory(text):
        module, _, factory = text.partition(":")
        yield f"import {module} and call {factory}"
    else:
        foreign = list(_foreign_names(text, _LIBRARIES[name], is_model=is_model))
        yield from foreign
        # To know the arguments of a class it is imported. A stream is read piece by piece.
        if not foreign and name != "data":
            yield from _oversized(text, _LIBRARIES[name])


def _foreign_names(text: str, within: Sequence[str], *, is_model: bool) -> Iterator[str]:
    known = tuple(f"{library}." for library in within)
    for path in _paths(text):
        if not path.startswith(known):
            yield f"import {path}"
        elif path not in MAKERS and not _makes_a_part(path, known, is_model=is_model):
            yield f"use {path}, which is no part of a model"


def _makes_a_part(path: str, known: tuple[str, ...], *, is_model: bool) -> bool:
    """Whether a name of a known library is that of a class of parts.

    Functions can do anything when they are called with the data, such as write a file. What counts
    is where it was defined: a module has what it imports among its own names.
    """
    found = _defined(path)
    if not path.rpartition(".")[2][:1].isupper() or not found.startswith(known):
        return False
    if found.startswith(_BOOSTERS):
        return found.endswith(_ESTIMATORS)
    return not (is_model and found.startswith(_NO_PARTS))


def _defined(path: str) -> str:
    """The whole name of what a path names; the path itself where the loader would refuse it."""
    try:
        found = resolve(path)
        return f"{found.__module__}.{found.__qualname__}"
    except (LoadError, AttributeError):
        return path


def _oversized(text: str, within: Sequence[str]) -> Iterator[str]:
    """What an expression would make that may take all memory or never end, in words.

    The names in it are known to be those of parts of models.
    """
    for call in (node for tree in _parsed(text) for node in ast.walk(tree)):
        if not isinstance(call, ast.Call) or (path := _dotted(call.func)) is None:
            continue
        for name, argument in _arguments(call, path, within):
            if (size := max(_numbers(argument), default=0)) > _most(name):
                yield f"make {path} with {name}={shown(size)}, which may take all memory"


def _arguments(call: ast.Call, path: str, within: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    """What a call gives to a class, by name; empty where that is not known."""
    try:
        names = [each.name for each in parameters_of(resolve(path, within)) or ()]
    except LoadError:
        names = []
    names += [""] * len(call.args)
    yield from zip(names, call.args, strict=False)
    for keyword in call.keywords:
        yield keyword.arg or "", keyword.value


def _numbers(node: ast.AST) -> Iterator[float]:
    """The numbers in an argument; other calls in it have arguments of their own."""
    inner = [node]
    while inner:
        part = inner.pop()
        if isinstance(part, ast.Constant) and isinstance(part.value, (int, float)):
            yield part.value
        elif not isinstance(part, ast.Call):
            inner.extend(ast.iter_child_nodes(part))


def _most(name: str) -> float:
    """The largest number that a log may give to an argument; seeds are of any size."""
    if name in ("seed", "random_state"):
        return math.inf
    return _LARGEST.get(name, _MOST_PARTS if name.startswith("n_") or not name else _MOST)


def _parsed(text: str) -> list[ast.AST]:
    """An expression, or nothing if it is none: the loader has a sentence for it."""
    try:
        return [ast.parse(text.strip(), mode="eval")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _paths(text: str) -> Iterator[str]:
    """The dotted names in an expression, without looking at what they name."""
    inner = _parsed(text)
    while inner:
        node = inner.pop(0)
        path = _dotted(node)
        if path is not None and "." in path:
            yield path
        else:
            inner.extend(ast.iter_child_nodes(node))


def _dotted(node: ast.AST) -> str | None:
    """The name that a node is, with its dots; None for anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None
