"""When the model is asked again, and what is not told twice."""

from __future__ import annotations

from ipdp.core.typing import State

# The model may be asked again at this share of the checks; unused ones are saved, up to eight.
_CREDIT = 0.125
# A suspicion that came to nothing is looked at again after 1, 2, 4, ... checks, at most 2^5.
_LONGEST_WAIT = 5


class Patience:
    """Keeps the price of asking small, and a model that adapts step by step from ten alarms.

    Parameters
    ----------
    n_features
        Number of features that are watched.

    Examples
    --------
    >>> patience = Patience(1)
    >>> patience.doubt(0)
    >>> patience.may_ask(0)
    False
    >>> patience.tick()
    >>> patience.may_ask(0)
    True
    """

    def __init__(self, n_features: int) -> None:
        # How often the model may be asked before the credit has to grow anew.
        self._credit = 1 / _CREDIT
        # For each feature: how many suspicions came to nothing,
        self._doubts = [0] * n_features
        # how many checks until the next one is looked at,
        self._wait = [0] * n_features
        # and until when real and virtual changes up to which size are not told.
        self._quiet = [(0, 0.0, 0.0)] * n_features

    def tick(self) -> None:
        """One more check takes place."""
        self._wait = [max(wait - 1, 0) for wait in self._wait]
        self._credit = min(self._credit + _CREDIT, 1 / _CREDIT)

    def may_ask(self, row: int) -> bool:
        """Whether the model may be asked about a suspicion about a feature."""
        return not self._wait[row] and self._credit >= 1

    def ask(self) -> None:
        """The model is asked."""
        self._credit -= 1

    def doubt(self, row: int) -> None:
        """A suspicion came to nothing."""
        self._wait[row] = 2 ** min(self._doubts[row], _LONGEST_WAIT)
        self._doubts[row] += 1

    def told(self, row: int, until: int, real: float, virtual: float) -> None:
        """A change was told; until then, only larger ones are."""
        self._quiet[row] = (until, real, virtual)
        self._doubts[row] = self._wait[row] = 0

    def is_quiet(self, row: int, n: int, *, real: float = 0.0, virtual: float = 0.0) -> bool:
        """Whether a change of such a size is not to be told at observation number n."""
        until, told_real, told_virtual = self._quiet[row]
        return n < until and real <= told_real and virtual <= told_virtual

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        return {
            "credit": self._credit,
            "doubts": list(self._doubts),
            "wait": list(self._wait),
            "quiet": [list(quiet) for quiet in self._quiet],
        }

    @state.setter
    def state(self, state: State) -> None:
        self._credit = state["credit"]
        self._doubts, self._wait = list(state["doubts"]), list(state["wait"])
        self._quiet = [(until, real, virtual) for until, real, virtual in state["quiet"]]
