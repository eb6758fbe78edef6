"""What is drawn of an effect: where PDP and ALE part, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

from ipdp.plot import EffectDisplay
from ipdp.plot.shown.effect import shown_effect

from ..conftest import make_categories, make_curve

Y = np.array([1.0, 3.0, 2.0, 5.0, 4.0])


def ale_of(curve, average):
    values = np.array(average)[None]
    return replace(curve, average=values, std_error=np.full(values.shape, 0.05), kind="ale")


def shown(pdp, ale, off_data=None, *, spread=False):
    return shown_effect(pdp, ale, pdp.outputs[0], off_data, spread=spread)


def test_curves_that_agree_up_to_their_level_part_nowhere():
    pdp = make_curve(std_error=np.full((1, 5), 0.05))
    found = shown(pdp, ale_of(pdp, Y - 7.0), 0.3)
    assert found.parts == []
    assert found.sentence.startswith("PDP and ALE agree")
    np.testing.assert_allclose(found.curves[0][0].average[0], Y - 7.0)


def test_neighbouring_points_that_part_are_one_stretch():
    pdp = make_curve(std_error=np.full((1, 5), 0.05))
    found = shown(pdp, ale_of(pdp, Y - [0, 0, 0, 3, 3]), 0.37)
    assert found.parts == [(2.5, 4.5)]
    assert found.sentence.startswith("Shaded: extrapolation.")
    assert found.sentence.endswith("37 % of what the PDP asks is off the data.")


def test_within_the_bands_they_do_not_part():
    pdp = make_curve(std_error=np.full((1, 5), 2.0))
    assert shown(pdp, ale_of(pdp, Y - [0, 0, 0, 3, 3])).parts == []


def test_points_beyond_the_ale_say_nothing():
    pdp = make_curve(std_error=np.full((1, 5), 0.05))
    ale = ale_of(pdp, Y - [0, 0, 0, 3, 3])
    short = replace(
        ale,
        grid_values=[ale.grid_values[0][:3]],
        average=ale.average[:, :3],
        std_error=ale.std_error[:, :3],
        n_effective_points=ale.n_effective_points[:3],
    )
    assert shown(pdp, short).parts == []


def test_categories():
    pdp = make_categories("red", "green", "blue", ice=None)
    ale = replace(pdp, average=pdp.average + np.array([9.0, 0, 0]), kind="ale")
    found = shown(
        replace(pdp, std_error=0 * pdp.std_error), replace(ale, std_error=0 * ale.std_error)
    )
    assert found.parts == [(-0.5, 0.5)]


def test_the_spread_is_a_band_around_the_curve():
    from ipdp.plot.shown.curve import shown_curve

    curve = make_curve(ice_spread=np.full((1, 5), 0.5))
    (line,) = shown_curve(curve, spread=True).lines
    np.testing.assert_allclose(line.spread, [Y - 0.5, Y + 0.5])
    assert line.ice == []
    assert shown_curve(curve).lines[0].spread is None
    assert shown_curve(make_curve(), spread=True).lines[0].spread is None


def test_what_does_not_fit_is_refused():
    pdp = make_curve()
    with pytest.raises(ValueError, match="IncrementalALE for 'age'"):
        EffectDisplay(pdp, pdp)
    with pytest.raises(ValueError, match="IncrementalALE for 'age'"):
        EffectDisplay(pdp, replace(ale_of(pdp, Y), feature="other"))
