from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.contour import QuadContourSet

from ..conftest import make_pair


def with_categories(**changes):
    axis = np.empty(3, dtype=object)
    axis[:] = ["low", "mid", "$high$"]
    values = {
        "grid_values": [make_pair().grid_values[0], axis],
        "categorical": (False, True),
        "rug": [np.array([1.0, 2.0]), axis],
    }
    return make_pair(**{**values, **changes})


def test_numbers_are_contours(ax, render):
    display = make_pair().plot(ax)
    render(ax)
    assert isinstance(display.mesh_, QuadContourSet)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "salary")
    assert display.colorbar_.ax.get_ylabel() == "prediction"
    assert display.mesh_.levels[0] <= 0
    assert display.mesh_.levels[-1] >= 120
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 3), (10, 40))
    assert display.lines_ == []


def test_the_rug_runs_along_the_axes(ax):
    make_pair().plot(ax)
    below, left = ax.collections[-2:]
    # -1 and -0.5 lie outside of the surface.
    assert [s[0, 0] for s in below.get_segments()] == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert [s[0, 1] for s in left.get_segments()] == [10, 15, 20, 25, 30, 35, 40]


def test_categories_are_tiles(ax, render):
    curve = with_categories()
    display = curve.plot(ax)
    render(ax)
    assert isinstance(display.mesh_, QuadMesh)
    np.testing.assert_array_equal(display.mesh_.get_array(), curve.average[0].T)
    corners = display.mesh_.get_coordinates()
    np.testing.assert_array_equal(corners[0, :, 0], [-0.5, 0.5, 1.5, 2.5, 3.5])
    np.testing.assert_array_equal(corners[:, 0, 1], [-0.5, 0.5, 1.5, 2.5])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["low", "mid", "$high$"]


def test_a_cell_without_data_stays_empty(ax):
    support = np.full((4, 3), 100.0)
    support[1, 2] = 0
    mesh = with_categories(n_effective_points=support).plot(ax).mesh_
    assert np.argwhere(np.ma.getmaskarray(mesh.get_array())).tolist() == [[2, 1]]


def test_two_classes_show_the_second_within_0_and_1(ax):
    p = np.linspace(0.01, 0.99, 12).reshape(4, 3)
    display = make_pair(outputs=("no", "yes"), average=np.stack([1 - p, p])).plot(ax)
    assert display.colorbar_.ax.get_ylabel() == "chance of yes"
    assert (display.mesh_.levels[0], display.mesh_.levels[-1]) == (0, 1)


def test_of_many_outputs_the_strongest_is_shown(ax):
    flat, steep = np.ones((4, 3)), make_pair().average[0]
    curve = make_pair(outputs=("a", "b", "c"), average=np.stack([flat, steep, flat]))
    assert curve.plot(ax).colorbar_.ax.get_ylabel() == "predicted b"


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)])
def test_small_grids(shape, ax, render):
    curve = make_pair(
        grid_values=[np.arange(float(n)) for n in shape],
        average=np.ones((1, *shape)),
        std_error=np.ones((1, *shape)),
        n_effective_points=np.ones(shape),
    )
    display = curve.plot(ax)
    render(ax)
    assert display.mesh_.get_array().shape == shape[::-1]


def test_a_flat_surface_and_a_feature_that_does_not_move(ax, render):
    flat = make_pair(average=np.full((1, 4, 3), 2.0)).plot(ax)
    assert (flat.mesh_.get_array() == 2).all()
    still = make_pair(grid_values=[np.full(4, 7.0), np.array([1.0, 2.0, 3.0])]).plot(ax)
    assert isinstance(still.mesh_, QuadMesh)
    render(ax)


def test_mesh_settings(ax):
    assert make_pair().plot(ax, mesh_kw={"cmap": "magma", "levels": 3}).mesh_.cmap.name == "magma"
