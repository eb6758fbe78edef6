"""A curve's readings against numpy, scipy and the frame libraries."""

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import t as student

import ipdp
from ipdp import Curve

PROPERTY = settings(deadline=None, derandomize=True)

axes = st.lists(st.integers(-1000, 1000), min_size=2, max_size=12, unique=True).map(
    lambda values: np.array(sorted(values)) / 8
)


def curve_on(*axes, n_outputs=2, seed=0, **settings):
    """A curve of random values on the given axes."""
    rng = np.random.default_rng(seed)
    shape = tuple(len(axis) for axis in axes)
    defaults = {
        "feature": "a" if len(axes) == 1 else ("a", "b"),
        "outputs": tuple(f"out{k}" for k in range(n_outputs)),
        "grid_values": list(axes),
        "average": rng.normal(size=(n_outputs, *shape)),
        "std_error": rng.uniform(0.1, 1, size=(n_outputs, *shape)),
        "n_samples": 100,
        "n_effective_points": rng.uniform(5, 100, size=shape),
        "categorical": tuple(axis.dtype == object for axis in axes),
    }
    return Curve(**{**defaults, **settings})


def objects(*values):
    axis = np.empty(len(values), dtype=object)
    axis[:] = values
    return axis


NUMBERS = np.array([1.0, 2.0, 4.0])
COLOURS = objects("blue", "green", "red")


# at


@PROPERTY
@given(axes, st.lists(st.floats(-130, 130), min_size=1, max_size=20))
def test_at_is_numpy_s_interpolation_and_nan_outside(axis, xs):
    curve = curve_on(axis)
    expected = [np.interp(xs, axis, row, left=np.nan, right=np.nan) for row in curve.average]
    np.testing.assert_allclose(curve.at(xs), expected, rtol=1e-9, atol=1e-9)


@PROPERTY
@given(axes, axes, st.lists(st.tuples(st.floats(-130, 130), st.floats(-130, 130)), min_size=1))
def test_at_of_a_pair_is_scipy_s_interpolation(first, second, positions):
    curve = curve_on(first, second)
    xs = np.array(positions)
    expected = [
        RegularGridInterpolator((first, second), plane, bounds_error=False)(xs)
        for plane in curve.average
    ]
    np.testing.assert_allclose(curve.at((xs[:, 0], xs[:, 1])), expected, rtol=1e-9, atol=1e-9)


@PROPERTY
@given(axes)
def test_at_its_own_points_it_is_the_average(axis):
    curve = curve_on(axis)
    np.testing.assert_array_equal(curve.at(axis), curve.average)


def test_at_one_value_has_one_number_for_each_output():
    assert curve_on(NUMBERS).at(3.0).shape == (2,)
    assert curve_on(NUMBERS).at([3.0]).shape == (2, 1)
    assert curve_on(NUMBERS, NUMBERS).at((3.0, 1.5)).shape == (2,)
    assert curve_on(NUMBERS, NUMBERS).at(([3.0, 2.0], [1.5, 1.0])).shape == (2, 2)


def test_at_a_whole_number_on_an_axis_of_whole_numbers():
    curve = curve_on(np.array([1, 3]), n_outputs=1, average=np.array([[10.0, 20.0]]))
    assert curve.at(2).tolist() == [15.0]


def test_at_nan_nothing_is_known():
    assert np.isnan(curve_on(NUMBERS).at(np.nan)).all()


def test_at_the_only_point():
    curve = curve_on(np.array([3.0]), average=np.array([[5.0], [6.0]]))
    assert curve.at(3.0).tolist() == [5.0, 6.0]
    assert np.isnan(curve.at(3.1)).all()


def test_at_the_points_of_a_constant_feature():
    curve = curve_on(np.array([3.0, 3.0]), n_outputs=1, average=np.array([[5.0, 5.0]]))
    assert curve.at(3.0).tolist() == [5.0]


def test_at_categories():
    curve = curve_on(COLOURS)
    np.testing.assert_array_equal(curve.at("green"), curve.average[:, 1])
    np.testing.assert_array_equal(curve.at(["red", "blue"]), curve.average[:, [2, 0]])
    mixed = curve_on(COLOURS, NUMBERS)
    np.testing.assert_allclose(mixed.at(("green", 3.0)), mixed.average[:, 1, 1:].mean(axis=1))


def test_at_errors():
    with pytest.raises(ValueError, match="no category 'pink': the curve has"):
        curve_on(COLOURS).at("pink")
    with pytest.raises(ValueError, match="needs 2 values, got 3"):
        curve_on(NUMBERS, NUMBERS).at((1.0, 2.0, 3.0))


# importance


@PROPERTY
@given(axes)
def test_importance_is_the_standard_deviation(axis):
    curve = curve_on(axis)
    np.testing.assert_allclose(curve.importance, [row.std(ddof=1) for row in curve.average])


def test_importance_of_a_category_is_a_quarter_of_its_range():
    curve = curve_on(COLOURS)
    ranges = curve.average.max(axis=1) - curve.average.min(axis=1)
    np.testing.assert_allclose(curve.importance, ranges / 4)


def test_importance_of_a_pair_is_that_of_its_whole_plane():
    curve = curve_on(NUMBERS, COLOURS)
    expected = [plane.ravel().std(ddof=1) for plane in curve.average]
    np.testing.assert_allclose(curve.importance, expected)


def test_a_flat_curve_and_a_single_point_do_not_matter():
    assert curve_on(NUMBERS, average=np.ones((2, 3))).importance.tolist() == [0, 0]
    assert curve_on(np.array([1.0])).importance.tolist() == [0, 0]
    assert curve_on(objects("a")).importance.tolist() == [0, 0]


# band


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("degrees", [20, 50, 200, 1999])
def test_the_band_is_student_s(level, degrees):
    # What the expansion leaves out is of the order 1 / degrees^4, 6e-6 at 20 degrees; at the level
    # 0.99 its factor is about 5.
    ends = curve_on(NUMBERS, n_effective_points=np.full(3, degrees + 1.0))
    low, high = ends.band(level)
    quantile = student.ppf((1 + level) / 2, degrees)
    np.testing.assert_allclose(high - ends.average, quantile * ends.std_error, rtol=5e-5)
    np.testing.assert_allclose(ends.average - low, quantile * ends.std_error, rtol=5e-5)


def test_with_few_degrees_the_band_is_off_by_less_than_one_percent():
    # As the function that computes it says, at the level 0.95.
    for degrees in (5, 7, 10):
        curve = curve_on(NUMBERS, n_effective_points=np.full(3, degrees + 1.0))
        half = curve.band()[1] - curve.average
        np.testing.assert_allclose(half, student.ppf(0.975, degrees) * curve.std_error, rtol=0.01)


def test_each_point_has_its_own_degrees():
    curve = curve_on(NUMBERS, n_effective_points=np.array([31.0, 101.0, 1001.0]))
    half = (curve.band()[1] - curve.average) / curve.std_error
    np.testing.assert_allclose(half[0], student.ppf(0.975, [30, 100, 1000]), rtol=1e-4)


def test_where_there_is_no_standard_error_there_is_no_band():
    low, high = curve_on(
        NUMBERS, std_error=np.full((2, 3), np.nan), n_effective_points=np.ones(3)
    ).band()
    assert np.isnan(low).all()
    assert np.isnan(high).all()


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, float("nan")])
def test_band_errors(level):
    with pytest.raises(ValueError, match="level must be in"):
        curve_on(NUMBERS).band(level)


# The rest of the snapshot.


def test_n_effective_is_that_of_the_median_point():
    curve = curve_on(NUMBERS, n_effective_points=np.array([1.0, 30.0, 70.0]))
    assert curve.n_effective == 30.0


def test_features_is_a_tuple_of_one_or_two():
    assert curve_on(NUMBERS).features == ("a",)
    assert curve_on(NUMBERS, NUMBERS).features == ("a", "b")


def test_a_curve_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve_on(NUMBERS).t = 3


def full_curve(*axes):
    """A curve with everything that a curve can have."""
    rng = np.random.default_rng(1)
    shape = tuple(len(axis) for axis in axes)
    numeric = len(axes) == 1 and axes[0].dtype != object
    ice = rng.normal(size=(2, 4, *shape))
    ice[0, 0, 0] = np.nan
    return curve_on(
        *axes,
        t=17,
        ice=ice,
        ice_grid_values=[rng.normal(size=(4, *shape))] if numeric else None,
        rug=[axis[:2] for axis in axes],
        missing=np.array([0.5, 0.25]),
        missing_std_error=np.array([0.1, np.nan]),
    )


ALL_AXES = [
    pytest.param((NUMBERS,), id="numbers"),
    pytest.param((np.array([1, 2, 3]),), id="whole numbers"),
    pytest.param((COLOURS,), id="categories"),
    pytest.param((objects(False, True),), id="booleans"),
    pytest.param((NUMBERS, COLOURS), id="pair"),
]


def assert_same_value(value, expected):
    if isinstance(expected, list):
        assert len(value) == len(expected)
        for item, other in zip(value, expected, strict=True):
            assert_same_value(item, other)
    elif isinstance(expected, np.ndarray):
        assert value.dtype == expected.dtype
        np.testing.assert_array_equal(value, expected)
    else:
        assert value == expected


@pytest.mark.parametrize("axes", ALL_AXES)
@pytest.mark.parametrize("make", [curve_on, full_curve])
def test_json_round_trip(make, axes):
    curve = make(*axes)
    text = json.dumps(curve.to_dict(), allow_nan=False)
    restored = Curve.from_dict(json.loads(text))
    for item in dataclasses.fields(Curve):
        assert_same_value(getattr(restored, item.name), getattr(curve, item.name))


def test_a_dict_from_before_bands_knew_dependence_is_read():
    state = curve_on(NUMBERS).to_dict()
    for name in ("inflation", "degrees", "path_length", "centred_path_length"):
        del state[name]
    del state["centred_std_error"], state["provisional"]
    curve = Curve.from_dict(state)
    assert curve.degrees is None
    assert not curve.provisional
    np.testing.assert_array_equal(curve.band(), curve_on(NUMBERS).band())


def test_a_simultaneous_band_is_wider_and_the_less_so_the_more_points_agree():
    curve = full_curve(NUMBERS)
    n = len(curve.outputs)
    alike = dataclasses.replace(curve, path_length=np.zeros(n))
    some = dataclasses.replace(curve, path_length=np.full(n, 0.5))
    widths = [
        np.nanmean(np.subtract(*c.band(simultaneous=True)[::-1])) for c in (alike, some, curve)
    ]
    assert widths[0] == pytest.approx(np.nanmean(np.subtract(*curve.band()[::-1])))
    assert widths[0] < widths[1] <= widths[2]


def test_few_degrees_of_freedom_widen_the_band_of_an_output():
    curve = full_curve(NUMBERS)
    few = dataclasses.replace(curve, degrees=np.array([3.0] + [1e9] * (len(curve.outputs) - 1)))
    width, wider = (np.subtract(*c.band()[::-1]) for c in (curve, few))
    assert np.nanmax(wider[1:] / width[1:]) == pytest.approx(1)
    assert np.nanmin(wider[0] / width[0]) > 1.2


def test_a_dict_of_another_version_is_refused():
    with pytest.raises(ValueError, match="curve of version 2; this ipdp reads version 1"):
        Curve.from_dict({**curve_on(NUMBERS).to_dict(), "version": 2})


def test_a_dict_with_a_link_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match=r"damaged: link must be one of logit, log, got 'yyy"):
        Curve.from_dict({**curve_on(NUMBERS).to_dict(), "link": "y" * 1_000})


@pytest.mark.parametrize("axes", ALL_AXES)
def test_select_keeps_one_output(axes):
    curve = full_curve(*axes)
    picked = curve.select("out1")
    assert picked.outputs == ("out1",)
    for name in ("average", "std_error", "ice", "missing", "missing_std_error"):
        np.testing.assert_array_equal(getattr(picked, name), getattr(curve, name)[1:])
    for name in ("grid_values", "n_effective_points", "rug", "t", "n_samples", "ice_grid_values"):
        assert getattr(picked, name) is getattr(curve, name)


def test_select_errors():
    with pytest.raises(ValueError, match=r"no output 'out7': the curve has \['out0', 'out1'\]"):
        curve_on(NUMBERS).select("out7")


FRAMES = [
    pytest.param("pandas", pd.DataFrame, lambda frame: frame.to_dict("records"), id="pandas"),
    pytest.param("polars", pl.DataFrame, lambda frame: frame.to_dicts(), id="polars"),
    pytest.param("pyarrow", pa.Table, lambda frame: frame.to_pylist(), id="pyarrow"),
]


@pytest.mark.parametrize(("backend", "kind", "rows_of"), FRAMES)
def test_to_frame_has_a_row_for_each_output_and_point(backend, kind, rows_of):
    curve = curve_on(NUMBERS)
    frame = curve.to_frame(backend)
    assert isinstance(frame, kind)
    assert rows_of(frame) == [
        {
            "a": NUMBERS[k],
            "output": output,
            "average": curve.average[o, k],
            "std_error": curve.std_error[o, k],
        }
        for o, output in enumerate(curve.outputs)
        for k in range(3)
    ]


@pytest.mark.parametrize(("backend", "kind", "rows_of"), FRAMES)
def test_to_frame_of_a_pair_with_categories(backend, kind, rows_of):
    curve = curve_on(NUMBERS, COLOURS)
    frame = curve.to_frame(backend)
    assert isinstance(frame, kind)
    rows = rows_of(frame)
    assert len(rows) == 2 * 3 * 3
    for row in rows:
        at = (curve.outputs.index(row["output"]), [1, 2, 4].index(row["a"]))
        value = curve.average[*at, COLOURS.tolist().index(row["b"])]
        assert row["average"] == value


@pytest.mark.parametrize("part", ["feature", "outputs", "grid"])
def test_halves_of_letters_are_written_out_in_a_frame(part):
    """JSON can hold them, UTF-8 cannot."""
    parts = {"feature": "a", "outputs": ["no"], "grid": ["u", "v"]}
    parts[part] = "\ud800" if part == "feature" else ["\ud800", *parts[part][1:]]
    pdp = ipdp.IncrementalPDP(
        lambda x: {parts["outputs"][0]: 1.0},
        [parts["feature"]],
        grid={parts["feature"]: ipdp.grid.Fixed(parts["grid"])},
    )
    pdp.explain_one({parts["feature"]: "u"})
    frame = pdp.curve(parts["feature"]).to_frame()
    text = frame.to_csv()
    assert "\\ud800" in text


def test_to_frame_is_of_pandas_unless_said_otherwise():
    assert isinstance(curve_on(NUMBERS).to_frame(), pd.DataFrame)


def test_repr_says_what_it_is():
    text = repr(curve_on(NUMBERS, COLOURS, t=5))
    assert "('a', 'b')" in text
    assert "points=3 x 3" in text
    assert "t=5" in text


def test_a_constant_curve_has_no_importance_at_all():
    curve = curve_on(np.arange(10.0), n_outputs=1, average=np.full((1, 10), 0.4130591))
    assert curve.importance.tolist() == [0.0]


def test_a_curve_without_outputs_has_no_importance():
    assert curve_on(NUMBERS, n_outputs=0).importance.shape == (0,)


def test_band_of_the_missing_value():
    known = {"missing": np.array([0.5]), "missing_std_error": np.array([0.1])}
    curve = curve_on(NUMBERS, n_outputs=1, **known)
    low, high = curve.missing_band()
    np.testing.assert_allclose([low, high], [[0.304], [0.696]], atol=1e-3)
    assert curve.missing_band(0.8)[0] > low
    for name in known:
        unknown = dataclasses.replace(curve, **{name: None})
        np.testing.assert_array_equal(unknown.missing_band(), np.full((2, 1), np.nan))


def test_importance_is_that_of_the_points_where_the_data_are():
    axis = np.array([0.0, 1.0, 2.0])
    average = np.array([[0.0, 1.0, 100.0]])
    elsewhere = [np.array([0.1] * 15 + [1.2] * 15)]
    curve = replace(curve_on(axis, n_outputs=1), average=average, rug=elsewhere)
    assert curve.weights.tolist() == [0.5, 0.5, 0.0]
    # Two values with weights of a half: the standard deviation of two numbers.
    np.testing.assert_allclose(curve.importance, np.std([0, 1], ddof=1))
    np.testing.assert_allclose(curve.equal_importance, np.std(average, ddof=1))
    assert curve.supported.tolist() == [True, True, False]


def test_few_recent_values_say_nothing_about_where_the_data_are():
    curve = replace(curve_on(np.array([0.0, 1.0, 2.0])), rug=[np.array([0.1] * 19)])
    assert curve.weights.tolist() == [1 / 3] * 3
    np.testing.assert_array_equal(curve.importance, curve.equal_importance)


def test_weights_of_categories_are_their_shares():
    curve = replace(curve_on(objects("a", "b")), rug=[objects(*"aaabbbbbbc" * 3)])
    np.testing.assert_allclose(curve.weights, [1 / 3, 2 / 3])


def test_weights_of_a_pair_are_the_shares_of_its_cells():
    x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 2.0])
    rug = [np.array([0.2, 0.9] * 10), np.array([0.1, 1.9] * 10)]
    curve = replace(curve_on(x, y), rug=rug)
    assert curve.weights.tolist() == [[0.5, 0, 0], [0, 0, 0.5]]


@pytest.mark.parametrize("place", ["grid_values", "rug"])
def test_values_of_a_feature_that_are_not_finite_are_refused(place):
    state = curve_on(NUMBERS).to_dict()
    state[place] = [[*NUMBERS[:-1].tolist(), float("nan")]]
    with pytest.raises(ValueError, match="not finite"):
        Curve.from_dict(state)
