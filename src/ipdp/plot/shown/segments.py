"""The curves of the groups of observations, in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve, feature_text
from ipdp.core.typing import Array, Feature, FloatArray, Label
from ipdp.core.validation import checked_level, must_be_dict, must_be_like
from ipdp.plot.shown.display import NotebookDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SegmentsDisplay(NotebookDisplay):
    """The curve of each group, one line each.

    Parameters
    ----------
    feature
        What the curves are of.
    curves
        One for each group, by its name.
    by
        What the groups are made by.

    Attributes
    ----------
    ax_, figure_, lines_
        Where it was drawn, and the line of each group.

    Examples
    --------
    >>> import ipdp
    >>> model = lambda x: x["a"] * x["b"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"], by="b", grid=ipdp.grid.Fixed([0, 1]))
    >>> for k in range(9):
    ...     pdp.explain_one({"a": 0.5, "b": k % 3})
    >>> [curves] = zip(*pdp.segment_curves("a").values())
    >>> SegmentsDisplay("a", dict(zip("xyz", curves)), "b").plot()
    SegmentsDisplay('a' by b: x, y, z)
    """

    ax_: Axes

    def __init__(self, feature: Feature, curves: Mapping[str, Curve], by: str) -> None:
        must_be_dict("curves", curves)
        if not curves:
            raise ValueError("there is no group to show")
        if isinstance(feature, tuple):
            raise ValueError(
                f"curves of groups are of one feature, and {feature!r} is a pair: draw the surface "
                f"of each group, as pdp.segment(group).curve({feature!r}).plot()"
            )
        for curve in curves.values():
            must_be_like("each of curves", curve, "grid_values", "a Curve")
        self.feature = feature
        self.curves = dict(curves)
        self.by = by

    def plot(
        self,
        ax: Axes | None = None,
        *,
        output: Label | None = None,
        centred: bool = False,
        band: float | None = 0.95,
        backend: str = "matplotlib",
    ) -> Any:
        """Draw the curves.

        Parameters
        ----------
        ax, output, centred, band, backend
            As in `PDPDisplay.plot`, as what is returned.
        """
        band = None if band is None else checked_level(band)
        first = max(self.curves.values(), key=lambda curve: curve.grid_values[0].size)
        chosen = first.main_output if output is None else output
        shown = ShownSegments(
            curve=self._together(first, chosen),
            output=first.output_text(chosen) if chosen is not None else "",
            by=self.by,
            options={"centred": centred, "band": band, "ice": False, "rug": False},
        )
        return self._draw(backend, "segments", shown, ax)

    def _together(self, first: Curve, output: Label | None) -> Curve:
        """One curve whose outputs are the groups."""
        curves = [
            curve.select(output) if output is not None else curve for curve in self.curves.values()
        ]
        axis = _union([curve.grid_values[0] for curve in curves])
        names = [name for name in vars(first) if name in _BY_OUTPUT]
        joined: dict[str, Any] = {
            name: None
            if any(getattr(c, name) is None for c in curves)
            else np.concatenate([getattr(c, name) for c in curves])
            for name in names
        }
        for name in ("average", "std_error"):
            joined[name] = np.array([_on(axis, c, getattr(c, name)[0]) for c in curves])
        behind = np.max([_on(axis, c, c.n_effective_points) for c in curves], axis=0)
        joined |= dict.fromkeys(_DROPPED)
        joined["n_effective_points"] = np.nan_to_num(behind)
        if all(curve.rug for curve in curves):
            joined["rug"] = [np.concatenate([curve.rug[0] for curve in curves])]
        return replace(
            first,
            feature=self.feature,
            outputs=tuple(self.curves),
            grid_values=[axis],
            **joined,
        )

    def __repr__(self) -> str:
        groups = ", ".join(self.curves)
        return f"SegmentsDisplay({feature_text(self.feature)!r} by {self.by}: {groups})"


@dataclass(frozen=True)
class ShownSegments:
    """What is drawn of groups."""

    curve: Curve  # whose outputs are the groups
    output: str  # what a number of it is
    by: str  # what the groups are made by
    options: dict[str, Any]  # of `PDPDisplay.plot`


_BY_OUTPUT = ("inflation", "degrees", "path_length", "centred_path_length")
_DROPPED = (
    "ice",
    "ice_grid_values",
    "missing",
    "missing_std_error",
    "centred_std_error",
    "smoothed",
    "ice_spread",
    "explained",
    "h_squared",
)


def _union(axes: list[Array]) -> Array:
    """All points of several axes, in their order."""
    if axes[0].dtype == object:
        values = list(dict.fromkeys(value for axis in axes for value in axis.tolist()))
        union = np.empty(len(values), dtype=object)
        union[:] = values
        return union
    return np.unique(np.concatenate(axes))


def _on(axis: Array, curve: Curve, values: FloatArray) -> FloatArray:
    """Values of a curve on another axis; NaN where it does not reach."""
    own = curve.grid_values[0]
    if axis.dtype == object:
        place = {value: k for k, value in enumerate(own.tolist())}
        return np.array([values[place[v]] if v in place else np.nan for v in axis.tolist()])
    return np.interp(axis, own, values, left=np.nan, right=np.nan)
