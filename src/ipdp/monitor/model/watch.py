"""The model is compared with its earlier self, on stored observations, all the time."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.curve import Curve
from ipdp.core.jsonable import encode_name
from ipdp.core.kernels.news import CLEAR
from ipdp.core.typing import Array, Label, State
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.change import Change
from ipdp.monitor.explained.share import explained_share
from ipdp.monitor.features import Record, Target, monitored
from ipdp.monitor.history import History
from ipdp.monitor.model.answers import Answers, ask_about, renewed
from ipdp.monitor.model.candidate import Compared
from ipdp.monitor.model.ongoing import OngoingChange
from ipdp.monitor.model.rechecks import OLDEST, Rechecks
from ipdp.monitor.model.surprise import Surprise, Weighed

logger = logging.getLogger("ipdp.monitor")

# Before a change is reported, and for its place and curves, so many are asked about.
_N_KEPT = 192
# For what curves tell of the model before and after a change so many are.
_N_TOLD = 96
# That may be done at this share of the checks; what is not used is saved, up to so many times.
_BUDGET, _SAVED = 1 / 16, 16.0
# A candidate that was rejected is looked at again after 4, 8, ... checks, at most so many: in a
# long stream there are many of them, and its changes are not to be missed meanwhile.
_FIRST_WAIT, _LONGEST_WAIT = 4, 32
# A change goes on for so many observations at least, and at most.
_SHORTEST, _LONGEST = 192, 8192


Found = tuple[int, Change]
"""The row of a feature, and its change."""


class ModelWatch:
    """Finds changes of the model, each feature's effect on each output.

    `labels` are the names of the model's outputs, `outputs` the numbers of those that are
    followed. `tolerance`, `clock`, `warm_up` and `cool_down` are those of `Monitor`.
    """

    def __init__(
        self,
        pdp: IncrementalPDP,
        targets: Sequence[Target],
        labels: Sequence[Label],
        outputs: Sequence[int],
        history: History,
        *,
        tolerance: float,
        clock: int,
        warm_up: int,
        cool_down: int,
    ) -> None:
        self.pdp, self.history = pdp, history
        self.numbers = tuple(monitored(targets))
        self.names = list(monitored(targets).values())
        self.labels, self.outputs = tuple(labels), list(outputs)
        self.clock, self.warm_up, self.cool_down = clock, warm_up, cool_down
        n = len(self.numbers)
        self.rechecks = Rechecks(
            pdp, self.numbers, self.names, history, labels=self.labels, outputs=self.outputs
        )
        self.surprise = Surprise(n, len(self.outputs), tolerance=tolerance, clock=clock)
        # Since which observation the model is not known to have changed.
        self.since = [0] * n
        # At which time all stored observations were answered anew then; None: they were not, and
        # only later ones count.
        self.renewed: list[float | None] = [None] * n
        self.is_warm = False
        self.going_on: dict[int, OngoingChange] = {}
        self._is_going_on: Array = np.zeros(n, dtype=bool)  # at the last check
        # Features that were conspicuous at the last check, with the number of the output,
        self.pending: dict[int, int] = {}
        # and those of them that would be reported if they still are at the next one.
        self.candidates: set[int] = set()
        # Until when, and up to which size, further changes are not reported.
        self._suppressed = [(0, 0.0)] * n
        self._wait, self._rejected = [0] * n, [0] * n
        self._budget = _SAVED
        self._has_fault = False
        # The last ones that were asked about for what curves tell, for other features of one check.
        self._renewed_rows: dict[tuple[int, int], list[Record]] = {}

    def check(self, newest: Record) -> tuple[list[Found], list[Found]]:
        """Ask again, as is done every `clock` observations.

        The result are the changes that have been found, and those that have come to an end; these
        replace what was reported of them.
        """
        if not self.numbers:
            return [], []  # there are pairs alone
        self._budget = min(self._budget + _BUDGET, _SAVED)
        self._wait = [max(wait - 1, 0) for wait in self._wait]
        self._forget(self.rechecks.renew_knots(newest, self.since))
        asked = newest, self.since, [t is not None for t in self.renewed]
        is_moving, is_going_on = self.surprise.is_moving, bool(self.going_on)
        try:
            read = self.rechecks.ask(*asked, is_moving=is_moving, is_going_on=is_going_on)
        except Exception:  # the stream goes on without this check
            self._say_fault()
            return [], []
        self._has_fault = False
        if read is not None:
            self.surprise.add(*read)
        self._is_going_on[:] = False
        for row in self.going_on:
            self._is_going_on[row] = True
        weighed = self.surprise.weigh(self._is_going_on, newest.n)
        if newest.n < self.warm_up:
            return [], []
        if not self.is_warm:
            self._begin(newest)
            return [], []
        followed = self._followed(newest)
        ended = self._end(newest)
        return followed + self._decide(newest, weighed), ended

    def _begin(self, newest: Record) -> None:
        """What is stored from now on is what the model is compared on, unless it stood still."""
        self.is_warm = True
        if self.surprise.is_moving:
            self._renew(newest, range(len(self.numbers)))

    def _renew(self, newest: Record, rows: Sequence[int]) -> None:
        """Compare with the model as it is now from now on, about some features.

        All stored observations are asked about: else there would be few to compare on for a while,
        and a change that comes soon after this one would be missed.
        """
        numbers = [self.numbers[row] for row in rows]
        try:
            records = renewed(self.pdp.engine, self.history.all(), numbers, self.labels)
        except Exception:  # the stream goes on, with what is stored from now on
            self._say_fault()
            is_renewed = False
        else:
            self.history.replace(records)
            is_renewed = True
        for row in rows:
            self.since[row], self.renewed[row] = newest.n, newest.t if is_renewed else None
            self.surprise.forget(row)

    def place_knots(self, newest: Record) -> None:
        """Place knots where points and values are now."""
        self._forget(self.rechecks.place_knots(newest, self.since))

    def _forget(self, rows: Sequence[int]) -> None:
        """What was read at other knots is not compared with what is read at these."""
        for row in rows:
            score = self.surprise.score[row]
            self.surprise.forget(row)
            self.surprise.score[row] = score

    # Deciding.

    def _decide(self, newest: Record, weighed: Weighed) -> list[Found]:
        """Report candidates that were conspicuous at the last check too."""
        found: list[Found] = []
        above, self.pending = self.pending, {}
        self.candidates = set()
        if (weighed.ratio < 1).all():
            return found
        is_candidate = self.surprise.is_candidate(weighed)
        for row in np.argsort(-weighed.ratio, kind="stable").tolist():
            if weighed.ratio[row] < 1 or row in self.going_on or self._wait[row]:
                continue
            output = int(weighed.output[row])
            if is_candidate[row] and row in above and self._budget >= 1:
                found += self.report(newest, row, output)
                continue
            self.pending[row] = output
            if is_candidate[row]:
                self.candidates.add(row)
        return found

    def report(self, newest: Record, row: int, output: int) -> list[Found]:
        """Look closer at a candidate; its change if it is one that is to be reported."""
        self.pending.pop(row, None)
        self._budget -= 1
        compared = self.compare(newest, row, output)
        is_real, is_hidden = self.is_real(row, compared) if compared else (False, False)
        if compared is None or not is_real:
            self._rejected[row] += 1
            wait = _FIRST_WAIT * 2 ** (self._rejected[row] - 1)
            self._wait[row] = min(wait, _LONGEST_WAIT)
            self.surprise.score[row] = 0.0
            return []
        self._rejected[row] = 0
        change = self.describe(newest, row, compared, is_interaction=is_hidden)
        until, size = self._suppressed[row]
        if newest.n < until and change.size <= size:
            self._wait[row] = _FIRST_WAIT  # it may become larger yet
            return []
        span = self._first(row, newest), compared.last
        size = compared.size / max(compared.std, float(self.surprise.output_std[row, output]) / 2)
        self.going_on[row] = OngoingChange(newest.n, output, *span, size, newest.n)
        self._suppressed[row] = (newest.n + self.cool_down, change.size)
        return [(row, change)]

    def also_changed(self, newest: Record, row: int) -> Change | None:
        """The change of the model where the data of a feature have moved, if there is one."""
        if not self.is_warm or row in self.going_on:
            return None
        self.place_knots(newest)
        for output in range(len(self.outputs)):
            compared = self.compare(newest, row, output)
            if compared is not None and self.is_real(row, compared)[0]:
                for _, change in self.report(newest, row, output):
                    return change
        return None

    def compare(
        self, newest: Record, row: int, output: int, span: tuple[int, int] | None = None
    ) -> Compared | None:
        """Compare models on all stored observations since the last change, or those of a span."""
        first, last = span or (self._first(row, newest), newest.n)
        answers = self._asked_closer(newest, row, first, last)
        last_before = None if span is None else last
        return answers and Compared.at(answers, self.outputs[output], last_before)

    def _first(self, row: int, newest: Record) -> int:
        """The number of the first observation that counts for a feature."""
        since = self.since[row]
        if self.surprise.is_moving and newest.n - since > OLDEST:
            return newest.n - OLDEST
        return since if self.renewed[row] is None else 0

    def _asked_closer(self, newest: Record, row: int, first: int, last: int) -> Answers | None:
        places = self.rechecks.knots.places[row]
        if self.rechecks.axis(row, newest) is None or places is None:
            return None
        records = self.history.evenly(first, last, at_most=_N_KEPT, closer=True)
        ends = None if places.dtype == object else (float(places[0]), float(places[-1]))
        time = self.renewed[row]
        renewed_at = None if time is None else (self.since[row], time)
        asked = records, self.numbers[row], self.labels, ends
        try:
            return ask_about(self.pdp.engine, *asked, renewed_at=renewed_at)
        except Exception:  # the stream goes on without this check
            self._say_fault()
            return None

    def _say_fault(self) -> None:
        """Log the error once, as the next check will meet it again."""
        if not self._has_fault:
            self._has_fault = True
            logger.exception(
                "the model could not be evaluated again on stored observations: as long as that "
                "is so, its changes are not found"
            )

    def is_real(self, row: int, compared: Compared) -> tuple[bool, bool]:
        """Whether the model changed clearly and by enough, and whether by an interaction only."""
        output = self.outputs.index(compared.output)
        std = max(compared.std, float(self.surprise.output_std[row, output]) / 2)
        least, least_hidden = self.surprise.least(row, output)
        if compared.size >= std * least and compared.errors >= CLEAR and compared.size > 0:
            return True, False
        is_hidden = compared.hidden >= std * least_hidden and compared.hidden > 0
        return is_hidden, is_hidden

    def describe(self, newest: Record, row: int, compared: Compared, **rest: Any) -> Change:
        """The change that the comparison shows; the rest are further attributes of it."""
        axis = self.rechecks.axis(row, newest)
        assert axis is not None
        layout, number = newest.layout, self.numbers[row]
        (last,) = self.history.between(0, compared.last, at_most=1, closer=True)
        earlier = self.rechecks.axis(row, last)
        rest |= self._hidden(newest, row, compared)
        if rest.get("is_interaction"):
            rest = {"where": None, "size": compared.hidden, **rest}
        return compared.to_change(
            self.names[row],
            self.labels[compared.output],
            newest.t,
            kind="real",
            range_before=_ends(axis if earlier is None else earlier),
            range_after=_ends(axis),
            n_since=newest.n - compared.last,
            is_probability=self.are_probabilities(newest),
            is_whole=bool(layout.whole[layout.targets.index(number)][0]),
            **rest,
        )

    def _hidden(self, newest: Record, row: int, compared: Compared) -> dict[str, Any]:
        """What curves told of the model before a change, and tell after it, by the same rows."""
        records = self.history.evenly(
            max(self.since) + 1, compared.last, at_most=_N_TOLD, closer=True
        )
        asked = records[0].n if records else 0, newest.n
        if asked not in self._renewed_rows:
            try:
                again = renewed(self.pdp.engine, records, self.numbers, self.labels)
            except Exception:  # it is reported without this
                self._say_fault()
                return {}
            self._renewed_rows = {asked: again}
        sides = [
            explained_share(side, self.numbers, compared.output)
            for side in (records, self._renewed_rows[asked])
        ]
        if sides[0] is None or sides[1] is None:
            return {}
        number = self.numbers[row]
        return {
            "explained": (sides[0].share, sides[1].share),
            "differs": (sides[0].differs[number], sides[1].differs[number]),
        }

    def are_probabilities(self, newest: Record) -> bool:
        """Whether the outputs, all of them, are the probabilities of classes."""
        values = newest.values
        points, nan = np.arange(values.shape[1]), np.full(values.shape, np.nan)
        return Curve("all", self.labels, [points], values, nan, 1, nan[0]).are_probabilities

    def _followed(self, newest: Record) -> list[Found]:
        """Changes that came before the model had settled after the one before."""
        found: list[Found] = []
        for row, change in list(self.going_on.items()):
            size = self.surprise.size(row, change.output)
            if not change.is_followed(newest.n, size, self.surprise.tolerance):
                continue
            del self.going_on[row]
            # From then on the model was another one.
            self.since[row], self.renewed[row] = change.n, None
            self.surprise.forget(row)
            found += self.report(newest, row, change.output)
        return found

    def _end(self, newest: Record) -> list[Found]:
        """Changes whose model has settled, with what they came to."""
        ended: list[Found] = []
        for row, change in list(self.going_on.items()):
            age = newest.n - change.n
            # Compared with what was stored since it began: of before it differs for good.
            has_settled = self.surprise.has_settled(row, change.output, newest.n - change.last)
            if age < _SHORTEST or not (has_settled or age >= _LONGEST):
                continue
            ended += self._came_to(newest, row, change)
            del self.going_on[row]
            self._renew(newest, [row])
        return ended

    def _came_to(self, newest: Record, row: int, change: OngoingChange) -> list[Found]:
        compared = self.compare(newest, row, change.output, (change.first, change.last))
        if compared is None:
            return []
        is_real, is_hidden = self.is_real(row, compared)
        rest = {"is_interaction": True} if is_real and is_hidden else {}
        final = self.describe(newest, row, compared, ended=newest.t, **rest)
        return [(row, final)]

    # State out and in.

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe; the stored observations are in the history."""
        return {
            "labels": encode_name(self.labels),
            "outputs": list(self.outputs),
            "asker": self.rechecks.state,
            "surprise": self.surprise.state,
            "since": list(self.since),
            "renewed": list(self.renewed),
            "is_warm": self.is_warm,
            "going_on": [[row, *change.to_list()] for row, change in self.going_on.items()],
            "pending": [list(item) for item in self.pending.items()],
            "candidates": sorted(self.candidates),
            "suppressed": [list(item) for item in self._suppressed],
            "wait": list(self._wait),
            "rejected": list(self._rejected),
            "budget": self._budget,
        }

    @state.setter
    def state(self, state: State) -> None:
        self._check(state)
        self.rechecks.state = state["asker"]
        self.surprise.state = state["surprise"]
        self.since, self.is_warm = list(state["since"]), state["is_warm"]
        self.renewed = list(state["renewed"])
        self.going_on = {row: OngoingChange.restored(change) for row, *change in state["going_on"]}
        self.pending, self.candidates = dict(state["pending"]), set(state["candidates"])
        self._suppressed = [(until, size) for until, size in state["suppressed"]]
        self._wait, self._rejected = list(state["wait"]), list(state["rejected"])
        self._budget = state["budget"]

    def _check(self, state: State) -> None:
        """Raise unless a state has a number for each feature, and knows only those there are."""
        n = len(self.since)
        count, number, row = schema.count, schema.number, schema.below(n)
        schema.check(state, since=schema.each(number, n), is_warm=schema.flag, budget=number)
        schema.check(state, renewed=schema.each(schema.maybe(number), n))
        schema.check(state, wait=schema.each(number, n), rejected=schema.each(count, n))
        schema.check(state, suppressed=schema.each(schema.each(schema.maybe(number), 2), n))
        schema.check(state, candidates=schema.each(row), going_on=schema.each(schema.parts))
        schema.check(state, pending=schema.each(schema.each(count, 2)))
        rows = [each[0] for each in (*state["going_on"], *state["pending"])]
        schema.check({"rows": rows}, rows=schema.each(row))


def _ends(axis: Array) -> tuple[Any, ...]:
    if axis.dtype == object:
        return tuple(axis.tolist())
    return float(axis.min()), float(axis.max())
