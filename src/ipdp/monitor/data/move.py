"""A move of the data: which feature, in what way, since when, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from ipdp.core.curve import feature_text
from ipdp.core.times import time_text
from ipdp.core.typing import Feature
from ipdp.core.words import brief, ends_text, few_digits, percent

Aspect = Literal["level", "width", "unit", "stuck", "missing", "shares", "grows"]
"""In what way the values of a feature moved.

"level": they lie elsewhere; "width": they spread more, or less; "unit": they are so many times as
large; "stuck": they stay the same; "missing": more, or fewer, are missing; "shares": categories are
more, or less, frequent; "grows": they only grow, or only fall, and are not watched any more.
"""

# Shares that changed by at least so much are named, but not more than so many.
_NAMED_SHARE, _NAMED = 0.05, 3
# From this share on, values are always missing.
_ALWAYS = 0.995


class Move(NamedTuple):
    """How the values of a feature moved.

    Attributes
    ----------
    feature
        Whose values moved.
    aspect
        In what way; see `ipdp.monitor.data.move.Aspect`.
    since
        When it began, on the clock of the stream.
    n_since
        Number of explained observations since then.
    before, after
        The number that tells it, before and since: the median for a level, the width of the
        middle 80 % for a width, 1 and the factor for a unit, the share for missing values, the
        longest run before and the value since for a stuck one; for "grows" 1 or -1.
    range_before, range_after
        The range of the values, between their 2 % and 98 % quantiles; for categories those that
        occurred.
    shares
        Of categories: each with its share before and since, those that moved most first.
    earlier
        Further moves of the same feature belong to the same change: what was said before, with
        the time that it was about.

    Examples
    --------
    >>> move = Move("x", "missing", since=5140, n_since=60, before=0.01, after=0.3)
    >>> move.text()
    'data moved: x is missing in 30 % of the observations since 5,140, in 1 % before'
    """

    feature: Feature
    aspect: Aspect
    since: float
    n_since: int
    before: float | None = None
    after: float | None = None
    range_before: tuple[Any, ...] = ()
    range_after: tuple[Any, ...] = ()
    shares: tuple[tuple[Any, float, float], ...] = ()
    earlier: tuple[tuple[float, str], ...] = ()

    @property
    def is_elsewhere(self) -> bool:
        """Whether the values are others than before, and not only there or not."""
        return self.aspect in ("level", "width", "unit", "shares")

    @property
    def group(self) -> str:
        """Moves of the same group that follow each other are one change."""
        return self.aspect if self.aspect in ("missing", "grows") else "values"

    def text(self) -> str:
        """One sentence for people."""
        name = feature_text(self.feature)
        if self.aspect == "grows":
            way = "grows" if (self.after or 0) > 0 else "falls"
            return f"{name} only {way}, as a clock or a counter does: its values are not watched"
        said = f"data moved: {name} {self._what(f'since {time_text(self.since)}')}"
        if self.earlier:
            since = time_text(self.earlier[0][0])
            said += f" (it has moved {len(self.earlier) + 1} times since {since})"
        return said

    def _what(self, since: str) -> str:
        before, after = self.before or 0.0, self.after or 0.0
        if self.aspect == "missing":
            now = "is always missing"
            if after < _ALWAYS:
                now = f"is missing in {percent(after)} of the observations"
            return f"{now} {since}, in {percent(before)} before"
        if self.aspect == "stuck":
            runs = f"it stayed the same for at most {before:,.0f} observations"
            usual = runs if before > 1 else "it changed every time"
            return f"is stuck at {few_digits(after)} {since}; before, {usual}"
        if self.aspect == "shares":
            named = [s for s in self.shares if abs(s[2] - s[1]) >= _NAMED_SHARE] or self.shares
            parts = [f"{c} {percent(now)} (before {percent(then)})" for c, then, now in named]
            return f"has other shares {since}: {', '.join(parts[:_NAMED])}"
        return self._numbers(since)

    def _numbers(self, since: str) -> str:
        before, after = self.before or 0.0, self.after or 0.0
        then, now = _between(self.range_before), _between(self.range_after)
        if self.aspect == "unit" and before and after:
            factor = after / before
            times = f"{brief(factor)} times" if factor > 1 else f"1/{brief(1 / factor)}"
            unit = "as if its unit had changed"
            return f"is about {times} as large {since}, {unit}: it lies {now}, {then} before"
        if self.aspect == "width":
            word = "more widely" if after > before else "less widely"
            return f"spreads {word} {since}: it lies {now}, {then} before"
        return f"lies {now} {since}, {then} before"

    def followed_by(self, move: Move) -> Move:
        """A further move of the same change, with this one in its history."""
        return move._replace(
            earlier=(*self.earlier, (self.since, self._replace(earlier=()).text()))
        )

    @classmethod
    def restored(cls, values: Sequence[Any]) -> Move:
        """The move that was written as a list of its values, with lists for tuples."""
        feature, *rest = values
        return cls(_without_lists(feature), *map(_without_lists, rest))


def _without_lists(value: Any) -> Any:
    return tuple(map(_without_lists, value)) if isinstance(value, (list, tuple)) else value


def _between(ends: tuple[Any, ...]) -> str:
    if len(ends) != 2:
        return "nowhere"
    low, high = ends_text(*ends)
    return f"at {low}" if low == high else f"between {low} and {high}"
