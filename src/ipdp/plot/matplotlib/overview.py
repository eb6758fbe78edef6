"""All features at one time, side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ipdp.plot.matplotlib.layout import Frame, panels
from ipdp.plot.matplotlib.style import PLAIN, date_axis, plain_legend, text_colour
from ipdp.plot.shown.curve import MODEL_NOW, PAST
from ipdp.plot.shown.display import PDPDisplay
from ipdp.plot.shown.overview import ShownOverview, fit_under
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import is_pair, is_whole

# Size of one panel in a new figure, and letters that fit above it.
_WIDTH, _HEIGHT = 2.6, 2.1
_LETTERS = 22
# Letters an inch of the title of a figure, and of the note under it.
_TITLE_LETTERS, _NOTE_LETTERS = 10, 16


def draw(shown: ShownOverview, ax: Axes | Sequence[Axes] | None) -> dict[str, Any]:
    """Draw a panel for each curve, and give the artists by name."""
    single = [curve for curve in shown.curves if not is_pair(curve)]
    axes = panels(
        ax,
        len(shown.curves),
        columns=shown.columns,
        size=(_WIDTH * shown.width * shown.columns, _HEIGHT * shown.n_rows + 0.3),
        share="y",
        n_shared=len(single),
    )
    displays = [
        PDPDisplay(curve).plot(panel, **shown.options_of(k))
        for k, (curve, panel) in enumerate(zip(shown.curves, axes, strict=True))
    ]
    # Where one panel has a rug all have one, so that the common axis is level.
    rug = shown.options["rug"] and any(curve.rug for curve in single)
    for k, (panel, display) in enumerate(zip(axes, displays, strict=True)):
        name, told = shown.title_of(k)
        letters = round(_LETTERS * shown.width)
        panel.set_title(named(name, width=letters), loc="left", fontsize="small", **PLAIN)
        grey = text_colour(panel, 0.6)
        panel.set_title(told, loc="right", fontsize="x-small", color=grey)
        if is_pair(display.curve):
            _shrink_pair(display)
        else:
            _shrink_curve(display, first=k % shown.columns == 0, rug=rug)
            if shown.label is not None:
                panel.set_ylabel(shown.label, **PLAIN)
    legend = _add_legend(displays, shown.compare_name)
    if ax is None and shown.title:
        _add_title(axes, shown)
    return {"axes": axes, "figure": axes[0].figure, "displays": displays, "legend": legend}


def _add_title(axes: Sequence[Axes], shown: ShownOverview) -> None:
    """A sentence over all panels, and under it how to read them."""
    figure = axes[0].figure
    assert isinstance(figure, Figure)  # a new one, no part of another
    width, height = figure.get_size_inches()
    title = textwrap.wrap(shown.title, int(_TITLE_LETTERS * width))
    note = textwrap.wrap(shown.note, int(_NOTE_LETTERS * width))
    figure.set_size_inches(width, height + 0.25 * len(title + note))
    # The text of the title makes room for the note, which stands in its last lines.
    text = "\n".join([*title, *[""] * len(note)])
    sentence = figure.suptitle(text, x=0.01, ha="left", fontsize="large", **PLAIN)
    words = axes[0].annotate("\n".join(note), (0, 0), xycoords=sentence, fontsize="small", **PLAIN)
    words.set(color=text_colour(axes[0], 0.6), va="bottom", annotation_clip=False, in_layout=False)


def _shrink_pair(display: PDPDisplay) -> None:
    """Small letters, and few ticks."""
    ax, bar, curve = display.ax_, display.colorbar_, display.curve
    ax.tick_params(labelsize="x-small")
    for k, axis in enumerate((ax.xaxis, ax.yaxis)):
        axis.label.set(size="x-small", text=named(curve.features[k], width=_LETTERS))
        if not curve.categorical[k]:
            axis.set_major_locator(MaxNLocator(nbins=3))
    if bar is not None:
        bar.ax.tick_params(labelsize="x-small")
        bar.ax.yaxis.label.set(size="x-small")


def _shrink_curve(display: PDPDisplay, *, first: bool, rug: bool) -> None:
    """Small letters, and the label of the common axis once a row."""
    ax, curve = display.ax_, display.curve
    if rug:
        Frame.around(ax).add_rug()
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    ax.tick_params(labelsize="x-small", labelleft=first)
    ax.set_xlabel("")
    ax.yaxis.label.set(size="small", visible=first)
    if any(curve.times):
        date_axis(ax.xaxis, most=3)
    elif not curve.categorical[0]:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=is_whole(curve)))
    elif not fit_under(curve.grid_values[0].tolist()):
        ax.set_xticks([])
        ax.set_xlabel(f"{len(curve.grid_values[0])} categories", fontsize="x-small")
    if display.missing_ax_ is not None:  # with room for fewer letters than "missing" has
        display.missing_ax_.set_xticks([0], labels=["n/a"])
        display.missing_ax_.tick_params(labelsize="x-small")


def _add_legend(displays: Sequence[PDPDisplay], compare_name: str) -> Any:
    """One legend for all panels: of the outputs, of the mean of past answers, of what is beside."""
    most = max(displays, key=lambda display: len(display.lines_))
    drawn = list(most.lines_) if len(most.lines_) > 1 else []
    names = [str(line.get_label()) for line in drawn]
    past = next((display for display in displays if display.past_), None)
    if past is not None:
        if not drawn:
            drawn, names = [past.lines_[0]], [MODEL_NOW]
        drawn, names = [*drawn, past.past_[0]], [*names, PAST]
    if compare_name and most.compare_:
        drawn, names = [*drawn, most.compare_[0]], [*names, compare_name]
    if not drawn:
        return None
    figure = most.ax_.figure
    place = "lower center" if figure.get_layout_engine() is None else "outside lower center"
    settings = {"loc": place, "ncols": min(len(names), 6), "frameon": False, "fontsize": "small"}
    return plain_legend(figure, drawn, names, **settings)
