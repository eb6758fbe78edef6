"""Curves on a moving grid, read at fixed places."""

import json

import numpy as np
import pytest

from ipdp.grid import MinMax
from ipdp.monitor.features import Layout, Target
from ipdp.monitor.knots import Knots


def layout_of(*keys):
    targets = [Target(f"x{k}", (f"x{k}",), (MinMax(5),)) for k in range(len(keys))]
    return Layout.of(targets, range(len(keys)), list(keys), [(False,)] * len(keys))


def read_one(knots, layout, positions, values):
    at_knots, within = knots.read(layout, [positions], values[None])
    return at_knots[0], within[0]


def test_interpolates_like_numpy_whatever_the_number_of_points():
    layout = layout_of((0, 1, 2), (0, 1, 2, 3, 4))
    first = np.array([[0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 14.0, 20.0]])
    knots = Knots([0, 1])
    for row in (0, 1):
        knots.take(row, layout, first)
    moved = first + np.array([[0.05] * 3 + [-0.1] * 5])
    values = np.random.default_rng(1).normal(size=(2, 8))
    read, within = read_one(knots, layout, moved, values)
    assert within.tolist() == [True, True]
    for row, part in ((0, slice(0, 3)), (1, slice(3, 8))):
        places = knots.places[row]
        for output in range(2):
            expected = np.interp(places, moved[0, part], values[output, part])
            np.testing.assert_allclose(read[output, row, : len(places)], expected, rtol=1e-12)
    assert read[:, 0, 3:].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_many_curves_at_once_are_the_same_as_one_by_one():
    rng = np.random.default_rng(2)
    layout = layout_of((0, 1, 2), (("a",), ("b",)))
    positions = np.zeros((20, 5))
    positions[:, :3] = np.sort(rng.normal(size=(20, 3)), axis=1)
    values = rng.normal(size=(20, 2, 5))
    knots = Knots([0, 1])
    for row in (0, 1):
        knots.take(row, layout, positions[:1])
    at_knots, within = knots.read(layout, [own[None] for own in positions], values)
    assert len({tuple(row) for row in within.tolist()}) > 1
    for k in range(20):
        own, own_within = read_one(knots, layout, positions[k : k + 1], values[k])
        assert at_knots[k].tolist() == own.tolist()
        assert within[k].tolist() == own_within.tolist()


def test_a_range_that_left_the_knots():
    layout = layout_of((0, 1, 2))
    knots = Knots([0])
    knots.take(0, layout, np.array([[0.0, 1.0, 2.0]]))
    _, within = read_one(knots, layout, np.array([[1.0, 2.0, 3.0]]), np.zeros((1, 3)))
    assert not within[0]


def test_knots_lie_where_the_data_are():
    layout = layout_of((0, 1, 2))
    knots = Knots([0])
    knots.take(0, layout, np.array([[0.0, 50.0, 100.0]]), list(np.linspace(20, 30, 60)))
    # 2 % and 98 % of the way from 20 to 30.
    np.testing.assert_allclose(knots.places[0], [20.2, 25.0, 29.8])


def test_categories_are_found_by_name():
    knots = Knots([0])
    knots.take(0, layout_of((("a",), ("b",), ("c",))), np.zeros((1, 3)))
    other = layout_of((("a",), ("aa",), ("b",), ("c",)))
    read, within = read_one(knots, other, np.zeros((1, 4)), np.array([[1.0, 2.0, 3.0, 4.0]]))
    assert within[0]
    assert read[0, 0].tolist() == [1.0, 3.0, 4.0]
    _, within = read_one(knots, layout_of((("a",), ("c",))), np.zeros((1, 2)), np.zeros((1, 2)))
    assert not within[0]


def test_a_feature_without_knots_or_points_is_not_within():
    layout = layout_of((0, 1))
    knots = Knots([0, 5])
    _, within = read_one(knots, layout, np.array([[0.0, 1.0]]), np.zeros((1, 2)))
    assert within.tolist() == [False, False]


@pytest.mark.parametrize("keys", [(0, 1, 2), (("a",), ("b",), ("c",))])
def test_state_through_json(keys):
    layout, positions = layout_of(keys), np.array([[0.0, 1.0, 2.0]])
    knots, other = Knots([0]), Knots([0])
    knots.take(0, layout, positions)
    other.state = json.loads(json.dumps(knots.state))
    values = np.array([[1.0, 5.0, 2.0]])
    np.testing.assert_array_equal(
        read_one(knots, layout, positions, values)[0], read_one(other, layout, positions, values)[0]
    )
