"""The table of an experiment: what the paper says, what we see, and whether that agrees."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table.

    Attributes
    ----------
    claim
        What is compared, with the bound that we hold ourselves to.
    paper
        What the paper says of it.
    seen
        What was seen, over all seeds.
    agrees
        Whether it was so on every seed; None where there is nothing to hold it to.
    known
        Whether it is known not to agree, and docs/paper.md says why.

    Examples
    --------
    >>> from ipdp.paper import Row
    >>> Row("error, at most 0.1", "small", "0.020", agrees=True).claim
    'error, at most 0.1'
    """

    claim: str
    paper: str
    seen: str
    agrees: bool | None
    known: bool = False


def within(
    claim: str,
    paper: str,
    values: Sequence[float],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    digits: int = 3,
) -> Row:
    """A row that agrees if every value, one or more for each seed, lies within its bounds.

    Parameters
    ----------
    claim
        What is compared; the bounds are added to it in words.
    paper
        What the paper says of it.
    values
        What was seen.
    low, high
        The bounds, which still agree.
    digits
        With how many digits after the point the values are shown.

    Examples
    --------
    >>> within("error", "small", [0.02, 0.051], high=0.1)
    Row(claim='error, at most 0.1', paper='small', seen='0.020 to 0.051', agrees=True,
        known=False)
    """
    agrees = all(low <= value <= high for value in values)
    return Row(f"{claim}, {_bounds(low, high)}", paper, spread(values, digits), agrees)


def _bounds(low: float, high: float) -> str:
    """Bounds in words."""
    least, most = (f"{bound:,.6g}" for bound in (low, high))
    if least == most:
        return f"exactly {most}"
    if math.isinf(low):
        return f"at most {most}"
    return f"at least {least}" if math.isinf(high) else f"{least} to {most}"


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Smallest and largest of some numbers as text, one number where they read the same.

    Examples
    --------
    >>> spread([20_000.0, 18_500.0], digits=0), spread([0.5])
    ('18,500 to 20,000', '0.500')
    """
    if not values:
        return "none"
    low, high = (f"{value:,.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def table(rows: Sequence[Row], width: int | None = None) -> str:
    """The rows as text.

    Parameters
    ----------
    rows
        What to show.
    width
        Number of characters in a line; None takes that of the terminal.

    Examples
    --------
    >>> print(table([within("error", "small", [0.02], high=0.1)], width=60))
    claim                paper        seen         agrees
    ------------------------------------------------------------
    error, at most 0.1   small        0.020        yes
    """
    width = width or shutil.get_terminal_size((100, 24)).columns
    room = max(width, 60) - 9 - 6  # "agrees", and three spaces between columns
    widths = (room * 2 // 5, room * 3 // 10, room * 3 // 10)
    lines = [_line(_HEAD, widths), "-" * max(width, 60)]
    for row in rows:
        cells = [textwrap.wrap(cell, size) for cell, size in zip(row[:3], widths, strict=True)]
        for k, parts in enumerate(zip_longest(*cells, fillvalue="")):
            lines.append(_line((*parts, "" if k else _mark(row)), widths))
    return "\n".join(lines)


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown.

    Parameters
    ----------
    rows
        What to show.

    Examples
    --------
    >>> print(markdown([within("error", "small", [0.02], high=0.1)]))
    | claim | paper | seen | agrees |
    | --- | --- | --- | --- |
    | error, at most 0.1 | small | 0.020 | yes |
    """
    lines = [_HEAD, ("---",) * len(_HEAD), *((*row[:3], _mark(row)) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


_HEAD = ("claim", "paper", "seen", "agrees")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(size) for cell, size in zip(cells[:3], widths, strict=True)]
    return "   ".join([*padded, cells[3]]).rstrip()


def _mark(row: Row) -> str:
    return {True: "yes", False: "no, known" if row.known else "no", None: "-"}[row.agrees]
