"""The figures of a run, as pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ipdp.core.curve import Curve, feature_text
from ipdp.core.files import written_whole
from ipdp.core.typing import Feature
from ipdp.core.words import shown
from ipdp.plot import (
    CarpetDisplay,
    ChangeDisplay,
    ComparisonDisplay,
    OverviewDisplay,
    PDPDisplay,
    TimelineDisplay,
)
from ipdp.runs.challengers import compared, is_challenger

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ipdp.comparison import Comparison
    from ipdp.log import LogReader

# Name, size in inches, and how to draw it on some axes.
_Drawing: TypeAlias = "tuple[str, tuple[float, float], Callable[[Axes], Any]]"

Format = Literal["png", "pdf"]
"""What a figure is written as."""

_DPI = 150
# Features in the overview, the most important ones, and how many of them are side by side.
_PANELS, _COLUMNS = 24, 4
_PANEL, _WIDE, _CURVE = (2.6, 2.2), (9.0, 5.5), (6.4, 4.4)


def write_figures(
    run: LogReader | str | os.PathLike[str],
    directory: str | os.PathLike[str],
    format: Format = "png",  # noqa: A002
) -> list[Path]:
    """Write the figures of a run: overview, timeline, changes, and each feature's curve and carpet.

    Of several explainers each has its own, with its name in theirs but for the first one; a
    challenger has one figure with both models' curves.

    Parameters
    ----------
    run
        The log, or its path: a run's directory or its file.
    directory
        Where to write them; made if there is none. Figures of an earlier call are replaced.
    format
        "png" or "pdf".

    Returns
    -------
    The files: overview, timeline, changes, then the features, the most important first.

    Examples
    --------
    >>> import tempfile
    >>> import ipdp
    >>> place = tempfile.mkdtemp()
    >>> def model(x):
    ...     return x["a"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"])
    >>> stream = [{"a": k % 7} for k in range(200)]
    >>> _ = ipdp.run(stream, model, pdp, learn=False, log=place)
    >>> [file.name for file in ipdp.web.write_figures(place, place)][:2]
    ['overview.png', 'timeline.png']
    """
    from matplotlib.figure import Figure

    from ipdp.log import LogReader

    if format not in get_args(Format):
        raise ValueError(f"format must be one of {list(get_args(Format))}, got {shown(format)}")
    if not isinstance(run, LogReader):
        with LogReader(run) as reader:
            return write_figures(reader, directory, format)
    if not run.snapshots():
        raise ValueError(f"{run.path} has no snapshot yet, so there is nothing to draw")
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, size, draw in _figures(run):
        path = directory / f"{name}.{format}"
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        with written_whole(path) as draft:
            figure.savefig(draft, dpi=_DPI)
        paths.append(path)
    return paths


def _figures(reader: LogReader) -> Iterator[_Drawing]:
    newest = reader.snapshots()[-1].n
    all_results = {name: reader.at(newest, name) for name in reader.explainers}
    challengers = compared(all_results)
    found = {
        name: results.values()
        for name, results in all_results.items()
        if results and not is_challenger(name, results)
    }
    for k, (name, results) in enumerate(found.items()):
        log, suffix = _OneExplainer(reader, name), f"-{_slug(name)}" if k else ""
        curves: list[Curve] = []
        if any(isinstance(result, Curve) for result in results):
            overview = OverviewDisplay(log)
            curves = overview.curves
            yield _overview(overview, suffix)
        yield f"timeline{suffix}", _WIDE, TimelineDisplay(log).plot
        if not k:
            yield from _changes(reader)
        for rank, curve in enumerate(curves, start=1):
            stem = f"{suffix}-{rank:03}-{_slug(curve.feature)}"
            yield f"curve{stem}", _CURVE, PDPDisplay(curve).plot
            if len(curve.grid_values) == 1:
                yield f"carpet{stem}", _WIDE, CarpetDisplay(log, curve.feature).plot
    for name, comparison in challengers.items():
        yield from _challenger(name, comparison)


def _challenger(name: str, comparison: Comparison) -> Iterator[_Drawing]:
    """Both curves of each feature in a panel; nothing where no single feature has one."""
    drawable = [d for d in comparison.ranked if len(d.places) == 1 and d.shape.size]
    if drawable:
        size = _size(len(drawable[:_PANELS]))
        yield f"challenger-{_slug(name)}", size, ComparisonDisplay(comparison).plot


def _overview(overview: OverviewDisplay, suffix: str) -> _Drawing:
    shown = [curve.feature for curve in overview.curves[:_PANELS]]
    columns = min(_COLUMNS, len(shown))
    draw = partial(overview.plot, features=shown, columns=columns)
    return f"overview{suffix}", _size(len(shown)), draw


def _size(n_panels: int) -> tuple[float, float]:
    columns = min(_COLUMNS, n_panels)
    return _PANEL[0] * columns, _PANEL[1] * -(-n_panels // columns) + 0.6


def _changes(reader: LogReader) -> Iterator[_Drawing]:
    for k, logged in enumerate(reader.changes(), start=1):
        name = f"change-{k:03}-{_slug(logged.change.feature)}"
        yield name, _CURVE, ChangeDisplay(logged.change).plot


class _OneExplainer:
    """What a log holds of one explainer, to be read like a log."""

    def __init__(self, reader: LogReader, explainer: str) -> None:
        self.explainers = [explainer]
        self.at, self.history, self.importances = reader.at, reader.history, reader.importances
        self.snapshots, self.changes, self.metrics = (
            reader.snapshots,
            reader.changes,
            reader.metrics,
        )
        self.scores = reader.scores


def _slug(feature: Feature) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w]+", "-", feature_text(feature)).strip("-")[:40].strip("-") or "unnamed"
