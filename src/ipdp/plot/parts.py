"""What goes into a drawing and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import (
        FillBetweenPolyCollection,
        LineCollection,
        PathCollection,
        QuadMesh,
    )
    from matplotlib.colorbar import Colorbar
    from matplotlib.container import ErrorbarContainer
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D


@dataclass(frozen=True)
class Style:
    """What the user asked for; the dicts are settings of matplotlib's artists."""

    ice: bool
    band: float | None
    rug: bool
    line: dict[str, Any]
    fill: dict[str, Any]
    faint: dict[str, Any]
    strip: dict[str, Any]
    mesh: dict[str, Any]
    earlier: dict[str, Any]
    other: dict[str, Any]

    @classmethod
    def of(
        cls, ice: bool, band: float | None, rug: bool, *settings: Mapping[str, Any] | None
    ) -> Style:
        """The style with short names written out (c, lw, ls, ...), so that none is given twice."""
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.collections import PolyCollection
        from matplotlib.lines import Line2D
        from matplotlib.patches import StepPatch

        line, fill, faint, strip, mesh, earlier, other = (dict(given or {}) for given in settings)
        return cls(
            ice,
            band,
            rug,
            normalize_kwargs(line, Line2D),
            normalize_kwargs(fill, PolyCollection),
            normalize_kwargs(faint, PolyCollection),
            normalize_kwargs(strip, StepPatch),
            mesh,
            normalize_kwargs(earlier, PolyCollection),
            normalize_kwargs(other, Line2D),
        )


@dataclass
class Parts:
    """The artists of a drawing; see `PDPDisplay` for what each of them is."""

    lines: list[Line2D] = field(default_factory=list)
    bands: list[FillBetweenPolyCollection | ErrorbarContainer] = field(default_factory=list)
    ice_lines: list[LineCollection] = field(default_factory=list)
    missing: list[ErrorbarContainer] = field(default_factory=list)
    mesh: QuadMesh | QuadContourSet | None = None
    colorbar: Colorbar | None = None
    rug_ax: Axes | None = None
    missing_ax: Axes | None = None
    trail: list[LineCollection] = field(default_factory=list)
    compare: list[Line2D] = field(default_factory=list)
    density: QuadContourSet | PathCollection | None = None
