"""All features at one time, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.typing import Feature, Label
from ipdp.core.validation import listed, whole_number
from ipdp.core.words import brief
from ipdp.plot.shown.display import NotebookDisplay, PDPDisplay
from ipdp.plot.shown.source import Curves, Logged, curves_at
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import chosen_outputs, is_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many letters of categories have room under a panel.
_ROOM = 30
# So many letters say what is predicted.
_TITLE = 60
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
        most: int | None = None,
        target: str | None = None,
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
        most
            How many features to draw at most, the most important ones; by default all of them.
        target
            What the model predicts, for the title and the axis of the output.
        output, centred, ice, band, rug, backend
            As in `PDPDisplay.plot`, as what is returned.
        """
        picked = self._picked(features)
        curves = picked if most is None else picked[: whole_number("most", most)]
        columns = columns or _columns(len(curves))
        options = {"output": output, "centred": centred, "ice": ice, "band": band, "rug": rug}
        title, label = "", None
        if curves[0].kind == "pdp" and not centred:
            what, label = predicted(curves[0], output, target)
            title = f"How the {what} depends on {_each(curves)}"
        note = _note(len(picked), curves, band)
        shown = ShownOverview(curves, columns, options, title, note, label)
        return self._draw(backend, "overview", shown, ax)

    def _picked(self, features: Sequence[Feature] | None) -> list[Curve]:
        if features is None:
            return self.curves
        features = listed("features", features)
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
    title: str = ""  # a sentence, for a figure of its own, and how to read it
    note: str = ""
    label: str | None = None  # of the axis of the output; None for that of a curve
    compare_name: str = ""  # of the curve beside each of them in the legend
    width: float = 1.0  # of a panel, against the usual one

    def options_of(self, k: int) -> dict[str, Any]:  # noqa: ARG002  (all alike here)
        """How the k-th curve is drawn."""
        return self.options

    def title_of(self, k: int) -> tuple[Any, str]:
        """What is above the k-th panel: a name, and what is told of it."""
        importance = self.importance_text(self.curves[k])
        return self.curves[k].feature, f"importance {importance}" if k == 0 else importance

    @property
    def n_rows(self) -> int:
        """How many rows of panels there are."""
        return -(-len(self.curves) // self.columns)

    def importance_text(self, curve: Curve) -> str:
        """The importance in two digits; "≈ 0" of what is nothing beside the largest."""
        value = curve.overall_importance
        least = _LEAST * self.curves[0].overall_importance
        return brief(value) if value > least else "≈ 0"


def _columns(n: int) -> int:
    """How many panels stand side by side: few empty places, and none too small."""
    if n > 12:
        return 5
    return 3 if n in (5, 6, 9) else min(n, 4)


def predicted(curve: Curve, output: Label | None, target: str | None) -> tuple[str, str]:
    """What a curve shows, in words for a title and for an axis."""
    drawn = chosen_outputs(curve, output)
    one = drawn.outputs[0] if len(drawn.outputs) == 1 else None
    what = named(curve.output_text(one, target), _TITLE)
    return what, what


def _each(curves: Sequence[Curve]) -> str:
    return "each feature" if len(curves) > 1 else named(curves[0].feature)


def _note(n: int, curves: Sequence[Curve], band: float | None) -> str:
    """How to read the panels."""
    what = "on average, if only this feature had the value below"
    if curves[0].kind == "ale":
        what = "compared with its mean, for values around the one below"
    parts = [f"Line: what the model predicts {what}"]
    if band is not None:
        parts.append(f"Shade: where that is with probability {band:g}")
    parts.append("Bars: how often values occur")
    if len(curves) < n:
        parts.append(f"{len(curves)} of {n} features, the most important ones")
    if not any(curve.overall_importance for curve in curves):
        return f"{'. '.join(parts)}. All curves are flat: has the model learned (learn_one, fit)?"
    return f"{'. '.join(parts)}."


def fit_under(categories: Sequence[Any]) -> bool:
    """Whether the names of categories have room under a panel."""
    return sum(len(named(category)) + 1 for category in categories) <= _ROOM
