"""Models that take one observation at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ipdp.core.observations import without_missing
from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import FloatArray, Observation
from ipdp.core.words import shown
from ipdp.models.base import Engine, Outputs, Probe, Rows


class RowEngine(Engine):
    """One call of a function for each point: river's models, and functions of one dict.

    Parameters
    ----------
    call
        Takes a dict; gives a number, a sequence of numbers, or a dict of numbers by output.
    model
        What the user gave.
    description
        What it was taken for.
    hard
        Whether the answer is a class to be counted (probability 1) instead of a number.
    leave_out
        Whether a missing value is left out of the dict, as in river, instead of NaN or None.

    Examples
    --------
    >>> engine = RowEngine(lambda x: 2 * x["a"], description="a function of one dict")
    >>> engine.predict([{"a": 3}]).values
    array([[[6.]]])
    """

    def __init__(
        self,
        call: Callable[[dict[Any, Any]], Any],
        *,
        model: Any = None,
        description: str,
        hard: bool = False,
        leave_out: bool = False,
    ) -> None:
        self.call = call
        self.model = call if model is None else model
        self.hard = hard
        self.leave_out = leave_out
        self._description = description

    @property
    def description(self) -> str:
        return f"{self._description}, one call for each point"

    def predict(self, observations: Sequence[Observation]) -> Outputs:
        labels, table = self._tabulate([self.call(dict(self._given(x))) for x in observations])
        return Outputs(labels, table[:, :, None])

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        answers: list[Any] = []
        for x, place in zip(observations, positions, strict=True):
            given = self._given(x)
            for probe in probes:
                answers += self._along(given, probe, place)
        labels, table = self._tabulate(answers)
        shape = (len(observations), positions.shape[2], table.shape[1])
        return Outputs(labels, table.reshape(shape).swapaxes(1, 2))

    def _given(self, x: Observation) -> Observation:
        """What the model gets of an observation."""
        return without_missing(x) if self.leave_out else x

    def _along(self, x: Observation, probe: Probe, positions: FloatArray) -> list[Any]:
        # A new dict for each call: a model may keep or change what it is given.
        call = self.call
        if len(probe.names) == 1:
            (name,) = probe.names
            values = probe.values(positions, 0)
            if not (probe.missing and self.leave_out):
                return [call({**x, name: value}) for value in values]
            without = {other: value for other, value in x.items() if other != name}
            return [call({**x, name: value}) for value in values[:-1]] + [call(without)]
        first, second = probe.names
        pairs = zip(probe.values(positions, 0), probe.values(positions, 1), strict=True)
        return [call({**x, first: a, second: b}) for a, b in pairs]

    def _tabulate(self, answers: list[Any]) -> Rows:
        """The answers as one table."""
        if self.hard:
            answers = [{} if answer is None else {answer: 1.0} for answer in answers]
        kinds = set(map(type, answers))
        if all(issubclass(kind, Mapping) for kind in kinds):
            # A class that the model has not met has probability 0; an unfitted model gives {}.
            labels = tuple(dict.fromkeys(chain.from_iterable(answers)))
            rows = [[answer.get(label, 0.0) for label in labels] for answer in answers]
            return labels, _numbers(rows, answers).reshape(len(answers), len(labels))
        if any(issubclass(kind, Mapping) for kind in kinds):
            raise ValueError("the model answered with a dict for some points and not for others")
        if type(None) in kinds:
            raise ValueError("the model answered None; it must give a number or a dict of numbers")
        table = _numbers(answers, answers).reshape(len(answers), -1)
        return (PREDICTION if table.shape[1] == 1 else None), table


def _numbers(rows: list[Any], answers: list[Any]) -> FloatArray:
    """Rows of numbers as one table, or an error that shows the first answer that has others."""
    try:
        return np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError):
        wrong = next((a for row, a in zip(rows, answers, strict=True) if not _is_row(row)), answers)
        raise ValueError(
            f"the model answered {shown(wrong)}, which is not a number, a sequence of numbers or a "
            "dict of numbers"
        ) from None


def _is_row(row: Any) -> bool:
    try:
        np.array(row, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
