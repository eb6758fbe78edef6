"""Printing what may hold anything: names are never taken for markup, and nothing is obeyed."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from ipdp.cli.errors import harmless
from ipdp.core.typing import Feature


def console(*, stderr: bool = False) -> Console:
    """Where to print."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def line(where: Console, text: str, style: str = "") -> None:
    """Print a line as it is: no markup, no breaks within a path."""
    where.print(plain(text, style), soft_wrap=True)


def plain(text: object, style: str = "") -> Text:
    """A text for a table, as it is and on one line."""
    return Text(harmless(text).replace("\n", "\\n").replace("\t", "\\t"), style=style)


def name(feature: Feature) -> str:
    """A feature, or a pair of them, as it is written on the command line.

    Examples
    --------
    >>> name("age"), name(("age", "salary"))
    ('age', 'age*salary')
    """
    return "*".join(map(str, feature)) if isinstance(feature, tuple) else str(feature)


def is_plain_terminal(where: Console) -> bool:
    """Whether only ASCII characters can be shown."""
    return "utf" not in (where.encoding or "").lower()


def as_json(value: Any) -> None:
    """Print a value as JSON, on one line; numbers that JSON does not have are null."""
    sys.stdout.write(json.dumps(_finite(value), allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
