"""How fast the past is forgotten: alpha, or the names that pandas gives to the same thing."""

from __future__ import annotations

import math
from enum import Enum
from functools import lru_cache

from ipdp.core.validation import as_number
from ipdp.core.words import shown

_LONGEST = 1e300  # of which alpha is still a number, and that of alpha, too


class Default(Enum):
    """Marks an argument that was not given, where None has a meaning of its own."""

    ALPHA = 0.001

    def __repr__(self) -> str:
        return str(self.value)


def resolve_alpha(
    alpha: float | Default | None = Default.ALPHA,
    *,
    half_life: float | None = None,
    span: float | None = None,
) -> float | None:
    """The smoothing parameter alpha from whichever of its names was given.

    It is the weight of the newest value, in (0, 1], by default the paper's 0.001; None is the plain
    mean, which forgets nothing. After `half_life` observations a weight has halved,
    `1 - exp(-ln(2) / half_life)`; `span` is `2 / (span + 1)`, as in pandas' `ewm`, about as noisy
    as a mean of the last `span` values.
    """
    others = {"half_life": half_life, "span": span}
    given = [] if isinstance(alpha, Default) else ["alpha"]
    given += [name for name, value in others.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"give only one of alpha, half_life and span, got {' and '.join(given)}")
    if half_life is not None:
        half_life, given_life = as_number(half_life), half_life
        if not 0 < half_life <= _LONGEST:
            raise ValueError(f"half_life must be a positive number, got {shown(given_life)}")
        return -math.expm1(-math.log(2) / half_life)
    if span is not None:
        span, given_span = as_number(span), span
        if not 1 <= span <= _LONGEST:
            raise ValueError(f"span must be at least 1, got {shown(given_span)}")
        return 2 / (span + 1)
    if isinstance(alpha, Default):
        return alpha.value
    if alpha is None:
        return None
    number = as_number(alpha)
    if isinstance(alpha, bool) or not 1 / _LONGEST <= number <= 1:
        raise ValueError(f"alpha must be in (0, 1] or None for the plain mean, got {shown(alpha)}")
    return number


@lru_cache(maxsize=64)
def aged(decay: float, length: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """What is left after some time, of one weight and on average; also at half the decay."""
    decays = (decay, math.sqrt(decay))
    left = _mean_left(decays[0], length), _mean_left(decays[1], length)
    return (decays[0] ** length, decays[1] ** length), left


def _mean_left(decay: float, length: float) -> float:
    """What is left, on average, of weights that came evenly over a time of this length."""
    exponent = -length * math.log(decay) if decay else math.inf
    return -math.expm1(-exponent) / exponent if exponent > 1e-9 else 1.0
