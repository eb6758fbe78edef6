"""Tables of the docs with a test in each row, and whether these tests are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def rows(name: str) -> list[str]:
    """The rows of the tables of a page in docs/notes, without titles and rules."""
    lines = (ROOT / "docs" / "notes" / name).read_text().splitlines()
    titles = {k - 1 for k, line in enumerate(lines) if line.startswith("|---")}
    tables = [k for k, line in enumerate(lines) if line.startswith("| ")]
    return [lines[k] for k in tables if k not in titles]


def named(row: str) -> list[tuple[str, str]]:
    """File and name of each test in a row."""
    return re.findall(r"`(tests\w*/\S+\.py)::(test_\w+)`", row)


def is_there(file: str, name: str) -> bool:
    """Whether a file has a test of this name."""
    return f"\ndef {name}(" in (ROOT / file).read_text()
