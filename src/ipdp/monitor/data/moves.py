"""Moves of the data: the values of each feature, watched without the model.

Values are collected in blocks of 32. What a block says of a feature (`value_blocks`) goes into
series that are tested at many time scales against their own past (`block_scales`); runs of equal
values and directions are counted (`repeats`). What has moved is described from the stored
observations before and since (`describe`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import encode_name, pack_floats, unpack_floats
from ipdp.core.typing import Array, FeatureName, FloatArray, State
from ipdp.monitor.data import describe
from ipdp.monitor.data.block_scales import BlockScales, Series
from ipdp.monitor.data.move import Move
from ipdp.monitor.data.repeats import Repeats
from ipdp.monitor.data.value_blocks import BLOCK, MISSING, PLACE, WIDTH, ValueBlocks
from ipdp.monitor.features import Layout, probe_of
from ipdp.monitor.history import History, Record

# Blocks of a feature's values from which its scale is taken.
_FOR_SCALE = 8
# Moves are looked for after so many times the warm-up: regimes that return must have been seen.
_WARM_UP = 3.5
# After a move they are so sooner: what is found then is a further one of the same change.
_WARM_UP_AGAIN = 1.5
# What a block said is kept of so many of them, to find out when a move began.
_RING = 64
# Smaller moves do not matter: of the place in standard deviations, of the logarithm of the width,
# of a share.
_LEAST_PLACE, _LEAST_WIDTH, _LEAST_SHARE = 0.5, 0.35, 0.05
# What a known season makes of the place is taken off, and much of the standard deviation with it.
_LEAST_OFF_SEASON = 0.1
# Moves of a feature that follow each other within so many observations are one change.
_SAME_CHANGE = 8192
# Of one feature there is, with all scales, a test for every so many observations.
_OBSERVATIONS_PER_TEST = 45.0
# At least this share of the tests is reckoned with, where so many alarms are allowed.
_FEWEST_COUNT = 0.2

Periods = float | Mapping[FeatureName, float] | None
"""The length of the season, of all features or of each."""


def periods_text(period: Periods) -> Any:
    """The periods as JSON has them, to compare settings."""
    if isinstance(period, Mapping):
        return [[encode_name(name), float(length)] for name, length in period.items()]
    return period and float(period)


class Found(NamedTuple):
    """A move that was found."""

    row: int  # of the feature
    move: Move
    is_further: bool  # it belongs to a change that was reported before


class DataMoves:
    """Finds moves of the values of some features.

    `numbers` are those of the features among the explainer's targets; the rest is as in `Monitor`.
    """

    def __init__(
        self,
        numbers: Sequence[int],
        names: Sequence[FeatureName],
        false_alarms_per: float,
        warm_up: int,
        period: Periods = None,
    ) -> None:
        self.numbers = tuple(numbers)
        self.names = list(names)
        self._values_of = itemgetter(*names) if len(names) > 1 else None
        # Of one feature; while further moves of it are no alarms there are fewer tests that count.
        rate = 1 / (false_alarms_per * max(len(self.names), 1))
        chance = _OBSERVATIONS_PER_TEST * rate / max(1 - rate * _SAME_CHANGE, _FEWEST_COUNT)
        self._bound = -NormalDist().inv_cdf(min(chance, 0.5) / 2)
        self._warm_up = round(_WARM_UP * warm_up / BLOCK)
        self._warm_up_again = round(_WARM_UP_AGAIN * warm_up / BLOCK)
        self._blocks = ValueBlocks(len(self.names), self._periods(period))
        self._repeats = Repeats(len(self.names))
        self._layout: Layout | None = None  # of the newest kinds
        # For each feature: the number of the last observation before its values are watched,
        self._starts = [0] * len(self.names)
        # whether it is stuck, or grows, at the moment,
        self._is_stuck = np.zeros(len(self.names), dtype=bool)
        self._some_stuck = False
        self._grows = np.zeros(len(self.names), dtype=bool)
        # and when it moved last, by the group of moves.
        self._last_moves: dict[tuple[int, str], int] = {}
        self._begin_scales()

    def _periods(self, period: Periods) -> list[float]:
        if isinstance(period, Mapping):
            return [float(period.get(name, 0.0)) for name in self.names]
        return [float(period or 0.0)] * len(self.names)

    def _begin_scales(self) -> None:
        """Start with empty series: for each feature so many as its kind has columns."""
        n_columns = self._blocks.n_columns
        shape = len(self.names), n_columns
        is_number = ~np.array(self._blocks.is_category, dtype=bool)
        is_share = np.ones(shape, dtype=bool)
        is_share[is_number, PLACE : WIDTH + 1] = False
        least = np.full(shape, _LEAST_SHARE)
        least[is_number, PLACE], least[is_number, WIDTH] = _LEAST_PLACE, _LEAST_WIDTH
        has_season = is_number & (self._blocks.periods > 0)
        least[has_season, PLACE] = _LEAST_OFF_SEASON
        first = np.ones(shape, dtype=int)
        first[is_number, PLACE], first[is_number, WIDTH] = 0, 2
        width = np.full(shape, -1)
        width[is_number, PLACE] = np.arange(len(self.names))[is_number] * n_columns + WIDTH
        series = Series(is_share.ravel(), least.ravel(), first.ravel(), width.ravel())
        self._scales = BlockScales(
            series, per_value=BLOCK, warm_up=self._warm_up, bound=self._bound
        )
        self._ring: deque[FloatArray] = deque(maxlen=_RING)
        self._ring.extend(np.full((_RING, is_share.size), np.nan))

    def update(self, record: Record, history: History) -> list[Found]:
        """Take the newest observation, which is in the history already; at the end of a block."""
        if record.n % BLOCK:
            return []
        records = history.newest(BLOCK)
        self._take_kinds(record)
        self._take_scales(record, history)
        rows = self._rows(records)
        read, values = self._blocks.read(rows, [r.t for r in records])
        is_new = self._repeats.update(values)
        if self._some_stuck:
            read[self._is_stuck, MISSING + 1 :] = np.nan  # also where it moves again in the block
            self._is_stuck &= self._repeats.run >= BLOCK
            self._some_stuck = bool(self._is_stuck.any())
        if max(self._starts, default=0) > record.n - BLOCK:
            read[np.array(self._starts) > record.n - BLOCK, MISSING] = np.nan
        said = read.ravel()
        self._ring.append(said)
        ratio, scale = self._scales.update(said)
        if not is_new and not self._scales.has_moved:
            return []
        return self._find(ratio.reshape(read.shape), scale.reshape(read.shape), record, history)

    def _rows(self, records: Sequence[Record]) -> list[Sequence[Any]]:
        """The values of the features, None where there is none."""
        if self._values_of is not None:
            with suppress(KeyError):  # quick, where all are there
                return list(map(self._values_of, [record.x for record in records]))
        return [list(map(record.x.get, self.names)) for record in records]

    def _take_kinds(self, newest: Record) -> None:
        """Which features are categories, as the explainer has it."""
        if newest.layout is self._layout:
            return
        self._layout = newest.layout
        kinds = list(self._blocks.is_category)
        for row, number in enumerate(self.numbers):
            probe = probe_of(newest.layout, number)
            if probe is not None:
                kinds[row] = probe.categories[0] is not None
        if kinds != self._blocks.is_category:
            changed = [a != b for a, b in zip(kinds, self._blocks.is_category, strict=True)]
            self._blocks.is_category = kinds
            self._begin_scales()
            for row in np.flatnonzero(changed).tolist():
                self._blocks.forget(row)
                self._starts[row] = newest.n

    def _take_scales(self, newest: Record, history: History) -> None:
        for row in sorted(self._blocks.unknown):
            first = max(self._starts[row], newest.n - _FOR_SCALE * BLOCK)
            if newest.n - self._starts[row] >= _FOR_SCALE * BLOCK:
                records = history.between(first + 1, newest.n, at_most=_FOR_SCALE * BLOCK)
                self._blocks.take_scale(row, [r.x.get(self.names[row]) for r in records])

    def _find(
        self, ratio: FloatArray, scale: Array, newest: Record, history: History
    ) -> list[Found]:
        """What has moved, described; one thing of each feature, what is sure first."""
        has_one_direction = self._repeats.direction() != 0
        found = self._find_growing(newest) if (has_one_direction | self._grows).any() else []
        ratio[has_one_direction | self._is_stuck, PLACE:] = 0.0
        is_stuck = self._repeats.is_stuck() & ~self._is_stuck & ~self._grows
        for row in np.flatnonzero(is_stuck | (ratio > 1).any(axis=1)).tolist():
            column, move = int(ratio[row].argmax()), None
            place_moved = ratio[row, PLACE:].max() > 1
            if is_stuck[row] or (place_moved and self._repeats.may_be_stuck(row)):
                move = self._stuck(row, newest, history)
            else:
                move = self._moved(row, column, int(scale[row, column]), newest, history)
            if move is not None:
                found.append(self._note(row, move, newest))
        return found

    def _find_growing(self, newest: Record) -> list[Found]:
        """Features that only grow are named once; one that has gone back is watched again."""
        direction = self._repeats.only_grows()
        new = (direction != 0) & ~self._grows
        for row in np.flatnonzero(self._grows & (direction == 0)).tolist():
            self._restart(row, newest)
        self._grows = direction != 0
        moves = [
            (int(row), Move(self.names[row], "grows", newest.t, 0, after=float(direction[row])))
            for row in np.flatnonzero(new)
        ]
        return [Found(row, move, is_further=False) for row, move in moves]

    def _stuck(self, row: int, newest: Record, history: History) -> Move:
        """The past of a stuck feature stays, for when it moves again."""
        self._is_stuck[row] = self._some_stuck = True
        self._forget_newest(row)
        run, longest = int(self._repeats.run[row]), int(self._repeats.longest[row])
        since = describe.Cut(newest.n - run, self._starts[row], newest)
        return describe.stuck(self.names[row], since, history, longest)

    def _moved(
        self, row: int, column: int, scale: int, newest: Record, history: History
    ) -> Move | None:
        n_columns = self._blocks.n_columns
        said = np.array([said[row * n_columns + column] for said in self._ring])
        n_known = min(_RING, (newest.n - self._starts[row]) // BLOCK)
        n_blocks = describe.blocks_since(said[_RING - n_known :], scale)
        name, start = self.names[row], self._starts[row]
        cut = describe.Cut(newest.n - BLOCK * n_blocks, start, newest)
        before = self._scales.past_mean(row * n_columns + column)
        if column == MISSING:
            self._scales.restart(np.array([row * n_columns]), self._warm_up_again)
            return describe.missing(name, cut, history, before, said)
        self._restart(row, newest)
        if self._blocks.is_category[row]:
            return describe.shares(name, cut, history)
        return describe.numbers(name, cut, history, is_place=column == PLACE)

    def _restart(self, row: int, newest: Record) -> None:
        """Learn anew where the values of a feature are; how often they are missing is known."""
        n_columns = self._blocks.n_columns
        own = np.arange(row * n_columns + 1, (row + 1) * n_columns)
        self._scales.restart(own, self._warm_up_again)
        self._blocks.forget(row)
        self._starts[row] = newest.n

    def _forget_newest(self, row: int) -> None:
        n_columns = self._blocks.n_columns
        self._ring[-1][row * n_columns + 1 : (row + 1) * n_columns] = np.nan

    def _note(self, row: int, move: Move, newest: Record) -> Found:
        key = row, move.group
        last = self._last_moves.get(key)
        self._last_moves[key] = newest.n
        return Found(row, move, last is not None and newest.n - last <= _SAME_CHANGE)

    def moved_at(self, row: int) -> int | None:
        """Number of the observation at which the values of a feature were last found to move."""
        return self._last_moves.get((row, "values"))

    @property
    def growing(self) -> list[FeatureName]:
        """Features that only grow, or only fall, and are not watched therefore."""
        return [name for name, grows in zip(self.names, self._grows, strict=True) if grows]

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        return {
            "blocks": self._blocks.state,
            "scales": self._scales.state,
            "repeats": self._repeats.state,
            "ring": pack_floats(np.array(self._ring)),
            "starts": list(self._starts),
            "is_stuck": self._is_stuck.tolist(),
            "grows": self._grows.tolist(),
            "last_moves": [[*key, n] for key, n in self._last_moves.items()],
        }

    @state.setter
    def state(self, state: State) -> None:
        self._blocks.state = state["blocks"]
        self._begin_scales()
        self._scales.state = state["scales"]
        self._repeats.state = state["repeats"]
        ring = unpack_floats(state["ring"])
        schema.must_fit("ring", ring, np.shape(self._ring), finite=False)
        n = len(self._is_stuck)
        schema.check(state, starts=schema.each(schema.count, n))
        moves = [{"row": row, "group": group, "n": n} for row, group, n in state["last_moves"]]
        for move in moves:
            schema.check(move, row=schema.below(n), group=schema.text, n=schema.count)
        self._ring, self._starts = deque(ring.copy(), maxlen=_RING), list(state["starts"])
        self._is_stuck, self._grows = (
            schema.array(state, name, (n,), "b") for name in ("is_stuck", "grows")
        )
        self._some_stuck = bool(self._is_stuck.any())
        self._last_moves = {(row, group): n for row, group, n in state["last_moves"]}
