"""What is drawn of the strongest interactions."""

import numpy as np

from ipdp.core.interactions import Interaction, Interactions
from ipdp.plot.shown.interactions import shown_interactions


def record(first, second, strength):
    return Interaction((first, second), strength, 0.1, strength / 10, 100)


def found(*others):
    best = record("b", "c", 3.0), record("a", "b", 2.0)
    return Interactions(best, others, "prediction", 640)


def test_pairs_are_cells_below_the_diagonal():
    shown = shown_interactions(found(record("a", "c", 1.0), record("a", "d", 0.5)))
    assert shown.names == ["b", "c", "a"]  # d is in no pair that was asked for
    nothing = np.nan
    np.testing.assert_array_equal(
        shown.strength, [[nothing] * 3, [3.0, nothing, nothing], [2.0, 1.0, nothing]]
    )
    assert shown.texts == [(1, 0, "3"), (2, 0, "2")]
    assert shown.title == "Strongest: b*c, 30 % of the variance"
    assert shown.hover[2][1] == "a*c: 1 ± 0.1, 10 % of the variance"


def test_without_any_it_says_so():
    shown = shown_interactions(Interactions((), (), "prediction", 640))
    assert shown.title == "No interactions: the effects of all features add up"
    assert shown.names == []


def test_of_many_features_the_strongest_are_drawn():
    many = tuple(record(f"x{2 * k}", f"x{2 * k + 1}", 20.0 - k) for k in range(10))
    shown = shown_interactions(Interactions(many, (), "prediction", 640))
    assert shown.names == [f"x{k}" for k in range(12)]
    assert len(shown.texts) == 6
