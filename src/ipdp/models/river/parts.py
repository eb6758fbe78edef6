"""What a part of a model answers, and how a part is found.

A part is recognised by the identity of river's own methods, as the nodes of trees are: what
overrides one of them is unknown. What is unknown is asked by plain calls, for this part only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import FloatArray, Label
from ipdp.models.river.copies import Asked, Copies, Groups
from ipdp.models.trees.base import Answer, Answering, Member, Walk
from ipdp.models.trees.engine import walk_of
from ipdp.models.trees.points import Points

PROBABILITIES, NUMBER = "predict_proba_one", "predict_one"
"""The methods that are computed: of classifiers, and of regressors."""

Maker = Callable[[Any], "Part | None"]
"""Makes the part of a model, None if something in the model is not known."""

_MAKERS: dict[str, dict[Any, Maker]] = {PROBABILITIES: {}, NUMBER: {}}


class Part(Answering):
    """A model, or a part of one; `whole` if nothing in it needs plain calls."""

    leaves = "closed form"
    whole = True
    cheap = False
    """Whether a plain call costs little more than finding out in what copies differ."""

    takes_scales = False
    """Whether `ice` takes, as a second argument, what scalers in front of it do to points."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @abstractmethod
    def ice(self, points: Asked) -> Answer | None: ...


def register(method: str, own: Any, maker: Maker) -> None:
    """Let models be known whose `method` is `own`; a name that this river lacks is None."""
    if own is not None:
        _MAKERS[method][own] = maker


def known_part(model: Any, method: str) -> Part | None:
    """The part of a model that is known, None for others."""
    walk = walk_of(model, method)
    if walk is not None:
        return TreePart(walk)
    maker = _MAKERS[method].get(getattr(type(model), method, None))
    return None if maker is None else maker(model)


def part_of(model: Any, method: str) -> Part:
    """The part of any model: one that is known, or plain calls."""
    return known_part(model, method) or PlainPart(model, method)


class Parts:
    """The parts of the members of a committee, which may be replaced while it learns."""

    def __init__(self, method: str) -> None:
        self.method = method
        self._parts: list[Part] = []

    def of(self, members: Sequence[Any]) -> list[Part]:
        """The part of each member."""
        parts = self._parts
        if len(parts) != len(members):
            del parts[len(members) :]
            parts += [part_of(member, self.method) for member in members[len(parts) :]]
        for place, member in enumerate(members):
            if parts[place].model is not member:
                parts[place] = part_of(member, self.method)
        return parts


class PlainPart(Part):
    """A model that is not known: one call for each copy, one for all that do not differ."""

    leaves = "plain calls"
    whole = False

    def __init__(self, model: Any, method: str) -> None:
        super().__init__(model)
        self.method = method

    def ice(self, points: Asked) -> Answer | None:
        return by_calls(getattr(self.model, self.method), points, self.method)


def by_calls(call: Callable[[Any], Any], asked: Asked, method: str) -> Answer | None:
    """The answers of plain calls."""
    unchanged, changed = _columns(asked)
    answers = {column: call(asked.at(column)) for column in changed}
    if unchanged:
        answers |= dict.fromkeys(unchanged, call(asked.x.copy()))
    return tabulated(answers, asked.columns.n, method)


def tabulated(answers: dict[int, Any], n: int, method: str) -> Answer | None:
    """Answers of a model by column, as a table; the columns that are not there are 0."""
    if method == NUMBER:
        values = np.zeros((1, n))
        values[0, list(answers)] = list(answers.values())
        return PREDICTION, values
    labels = tuple(dict.fromkeys(label for answer in answers.values() for label in answer))
    if not labels:
        return None
    values = np.zeros((len(labels), n))
    for column, answer in answers.items():
        for row, label in enumerate(labels):
            values[row, column] = answer.get(label, 0.0)
    return labels, values


def _columns(asked: Asked) -> tuple[list[int], list[int]]:
    """The columns in which nothing differs from the observation, and the others."""
    if isinstance(asked, Points):
        spans = list(asked.columns.spans.values())
        same = asked.columns.unchanged
    elif isinstance(asked, Groups):
        spans = [*asked.points.columns.spans.values(), *[(lo, hi) for lo, hi, _ in asked.others]]
        same = asked.unchanged
    else:
        spans = [(block.lo, block.hi) for block in asked.blocks if block.names]
        same = [(block.lo, block.hi) for block in asked.blocks if not block.names]
    return [k for span in same for k in range(*span)], [k for span in spans for k in range(*span)]


class TreePart(Part):
    """A tree, or an ensemble of trees, by one walk of all points."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk.model)
        self.walk = walk
        self._is_walked = False  # whether the latest answer is the walk's
        self.leaves = walk.leaves

    def ice(self, points: Asked) -> Answer | None:
        if isinstance(points, Groups):
            return by_groups(self.ice, points)
        if isinstance(points, Copies):
            return self._of_copies(points)
        if points.unordered and not points.non_numeric and not points.columns.absent:
            answer = self._of_unordered(points)
        else:
            answer = self.walk.ice(points)
        self._is_walked = True
        self.leaves = self.walk.leaves
        return answer

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        return self.walk.member(choose) if self._is_walked else None

    def simplify(self) -> bool:
        return self.walk.simplify()

    def _of_unordered(self, points: Points) -> Answer | None:
        """The answer for points such as an encoder's, in ascending order for the walk."""
        ascending, before = points.sorted()
        answer = self.walk.ice(ascending)
        if answer is None:
            return None
        values = np.empty_like(answer[1])
        values[:, before] = answer[1]
        return answer[0], values

    def _of_copies(self, copies: Copies) -> Answer | None:
        points = copies.as_points()
        if points is not None:
            return self.ice(points)
        self._is_walked = False
        return by_calls(getattr(self.model, self.walk.method), copies, self.walk.method)


def by_groups(answer: Callable[[Points], Answer | None], groups: Groups) -> Answer | None:
    """The answers for the points of each group, and for the others."""
    found = []
    for lo, hi, own in groups.others:
        of_group = answer(own)
        if of_group is None:
            return None
        found.append((lo, hi, of_group))
    # At last, as trees remember the latest observation.
    of_x = answer(groups.points)
    if of_x is None:
        return None
    all_labels = [of_x[0], *[of_group[0] for _, _, of_group in found]]
    labels = tuple(dict.fromkeys(label for own in all_labels for label in own))
    values = joined(labels, of_x)
    for lo, hi, of_group in found:
        values[:, lo:hi] = joined(labels, of_group)
    return labels, values


def joined(labels: Sequence[Label], answer: Answer) -> FloatArray:
    """The values of an answer in the order of other labels; those that it lacks are 0."""
    own, values = answer
    if own == labels:
        return values
    table = np.zeros((len(labels), values.shape[1]))
    for label, row in zip(own, values, strict=True):
        table[labels.index(label)] = row
    return table
