"""The curves of the regions in which the effect of a feature differs, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.parts import parts_of
from ipdp.core.typing import Feature, Label
from ipdp.core.validation import listed, must_be_like
from ipdp.core.words import percent
from ipdp.explainers import Split
from ipdp.plot.shown.display import NotebookDisplay, PDPDisplay
from ipdp.plot.shown.overview import ShownOverview
from ipdp.plot.shown.style import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALL = "all observations"
"""Entry of the legend for the curve of all observations, beside those of the regions."""
# So many parts of a feature are drawn, of all that a log has.
_PARTS = 6
# A panel is wider than those of an overview, so that the conditions have room above it.
_WIDTH = 1.6


class RegionsDisplay(NotebookDisplay):
    """Splits as small multiples: a row for each, with the curve of each side and that of all.

    The split that explains most of what its feature does comes first. All panels have one axis of
    the output.

    Parameters
    ----------
    splits
        What `IncrementalRegions.splits` gives, or some of them.

    Attributes
    ----------
    splits
        The splits in the order in which they are drawn.
    axes_, displays_
        For each region its axes and its `PDPDisplay`.
    figure_, legend_
        Where it was drawn, and the legend.

    Examples
    --------
    >>> import random, ipdp
    >>> regions = ipdp.IncrementalRegions(lambda x: x["a"] if x["b"] == "up" else -x["a"])
    >>> draws = random.Random(1)
    >>> for _ in range(500):
    ...     regions.explain_one({"a": draws.gauss(0, 1), "b": draws.choice(["up", "down"])})
    >>> display = RegionsDisplay(regions.splits).plot()
    >>> [ax.get_title(loc="left") for ax in display.axes_[:2]]
    ['a, where b = down', 'a, where b = up']
    """

    axes_: list[Axes]
    displays_: list[PDPDisplay]
    legend_: Any

    def __init__(self, splits: Mapping[Feature, Split] | Sequence[Split]) -> None:
        given = splits.values() if isinstance(splits, Mapping) else splits
        given = listed("splits", given)
        for split in given:
            must_be_like("each of splits", split, "whole", "a Split")
        self.splits: list[Split] = sorted(given, key=_size, reverse=True)
        if not self.splits:
            raise ValueError("there is no split to show: no feature's effect is known to differ")

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        output: Label | None = None,
        centred: bool = False,
        band: float | None = 0.95,
        rug: bool = True,
        backend: str = "matplotlib",
    ) -> Any:
        """Draw the curves of the regions.

        Parameters
        ----------
        ax
            Axes whose place is divided among the panels, or one for each of them; None makes a
            new figure.
        output, centred, band, rug, backend
            As in `PDPDisplay.plot`, as what is returned.
        """
        options = {"output": output, "centred": centred, "ice": False, "band": band, "rug": rug}
        curves = [curve for split in self.splits for curve in split.curves]
        wholes = [
            replace(split.whole, feature=curve.feature)
            for split in self.splits
            for curve in split.curves
        ]
        sizes = [size for s in self.splits for size in (s.share, 1 - s.share)]
        # No percent sign: plotly reads it as one of its own.
        size_texts = [f"{percent(size)} of the data" for size in sizes]
        names = [named(split.feature) for split in self.splits]
        whose = f"the effect of {names[0]} differs" if len(names) == 1 else "effects differ"
        shown = ShownRegions(
            curves,
            columns=2,
            options=options,
            title=f"Where {whose} between observations",
            compare_name=ALL,
            width=_WIDTH,
            wholes=wholes,
            size_texts=size_texts,
        )
        return self._draw(backend, "overview", shown, ax)

    def __repr__(self) -> str:
        return f"RegionsDisplay({self.splits!r})"


@dataclass(frozen=True)
class ShownRegions(ShownOverview):
    """What is drawn of several splits: two panels for each."""

    wholes: Sequence[Curve] = ()  # the curve of all observations beside each
    size_texts: Sequence[str] = ()  # how many observations are in each region

    def options_of(self, k: int) -> dict[str, Any]:
        return {**self.options, "compare": self.wholes[k]}

    def title_of(self, k: int) -> tuple[Any, str]:
        return self.curves[k].feature, self.size_texts[k]


def parts_of_feature(curves: Sequence[Curve], whole: Curve) -> list[tuple[Curve, str]]:
    """The curves of the parts of one feature, and how much of the data is in each.

    The largest part first, of those that a log has; none for a curve that is of a part itself.
    """
    own = sorted(parts_of(curves, whole), key=lambda curve: -curve.n_samples)
    share = [curve.n_samples / max(whole.n_samples, 1) for curve in own]
    return [(c, f"{percent(s)} of the data") for c, s in zip(own[:_PARTS], share, strict=False)]


def _size(split: Split) -> float:
    """How much of the variance of the output a split explains."""
    if split.whole.ice_spread is None:
        return split.gain
    return float(split.gain * (split.whole.interaction**2).max(initial=0.0))
