"""The look of the paper's figures, and writing them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.files import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RED, BLUE, GREY = "#C8102E", "#0057A8", "0.45"
"""The paper's: red for iPDP and accuracy, blue for batch PDP and changes, grey for drifts."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Colours of features, for every kind of colour vision."""

SUFFIXES = (".pdf", ".png")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that belongs to nobody else: pyplot is not touched."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # Panels far enough apart for the numbers at the ends of their axes.
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=0.04))


def panels_over_rows(
    n_panels: int, heights: Sequence[float], *, panel_height: float = 3.0, width: float = 10.5
) -> tuple[Figure, list[Axes], list[Axes]]:
    """The paper's layout: panels side by side, and under them wide axes along the stream.

    Parameters
    ----------
    n_panels
        Number of panels.
    heights
        Height in inches of each of the wide axes, which share the axis of time.
    panel_height, width
        In inches.
    """
    figure = new_figure(width, panel_height + sum(heights) + 0.3)
    parts: Any = figure.subfigures(2, 1, height_ratios=[panel_height, sum(heights) + 0.3])
    upper, lower = parts
    panels = upper.subplots(1, n_panels, sharey=True, squeeze=False)[0]
    wide = lower.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for ax in [*panels, *wide]:
        tidy(ax)
    return figure, list(panels), list(wide)


def tidy(ax: Axes) -> None:
    """A light grid behind everything, and no box around it."""
    ax.set_axisbelow(True)
    ax.grid(True, color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def thousands(axis: Any) -> None:
    """Numbers with separators."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}".replace("-", "\N{MINUS SIGN}"))


def draw_curve(
    ax: Axes,
    curve: Curve,
    *,
    past: Sequence[Curve] = (),
    ice: bool = False,
    band: bool = True,
    label: str = "iPDP",
    color: str = RED,
) -> None:
    """An iPDP with its band; earlier ones behind it, the older the fainter; its ICE curves.

    Parameters
    ----------
    ax
        Where.
    curve
        One output of one feature.
    past
        Curves of earlier times, oldest first.
    ice
        Whether to draw the recent ICE curves.
    band
        Whether to draw the 95 % band.
    label, color
        Of the curve.
    """
    x, y = curve.grid_values[0], curve.average[0]
    for k, earlier in enumerate(past, start=1):
        ax.plot(
            earlier.grid_values[0],
            earlier.average[0],
            color=color,
            alpha=0.08 + 0.32 * k / len(past),
            linewidth=1,
        )
    if ice and curve.ice is not None:
        positions = x if curve.ice_grid_values is None else curve.ice_grid_values[0]
        for k, values in enumerate(curve.ice[0]):
            at = positions if positions.ndim == 1 else positions[k]
            ax.plot(at, values, color="0.1", alpha=0.18, linewidth=0.7)
    if band:
        ax.fill_between(x, *(end[0] for end in curve.band()), color=color, alpha=0.18, linewidth=0)
    ax.plot(x, y, color=color, linewidth=2.4, label=label, marker=".", markersize=5)


def draw_values(ax: Axes, curve: Curve) -> None:
    """Recent values of the feature as a strip of ticks along the axis."""
    if curve.rug:
        values = curve.rug[0]
        ax.plot(
            values,
            [0.015] * len(values),
            "|",
            color="0.3",
            alpha=0.35,
            markersize=7,
            transform=ax.get_xaxis_transform(),
        )


def draw_accuracy(ax: Axes, t: Sequence[int], accuracy: Sequence[float], label: str) -> None:
    """Rolling accuracy along the stream, in red."""
    ax.plot(t, accuracy, color=RED, linewidth=1.6)
    ax.set(ylim=(0, 1), ylabel=label, xlim=(0, t[-1]))
    thousands(ax.xaxis)


def mark(ax: Axes, times: Collection[float], *, label: str, color: str, style: str) -> None:
    """Vertical lines at some times, one entry in the legend."""
    for k, t in enumerate(times):
        ax.axvline(
            t, color=color, linestyle=style, linewidth=1.4, alpha=0.8, label="" if k else label
        )


def draw_importances(
    ax: Axes,
    t: Sequence[int],
    traces: Mapping[Any, Sequence[float]],
    *,
    named: Sequence[Any],
    label: str,
) -> None:
    """Importances along the stream; features that are not named in grey."""
    others = [feature for feature in traces if feature not in named]
    for k, feature in enumerate(others):
        ax.plot(
            t[-len(traces[feature]) :],
            traces[feature],
            color="0.7",
            linewidth=1,
            label="" if k else "others",
        )
    for feature, color in zip(named, PALETTE, strict=False):
        ax.plot(
            t[-len(traces[feature]) :], traces[feature], color=color, linewidth=1.8, label=feature
        )
    ax.set(ylabel=label)


def save(figures: Mapping[str, Figure], out: Path) -> list[Path]:
    """Write each figure as PDF and PNG, whole or not at all.

    Parameters
    ----------
    figures
        By file name without suffix.
    out
        The directory.

    Returns
    -------
    The files.
    """
    paths = []
    for name, figure in figures.items():
        for suffix in SUFFIXES:
            path = out / f"{name}{suffix}"
            # Without the date in it, the same run gives the same file.
            metadata = {"CreationDate": None} if suffix == ".pdf" else None
            with written_whole(path) as draft:
                figure.savefig(draft, dpi=100, metadata=metadata)
            paths.append(path)
    return paths
