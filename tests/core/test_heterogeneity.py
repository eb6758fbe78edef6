"""What a curve says of effects that differ between observations."""

import dataclasses

import numpy as np
import pytest

from ipdp import Curve
from ipdp.log.blobs import curve_blob, curve_of


def made(average, spread, rug=None, outputs=("prediction",)):
    average = np.asarray(average, dtype=float)
    return Curve(
        feature="a",
        outputs=outputs,
        grid_values=[np.arange(average.shape[1], dtype=float)],
        average=average,
        std_error=np.zeros_like(average),
        n_samples=100,
        n_effective_points=np.full(average.shape[1], 100.0),
        rug=[] if rug is None else [np.asarray(rug, dtype=float)],
        ice_spread=None if spread is None else np.asarray(spread, dtype=float),
    )


def test_without_data_all_points_count_alike():
    curve = made([[0.0, 1.0, 2.0]], [[3.0, 0.0, 3.0]])
    assert curve.interaction == pytest.approx([np.sqrt(6)])
    assert curve.heterogeneity == pytest.approx([6 / (6 + 2 / 3)])


def test_points_count_by_the_recent_values_at_them():
    curve = made([[0.0, 1.0, 2.0]], [[3.0, 0.0, 3.0]], rug=[0.0] * 5 + [1.0] * 15)
    assert curve.interaction == pytest.approx([1.5])
    assert curve.heterogeneity == pytest.approx([2.25 / (2.25 + 0.25 * 0.75)])


def test_a_point_whose_spread_is_unknown_does_not_count():
    assert made([[0.0, 1.0]], [[2.0, np.nan]]).interaction == pytest.approx([2.0])
    assert np.isnan(made([[0.0, 1.0]], [[np.nan, np.nan]]).interaction).all()


def test_nothing_is_known_of_a_curve_without_a_spread():
    curve = made([[0.0, 1.0]], None)
    assert np.isnan(curve.interaction).all()
    assert np.isnan(curve.heterogeneity).all()


@pytest.mark.parametrize("spread", [0.0, 1e-13])
def test_a_feature_without_any_effect_hides_nothing(spread):
    assert made([[5.0, 5.0]], [[spread, spread]]).heterogeneity.tolist() == [0.0]


def test_each_output_has_its_own():
    curve = made([[0.0, 2.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]], outputs=("x", "y"))
    assert curve.heterogeneity.tolist() == [0.0, 1.0]
    assert curve.select("y").interaction.tolist() == [1.0]


def test_the_spread_comes_back_from_a_dict_and_from_the_log():
    curve = made([[0.0, 1.0]], [[2.0, np.nan]])
    for twin in (Curve.from_dict(curve.to_dict()), curve_of("a", curve_blob(curve))):
        assert np.array_equal(twin.ice_spread, curve.ice_spread, equal_nan=True)


def test_dicts_and_blobs_of_before_have_no_spread():
    curve = made([[0.0, 1.0]], None)
    state = curve.to_dict()
    del state["ice_spread"]
    assert Curve.from_dict(state).ice_spread is None
    assert curve_of("a", curve_blob(dataclasses.replace(curve, ice_spread=None))).ice_spread is None


def test_a_model_without_outputs_has_none():
    curve = made(np.empty((0, 2)), np.empty((0, 2)), outputs=())
    assert curve.interaction.shape == curve.heterogeneity.shape == (0,)
