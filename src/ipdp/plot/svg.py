"""Small drawings for notebooks, as text: they need no library and follow the page's colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import FloatArray
from ipdp.plot.lines import half_widths
from ipdp.plot.style import named, tints
from ipdp.plot.support import around, known

# More cells than this along an axis of a pair are thinned out.
_CELLS = 24
# Width of a letter in pixels, about.
_LETTER = 6.5
_LOW, _HIGH = (68, 1, 84), (253, 231, 37)  # viridis' ends, and its middle
_MIDDLE = (33, 145, 140)


class Sheet:
    """A drawing with the coordinates of the data.

    Parameters
    ----------
    size
        Width and height in pixels.
    x, y
        The ends of the axes.
    names
        What is written at the ends of the axes: left, right, bottom, top; None for nothing.
    """

    def __init__(
        self,
        size: tuple[int, int],
        x: tuple[float, float],
        y: tuple[float, float],
        names: Sequence[str] | None = None,
    ) -> None:
        self.size = size
        self._x, self._y = _apart(*x), _apart(*y)
        self._parts: list[str] = []
        self._left = self._bottom = 4.0
        if names is not None:
            self._left, self._bottom = 8.0 + _LETTER * max(map(len, names[2:])), 20.0
            self._frame(names)

    def across(self, x: float) -> float:
        """The pixel of a place."""
        low, high = self._x
        return self._left + (self.size[0] - self._left - 4) * (x - low) / (high - low)

    def down(self, y: float) -> float:
        """The pixel of a value."""
        low, high = self._y
        return 4 + (self.size[1] - self._bottom - 4) * (high - y) / (high - low)

    def _frame(self, names: Sequence[str]) -> None:
        """Lines at the left and below, with what is at their ends."""
        width, height = self.size
        floor = height - self._bottom + 2
        self._parts.append(
            f'<path d="M{self._left - 3:.1f},4V{floor}H{width - 4}" fill="none" '
            'stroke="currentColor" opacity="0.4"/>'
        )
        beside = self._left - 6
        places = (
            (self._left, height - 5, "start"),
            (width - 4, height - 5, "end"),
            (beside, floor, "end"),
            (beside, 13, "end"),
        )
        for (x, y, anchor), name in zip(places, names, strict=True):
            self._parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" '
                f'fill="currentColor" opacity="0.8">{escape(name)}</text>'
            )

    def line(self, x: FloatArray, y: FloatArray, colour: str, width: float = 1.5) -> None:
        """A line, broken where a value is not known."""
        path = "".join(
            f"{step}{self.across(a):.1f},{self.down(b):.1f}" for step, a, b in _steps(x, y)
        )
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
        )

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray, colour: str) -> None:
        """A filled band."""
        there = np.isfinite(low) & np.isfinite(high)
        ends = [*zip(x[there], high[there], strict=True)]
        ends += reversed([*zip(x[there], low[there], strict=True)])
        points = " ".join(f"{self.across(a):.1f},{self.down(b):.1f}" for a, b in ends)
        self._parts.append(f'<polygon points="{points}" fill="{colour}" opacity="0.2"/>')

    def dot(self, x: float, y: float, colour: str) -> None:
        """A point."""
        if np.isfinite(y):
            place = f'cx="{self.across(x):.1f}" cy="{self.down(y):.1f}"'
            self._parts.append(f'<circle {place} r="3" fill="{colour}"/>')

    def bar(self, x: float, low: float, high: float, colour: str) -> None:
        """The error bar of a point."""
        if np.isfinite(low) and np.isfinite(high):
            self.line(np.array([x, x]), np.array([low, high]), colour)

    def tile(self, ends: Sequence[float], colour: str) -> None:
        """A filled rectangle: left, right, bottom, top."""
        left, right = sorted(self.across(x) for x in ends[:2])
        top, bottom = sorted(self.down(y) for y in ends[2:])
        place = f'x="{left:.1f}" y="{top:.1f}"'
        size = f'width="{right - left + 0.3:.1f}" height="{bottom - top + 0.3:.1f}"'
        self._parts.append(f'<rect {place} {size} fill="{colour}"/>')

    def text(self, title: str) -> str:
        """The drawing as an SVG element; the title is read out."""
        width, height = self.size
        return (
            f'<svg role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'aria-label="{escape(title)}">{"".join(self._parts)}</svg>'
        )


def curve_svg(
    curve: Curve,
    size: tuple[int, int],
    y: tuple[float, float],
    *,
    title: str,
    framed: bool = False,
) -> str:
    """A curve, its band and its outputs; a pair as tiles of its first output.

    Parameters
    ----------
    curve
        What to draw; several outputs have a line each.
    size
        Width and height in pixels.
    y
        The ends of the axis of the output.
    title
        What is read out.
    framed
        Whether to draw axes, with what is at their ends.
    """
    if len(curve.grid_values) == 2:
        return _surface(curve, size, y, title=title, framed=framed)
    categorical = curve.categorical[0]
    n = len(curve.grid_values[0])
    x = np.arange(n, dtype=float) if categorical else np.asarray(curve.grid_values[0], dtype=float)
    values = known(curve)
    half = np.nan_to_num(half_widths(curve, 0.95))
    pad = 0.5 if categorical else 0.0
    ends = (float(x.min()) - pad, float(x.max()) + pad) if n else (0.0, 1.0)
    names = [*_ends(curve, 0), *_values(y)] if framed else None
    sheet = Sheet(size, ends, y, names)
    for k, (colour, _) in enumerate(tints(dark=False, n=len(curve.outputs))):
        low, high = values[k] - half[k], values[k] + half[k]
        if categorical:
            for at, bottom, top, value in zip(x, low, high, values[k], strict=True):
                sheet.bar(at, bottom, top, colour)
                sheet.dot(at, value, colour)
            continue
        sheet.band(x, low, high, colour)
        sheet.line(x, values[k], colour)
        if n == 1:
            sheet.dot(x[0], values[k, 0], colour)
    return sheet.text(title)


def limits(curves: Sequence[Curve]) -> tuple[float, float]:
    """The ends of an axis that shows all of these curves; 0 and 1 where there is nothing."""
    values = np.concatenate([known(curve).ravel() for curve in curves] or [np.empty(0)])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)


def number(value: float) -> str:
    """A number in few letters.

    Examples
    --------
    >>> number(0.123456), number(1.7e-13), number(1_199_310.0)
    ('0.1235', '0', '1,199,310')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.4g}"
    return f"{0.0 if abs(value) < 1e-9 else value:.4g}"


def _values(y: tuple[float, float]) -> tuple[str, str]:
    low, high = map(number, y)
    return ("", high) if low == high else (low, high)


def _ends(curve: Curve, k: int) -> tuple[str, str]:
    """The first and the last value of an axis, as text."""
    values = curve.grid_values[k].tolist()
    if not values:
        return "", ""
    if curve.categorical[k]:
        first, last = named(values[0], 16), named(values[-1], 16)
    else:
        first, last = number(values[0]), number(values[-1])
    return first, "" if len(values) == 1 or first == last else last


def _surface(
    curve: Curve, size: tuple[int, int], y: tuple[float, float], *, title: str, framed: bool
) -> str:
    z = known(curve)[0]
    rows, columns = (
        np.unique(np.linspace(0, n - 1, min(n, _CELLS)).round().astype(int)) for n in z.shape
    )
    z = z[np.ix_(rows, columns)]
    low, high = y
    names = [*_ends(curve, 0), *_ends(curve, 1)] if framed else None
    sheet = Sheet(size, (0.0, float(len(rows))), (0.0, float(len(columns))), names)
    for i, row in enumerate(z):
        for j, value in enumerate(row):
            if np.isfinite(value):
                share = (value - low) / (high - low) if high > low else 0.5
                sheet.tile((i, i + 1, j, j + 1), _shade(float(share)))
    return sheet.text(title)


def _shade(share: float) -> str:
    """A colour between the ends of the scale, by way of its middle."""
    first, second = (_LOW, _MIDDLE) if share < 0.5 else (_MIDDLE, _HIGH)
    at = 2 * share if share < 0.5 else 2 * share - 1
    mixed = (round(a + at * (b - a)) for a, b in zip(first, second, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _steps(x: FloatArray, y: FloatArray) -> list[tuple[str, float, float]]:
    steps, drawing = [], False
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if np.isfinite(a) and np.isfinite(b):
            steps.append(("L" if drawing else "M", a, b))
        drawing = bool(np.isfinite(a) and np.isfinite(b))
    return steps


def _apart(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis, which must not be one."""
    return (low, high) if high > low else around(low)
