"""What one curve hides: partial dependence, local effects and single observations together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.core.validation import as_number, must_be_like
from ipdp.core.words import percent, shown
from ipdp.plot.shown.display import NotebookDisplay, PDPDisplay
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import edges_around

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of the range that both curves cover, a distance that is seen.
_NOTICED = 0.05
PDP, ALE = "partial dependence (PDP)", "local effects (ALE)"
"""Their names in the legend."""


class EffectDisplay(NotebookDisplay):
    """The partial dependence of a feature, with what it hides.

    The ALE is about its mean over the data, and the PDP at the level at which the two are closest
    for most of the data; without an ALE it is about its own mean. Where the two part by more than
    their bands the figure is shaded: features depend on each other there, and the PDP asks the
    model about observations that do not occur.

    Parameters
    ----------
    pdp
        The curve of an `IncrementalPDP`.
    ale
        That of an `IncrementalALE` of the same feature, or None.
    off_data
        The share of the PDP's questions that are about observations that do not occur; None: what
        the PDP says of it. `IncrementalPDP.plot_effect` knows it.

    Attributes
    ----------
    ax_, figure_, title_
        Where it was drawn, and what it says.
    curves_, where_
        The displays of the curves, and the shaded parts.

    Examples
    --------
    >>> import random, ipdp
    >>> pdp, ale = (kind(lambda x: x["a"] ** 2, ["a"], alpha=0.01) for kind in
    ...             (ipdp.IncrementalPDP, ipdp.IncrementalALE))
    >>> draws = random.Random(1)
    >>> for _ in range(300):
    ...     x = {"a": draws.uniform(-1, 1)}
    ...     pdp.explain_one(x)
    ...     ale.explain_one(x)
    >>> EffectDisplay(pdp.curve("a"), ale.curve("a")).plot().title_.get_text()
    'PDP and ALE agree: what the PDP shows rests on observations that occur.'
    """

    ax_: Axes
    title_: Any
    curves_: list[PDPDisplay]
    where_: list[Any]

    def __init__(
        self, pdp: Curve, ale: Curve | None = None, *, off_data: float | None = None
    ) -> None:
        must_be_like("pdp", pdp, "grid_values", "a Curve")
        if ale is not None:
            must_be_like("ale", ale, "grid_values", "a Curve")
        if off_data is not None and not 0 <= as_number(off_data) <= 1:
            raise ValueError(f"off_data must be a share between 0 and 1, got {shown(off_data)}")
        if len(pdp.grid_values) > 1:
            raise ValueError(f"{pdp.feature!r} is a pair: draw its surface with curve.plot()")
        if ale is not None and (ale.feature, ale.kind) != (pdp.feature, "ale"):
            raise ValueError(
                f"ale must be a curve of an IncrementalALE for {pdp.feature!r}, got one of kind "
                f"{ale.kind!r} for {ale.feature!r}"
            )
        self.pdp, self.ale, self.off_data = pdp, ale, off_data

    def plot(
        self,
        ax: Axes | None = None,
        *,
        output: Label | None = None,
        spread: bool = True,
        backend: str = "matplotlib",
    ) -> Any:
        """Draw them.

        Parameters
        ----------
        ax
            Where to draw; None makes a new figure.
        output
            Which output to draw, by default the main one.
        spread
            Whether to draw how much the effect differs between observations.
        backend
            "matplotlib" or "plotly".

        Returns
        -------
        The display itself; with "plotly" a `plotly.graph_objects.Figure`.
        """
        output = self.pdp.main_output if output is None else output
        if output is None:
            raise ValueError("there is nothing to draw: the model has not said anything yet")
        shown = shown_effect(self.pdp, self.ale, output, self.off_data, spread=spread)
        return self._draw(backend, "effect", shown, ax)

    def __repr__(self) -> str:
        return f"EffectDisplay({self.pdp!r})"


@dataclass(frozen=True)
class ShownEffect:
    """What is drawn of the effect of a feature."""

    # About their means, with their names and how they are drawn, as in `PDPDisplay.plot`.
    curves: list[tuple[Curve, str, dict[str, Any]]]
    label: str
    sentence: str
    parts: list[tuple[float, float]]  # of the x axis where the PDP extrapolates


def shown_effect(
    pdp: Curve, ale: Curve | None, output: Label, off_data: float | None, *, spread: bool
) -> ShownEffect:
    """What is drawn of the effect of a feature."""
    text = pdp.output_text(output)
    if off_data is None and pdp.off_data is not None:
        off_data = float(pdp.off_data @ pdp.weights)
    second = None if ale is None or output not in ale.outputs else ale.select(output)
    first = _levelled(pdp.select(output), second)
    curves: list[tuple[Curve, str, dict[str, Any]]]
    curves = [(first, PDP, {"ice": False, "spread": spread})]
    part = np.zeros(len(first.grid_values[0]), dtype=bool)
    if second is not None:
        curves.append((second, ALE, {"ice": False, "rug": False}))
        part = _parted(first, second)
    return ShownEffect(
        curves=curves,
        label=f"effect on the {named(text, 30)}",
        sentence=_sentence(pdp, second, part, off_data),
        parts=_spans(first, part),
    )


def _levelled(curve: Curve, ale: Curve | None) -> Curve:
    """The curve about its mean over the data, or at the level of an ALE where most data are."""
    centred = curve.centred_std_error
    away, share = curve.average[0], curve.weights
    if ale is None:
        level = float(away @ share)
    else:
        other, there = _at_points(curve, ale, ale.average[0])
        level = _median(away - other, np.where(there, share, 0.0)) if there.any() else 0.0
    return replace(
        curve,
        average=curve.average - level,
        std_error=curve.std_error if centred is None else centred,
        path_length=curve.centred_path_length,
        smoothed=None,
        missing=None,
        kind="ale",  # an effect, whatever it is an effect on
    )


def _median(values: FloatArray, weights: FloatArray) -> float:
    order = np.argsort(values)
    ends = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(ends, ends[-1] / 2)])


def _at_points(pdp: Curve, ale: Curve, values: FloatArray) -> tuple[FloatArray, Array]:
    """Some values along the ALE at the points of the PDP, and whether it reaches these."""
    if pdp.categorical[0]:
        place_of = {c: place for place, c in enumerate(ale.grid_values[0].tolist())}
        places = [place_of.get(c, -1) for c in pdp.grid_values[0].tolist()]
        return values[places], np.array([k >= 0 for k in places])
    x, axis = (np.asarray(c.grid_values[0], dtype=float) for c in (pdp, ale))
    return np.interp(x, axis, values), (x >= axis.min()) & (x <= axis.max())


def _parted(pdp: Curve, ale: Curve) -> Array:
    """At which points the two are farther apart than their bands, and so far that it is seen."""
    halves = [c.band(simultaneous=True)[1] - c.average for c in (pdp, ale)]
    other, there = _at_points(pdp, ale, ale.average[0])
    half, _ = _at_points(pdp, ale, halves[1][0])
    apart = np.abs(pdp.average[0] - other)
    both = np.concatenate([pdp.average[0], other])
    far = apart > np.nan_to_num(halves[0][0]) + np.nan_to_num(half)
    return np.asarray(there & far & (apart > _NOTICED * np.ptp(both)))


def _spans(curve: Curve, part: Array) -> list[tuple[float, float]]:
    """The stretches of the axis around some points, neighbours together."""
    n = len(part)
    numbers = np.arange(n, dtype=float)
    at: FloatArray = numbers if curve.categorical[0] else np.asarray(curve.grid_values[0], float)
    edges = edges_around(at) if n else np.empty(0)
    runs = np.split(np.arange(n), np.flatnonzero(np.diff(part)) + 1)
    return [(float(edges[r[0]]), float(edges[r[-1] + 1])) for r in runs if r.size and part[r[0]]]


def _sentence(pdp: Curve, ale: Curve | None, part: Array, off_data: float | None) -> str:
    """What is to be seen, in a sentence or two."""
    said = []
    if ale is not None and part.any():
        said.append(
            "Shaded: extrapolation. PDP and ALE part; the PDP asks about observations that do not "
            "occur."
        )
    elif ale is not None:
        said.append("PDP and ALE agree: what the PDP shows rests on observations that occur.")
    if off_data is not None and (part.any() or ale is None):
        said.append(f"{percent(off_data)} of what the PDP asks is off the data.")
    if ale is None and not said:
        share = pdp.heterogeneity
        if share.size and np.isfinite(share).any():
            most = percent(float(np.nanmax(share)))
            said.append(f"{most} of what the feature does differs by observation.")
    return " ".join(said)
