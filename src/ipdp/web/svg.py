"""Drawings as SVG text: axes, lines, bands, and arrays of colours as small pictures.

They need no script: for the report, for paper and for browsers that run none. Colours are classes
of the style sheet, so that light and dark are right.
"""

from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.core.words import along_axis

# Viridis at eleven places.
_VIRIDIS = (
    *("440154", "482475", "414487", "355f8d", "2a788e", "21918c"),
    *("22a884", "44bf70", "7ad151", "bddf26", "fde725"),
)
# Vermillion and blue of Okabe and Ito's palette; and grey, with its opacity.
_RAISES, _LOWERS, _UNKNOWN = (213.0, 94.0, 0.0), (0.0, 114.0, 178.0), (128.0, 128.0, 128.0, 46.0)


@dataclass(frozen=True)
class Scale:
    """From values of an axis to places on the drawing."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    @classmethod
    def around(
        cls, values: Iterable[float], start: float, end: float, margin: float = 0.0
    ) -> Scale:
        """The scale that holds all values, with a share of their range as a margin."""
        known = [float(value) for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        if low == high:
            reach = 0.5 * abs(low) or 1.0
            low, high = low - reach, high + reach
        more = margin * (high - low)
        return cls(low - more, high + more, start, end)


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """About so many round numbers within a range.

    Examples
    --------
    >>> ticks(0.03, 0.12)
    [0.05, 0.075, 0.1]
    """
    rough = (high - low) / max(about, 1)
    if not rough > 0 or not math.isfinite(rough):
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.10g}") for k in range(first, last + 1)]


@dataclass
class Drawing:
    """An SVG that parts are added to; every text is escaped."""

    width: float
    height: float
    label: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, said: str, kind: str = "", anchor: str = "start") -> None:
        """A text; its anchor is start, middle or end."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{kind or "d-text"}" text-anchor="{anchor}">'
            f"{html.escape(said)}</text>"
        )

    def line(self, x: tuple[float, float], y: tuple[float, float], kind: str) -> None:
        """A straight line."""
        ends = f'x1="{x[0]:.1f}" x2="{x[1]:.1f}" y1="{y[0]:.1f}" y2="{y[1]:.1f}"'
        self.parts.append(f'<line {ends} class="{kind}"/>')

    def path(self, x: Sequence[float], y: Sequence[float], kind: str) -> None:
        """A line through points, broken where one is not known."""
        pen, said = "M", []
        for at, height in zip(x, y, strict=True):
            if not math.isfinite(at + height):
                pen = "M"
                continue
            said.append(f"{pen}{at:.1f} {height:.1f}")
            pen = "L"
        if said:
            self.parts.append(f'<path d="{"".join(said)}" class="{kind}"/>')

    def area(
        self,
        x: Sequence[float],
        low: Sequence[float],
        high: Sequence[float],
        *,
        kind: str = "d-band",
    ) -> None:
        """A band between two lines, where both are known."""
        points = [
            (at, bottom, top)
            for at, bottom, top in zip(x, low, high, strict=True)
            if math.isfinite(at + bottom + top)
        ]
        around = [(at, top) for at, _, top in points]
        around += [(at, bottom) for at, bottom, _ in reversed(points)]
        said = " ".join(f"{at:.1f},{height:.1f}" for at, height in around)
        if said:
            self.parts.append(f'<polygon points="{said}" class="{kind}"/>')

    def bar(
        self, x: tuple[float, float], y: tuple[float, float], kind: str, opacity: float = 1.0
    ) -> None:
        """A filled rectangle."""
        left, top = min(x), min(y)
        size = f'width="{abs(x[1] - x[0]):.1f}" height="{abs(y[1] - y[0]):.1f}"'
        more = "" if opacity == 1.0 else f' opacity="{opacity:.3f}"'
        self.parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" {size} class="{kind}"{more}/>')

    def dot(self, x: float, y: float, kind: str, radius: float = 2.4) -> None:
        """A point."""
        if math.isfinite(x + y):
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def picture(self, x: tuple[float, float], y: tuple[float, float], colours: Array) -> None:
        """An array of shape (rows, columns, 4) of bytes, the first row on top."""
        data = base64.b64encode(png(colours)).decode()
        size = f'width="{x[1] - x[0]:.1f}" height="{y[1] - y[0]:.1f}"'
        self.parts.append(
            f'<image x="{x[0]:.1f}" y="{y[0]:.1f}" {size} preserveAspectRatio="none" '
            f'class="d-image" href="data:image/png;base64,{data}"/>'
        )

    def x_axis(
        self, scale: Scale, y: float, say: Callable[[float], str], places: Sequence[float]
    ) -> None:
        """Ticks with numbers under a line; those that would run into each other are left out."""
        self.line((scale.start, scale.end), (y, y), "d-axis")
        marks = [(scale(place), said) for place, said in _said(places, say)]
        # All get the room of the longest, so that of even ticks even ones are left.
        room = max((_width(said) for _, said in marks), default=0.0) + 6
        before = -math.inf
        for at, said in marks:
            if at - before < room or at + _width(said) / 2 > self.width:
                continue
            self.line((at, at), (y, y + 3), "d-axis")
            self.text(at, y + 13, said, anchor="middle")
            before = at

    def y_axis(
        self,
        scale: Scale,
        x: tuple[float, float],
        say: Callable[[float], str],
        places: Sequence[float] | None = None,
    ) -> None:
        """Numbers to the left of faint lines across."""
        places = ticks(scale.low, scale.high, 4) if places is None else places
        for place, said in _said(places, say):
            at = scale(place)
            self.line(x, (at, at), "d-grid")
            self.text(x[0] - 5, at + 3.5, said, anchor="end")

    def __str__(self) -> str:
        return (
            f'<svg viewBox="0 0 {self.width:.0f} {self.height:.0f}" role="img" '
            f'aria-label="{html.escape(self.label)}" class="drawing">{"".join(self.parts)}</svg>'
        )


def _said(places: Sequence[float], say: Callable[[float], str]) -> Iterator[tuple[float, str]]:
    return zip(places, along_axis(places, say), strict=True)


def _width(said: str) -> float:
    """The width of a text under an axis, about."""
    return 6.2 * len(said)


def viridis(values: FloatArray, low: float, high: float) -> Array:
    """Colours of values, of one more axis with red, green, blue and opacity; clear where NaN."""
    table = np.array([[int(c[k : k + 2], 16) for k in (0, 2, 4)] for c in _VIRIDIS], dtype=float)
    known = np.isfinite(values)
    share = np.where(known, (values - low) / ((high - low) or 1.0), 0.0)
    at = np.clip(share, 0.0, 1.0) * (len(table) - 1)
    channels = [np.interp(at, np.arange(len(table)), table[:, k]) for k in range(3)]
    return np.stack([*channels, 255.0 * known], axis=-1).round().astype(np.uint8)


def diverging(values: FloatArray, reach: float) -> Array:
    """Colours of effects, which are strongest at plus and minus `reach`; none has no colour.

    So they are right on light and on dark. Grey is what nobody knows.
    """
    known = np.isfinite(values)
    share = np.clip(np.where(known, values, 0.0) / (reach or 1.0), -1.0, 1.0)
    colours = np.empty((*values.shape, 4))
    colours[..., :3] = np.where((share > 0)[..., np.newaxis], _RAISES, _LOWERS)
    colours[..., 3] = 255 * np.abs(share)
    colours[~known] = _UNKNOWN
    return colours.round().astype(np.uint8)


def png(colours: Array) -> bytes:
    """A PNG file of an array of shape (rows, columns, 4) of bytes."""
    rows, columns, _ = colours.shape
    lines = b"".join(b"\0" + line.tobytes() for line in np.ascontiguousarray(colours))
    head = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    )
