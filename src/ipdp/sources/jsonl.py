"""JSON Lines: one object a line."""

from __future__ import annotations

import json
from typing import Any

from ipdp.core.words import shown
from ipdp.sources.columns import BadRecord
from ipdp.sources.lines import Line, TextSource


def parsed(text: str) -> dict[str, Any]:
    """The object that a text is, or BadRecord."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRecord(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except (RecursionError, ValueError) as error:
        # Nested too deeply, or a whole number with thousands of digits.
        raise BadRecord(f"not JSON that can be read: {str(error).partition(';')[0]}") from None
    if not isinstance(record, dict):
        raise BadRecord(f"not an object with names and values: {shown(record)}")
    return record


class JsonLinesSource(TextSource):
    """A file of JSON objects, one a line; the first valid one determines the columns."""

    def _parse(self, line: Line) -> tuple[tuple[dict[str, Any], Any], Line]:
        return self.columns.of_values(parsed(line.text())), line
