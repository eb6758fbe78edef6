"""What is prepared for the columns of a question, and let go of when they are gone."""

import weakref

import numpy as np

from ipdp.models.base import Probe
from ipdp.models.river.steps import Steps
from ipdp.models.trees.points import Columns


def points(n):
    columns = Columns((Probe(("a",), 0, n, (False,), (None,), missing=False),))
    return columns.points({"a": 1.0, "b": 2.0}, np.arange(n, dtype=float).reshape(1, 1, n))


def test_it_is_made_once_for_the_same_columns():
    made = []
    steps = Steps(lambda order, n: made.append((order, n)))
    asked = points(3)
    assert steps.of(asked) == steps.of(asked)
    assert made == [((("a", "b"), [(0, 0, 3)]), 3)]


def test_columns_of_long_ago_are_let_go():
    steps = Steps(lambda _, n: n)
    asked = points(3)
    first = weakref.ref(asked.columns)
    steps.of(asked)
    del asked
    assert first() is not None
    for n in range(4, 14):
        assert steps.of(points(n))[1] == n
    assert first() is None  # at once, not when circles are looked for
