"""Scales on which the effect on a rare event can be seen: log-odds, and logarithms.

What is remembered of a model is `link(p) - link(0)`, so that 0 is, as without a link, what is said
of a class that the model has not met; a curve that is read has `link(0)` added again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.core.words import shown

if TYPE_CHECKING:
    from ipdp.core.curve import Curve

Link = Literal["logit", "log"]
"""On which scale a model is explained."""

LEAST = 1e-6
"""Probabilities nearer than this to 0 or 1, and numbers nearer to 0, count as that near."""

# What rounding may take a probability beyond 0 or 1.
_ROUNDING = 1e-6
# Fields of a curve that hold values of the outputs, and not differences of them.
_VALUES = ("average", "smoothed", "missing", "ice", "prediction")


def checked_link(link: str | None) -> Link | None:
    """The link of this name, or an error."""
    known: dict[str, Link] = {each: each for each in get_args(Link)}
    if link is not None and not (isinstance(link, str) and link in known):
        raise ValueError(f"link must be one of {', '.join(known)}, got {shown(link)}")
    return None if link is None else known[link]


def linked(values: FloatArray, link: Link) -> FloatArray:
    """Answers of a model on the scale of a link, minus what 0 is there; or an error.

    Examples
    --------
    >>> import numpy as np
    >>> linked(np.array([0.0, 0.5]), "logit") + origin("logit")
    array([-13.81550956,   0.        ])
    """
    low, high = values.min(initial=0.0), values.max(initial=0.0)  # NaN is neither
    if link == "log" and low < 0:
        raise ValueError(
            "link='log' needs a model that gives no negative numbers, and it answered "
            f"{float(low)}: explain it without a link"
        )
    if link == "logit" and (low < -_ROUNDING or high > 1 + _ROUNDING):
        answer = low if low < -_ROUNDING else high
        raise ValueError(
            "link='logit' needs a model that gives probabilities, from 0 to 1, and it answered "
            f"{float(answer)}: explain it without a link"
        )
    return _scaled(values, link) - origin(link)


def origin(link: Link) -> float:
    """What 0 is on the scale of a link."""
    return float(_scaled(np.zeros(1), link)[0])


def slope(values: FloatArray, link: Link) -> FloatArray:
    """The derivative of a link at answers of a model; 0 where it is cut off."""
    within = values > LEAST
    if link == "log":
        return np.where(within, 1 / np.maximum(values, LEAST), 0.0)
    inner = np.clip(values, LEAST, 1 - LEAST)
    return np.where(within & (values < 1 - LEAST), 1 / (inner * (1 - inner)), 0.0)


def _scaled(values: FloatArray, link: Link) -> FloatArray:
    if link == "log":
        return np.log(np.maximum(values, LEAST))
    inner = np.clip(values, LEAST, 1 - LEAST)
    return np.log(inner) - np.log1p(-inner)


def on_scale(curve: Curve, link: Link | None, origins: Sequence[float]) -> Curve:
    """A curve of what is remembered, as it is shown: with what 0 is on its scale, by output."""
    if link is None:
        return curve
    moved = {}
    for name in _VALUES if curve.kind == "pdp" else ():
        values = getattr(curve, name)
        if values is not None:
            moved[name] = values + np.reshape(origins, (-1, *[1] * (values.ndim - 1)))
    return replace(curve, link=link, **moved)


def text_on_scale(text: str, link: Link | None) -> str:
    """What a number is called on the scale of a link.

    Examples
    --------
    >>> text_on_scale("rain", "logit"), text_on_scale("price", "log"), text_on_scale("price", None)
    ('log-odds of rain', 'log of price', 'price')
    """
    return text if link is None else f"{'log-odds' if link == 'logit' else 'log'} of {text}"
