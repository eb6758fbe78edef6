"""Printing any text: names are never taken for markup or control characters."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ipdp.core.curve import feature_text
from ipdp.core.jsonable import readable
from ipdp.core.times import moment
from ipdp.core.typing import Feature
from ipdp.core.words import ends_text, few_digits, harmless

_BLOCKS = "▁▂▃▄▅▆▇█"
_PLAIN = "_.-=+*#@"


def console(*, stderr: bool = False) -> Console:
    """Where to print."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def line(where: Console, text: str, style: str = "") -> None:
    """Print a line as it is: no markup; on a terminal with breaks between words, not in a path."""
    for part in _broken(where, plain(text).plain):
        where.print(Text(part, style=style), soft_wrap=True)


def _broken(where: Console, text: str) -> list[str]:
    """A text in lines that fit a terminal, all but the first set in; as it is for a file."""
    if not where.is_terminal or len(text) <= where.width:
        return [text]
    lead = len(text) - len(text.lstrip())
    rules: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    indents: dict[str, Any] = {"initial_indent": " " * lead, "subsequent_indent": " " * (lead + 2)}
    return textwrap.wrap(text.strip(), where.width, **rules, **indents)


def plain(text: object, style: str = "") -> Text:
    """A text for a table, as it is and on one line."""
    return Text(harmless(text).replace("\n", "\\n").replace("\t", "\\t"), style=style)


def table(*titles: str, plain: bool, breaks: bool = False) -> Table:
    """An empty table with columns of these titles; of ASCII characters only if `plain`.

    If it `breaks`, cells go over several lines where there is little room.
    """
    made = Table(box=box.ASCII if plain else box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for title in titles:
        made.add_column(title, no_wrap=not breaks, overflow="fold" if breaks else "ellipsis")
    return made


def is_plain_terminal(where: Console) -> bool:
    """Whether only ASCII characters can be shown."""
    return "utf" not in (where.encoding or "").lower()


def as_json(value: Any) -> None:
    """Print a value as JSON, on one line; numbers that JSON does not have are null."""
    sys.stdout.write(json.dumps(readable(value), allow_nan=False) + "\n")


def sparkline(
    values: Sequence[float],
    low: float | None = None,
    high: float | None = None,
    *,
    plain: bool = False,
) -> str:
    """Numbers as a row of bars from `low` to `high`, their extremes by default; NaN is a gap."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return " " * len(values)
    bars = _PLAIN if plain else _BLOCKS
    low = min(known) if low is None else low
    high = max(known) if high is None else high
    width = high - low

    def bar(value: float) -> str:
        if not math.isfinite(value):
            return " "
        share = (value - low) / width if width > 0 else 0.0
        return bars[min(max(int(share * len(bars)), 0), len(bars) - 1)]

    return "".join(map(bar, values))


def thinned(values: Sequence[float], width: int) -> list[float]:
    """At most so many of the values, evenly spaced, the last one included."""
    if len(values) <= width:
        return list(values)
    step = (len(values) - 1) / max(width - 1, 1)
    return [values[round(k * step)] for k in range(width)]


def short(value: Any) -> str:
    """A number for a table, with three digits; names of categories as they are, up to a length."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return cut(str(value), 12)
    return few_digits(float(value))


def span_text(values: Sequence[Any]) -> str:
    """The first and the last of some values."""
    if not values:
        return ""
    ends = values[0], values[-1]
    if not all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in ends):
        return "..".join(map(short, ends))
    return "..".join(ends_text(float(ends[0]), float(ends[1])))


def when_text(n: int, t: float | None) -> str:
    """When something was found: the date and the time of day, or the number of observations."""
    when = moment(t)
    return f"{n:>9,}" if when is None else f"{n:>9,}  {when:%Y-%m-%d %H:%M}"


def cut_name(feature: Feature, width: int) -> str:
    """The name of a curve in so many characters; of one of a part the end, which tells it, too."""
    text, end = feature_text(feature), width // 2 - 1
    if ", where " not in text or len(text) <= width:
        return cut(text, width)
    return f"{text[: width - 3 - end]}...{text[-end:]}"


def cut(text: str, width: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= width else f"{text[: width - 3]}..."
