"""Where two curves can be compared."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.comparison.common import between_points, common_points

from .making import make_curve


def categories(*names, **changes):
    axis = np.empty(len(names), dtype=object)
    axis[:] = names
    return make_curve(np.arange(len(names)), points=axis, categorical=(True,), **changes)


@pytest.mark.parametrize(
    ("one", "other", "places"),
    [
        ([0, 1, 2], [0, 1, 2], [0, 1, 2]),
        ([0, 1, 2], [1, 2, 3], [1, 2]),
        ([0, 2, 4], [1, 3], [1, 2, 3]),
        ([0, 1, 2], [0, 1 + 1e-12, 2], [0, 1, 2]),
        ([0, 1], [1, 2], [1]),
        ([0, 4], [1, 3], [1, 3]),
        ([0, 1], [2, 3], None),
        ([5], [5], [5]),
    ],
)
def test_the_points_of_either_within_both(one, other, places):
    a, b = (make_curve(np.zeros(len(p)), points=np.array(p, dtype=float)) for p in (one, other))
    common = common_points(a, b)
    assert (common is None) == (places is None)
    if common is not None:
        np.testing.assert_allclose(common.places[0], places)


def test_both_curves_are_straight_between_their_points():
    a, b = make_curve([0, 4], points=[0.0, 4.0]), make_curve([0, 1, 9], points=[0.0, 1.0, 3.0])
    common = common_points(a, b)
    np.testing.assert_allclose(common.weights[0] @ a.average[0], [0, 1, 3])
    np.testing.assert_allclose(common.weights[1] @ b.average[0], [0, 1, 9])


def test_points_without_data_are_left_out():
    thin = np.array([500.0, 500.0, 1.0])
    common = common_points(make_curve([0, 1, 2], n_effective_points=thin), make_curve([0, 1, 2]))
    assert common.places[0].tolist() == [0, 1]


def test_common_categories_in_the_order_of_the_first():
    common = common_points(categories("c", "a", "b"), categories("b", "c", "d"))
    assert common.places[0].tolist() == ["c", "b"]
    assert common_points(categories("a"), categories("b")) is None
    assert common_points(categories("a"), make_curve([1, 2])) is None


def test_pairs_have_the_product_of_both_axes():
    grid = [np.array([0.0, 1.0]), np.array([10.0, 20.0, 30.0])]
    pair = make_curve(
        np.zeros(6),
        feature=("x", "y"),
        grid_values=grid,
        average=np.arange(6.0).reshape(1, 2, 3),
        std_error=np.ones((1, 2, 3)),
        centred_std_error=None,
        n_effective_points=np.full((2, 3), 9.0),
        categorical=(False, False),
    )
    common = common_points(pair, pair)
    assert len(common) == 6
    np.testing.assert_allclose(common.weights[0] @ pair.average.ravel(), np.arange(6.0))


def test_what_may_be_hidden_between_two_points():
    straight = make_curve(np.arange(6.0))
    step = make_curve([0, 0, 0, 1, 1, 1])
    other = make_curve(np.zeros(11), points=np.arange(11) / 2)
    assert not between_points(straight, common_points(straight, other)).any()
    hidden = between_points(step, common_points(step, other))[0]
    # Between 2 and 3 the step may be on either side of the middle: half of it.
    np.testing.assert_allclose(hidden, [0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize(("place", "hidden"), [(2.9, 0.9), (2.2, 0.8), (2.5, 0.5), (4.5, 0.0)])
def test_a_step_may_be_on_either_side_of_a_place(place, hidden):
    step, other = make_curve([0, 0, 0, 1, 1, 1]), make_curve([0, 0], points=[place, 4.6])
    found = between_points(step, common_points(step, other))[0]
    assert found[0] == pytest.approx(hidden)
