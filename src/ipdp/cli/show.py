"""`ipdp show`: what a log says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from ipdp.cli.changes import print_summaries, time_of
from ipdp.cli.diff import print_comparison
from ipdp.cli.errors import sentences
from ipdp.cli.keys import keys
from ipdp.cli.options import Debug, Json, RunPath, examples
from ipdp.cli.printing import (
    as_json,
    console,
    cut_name,
    is_plain_terminal,
    line,
    plain,
    short,
    span_text,
    sparkline,
    table,
    thinned,
)
from ipdp.core.curve import Curve, feature_text
from ipdp.core.explained import Explained
from ipdp.core.importance import Importance, Result
from ipdp.core.jsonable import readable
from ipdp.core.typing import Label
from ipdp.core.words import few_digits

if TYPE_CHECKING:
    from ipdp.comparison import Comparison
    from ipdp.log import LogReader

_WIDTH = 12
_CHANGES = 10
# In a terminal of fewer columns cells are broken at words, and what can be left out is.
_NARROW = 100
_TITLES = ("effect", "range", "on")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show", epilog=examples("ipdp show ipdp-run --at 20000"))(show)


def show(
    run: RunPath,
    at: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Show the run after this many observations.", show_default="the last"
        ),
    ] = None,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """Show curves, importance and changes in the terminal.

    One line for each feature, the most important first: its curve over its range, and how its
    importance went.
    """
    from ipdp.log import LogReader
    from ipdp.spark.keys import is_table

    if is_table(run):  # of a fleet
        with sentences(debug=debug):
            if at is not None:
                raise ValueError("--at is for runs: the table of a fleet is shown as it is now")
        keys(run, json_=json_, debug=debug)
        return
    with sentences(debug=debug), LogReader(run) as reader:
        if json_:
            as_json(overview(reader, at))
        else:
            print_overview(reader, at, console())


# What is shown.


def overview(reader: LogReader, at: int | None) -> dict[str, Any]:
    """The state of a run, the results of its explainers and its changes, JSON-safe."""
    from ipdp.log.headline import headline_of

    status = reader.status
    results = _results(reader, at)
    first = next(iter(results.values()), [])
    explained = Explained.of(r for r in first if isinstance(r, Curve))
    return {
        "state": status.state,
        "n": status.n,
        "message": status.message,
        "headline": headline_of(reader).sentences,
        "metrics": {metric: values[-1] for metric, (_, values) in reader.metrics().items()},
        "curves": {feature_text(r.feature): r.to_dict() for r in first if isinstance(r, Curve)},
        "importance": {feature_text(r.feature): r.overall_importance for r in first},
        "interaction": {
            feature_text(r.feature): readable(r.interaction) for r in first if isinstance(r, Curve)
        },
        "explained": None if explained is None else readable(explained.value),
        "explainers": {
            explainer: {feature_text(r.feature): r.to_dict() for r in found}
            for explainer, found in results.items()
        },
        "challengers": {c.names[1]: c.to_dict() for c in _challengers(results).values()},
        "changes": [
            {
                "n": change.n,
                **time_of(change),
                "kind": change.change.kind,
                "summary": change.change.summary(),
            }
            for change in reader.changes()
        ],
    }


def print_overview(reader: LogReader, at: int | None, out: Console) -> None:
    """The same for people."""
    from ipdp.log.headline import headline_of

    _print_state(reader, out)
    for sentence in headline_of(reader).sentences:
        line(out, sentence)
    results = _results(reader, at)
    if not results:
        return
    if at is not None:
        taken = max(info.n for info in reader.snapshots() if info.n <= at)
        line(out, f"After {taken:,} observations:")
    if not out.is_terminal:
        out.width = max(out.width, 200)  # a file takes it all
    challengers = _challengers(results)
    own = {name: found for name, found in results.items() if name not in challengers}
    for k, (explainer, found) in enumerate(own.items()):
        if k:
            line(out, f"{explainer}:", "bold")
        _print_results(found, reader.importances(explainer=explainer), out)
        explained = Explained.of(result for result in found if isinstance(result, Curve))
        if explained is not None and explained.sentence:
            line(out, explained.sentence)
    for comparison in challengers.values():
        print_comparison(comparison, out)
    _print_changes(reader, out)


def _results(reader: LogReader, at: int | None) -> dict[str, list[Result]]:
    """What each explainer said at a time, the most important feature first."""
    from ipdp.core.errors import NotEnoughSamples
    from ipdp.log.headline import by_importance

    n = math.inf if at is None else at
    try:
        found = {explainer: reader.at(n, explainer).values() for explainer in reader.explainers}
    except NotEnoughSamples:
        if at is None:
            return {}
        raise
    return {
        explainer: by_importance(list(results)) for explainer, results in found.items() if results
    }


def _challengers(results: Mapping[str, Sequence[Result]]) -> dict[str, Comparison]:
    """How challengers differ from the model on the same rows, by the names of their explainers."""
    from ipdp.runs.challengers import PREFIX, compared

    by_feature = {name: {r.feature: r for r in found} for name, found in results.items()}
    return {f"{PREFIX}{name}": found for name, found in compared(by_feature).items()}


def _print_state(reader: LogReader, out: Console) -> None:
    from ipdp.runs.metrics import scores_text

    status = reader.status
    said = [f"{reader.path.parent.name or reader.path}: {status.state}, {status.n:,} observations"]
    said += scores_text({name: values[-1] for name, (_, values) in reader.metrics().items()})
    if status.heartbeat:
        said.append(f"{datetime.fromtimestamp(status.heartbeat):%Y-%m-%d %H:%M:%S}")
    line(out, ", ".join(said), "bold")
    if status.message and status.state != "failed":  # why it failed is in the headline
        line(out, status.message)


def _print_results(results: Sequence[Result], histories: Mapping[Any, Any], out: Console) -> None:
    """A table with a row for each feature."""
    is_plain = is_plain_terminal(out)
    known = [v for _, series in histories.values() for v in series.tolist() if math.isfinite(v)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    has_curves = any(isinstance(result, Curve) for result in results)
    is_narrow = out.width < _NARROW
    titles = [title for title in _TITLES if has_curves and not (is_narrow and title == "range")]
    blank = [plain("")] * 3
    shown = table("feature", *titles, "importance", plain=is_plain, breaks=is_narrow)
    for result in results:
        _, series = histories[result.feature]
        trend = sparkline(thinned(series.tolist(), _WIDTH), min(low, 0.0), high, plain=is_plain)
        name = plain(cut_name(result.feature, 12 if is_narrow else 28), "bold")
        cells = _curve(result, is_plain) if isinstance(result, Curve) else blank
        effect = [cell for title, cell in zip(_TITLES, cells, strict=True) if title in titles]
        importance = Text.assemble(plain(trend, "cyan"), plain(f" {_importance(result)}"))
        shown.add_row(name, *effect, importance)
    out.print(shown, soft_wrap=not is_narrow)


def _curve(curve: Curve, is_plain: bool) -> list[Text]:
    """The curve of its main output: its shape, its range, its values."""
    output = curve.main_output
    if output is None:  # the model has said nothing yet
        return [plain("")] * 3
    values = curve.select(output).average[0]
    known = values[np.isfinite(values)]
    said = curve.output_text(output)
    if known.size:
        said += f" {span_text(sorted(known.tolist()))}"
    if len(curve.grid_values) > 1:
        sizes = " x ".join(str(len(axis)) for axis in curve.grid_values)
        return [plain(f"{sizes} points"), plain(_h_squared(curve, output)), plain(said)]
    axis = curve.grid_values[0].tolist()
    span = span_text(axis)
    drawn = sparkline(thinned(values.tolist(), _WIDTH), plain=is_plain)
    return [plain(drawn, "green"), plain(span), plain(said)]


def _h_squared(pair: Curve, output: Label) -> str:
    """The share of what a pair does that is not the sum of its two features; empty if unknown."""
    if pair.h_squared is None:
        return ""
    share = pair.h_squared[pair.outputs.index(output)]
    return "" if math.isnan(share) else f"H² {few_digits(share)}"


def _importance(result: Result) -> str:
    """The importance in digits, with its confidence band where it is known."""
    said = short(result.overall_importance)
    if not isinstance(result, Importance):
        return said
    low, high = result.band()
    return f"{said} ({short(low)}..{short(high)})" if math.isfinite(high - low) else said


def _print_changes(reader: LogReader, out: Console) -> None:
    found = reader.changes()
    if not found:
        line(out, "No changes.")
        return
    more = f", the last {_CHANGES}" if len(found) > _CHANGES else ""
    line(out, f"{len(found)} change{'s' * (len(found) > 1)}{more}:", "bold")
    print_summaries(found[-_CHANGES:], out)
