"""One table for all figures: printed, written as JSON, and drawn."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes
    ----------
    figure
        What was measured: a ratio, and of what.
    what
        Of which model, at which size.
    value
        The number.
    at_most, at_least
        What is promised, if something is.
    """

    figure: str
    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the promise is kept."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    @property
    def promise(self) -> str:
        """The promise in words, with a mark where it is broken."""
        words = [
            f"{word} {bound:g}"
            for word, bound in (("at most", self.at_most), ("at least", self.at_least))
            if bound is not None
        ]
        return " and ".join(words) + ("" if self.holds else "  NOT KEPT")


def show(rows: Iterable[Row]) -> None:
    """Print rows, with a line above each group of them."""
    for figure, group in groupby(rows, key=lambda row: row.figure):
        print(f"\n{figure}")
        for row in group:
            print(f"  {row.what:44}{row.value:10.2f}  {row.promise}".rstrip())


def write(rows: Iterable[Row], path: Path, **about: Any) -> None:
    """Write rows as JSON, with what ran where."""
    machine = {"python": platform.python_version(), "machine": platform.machine(), **about}
    text = json.dumps({"about": machine, "rows": [asdict(row) for row in rows]}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> list[Row]:
    """The rows of a file that `write` wrote."""
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
