"""All features at one time, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.typing import Feature, Label
from ipdp.plot.shown.display import NotebookDisplay, PDPDisplay
from ipdp.plot.shown.source import Curves, Logged, curves_at
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import is_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many letters of categories have room under a panel.
_ROOM = 24
# A feature with less than this share of the largest importance has none to speak of.
_LEAST = 0.005


class OverviewDisplay(NotebookDisplay):
    """The curves of all features as small multiples, the most important one first.

    All panels have one axis of the output, so that a flat curve looks flat beside a steep one.
    Pairs come last: their surfaces have colours of their own.

    Parameters
    ----------
    curves
        Curves of one time, as `IncrementalPDP.curves` gives them, or a log.
    n
        Of a log, the number of observations to show the curves at; by default its newest snapshot.

    Attributes
    ----------
    curves
        The curves in the order in which they are drawn.
    axes_, displays_
        For each curve its axes and its `PDPDisplay`.
    figure_, legend_
        Where it was drawn, and the legend of several outputs, else None.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] + 3 * x["b"], grid=ipdp.grid.Fixed([0, 1]))
    >>> pdp.explain_one({"a": 0.5, "b": 0.5})
    >>> overview = OverviewDisplay(pdp.curves).plot(ax=Figure().subplots())
    >>> [curve.feature for curve in overview.curves]
    ['b', 'a']
    """

    axes_: list[Axes]
    displays_: list[PDPDisplay]
    legend_: Any

    def __init__(self, curves: Curves | Logged, *, n: int | None = None) -> None:
        found = curves_at(curves, n)
        if not found:
            raise ValueError("there is no curve to show")
        self.curves: list[Curve] = sorted(
            found, key=lambda curve: (is_pair(curve), -curve.overall_importance)
        )

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        features: Sequence[Feature] | None = None,
        output: Label | None = None,
        centred: bool = False,
        ice: bool = False,
        band: float | None = 0.95,
        rug: bool = True,
        columns: int | None = None,
        backend: str = "matplotlib",
    ) -> Any:
        """Draw the curves.

        Parameters
        ----------
        ax
            Axes whose place is divided among the panels, or one for each of them; None makes a
            new figure.
        features
            Which features to draw; by default all of them.
        columns
            Number of panels side by side.
        output, centred, ice, band, rug, backend
            As in `PDPDisplay.plot`, as what is returned.
        """
        curves = self._picked(features)
        columns = columns or (min(len(curves), 4) if len(curves) <= 12 else 5)
        options = {"output": output, "centred": centred, "ice": ice, "band": band, "rug": rug}
        return self._draw(backend, "overview", ShownOverview(curves, columns, options), ax)

    def _picked(self, features: Sequence[Feature] | None) -> list[Curve]:
        if features is None:
            return self.curves
        if not features:
            raise ValueError("features is empty: leave it out to draw all of them")
        there = [curve.feature for curve in self.curves]
        absent = [name for name in features if name not in there]
        if absent:
            raise ValueError(f"no curve of {absent}: there are {there}")
        return [curve for curve in self.curves if curve.feature in features]

    def __repr__(self) -> str:
        return f"OverviewDisplay({len(self.curves)} curves)"


@dataclass(frozen=True)
class ShownOverview:
    """What is drawn of several features."""

    curves: list[Curve]  # one for each panel, row by row; pairs come last
    columns: int
    options: dict[str, Any]  # how each curve is drawn, as in `PDPDisplay.plot`

    @property
    def n_rows(self) -> int:
        """How many rows of panels there are."""
        return -(-len(self.curves) // self.columns)

    def importance_text(self, curve: Curve) -> str:
        """The importance in two digits; "≈ 0" of what is nothing beside the largest."""
        value = curve.overall_importance
        least = _LEAST * self.curves[0].overall_importance
        return f"{value:.2g}" if value > least else "≈ 0"


def fit_under(categories: Sequence[Any]) -> bool:
    """Whether the names of categories have room under a panel."""
    return sum(len(named(category)) + 1 for category in categories) <= _ROOM
