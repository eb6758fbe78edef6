"""Where a figure is drawn: new axes, the user's, or the place of the user's cut into panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BACKENDS = ("matplotlib", "plotly")


def checked_backend(backend: str, *, ax: object = None, settings: object = None) -> None:
    """Refuse a backend that there is not, or that the other arguments are not made for."""
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "plotly" and not (ax is None and settings is None):
        raise ValueError(
            "axes and settings of artists are matplotlib's; with plotly, change the figure that "
            "is returned"
        )
    try:
        __import__(backend)
    except ImportError:
        raise ImportError(f"drawing needs {backend}: pip install 'ipdp[plot]'") from None


def new_axes(width: float = 6.0, height: float = 4.2) -> Axes:
    """Axes of a new figure, of which pyplot knows nothing."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)  # with it, also `figure.canvas.draw()` draws
    return figure.subplots()


def panels(
    ax: Axes | Sequence[Axes] | None,
    n: int,
    *,
    columns: int = 1,
    size: tuple[float, float],
    heights: Sequence[float] | None = None,
    share: str,
    n_shared: int | None = None,
) -> list[Axes]:
    """Axes for n panels, row by row.

    Parameters
    ----------
    ax
        None for a new figure; axes whose place is cut up, as in scikit-learn's displays; or as
        many axes as there are panels, or more.
    columns, heights
        How the place is cut up.
    size
        Width and height of a new figure.
    share, n_shared
        Which axis the panels have in common, "x" or "y": the first so many, by default all.
    """
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        given = list(np.asarray(ax, dtype=object).ravel())
        if len(given) < n:
            raise ValueError(f"{n} panels need {n} axes, got {len(given)}")
        return given[:n]
    rows = -(-n // columns)
    if ax is None:
        ax = new_axes(*size)
    spec = ax.get_subplotspec()
    if spec is None:
        raise ValueError(
            "these axes have no place that could be divided: make them with figure.subplots()"
        )
    ax.set_axis_off()
    cut = spec.subgridspec(rows, columns, height_ratios=heights)
    made: list[Axes] = []
    for k in range(n):
        in_common = made and (n_shared is None or k < n_shared)
        first = {f"share{share}": made[0]} if in_common else {}
        made.append(ax.figure.add_subplot(cut[divmod(k, columns)], **first))
    return made
