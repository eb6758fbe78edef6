"""What `Monitor` does by default: watch the model, the data and the explained share."""

from __future__ import annotations

from dataclasses import dataclass

from ipdp.core.typing import State
from ipdp.monitor.change import Change
from ipdp.monitor.data.value_blocks import BLOCK
from ipdp.monitor.data.watch import DataWatch, tell_end
from ipdp.monitor.explained.watch import ExplainedWatch
from ipdp.monitor.features import IceRecord, Record
from ipdp.monitor.model.watch import Found, ModelWatch


@dataclass
class DefaultWatch:
    """Finds changes of the model and moves of the data.

    Nothing is done with most of the observations: they are in the history when it is time to look.
    """

    model: ModelWatch
    data: DataWatch
    explained: ExplainedWatch

    def is_due(self, record: Record) -> bool:
        """Whether there is something to do with the newest observation."""
        n = record.n
        return n % self.model.clock == 0 or n % BLOCK == 0 or not self.fits(record)

    def fits(self, ice: IceRecord | Record) -> bool:
        """Whether the outputs are those that are watched."""
        return len(ice.values) == len(self.model.labels)

    def update(self, record: Record, changes: list[Change]) -> list[Found]:
        """Take the newest observation, which is in the history already; what has been found.

        What has come of a change that was reported before is written into `changes`.
        """
        n = record.n
        if n % self.model.clock and n % BLOCK:
            return []
        found: list[Found] = []
        if n % self.model.clock == 0:
            found, ended = self.model.check(record)
            for _, change in ended:
                if (revised := tell_end(changes, change)) is not None:
                    self.data.revised.append(revised)
        found = self.data.join(record, self.model, found, changes)
        known = {row for row, _ in found}
        unexplained = self.explained.update(record, [*changes, *(change for _, change in found)])
        return found + [one for one in unexplained if one[0] not in known]

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe; the stored observations are in the history."""
        return {
            "model": self.model.state,
            "data": self.data.moves.state,
            "hidden": self.explained.state,
        }

    @state.setter
    def state(self, state: State) -> None:
        self.model.state = state["model"]
        self.data.moves.state = state["data"]
        if "hidden" in state:  # which earlier states do not have
            self.explained.state = state["hidden"]
