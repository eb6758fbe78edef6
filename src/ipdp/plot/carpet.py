"""The effect of one feature over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.typing import Feature, Label
from ipdp.monitor.change import Change
from ipdp.plot.categorical import name_ticks
from ipdp.plot.places import checked_backend, new_axes
from ipdp.plot.series import Logged, Mark, Snapshots, history_of, marks_of
from ipdp.plot.shown import Shown
from ipdp.plot.style import KINDS, colour_map, dress, fade, named, plain, write_numbers
from ipdp.plot.weave import Weave, woven

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.lines import Line2D

# Height of a category in a new figure, and of the least figure.
_ROW, _LEAST = 0.2, 3.6


class CarpetDisplay(Shown):
    """Partial dependence as colour: time along x, the feature's value along y.

    When the range of the data moves (virtual drift) the band moves; when the model changes its
    mind (real drift) the colours change. Each snapshot is drawn over its own range only.

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
        Where it was drawn, the colours and their key.
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
        """Draw the carpet.

        Parameters
        ----------
        ax
            Where to draw; None makes a new figure.
        output
            Which output to show. By default the second of two classes, and of several outputs
            the one that the feature matters most to.
        centred
            Whether to show each curve minus its mean: how the effect of this feature changes,
            without the changes of level that others bring.
        changes
            Whether to mark changes.
        backend
            "matplotlib" or "plotly".
        mesh_kw
            Settings of the mesh, as matplotlib names them.

        Returns
        -------
        The display itself; with "plotly" a `plotly.graph_objects.Figure`.
        """
        checked_backend(backend, ax=ax, settings=mesh_kw)
        weave = woven(self.times, self.curves, output=output, centred=centred)
        marks = self._marks if changes else []
        if backend == "plotly":
            from ipdp.plot.interactive.carpet import carpet_figure

            return carpet_figure(weave, named(self.feature), marks, centred=centred)
        if ax is None:
            ax = new_axes(7.5, max(_LEAST, _ROW * len(weave.categories or []) + 1.0))
        dress(ax)
        ax.grid(False)
        self.ax_, self.figure_ = ax, ax.figure
        self.mesh_, self.colorbar_ = _mesh(ax, weave, centred=centred, given=mesh_kw or {})
        self.changes_ = _mark_changes(ax, marks)
        _label(ax, weave, named(self.feature))
        return self

    def __repr__(self) -> str:
        return f"CarpetDisplay({self.feature!r}, {len(self.times)} times)"


def _mesh(
    ax: Axes, weave: Weave, *, centred: bool, given: Mapping[str, Any]
) -> tuple[QuadMesh, Colorbar]:
    values = np.ma.masked_invalid(weave.values)
    # One picture in a PDF, and not a rectangle for each of its thousands of cells.
    look: dict[str, Any] = {"cmap": colour_map(ax, centred=centred), "rasterized": True}
    if centred and values.count():
        reach = float(abs(values).max()) or 1.0
        look |= {"vmin": -reach, "vmax": reach}
    mesh = ax.pcolormesh(weave.time_edges, weave.place_edges, values, **{**look, **given})
    bar = ax.figure.colorbar(mesh, ax=ax)
    bar.set_label(weave.label, **plain())
    bar.outline.set_visible(False)
    write_numbers(bar.ax.yaxis, values.compressed())
    return mesh, bar


def _mark_changes(ax: Axes, marks: Sequence[Mark]) -> list[Line2D]:
    """A line for each change, with an edge that sets it off from any colour under it."""
    from matplotlib.patheffects import withStroke

    edge = [withStroke(linewidth=3.0, foreground=ax.get_facecolor(), alpha=0.7)]
    return [
        ax.axvline(
            mark.time,
            color=fade(ax, 0.9),
            linewidth=1.3,
            linestyle=KINDS[mark.change.kind][0],
            path_effects=edge,
        )
        for mark in marks
    ]


def _label(ax: Axes, weave: Weave, name: str) -> None:
    ax.set_xlabel("observations")
    ax.set_ylabel(name, **plain())
    if len(weave.times) == 1:
        ax.set_xticks(weave.times, labels=[f"{weave.times[0]:,.10g}"])
    else:
        write_numbers(ax.xaxis, weave.times, side_by_side=True, least=1e3)
    if weave.categories is not None:
        name_ticks(ax.yaxis, weave.categories, upright=True)
        ax.invert_yaxis()
    else:
        write_numbers(ax.yaxis, weave.place_edges, whole=weave.whole)
