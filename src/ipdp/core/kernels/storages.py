"""What keeps the recent values of features, and says when their points may have changed.

Fast when compiled: as it is into `_storages`, with the types in `_storages.pxd`.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Sequence
from typing import Any

from ipdp.core.errors import NotEnoughSamples

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from bisect import bisect_left, insort

    def _put_in(numbers: list[float], n: int, x: float) -> None:  # noqa: ARG001  (C needs it)
        """Put a number where it belongs among n that ascend."""
        insort(numbers, x)

    def _take_out(numbers: list[float], n: int, x: float) -> None:  # noqa: ARG001
        """Take a number out of n that ascend."""
        del numbers[bisect_left(numbers, x)]


# A sample has room for so many values more, at least, before it is arranged anew.
_LEAST_ROOM = 16


class RandomBlock:
    """Random `numbers` that are drawn one by one; so many are `used`."""

    __slots__ = ("numbers", "used", "v_numbers")

    def __init__(self) -> None:
        self.fill(array("d"))

    def fill(self, numbers: Any) -> None:
        """Take other numbers, an array of doubles."""
        self.numbers = numbers
        self.used = 0
        if cython.compiled:
            self.v_numbers = numbers


def draw(block: Any, uniforms: Any) -> float:
    """The next number of a block, which its `Uniforms` fill again."""
    if not 0 <= block.used < len(block.v_numbers if cython.compiled else block.numbers):
        uniforms.refill()
    number: float = (block.v_numbers if cython.compiled else block.numbers)[block.used]
    block.used += 1
    return number


class Taker:
    """Takes values by `offer`; its `version` changes with what is made of them."""

    __slots__ = ("version",)

    def __init__(self) -> None:
        self.version = 0

    def offer(self, x: Any) -> None:
        """Take a value."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        # Each kind has its own: Cython is not to make one.
        raise NotImplementedError


def take_in(values: Sequence[Any], storages: Sequence[Any], updates: Sequence[Any]) -> None:
    """Let every storage have its value, unless that is None.

    Where there is no storage that takes the value as it is, the update does.
    """
    for k in range(len(values)):
        value, storage = values[k], storages[k]
        if value is None:
            continue
        if storage is None:
            updates[k](value)
        elif isinstance(storage, Taker):
            taker = storage  # as an object of C
            taker.offer(value)
        else:
            storage.offer(value)


def is_whole(x: Any) -> bool:
    """Whether a value is a whole number, and one that floats can hold.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(10**20)
    (True, False, False)
    """
    return type(x) is int and -(2**53) <= x <= 2**53


class Extremes(Taker):
    """The smallest and the largest of the last values: Algorithm 2.

    `version` changes whenever one of them does, or `whole`: whether every value has been a whole
    number. `smallest` and `largest` hold pairs (number of the value, value), the extreme in front;
    `recent`, a deque if it is given, gets every value.
    """

    __slots__ = ("largest", "n", "recent", "smallest", "whole", "window")

    def __init__(self, window: int) -> None:
        self.window = window
        self.n = 0
        self.version = 0
        self.whole = True
        self.smallest: Any = deque()
        self.largest: Any = deque()
        self.recent: Any = None

    def offer(self, x: float) -> None:
        """Add the newest value and let the one that left the window go."""
        smallest, largest = self.smallest, self.largest
        self.n = n = self.n + 1
        if self.whole and not is_whole(x):
            self.whole = False
            self.version += 1
        before = (smallest[0][1], largest[0][1]) if smallest else None
        # What is older and no more extreme can never be the extreme again.
        while smallest:
            last = smallest.pop()
            if last[1] < x:
                smallest.append(last)
                break
        smallest.append((n, x))
        while largest:
            last = largest.pop()
            if last[1] > x:
                largest.append(last)
                break
        largest.append((n, x))
        oldest = n - self.window
        if smallest[0][0] <= oldest:
            smallest.popleft()
        if largest[0][0] <= oldest:
            largest.popleft()
        if (smallest[0][1], largest[0][1]) != before:
            self.version += 1
        if self.recent is not None:
            self.recent.append(x)

    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        if not self.smallest:
            raise NotEnoughSamples("no value yet: call update first")
        return self.smallest[0][1], self.largest[0][1]

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build.
        from ipdp.core.extremes import restored

        names = ("largest", "n", "recent", "smallest", "version", "whole", "window")
        return restored, ({name: getattr(self, name) for name in names},)


class Sample(Taker):
    """The values of a `Reservoir`: Algorithm 3.

    `circle` has the values in the order in which they came, from `oldest` on, `numbers` in
    ascending order (in C side by side, with room behind them); `n` were offered. `version` changes
    whenever the values do, or `whole`: whether every value has been a whole number.
    """

    __slots__ = (
        "block",
        "circle",
        "n",
        "numbers",
        "oldest",
        "probability",
        "select",
        "size",
        "uniforms",
        "v_numbers",
        "whole",
    )

    def __init__(self, size: int, probability: float, select: str, uniforms: Any) -> None:
        self.size = size
        self.probability = probability
        self.select = select
        self.uniforms = uniforms
        self.block = uniforms.block
        self.n = 0
        self.version = 0
        self.whole = True
        self.fill([])

    def fill(self, by_age: list[float]) -> None:
        """Put values in place of those that are there, the oldest first."""
        self.circle = by_age
        self.oldest = 0
        self._arrange()

    def _arrange(self) -> None:
        """Have the values in order."""
        self.numbers: Any = self.ordered
        if cython.compiled:
            room = [0.0] * max(len(self.circle), _LEAST_ROOM)
            self.numbers = array("d", [*self.numbers, *room])
            self.v_numbers = self.numbers

    @property
    def ordered(self) -> list[float]:
        """The values in ascending order, as a new list."""
        return sorted(self.circle)

    @property
    def by_age(self) -> list[float]:
        """The values, the oldest first, as a new list."""
        return self.circle[self.oldest :] + self.circle[: self.oldest]

    def offer(self, x: float) -> None:
        """Offer a value."""
        self.n += 1
        if self.whole and not is_whole(x):
            self.whole = False
            self.version += 1
        n = len(self.circle)
        if n < self.size:
            if cython.compiled and n == len(self.v_numbers):
                self._arrange()
            self.circle.append(x)
        elif self.probability < 1 and draw(self.block, self.uniforms) > self.probability:
            return
        else:
            leaving = self._exchange(x)
            _take_out(self.v_numbers if cython.compiled else self.numbers, n, leaving)
            n -= 1
        _put_in(self.v_numbers if cython.compiled else self.numbers, n, x)
        self.version += 1

    def _exchange(self, x: float) -> float:
        """Put a value in place of another one, which is returned."""
        circle, at = self.circle, self.oldest
        if self.select == "oldest":
            leaving, circle[at] = circle[at], x
            self.oldest = at + 1 if at + 1 < self.size else 0
            return leaving
        at = int(draw(self.block, self.uniforms) * self.size)
        if self.select == "age":  # the older of two
            at = min(at, int(draw(self.block, self.uniforms) * self.size))
        leaving = circle.pop(at)
        circle.append(x)
        return leaving

    def interval(self, lower: float, upper: float) -> tuple[float, float]:
        """Two quantiles, linear between values."""
        last = len(self.circle) - 1
        if last < 0:
            raise NotEnoughSamples("no value yet: call update first")
        if not (0 <= lower <= 1 and 0 <= upper <= 1):
            raise ValueError(f"a quantile is in [0, 1], got {lower} and {upper}")
        # The value below the quantile, and which share of the step to the next one is missing.
        rank, rank_high = lower * last, upper * last
        below, below_high = int(rank), int(rank_high)
        return self._at(below, rank - below), self._at(below_high, rank_high - below_high)

    def _at(self, below: int, share: float) -> float:
        """The value of a rank, and so much of the step to the next one."""
        low: float = self.v_numbers[below] if cython.compiled else self.numbers[below]
        if share > 0:
            above: float = self.v_numbers[below + 1] if cython.compiled else self.numbers[below + 1]
            return low + share * (above - low)
        return int(low) if cython.compiled and self.whole else low

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build.
        from ipdp.core.reservoir import sample

        settings = self.size, self.probability, self.select, self.uniforms
        changing = ("circle", "n", "oldest", "version", "whole")
        return sample, settings, {name: getattr(self, name) for name in changing}

    def __setstate__(self, state: Any) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._arrange()


class QuantileSpan:
    """The range between two quantiles of a `Sample`."""

    def __init__(self, sample: Any, lower: float, upper: float) -> None:
        self.sample = sample
        self.lower = lower
        self.upper = upper

    @property
    def version(self) -> int:
        """Changes whenever the range may have."""
        version: int = self.sample.version
        return version

    def ends(self) -> tuple[float, float]:
        """The two quantiles."""
        ends: tuple[float, float] = self.sample.interval(self.lower, self.upper)
        return ends


class Watch(Taker):
    """A storage that says when an end of its range leaves the bounds within which it is expected.

    Its `owner` is asked to `refresh` then, and when whole numbers cease to be whole; it says by
    `expect` what holds from then on. `version` is the owner's.
    """

    def __init__(self, storage: Any, span: Any, owner: Any) -> None:
        self.storage = storage
        self.span = span
        self.owner = owner
        self.version = 0
        self.expect(None, (0.0, 0.0, 0.0, 0.0))

    def expect(self, whole: bool | None, bounds: tuple[float, float, float, float]) -> None:
        """Between which numbers the lower and the upper end of the range are to stay."""
        self.whole = whole
        self.low_from, self.low_to, self.high_from, self.high_to = bounds

    def offer(self, x: float) -> None:
        """Offer a value, and look at the range: always at first, then with every eighth value."""
        storage = self.storage
        if type(storage) is Sample:
            sample = storage  # as an object of C
            sample.offer(x)
            n, whole = sample.n, sample.whole
        else:
            storage.offer(x)
            n, whole = storage.n, storage.whole
        if n > 64 and n % 8 and whole is self.whole:
            return
        low, high = self.span.ends()
        stays = self.low_from <= low <= self.low_to and self.high_from <= high <= self.high_to
        if not stays or whole is not self.whole:
            self.owner.refresh()

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build; the owner makes a new one.
        return getattr, (self.owner, "watch")


def count_in(counts: Any, x: Any) -> bool:
    """Add the newest value to a `WindowedCounts` and let the one that left the window go.

    Returns
    -------
    Whether a value appeared or disappeared.
    """
    recent, number_of = counts._recent, counts._counts
    counts._n += 1
    recent.append(x)
    n = number_of.get(x, 0)
    number_of[x] = n + 1
    changed: bool = n == 0
    if len(recent) > counts.window:
        leaving = recent.popleft()
        n = number_of[leaving]
        if n > 1:
            number_of[leaving] = n - 1
        else:
            del number_of[leaving]
            changed = True
    return changed


class CountWatch(Taker):
    """Storages of a feature with few categories, which say when one of these comes or goes.

    A value that is among the recent ones goes to the `storage` of numbers, if there is one, and to
    the `counts`, a `WindowedCounts`. From the first one on that is not, all values go to the
    `owner`, whose `update` does more. `version` changes then, and when a category has left.
    """

    def __init__(self, storage: Any, counts: Any, kind: type, owner: Any) -> None:
        self.storage = storage
        self.counts = counts
        self.kind = kind
        self.owner = owner
        self.version = 0

    def offer(self, x: Any) -> None:
        """Offer a value."""
        counts = self.counts
        if counts is None or type(x) is not self.kind or x not in counts:
            self.counts = None
            self.version += 1
            self.owner.update(x)
            return
        if self.storage is not None:
            self.storage.offer(x)
        if count_in(counts, x):
            counts.version += 1
            self.version += 1

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build; the owner makes a new one.
        return getattr, (self.owner, "watch")


class GrowthWatch(Taker):
    """Storages of a feature whose numbers only grow, as those of a clock do.

    A number of the `kind` that is above the last one of the `doubt`, or equal to it where it
    `may_stay`, goes to the `storage` and to the `counts`, if there are any. From the first other
    value on, all go to the `owner`, whose `update` does more.
    """

    def __init__(
        self, storage: Any, counts: Any, doubt: Any, kind: type, owner: Any, *, may_stay: bool
    ) -> None:
        self.storage = storage
        self.counts = counts
        self.doubt = doubt
        self.kind = kind
        self.owner = owner
        self.may_stay = may_stay
        self.version = 0

    def offer(self, x: Any) -> None:
        """Offer a value."""
        doubt = self.doubt
        grows = doubt is not None and type(x) is self.kind
        if not grows or not (x > doubt.last or (self.may_stay and x == doubt.last)):
            self.doubt = None
            self.owner.update(x)
            return
        self.storage.offer(x)
        if self.counts is not None and count_in(self.counts, x):
            self.counts.version += 1
        doubt.last = x

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build; the owner makes a new one.
        return getattr, (self.owner, "intake")


class Versions:
    """Things with a `version`, and what it was when they were last looked at."""

    def __init__(self, watched: list[Any]) -> None:
        self.watched = watched
        self.versions = [-1] * len(watched)

    def changed(self) -> bool:
        """Whether one of them has another version than at the last time."""
        versions, changed = self.versions, False
        for k in range(len(self.watched)):
            watched = self.watched[k]
            if isinstance(watched, Taker):
                taker = watched  # as an object of C
                version = taker.version
            else:
                version = watched.version
            if version != versions[k]:
                versions[k] = version
                changed = True
        return changed
