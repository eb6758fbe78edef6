"""How often pages ask: each once a second, unless there are many of them."""

from __future__ import annotations

import time
from collections.abc import Callable

HEADER = "x-ipdp-pause"
"""Says how many seconds a page is asked to wait before it asks again."""

_LONGEST = 10.0


class Pace:
    """Asks pages for patience, so that the machine belongs to the run however many there are.

    Parameters
    ----------
    most
        How often all pages together may ask, in times a second.
    window
        Seconds over which they are counted.
    clock
        Seconds that only grow.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.ask()
    1.0
    """

    def __init__(
        self, most: float = 20.0, window: float = 2.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = most
        self.window = window
        self.clock = clock
        self._pause = 1.0
        self._asked = 0
        self._since = clock()

    def ask(self) -> float:
        """A page has asked: how long it is to wait before it asks again."""
        passed = self.clock() - self._since
        if passed >= self.window:
            pages = self._asked / passed * self._pause
            self._pause = min(max(1.0, pages / self.most), _LONGEST)
            self._asked, self._since = 0, self.clock()
        self._asked += 1
        return round(self._pause, 1)
