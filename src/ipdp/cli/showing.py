"""What `ipdp show` shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ipdp.cli.printing import is_plain_terminal, line, name, plain
from ipdp.cli.sparklines import sparkline, thinned
from ipdp.core.curve import Curve
from ipdp.core.typing import Label

if TYPE_CHECKING:
    from ipdp.log import LogReader

_WIDTH = 12
_CHANGES = 10


def overview(reader: LogReader, at: int | None) -> dict[str, Any]:
    """The state of a run, its curves and its changes, JSON-safe."""
    status = reader.status
    curves = _curves(reader, at)
    last = {metric: _number(values[-1]) for metric, (_, values) in reader.metrics().items()}
    return {
        "state": status.state,
        "n": status.n,
        "message": status.message,
        "metrics": last,
        "curves": {name(curve.feature): curve.to_dict() for curve in curves},
        "importance": {name(c.feature): _number(_importance(c)) for c in curves},
        "changes": [
            {"n": change.n, "kind": change.change.kind, "summary": change.change.summary()}
            for change in reader.changes()
        ],
    }


def print_overview(reader: LogReader, at: int | None, out: Console) -> None:
    """The same for people."""
    _print_state(reader, out)
    curves = _curves(reader, at)
    if not curves:
        line(out, "No curves yet.")
        return
    if at is not None:
        taken = max(info.n for info in reader.snapshots() if info.n <= at)
        line(out, f"Curves after {taken:,} observations:")
    # Wide enough never to be cut off: a terminal wraps what it cannot show, a file takes it all.
    out.width = max(out.width, 200)
    out.print(_table(reader, curves, is_plain_terminal(out)))
    _print_changes(reader, out)


def _curves(reader: LogReader, at: int | None) -> list[Curve]:
    """The curves at a time, the most important first."""
    from ipdp.core.errors import NotEnoughSamples

    try:
        curves = list(reader.at(math.inf if at is None else at).values())
    except NotEnoughSamples:
        if at is None:
            return []
        raise
    return sorted(curves, key=_importance, reverse=True)


def _print_state(reader: LogReader, out: Console) -> None:
    status = reader.status
    said = [f"{reader.path.parent.name or reader.path}: {status.state}, {status.n:,} observations"]
    said += [f"{metric} {values[-1]:.4g}" for metric, (_, values) in reader.metrics().items()]
    if status.heartbeat:
        said.append(f"{datetime.fromtimestamp(status.heartbeat):%Y-%m-%d %H:%M:%S}")
    line(out, ", ".join(said), "bold")
    if status.message:
        line(out, status.message, "red" if status.state == "failed" else "")


def _table(reader: LogReader, curves: Sequence[Curve], is_plain: bool) -> Table:
    table = Table(box=box.ASCII if is_plain else box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for title in ("feature", "effect", "range", "on", "importance"):
        table.add_column(title, no_wrap=True)
    histories = reader.importances()
    top = max((float(np.nanmax(v)) for _, v in histories.values() if len(v)), default=0.0)
    for curve in curves:
        _, importance = histories[curve.feature]
        trend = sparkline(thinned(importance.tolist(), _WIDTH), 0.0, top, plain=is_plain)
        table.add_row(
            plain(_cut(name(curve.feature), 28), "bold"),
            *_row(curve, is_plain),
            Text.assemble(plain(trend, "cyan"), plain(f" {_short(_importance(curve))}")),
        )
    return table


def _row(curve: Curve, is_plain: bool) -> list[Text]:
    """The curve of the output that the feature matters most to."""
    output = curve.outputs[int(np.argmax(curve.importance))]
    if len(curve.outputs) == 2 and not curve.importance[1] < curve.importance[0] * 0.999:
        output = curve.outputs[1]  # of two probabilities that say the same, as elsewhere
    values = curve.select(output).average[0]
    said = f"{_output(output)} {_short(np.nanmin(values))}..{_short(np.nanmax(values))}"
    if len(curve.grid_values) > 1:
        sizes = " x ".join(str(len(axis)) for axis in curve.grid_values)
        return [plain(f"{sizes} points"), plain(""), plain(said)]
    axis = curve.grid_values[0].tolist()
    drawn = sparkline(thinned(values.tolist(), _WIDTH), plain=is_plain)
    return [plain(drawn, "green"), plain(f"{_short(axis[0])}..{_short(axis[-1])}"), plain(said)]


def _print_changes(reader: LogReader, out: Console) -> None:
    found = reader.changes()
    if not found:
        line(out, "No changes.")
        return
    more = f", the last {_CHANGES}" if len(found) > _CHANGES else ""
    line(out, f"{len(found)} change{'s' * (len(found) > 1)}{more}:", "bold")
    for change in found[-_CHANGES:]:
        line(out, f"{change.n:>9,}  {change.change.summary()}")


def _output(output: Label) -> str:
    return "prediction" if output == "prediction" else f"P({output})"


def _importance(curve: Curve) -> float:
    return float(curve.importance.max()) if curve.importance.size else 0.0


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _short(value: Any) -> str:
    """A number for a table, with three digits; names of categories as they are, up to a length.

    Examples
    --------
    >>> [_short(value) for value in (0.0, 0.12345, 1234.5, 98_765, 3e12, True, "a long category")]
    ['0', '0.123', '1.23k', '98.8k', '3e+12', 'True', 'a long ca...']
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return _cut(str(value), 12)
    number = float(value)
    for size, letter in ((1e9, ""), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number:.3g}" if not letter else f"{number / size:.3g}{letter}"
    return f"{number:.3f}".rstrip("0").rstrip(".") if abs(number) < 1 else f"{number:.3g}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
