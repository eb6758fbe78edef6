"""The curves of one feature over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.places import is_time
from ipdp.core.typing import Feature, FloatArray, Label
from ipdp.monitor.change import Change
from ipdp.plot.shown.display import NotebookDisplay
from ipdp.plot.shown.source import Logged, Mark, Snapshots, history_of, marks_of
from ipdp.plot.shown.style import named, output_label
from ipdp.plot.shown.values import (
    Axis,
    about_its_mean,
    around,
    edges_around,
    is_whole,
    known,
    symmetric_range,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.lines import Line2D

# Number of rows that the range of a number is divided into.
_ROWS = 240
# Share of the axis on either side of a range that is a single point.
_LEAST = 0.01

_Points = tuple[FloatArray, FloatArray]


class CarpetDisplay(NotebookDisplay):
    """Heat map of one feature's curve over time: time along x, the feature's value along y.

    When the range of the data moves (virtual drift) the coloured area moves; when the effect
    changes (real drift) the colours change. Each curve is drawn over its own range only.

    Parameters
    ----------
    curves
        Curves of the feature at several times, or mappings of curves as `IncrementalPDP.curves`
        gives them, or a log.
    feature
        Which feature; may be left out where the curves are of one feature only.
    changes
        Changes to mark, those of other features are passed over; by default the log's.

    Attributes
    ----------
    times, curves
        What is drawn, in order.
    ax_, figure_, mesh_, colorbar_
        Where it was drawn, the heat map and its colour bar.
    changes_
        A line for each change: solid for a real one, dotted for a virtual one.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], grid=ipdp.grid.Fixed([0.0, 1.0]))
    >>> kept = []
    >>> for _ in range(3):
    ...     pdp.explain_one({"a": 0.5})
    ...     kept.append(pdp.curve("a"))
    >>> carpet = CarpetDisplay(kept).plot(ax=Figure().subplots())
    >>> carpet.mesh_.get_array().shape[1]
    3
    """

    ax_: Axes
    mesh_: QuadMesh
    colorbar_: Colorbar
    changes_: list[Line2D]

    def __init__(
        self,
        curves: Snapshots | Logged,
        feature: Feature | None = None,
        *,
        changes: Iterable[Change] | None = None,
    ) -> None:
        marks = marks_of(curves, changes)
        self.times, self.curves = history_of(curves, feature)
        self.feature = self.curves[0].feature
        self._marks = [mark for mark in marks if mark.change.feature == self.feature]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        output: Label | None = None,
        centred: bool = False,
        changes: bool = True,
        backend: str = "matplotlib",
        mesh_kw: Mapping[str, Any] | None = None,
    ) -> Any:
        """Draw the curves over time.

        Parameters
        ----------
        ax, backend
            As in `PDPDisplay.plot`, as what is returned.
        output
            Which output to show; by default the main one of the last curve, which is the second
            of two classes, else the one that the feature matters most to.
        centred
            Whether to show each curve minus its mean: how the effect of this feature changes,
            without the changes of level that others bring.
        changes
            Whether to mark changes.
        mesh_kw
            Settings of the mesh, as matplotlib names them.
        """
        marks = self._marks if changes else []
        shown = curve_history(self.times, self.curves, marks, output=output, centred=centred)
        return self._draw(backend, "carpet", shown, ax, {"mesh": mesh_kw})

    def __repr__(self) -> str:
        return f"CarpetDisplay({self.feature!r}, {len(self.times)} times)"


@dataclass(frozen=True)
class CurveHistory:
    """Values of a feature's curves: a row for each place on its axis, a column for each time."""

    feature: str  # labels of its axis and of the colours
    label: str
    times: FloatArray  # of the columns, and the borders between them
    time_edges: FloatArray
    place_edges: FloatArray  # borders of the rows
    categories: list[Any] | None  # what stands at 0, 1, 2, ... of the axis; None for numbers
    is_time: bool  # whether the feature's values are seconds since 1970
    values: FloatArray  # of shape (rows, columns); NaN where a curve did not reach
    z_range: tuple[float, float] | None  # ends of the colours around zero, of centred curves
    whole: bool  # whether the feature's values are whole numbers
    marks: Sequence[Mark]  # the changes to mark


def curve_history(
    times: FloatArray,
    curves: Sequence[Curve],
    marks: Sequence[Mark] = (),
    *,
    output: Label | None,
    centred: bool,
) -> CurveHistory:
    """Put curves together on one axis; each is shown in its own range only."""
    last = curves[-1]
    if len(last.grid_values) > 1:
        raise ValueError(
            f"{last.feature!r} is a pair, which has no carpet: draw its surface at one time, "
            "or the carpets of the two features"
        )
    output = last.main_output if output is None else output
    if output is None:
        raise NotEnoughSamples(f"the curve of {last.feature!r} has no output yet")
    # A feature whose kind was found out late begins anew with other points.
    kept = [k for k, curve in enumerate(curves) if curve.categorical == last.categorical]
    times, curves = times[kept], [curves[k] for k in kept]
    rows = [_row(curve, output, centred=centred) for curve in curves]
    axis = Axis(categorical=last.categorical[0])
    grids = [axis.positions(curve.grid_values[0]) for curve in curves]
    place = _by_number if axis.categories is None else _by_category
    edges, values = place(list(zip(grids, rows, strict=True)))
    return CurveHistory(
        feature=named(last.feature),
        label=output_label(last, last.select(output), centred=centred),
        times=times,
        time_edges=edges_around(times),
        place_edges=edges,
        categories=axis.categories,
        is_time=is_time(last),
        values=values,
        z_range=symmetric_range(values) if centred else None,
        whole=is_whole(last),
        marks=marks,
    )


def _row(curve: Curve, output: Label, *, centred: bool) -> FloatArray:
    """The values of one curve; NaN where it does not have the output."""
    if output not in curve.outputs:
        return np.full(len(curve.grid_values[0]), np.nan)
    one = curve.select(output)
    return np.asarray(known(about_its_mean(one) if centred else one)[0])


def _by_category(curves: list[_Points]) -> _Points:
    """Borders of the rows, and values of shape (rows, curves), of categories."""
    n = int(max((grid.max(initial=-1.0) for grid, _ in curves), default=-1.0)) + 1
    values = np.full((n, len(curves)), np.nan)
    for column, (grid, row) in enumerate(curves):
        values[grid.astype(int), column] = row
    return np.linspace(-0.5, n - 0.5, n + 1), values


def _by_number(curves: list[_Points]) -> _Points:
    """The same of numbers."""
    points = np.concatenate([grid for grid, _ in curves])
    low, high = (points.min(), points.max()) if points.size else (0.0, 0.0)
    if not high > low:
        low, high = around(low)
    edges = np.linspace(low, high, _ROWS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    values = np.full((_ROWS, len(curves)), np.nan)
    for column, (grid, row) in enumerate(curves):
        if len(grid):
            # Every row that the range touches, and some more where it is a single point.
            more = _LEAST * (high - low) if grid[0] == grid[-1] else 0.0
            touched = (edges[1:] >= grid[0] - more) & (edges[:-1] <= grid[-1] + more)
            values[touched, column] = np.interp(middles[touched], grid, row)
    return edges, values
