"""Storages that say when the points of their grid may have changed: fast when compiled.

Compiled as it is into `_watch`, with the types in `_watch.pxd`.
"""

from __future__ import annotations

from typing import Any

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython  # noqa: F401


class Watch:
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
        storage.offer(x)
        n = storage.n
        if n > 64 and n % 8 and storage.whole is self.whole:
            return
        low, high = self.span.ends()
        stays = self.low_from <= low <= self.low_to and self.high_from <= high <= self.high_to
        if not stays or storage.whole is not self.whole:
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


class CountWatch:
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


class Versions:
    """Things with a `version`, and what it was when they were last looked at."""

    def __init__(self, watched: list[Any]) -> None:
        self.watched = watched
        self.versions = [-1] * len(watched)

    def changed(self) -> bool:
        """Whether one of them has another version than at the last time."""
        versions, changed = self.versions, False
        for k in range(len(self.watched)):
            version = self.watched[k].version
            if version != versions[k]:
                versions[k] = version
                changed = True
        return changed
