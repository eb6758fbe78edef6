"""Numbers as people read them, the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number_text(value: float, span: float | None = None) -> str:
    """A number in few letters; of a range that is `span` wide, to a thousandth of it.

    Examples
    --------
    >>> number_text(0.123456), number_text(1199310.4), number_text(4.063e-06)
    ('0.1235', '1,199,310', '4.063e-06')
    >>> number_text(4.063e-06, span=99), number_text(98.99999, span=99)
    ('0', '99')
    """
    if span and math.isfinite(value) and math.isfinite(span):
        value = round(value, 3 - math.ceil(math.log10(abs(span))))
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.4g}"
    return f"{0.0 if abs(value) < 1e-9 else value:.4g}"


def ends_text(values: Sequence[float]) -> tuple[str, str]:
    """The first and the last of some numbers in order, as text.

    Examples
    --------
    >>> ends_text([4.063e-06, 50.0, 99.0])
    ('0', '99')
    """
    span = values[-1] - values[0]
    return number_text(values[0], span), number_text(values[-1], span)
