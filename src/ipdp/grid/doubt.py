"""Whether the values of a feature look like an id or like a clock."""

from __future__ import annotations

from typing import Any, Literal, get_args

from ipdp.core import schema
from ipdp.core.typing import State

Looks = Literal["id", "clock"]
"""What a feature looks like: text that never comes back, or numbers that only grow."""

# Text is no id any more when at most this share of the window's values are different ones.
_SHARE = 0.5


class Doubt:
    """Looks at values, from the first one on, as long as they may be an id or a clock.

    A clock is a number that grows with every value, or a time that never goes back. An id is
    text that was different each time during the warm-up, and mostly is afterwards. What
    ceases to be so is neither, for good.
    """

    def __init__(self) -> None:
        self.last: float | None = None
        self.looks: Looks | None = None

    def is_over(self, x: Any, *, is_time: bool, n: int, n_different: int, warm_up: int) -> bool:
        """Take a value, and say whether it rules out both.

        Parameters
        ----------
        x
            The value.
        is_time
            Whether it is a time, as a number.
        n, n_different
            Number of values in the window with it, and of different ones.
        warm_up
            How many values are looked at first.
        """
        if isinstance(x, str):
            self.looks = "id"
            return n_different < (n if n <= warm_up else _SHARE * n)
        if isinstance(x, bool) or not isinstance(x, (int, float)):
            return True
        before, self.last, self.looks = self.last, x, "clock"
        return before is not None and not (x > before or (is_time and x == before))

    @property
    def state(self) -> State:
        """What it remembers."""
        return {"last": self.last, "looks": self.looks}

    @classmethod
    def from_state(cls, state: State) -> Doubt:
        """One that remembers this."""
        schema.check(
            state, last=schema.maybe(schema.number), looks=schema.one_of(None, *get_args(Looks))
        )
        doubt = cls()
        doubt.last, doubt.looks = state["last"], state["looks"]
        return doubt
