"""The strongest interactions as a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.interactions import Interactions
from ipdp.core.typing import FloatArray
from ipdp.core.validation import must_be_like
from ipdp.core.words import brief, few_digits, percent
from ipdp.plot.shown.display import NotebookDisplay
from ipdp.plot.shown.style import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many features are drawn at most, and of these so many letters.
_FEATURES, _LETTERS = 12, 20


class InteractionDisplay(NotebookDisplay):
    """How much each two features do together: dark cells, with numbers, are the strong ones.

    Parameters
    ----------
    found
        What `IncrementalPDP.interactions` gave.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    mesh_, colorbar_, texts_
        The cells, their colours, and the numbers in them.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ipdp.core.interactions import Interaction, Interactions
    >>> found = Interactions((Interaction(("a", "b"), 2.0, 0.1, 0.5, 100),), (), "prediction", 640)
    >>> display = InteractionDisplay(found).plot(ax=Figure().subplots())
    >>> [text.get_text() for text in display.texts_]
    ['2']
    """

    ax_: Axes
    mesh_: Any
    colorbar_: Any
    texts_: list[Any]

    def __init__(self, found: Interactions) -> None:
        must_be_like("found", found, "others", "what `interactions` gives")
        self.found = found

    def plot(self, ax: Axes | None = None, *, backend: str = "matplotlib") -> Any:
        """Draw the heat map.

        Parameters
        ----------
        ax
            Where to draw; None makes a new figure.
        backend
            "matplotlib" or "plotly".

        Returns
        -------
        The display itself; with "plotly" a `plotly.graph_objects.Figure`.
        """
        return self._draw(backend, "interactions", shown_interactions(self.found), ax)

    def __repr__(self) -> str:
        return f"InteractionDisplay({len(self.found)} pairs)"


@dataclass(frozen=True)
class ShownInteractions:
    """What is drawn of the strongest interactions."""

    title: str
    names: list[str]  # of the features, along both axes; that of the strongest pair first
    strength: FloatArray  # (n, n): below the diagonal; NaN where nothing was measured
    texts: list[tuple[int, int, str]]  # row, column and number of the pairs that were asked for
    hover: list[list[str]]  # (n, n)
    label: str  # of the colours


def shown_interactions(found: Interactions) -> ShownInteractions:
    """What is drawn of the strongest interactions."""
    features = list(dict.fromkeys(name for one in found for name in one.pair))[:_FEATURES]
    n = len(features)
    strength, hover = np.full((n, n), np.nan), [[""] * n for _ in range(n)]
    texts = []
    for k, one in enumerate((*found.found, *found.others)):
        if not set(one.pair) <= set(features):
            continue
        column, row = sorted(features.index(name) for name in one.pair)
        strength[row, column] = one.strength
        size = f"{few_digits(one.strength)} ± {brief(one.std_error)}"
        more = f"{size}, {percent(one.share)} of the variance"
        hover[row][column] = f"{named(one.pair)}: {more}"
        if k < len(found):
            texts.append((row, column, brief(one.strength)))
    if n:
        best = found[0]
        title = f"Strongest: {named(best.pair)}, {percent(best.share)} of the variance"
    else:
        title = "No interactions: the effects of all features add up"
    return ShownInteractions(
        title=title,
        names=[named(name, _LETTERS) for name in features],
        strength=strength,
        texts=texts,
        hover=hover,
        label=f"what two features do together, on {named(found.output, 24)} (sd)",
    )
