"""From a move of the data to its description, by the stored observations before and since."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.typing import FeatureName, FloatArray
from ipdp.monitor.data.move import Aspect, Move
from ipdp.monitor.data.value_blocks import BLOCK, as_floats, is_missing
from ipdp.monitor.history import History, Record

# So many stored observations of each side are looked at.
_AT_MOST = 256
# Between these quantiles is the range; of fewer values than so many all are in it.
_RANGE, _FEW = (0.02, 0.98), 50
# A change of the unit: all quantiles are multiplied by the same, up to this factor, and by at least
# so much. A quantile nearer to 0 than this share of the spread says nothing.
_SAME_FACTOR, _LEAST_FACTOR, _NEAR_ZERO = 1.5, 5.0, 0.25
# Around 0 it is by this much, as there a wider spread makes them so many times as large, too.
_LEAST_FACTOR_AROUND_ZERO = 30.0
# A level has moved if the median has, by this share of the spread of the middle 80 %.
_LEVEL = 0.2
# Blocks of up to so many values are searched for the observation at which a move began.
_CLOSE_SCALE = 2


Evidence = Callable[..., FloatArray]
"""From records before, since, and near a cut to how much each of the last speaks for "since"."""


class Cut(NamedTuple):
    """Where the stream is divided."""

    last: int  # number of the last observation before the move
    start: int  # that of the last observation before the past which it is compared with
    newest: Record

    def records(self, history: History, *, before: bool) -> list[Record]:
        """Stored observations of one side, newest first."""
        first, last = (self.start + 1, self.last) if before else (self.last + 1, self.newest.n)
        return history.between(first, last, at_most=_AT_MOST)

    def time(self, history: History) -> float:
        """Time of the first observation since the move."""
        newest = self.newest
        oldest = next(reversed(self.records(history, before=False)), newest)
        if oldest.n == self.last + 1:
            return oldest.t
        n = newest.n - oldest.n
        step = (newest.t - oldest.t) / n if n else 1.0
        return oldest.t - step * (oldest.n - self.last - 1)


def blocks_since(said: FloatArray, scale: int) -> int:
    """Number of newest blocks since a move, of the newest ones, by what each of them said.

    The cut is the one between whose sides the means differ most clearly.
    """
    n = len(said)
    at_most = min(3 * 2**scale + 1, n - 1)
    if 2**scale >= n or at_most < 1:
        return int(2**scale)
    known = ~np.isnan(said)
    sums, counts = np.where(known, said, 0.0)[::-1].cumsum(), known[::-1].cumsum()
    with np.errstate(invalid="ignore", divide="ignore"):
        after, before = counts[:at_most], counts[-1] - counts[:at_most]
        difference = sums[:at_most] / after - (sums[-1] - sums[:at_most]) / before
        gain = np.nan_to_num(difference**2 * after * before / counts[-1])
    return int(gain.argmax()) + 1


def numbers(name: FeatureName, cut: Cut, history: History, *, is_place: bool) -> Move | None:
    """A move of numbers: of their level, width or unit; None if there are too few to tell."""
    if is_place:
        cut = _closer(cut, history, _nearer(name))
    before, after = (_numbers(name, cut.records(history, before=side)) for side in (True, False))
    if len(before) < 2 or len(after) < 2:
        return None
    then, now = (np.quantile(values, (0.1, 0.5, 0.9)) for values in (before, after))
    aspect = _aspect(then, now, is_place=is_place)
    levels = (then[1], now[1]) if aspect != "width" else (then[2] - then[0], now[2] - now[0])
    if aspect == "unit":  # whose factor is that of the ends, if the middle is about 0
        levels = 1.0, _factor(then, now) or 1.0
    is_whole = all(float(v).is_integer() for v in (*before, *after))
    return _move(
        name,
        aspect,
        cut,
        history,
        before=float(levels[0]),
        after=float(levels[1]),
        range_before=_range(before, is_whole),
        range_after=_range(after, is_whole),
    )


def stuck(name: FeatureName, cut: Cut, history: History, longest: int) -> Move:
    """A feature that stays the same, after runs of at most `longest` equal values."""
    value = cut.newest.x[name]
    before = _numbers(name, cut.records(history, before=True))
    is_whole = float(value).is_integer() and all(float(v).is_integer() for v in before)
    return _move(
        name,
        "stuck",
        cut,
        history,
        before=float(longest),
        after=float(value),
        range_before=_range(before, is_whole) if len(before) else (),
        range_after=_range(np.array([float(value)] * 2), is_whole),
    )


def missing(name: FeatureName, cut: Cut, history: History, before: float, said: FloatArray) -> Move:
    """A feature that is missing more often, or less often, than the share before.

    The last blocks said how often it was missing in each of them.
    """
    cut = _closer(cut, history, _likelier(lambda record: is_missing(record.x.get(name))))
    records = cut.records(history, before=False)
    share = float(said[-max((cut.newest.n - cut.last) // BLOCK, 1) :].mean())
    then = _numbers(name, cut.records(history, before=True))
    now = _numbers(name, records)
    is_whole = all(float(v).is_integer() for v in (*then, *now))
    ranges = [_range(values, is_whole) if len(values) else () for values in (then, now)]
    return _move(
        name,
        "missing",
        cut,
        history,
        before=before,
        after=share,
        range_before=ranges[0],
        range_after=ranges[1],
    )


def shares(name: FeatureName, cut: Cut, history: History) -> Move | None:
    """A move of the shares of categories."""
    cut = _closer(cut, history, _likelier(lambda record: record.x.get(name)))
    sides = []
    for before in (True, False):
        values = [record.x.get(name) for record in cut.records(history, before=before)]
        sides.append(Counter(value for value in values if not is_missing(value)))
    n_then, n_now = (max(counts.total(), 1) for counts in sides)
    both = in_order(list(sides[0] | sides[1]))
    shares = [(c, sides[0][c] / n_then, sides[1][c] / n_now) for c in both]
    shares.sort(key=lambda share: -abs(share[2] - share[1]))
    return _move(
        name,
        "shares",
        cut,
        history,
        range_before=tuple(in_order(list(sides[0]))),
        range_after=tuple(in_order(list(sides[1]))),
        shares=tuple(shares),
    )


def _move(name: FeatureName, aspect: Aspect, cut: Cut, history: History, **details: Any) -> Move:
    return Move(name, aspect, cut.time(history), cut.newest.n - cut.last, **details)


def _closer(cut: Cut, history: History, speaks_for: Evidence) -> Cut:
    """The cut at the observation from which on the values speak for the time since."""
    newest = cut.newest
    if newest.n - cut.last > BLOCK * 3 * 2**_CLOSE_SCALE:
        return cut  # of so long ago too few observations are stored
    first, last = max(cut.last - BLOCK, cut.start), min(cut.last + BLOCK, newest.n)
    near = history.between(first + 1, last, at_most=2 * BLOCK)[::-1]
    before = cut._replace(last=first).records(history, before=True)
    after = cut._replace(last=min(last, newest.n - BLOCK // 2)).records(history, before=False)
    if not (before and after and near):
        return cut
    evidence = speaks_for(before, after, near)
    # The sum of what speaks for the one side before, and for the other since, is largest.
    gain = np.append(evidence[::-1].cumsum()[::-1], 0.0) - np.append(0.0, evidence.cumsum())
    at = int(gain.argmax())
    last = near[at].n - 1 if at < len(near) else cut.last
    return cut._replace(last=min(last, newest.n - 2))


def _nearer(name: FeatureName) -> Evidence:
    """Whether a number is nearer to the median since than to the one before."""

    def speaks(*sides: Sequence[Record]) -> FloatArray:
        then, now, near = (_numbers(name, side, keep_missing=True) for side in sides)
        if np.isnan(then).all() or np.isnan(now).all():
            return np.zeros(len(near))
        nearer = np.abs(near - np.nanmedian(then)) - np.abs(near - np.nanmedian(now))
        evidence = np.nan_to_num(np.sign(nearer))
        if not evidence.any():  # it has only just begun: what was never seen before speaks for it
            is_new = (near < np.nanmin(then)) | (near > np.nanmax(then))
            evidence = np.where(is_new, 1.0, -0.1)
        return np.asarray(evidence)

    return speaks


def _likelier(code: Callable[[Record], Any]) -> Evidence:
    """How much more likely a category is since than before."""

    def speaks(*sides: Sequence[Record]) -> FloatArray:
        then, now = (Counter(map(code, side)) for side in sides[:2])
        n_then, n_now, n_codes = then.total(), now.total(), len(then | now)

        def ratio(value: Any) -> float:
            share_now = (now[value] + 0.5) / (n_now + n_codes / 2)
            return math.log(share_now * (n_then + n_codes / 2) / (then[value] + 0.5))

        return np.array([ratio(code(record)) for record in sides[2]])

    return speaks


def _numbers(
    name: FeatureName, records: Sequence[Record], *, keep_missing: bool = False
) -> FloatArray:
    values = as_floats([[record.x.get(name)] for record in records]).reshape(-1)
    return values if keep_missing else values[~np.isnan(values)]


def _range(values: FloatArray, is_whole: bool) -> tuple[float, float]:
    ends = np.quantile(values, _RANGE if len(values) >= _FEW else (0.0, 1.0))
    low, high = ends.tolist()
    return (math.floor(low), math.ceil(high)) if is_whole else (low, high)


def _aspect(then: FloatArray, now: FloatArray, *, is_place: bool) -> Aspect:
    if _factor(then, now) is not None:
        return "unit"
    if not is_place and abs(now[1] - then[1]) <= _LEVEL * (then[2] - then[0]):
        return "width"
    return "level" if is_place else "width"


def _factor(then: FloatArray, now: FloatArray) -> float | None:
    """By what all quantiles are multiplied, if they are by the same, and by much."""
    spread = then[2] - then[0]
    apart = np.abs(then) > _NEAR_ZERO * spread
    if apart.sum() < 2 or (then[apart] * now[apart] <= 0).any():
        return None
    factors = np.log(now[apart] / then[apart])
    middle = float(np.median(factors))
    is_same = bool((np.abs(factors - middle) <= math.log(_SAME_FACTOR)).all())
    least = _LEAST_FACTOR if then[0] * then[2] > 0 else _LEAST_FACTOR_AROUND_ZERO
    return math.exp(middle) if is_same and abs(middle) >= math.log(least) else None
