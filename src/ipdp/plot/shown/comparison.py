"""Two sides of a comparison: both curves of each feature, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import feature_text
from ipdp.core.typing import FloatArray
from ipdp.core.validation import must_be_like
from ipdp.core.words import brief
from ipdp.plot.shown.display import NotebookDisplay
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import edges_around

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ipdp.comparison import Comparison, Difference

# So many panels at most, those that differ first, and letters of names above them.
_PANELS, _LETTERS = 24, 22
BAND = "no difference that counts"
"""The entry of the legend for the band around a."""


class ComparisonDisplay(NotebookDisplay):
    """The curves of both sides of a comparison, each feature in a panel, those that differ first.

    Both curves are centred: the shapes are compared. The band is around that of a: where b leaves
    it, both differ by more than the margin, and more than by chance; there it is shaded.

    Parameters
    ----------
    comparison
        What `ipdp.compare` gives.

    Attributes
    ----------
    axes_, figure_
        Where it was drawn.
    a_, b_, bands_
        For each panel the two lines, and the band.
    where_
        For each panel the shaded parts of the axis.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> from matplotlib.figure import Figure
    >>> X = np.random.default_rng(1).normal(size=(1_000, 2))
    >>> models = lambda x: x["u"] + x["v"], lambda x: x["u"] + 2 * x["v"]
    >>> one, other = (ipdp.partial_dependence(m, X, names=["u", "v"]) for m in models)
    >>> display = ipdp.compare(one, other).plot(ax=Figure().subplots())
    >>> [ax.get_title(loc="left") for ax in display.axes_]
    ['v', 'u']
    """

    axes_: list[Axes]
    a_: list[Any]
    b_: list[Any]
    bands_: list[Any]
    where_: list[list[Any]]

    def __init__(self, comparison: Comparison) -> None:
        must_be_like("comparison", comparison, "differences", "a Comparison")
        self.comparison = comparison

    def plot(
        self, ax: Any = None, *, columns: int | None = None, backend: str = "matplotlib"
    ) -> Any:
        """Draw a panel for each feature.

        Parameters
        ----------
        ax
            Axes whose place is divided among the panels, or one for each of them; None makes a
            new figure.
        columns
            Number of panels side by side.
        backend
            As in `PDPDisplay.plot`, as what is returned.
        """
        return self._draw(backend, "comparison", shown_comparison(self.comparison, columns), ax)

    def __repr__(self) -> str:
        return f"ComparisonDisplay({len(self.comparison.features)} features)"


@dataclass(frozen=True)
class ShownPanel:
    """What is drawn of one feature."""

    feature: str
    verdict: str  # and the kind of a difference
    is_different: bool
    x: FloatArray
    a: FloatArray  # centred
    b: FloatArray
    low: FloatArray  # ends of the band around a
    high: FloatArray
    categories: list[Any] | None
    parts: list[tuple[float, float]]  # of the x axis that are shaded


@dataclass(frozen=True)
class ShownComparison:
    """What is drawn of a comparison."""

    names: tuple[str, str]
    sentence: str
    label: str  # of the axis of the output
    panels: list[ShownPanel]
    columns: int

    @property
    def n_rows(self) -> int:
        """How many rows of panels there are."""
        return -(-len(self.panels) // self.columns)


def shown_comparison(comparison: Comparison, columns: int | None = None) -> ShownComparison:
    """What is drawn of a comparison."""
    best = [comparison[feature] for feature in comparison.features]
    order = {"different": 0, "cannot say": 1, "alike": 2}
    single = [each for each in best if len(each.places) == 1 and each.shape.size]
    if not single:
        raise ValueError("there are no curves of one feature that both sides have to be drawn")
    ranked = sorted(single, key=lambda each: (order[each.verdict], -each.size))[:_PANELS]
    a, b = comparison.names
    outputs = {each.output_text for each in ranked}
    return ShownComparison(
        names=(named(a, 32), named(b, 32)),
        sentence=_sentence(comparison),
        label=f"{named(outputs.pop(), 30) if len(outputs) == 1 else 'output'}, centred",
        panels=_in_view([_panel(each) for each in ranked]),
        columns=columns or min(len(ranked), 4),
    )


def _sentence(comparison: Comparison) -> str:
    different = [each for each in comparison.differences if each.verdict == "different"]
    names = list(dict.fromkeys(feature_text(each.feature) for each in different))
    listed = ", ".join(named(name, 20) for name in names[:4]) + (", …" if len(names) > 4 else "")
    effects = f"different effect of {listed}" if names else "no effect is different"
    levels = [each.level for each in comparison.differences if each.level_verdict == "different"]
    a, b = (named(name, 32) for name in comparison.names)
    level = ""
    if levels:
        most = max(levels, key=abs)
        level = f", level {'up' if most > 0 else 'down'} by {brief(abs(most))}"
    return f"{b} against {a}: {effects}{level}"


def _panel(each: Difference) -> ShownPanel:
    categories = each.places[0].tolist() if each.categorical[0] else None
    a = each.a - each.a.mean()
    reach = each.half + each.margin
    kind = f" ({each.kind})" if each.kind else ""
    return ShownPanel(
        feature=named(each.feature, _LETTERS),
        verdict=f"{each.verdict}{kind}",
        is_different=each.verdict == "different",
        x=axis_of(each),
        a=a,
        b=a + each.shape,
        low=a - reach,
        high=a + reach,
        categories=categories,
        parts=parts_beyond(each),
    )


def _in_view(panels: list[ShownPanel]) -> list[ShownPanel]:
    """The panels, with bands that end as far from the curves as these are high.

    All panels have one axis: the band of a feature of which little is known would flatten the rest.
    """
    curves = np.concatenate([curve for each in panels for curve in (each.a, each.b)])
    low, high = float(curves.min()), float(curves.max())
    span = high - low
    if not span > 0:
        return panels
    return [
        replace(each, low=each.low.clip(min=low - span), high=each.high.clip(max=high + span))
        for each in panels
    ]


def axis_of(each: Difference) -> FloatArray:
    """The places on the axis: categories one after the other."""
    if each.categorical[0]:
        return np.arange(len(each.shape), dtype=float)
    return np.asarray(each.places[0], dtype=float)


def parts_beyond(each: Difference) -> list[tuple[float, float]]:
    """The parts of the axis of one feature where both differ by more than the margin."""
    beyond = np.abs(each.shape) - each.half > each.margin
    edges = edges_around(axis_of(each))
    parts: list[tuple[float, float]] = []
    for k in np.flatnonzero(beyond):
        low, high = float(edges[k]), float(edges[k + 1])
        if parts and parts[-1][1] == low:
            low = parts.pop()[0]
        parts.append((low, high))
    return parts
