"""Curves and changes arrive on the page with the log's numbers; what is left out matters least."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.web.logs import EVIL, FEATURES, change_at, curve_at, curves_at, read_frames

from ipdp.log import LoggedChange, SnapshotInfo
from ipdp.plot.shown.values import rug_of, thin_points
from ipdp.web.payload import change, curves_payload, frames, label, pack, thin, unpack


def history(feature, times=(100, 500, 700, 1200)):
    return [(SnapshotInfo(n, n, 0.0, "every"), curves_at(n)[feature]) for n in times]


@pytest.mark.parametrize("feature", FEATURES, ids=str)
def test_every_frame_is_its_curve(feature):
    items = history(feature)
    payload = json.loads(json.dumps(frames(items), allow_nan=False))
    assert payload["texts"] == [["chance of no", "chance of yes"]]
    assert (payload["main"], payload["shown"], payload["several"]) == (
        "yes",
        ["yes"],
        "chance of each class",
    )
    for (info, curve), (n, outputs, grids, average, half) in zip(
        items, read_frames(payload), strict=True
    ):
        assert n == info.n
        assert outputs == list(curve.outputs)
        for grid, axis in zip(grids, curve.grid_values, strict=True):
            if axis.dtype == object:
                assert grid == axis.tolist()
            else:
                np.testing.assert_allclose(grid, axis, rtol=1e-6, atol=1e-6 * np.ptp(axis))
        np.testing.assert_allclose(average, curve.average, rtol=1e-6)
        np.testing.assert_allclose(
            half, curve.band(simultaneous=True)[1] - curve.average, rtol=2e-6
        )


def test_a_target_is_called_by_its_name():
    curve = curve_at("age", 100, np.random.default_rng(0)).select("yes")
    payload = curves_payload([replace(curve, outputs=("price",), average=1e5 * curve.average)])
    assert payload["texts"] == [["predicted price"]]
    assert (payload["main"], payload["shown"]) == ("price", ["price"])


def test_a_class_that_is_a_number_is_called_a_class():
    curve = replace(curve_at("age", 100, np.random.default_rng(0)), outputs=(0, 1))
    assert curves_payload([curve])["texts"] == [["chance of class 0", "chance of class 1"]]


def test_of_several_targets_all_are_drawn_and_of_a_pair_the_one_that_matters_most():
    rng = np.random.default_rng(0)
    age, pair = (curve_at(feature, 100, rng) for feature in ("age", ("age", "salary")))
    several = [
        replace(curve, outputs=("price", "rent"), average=curve.average * weights)
        for curve, weights in (
            (age, np.array([[9.0], [2.0]])),
            (pair, np.array([[[9.0]], [[2.0]]])),
        )
    ]
    for curve, shown in zip(several, (["price", "rent"], ["price"]), strict=True):
        payload = curves_payload([curve])
        assert (payload["main"], payload["shown"]) == ("price", shown)
        assert payload["several"] == "prediction"


def test_rugs_missing_points_and_thin_data_are_there():
    items = history("age")
    payload = frames(items)
    rug, curve = payload["dims"][0]["rug"], items[0][1]
    shown = rug_of(curve, curve.grid_values[0])  # the histogram of the figures
    n = rug["sizes"][0]
    assert n == len(shown.counts) > 0
    np.testing.assert_allclose(unpack(rug["counts"])[:n], shown.counts)
    edges = np.append(shown.left, shown.right[-1])
    np.testing.assert_allclose(unpack(rug["edges"])[: n + 1], edges, rtol=1e-6)
    np.testing.assert_allclose(unpack(payload["missing"])[:2], [0.6, 0.4], rtol=1e-6)
    np.testing.assert_allclose(unpack(payload["missing_half"])[:2], [0.0196, 0.0196], rtol=1e-4)
    items[0][1].n_effective_points[0] = 1.0
    few = [thin_points(curve) for _, curve in items]
    assert few[0][0]
    assert unpack(frames(items)["thin"]).tolist() == np.concatenate(few).tolist()
    assert "thin" not in frames(history("colour"))
    counts = unpack(frames(history("colour"))["dims"][0]["rug"]["counts"])
    assert counts[:2].sum() == 20


def test_values_of_a_pair_stay_together():
    curve = curve_at(("age", "salary"), 100, np.random.default_rng(0))
    colours = np.array(["red", "green"], dtype=object)
    mixed = replace(
        curve,
        grid_values=[colours, curve.grid_values[1]],
        average=curve.average[:, :2],
        std_error=curve.std_error[:, :2],
        n_effective_points=curve.n_effective_points[:2],
        categorical=(True, False),
        rug=[np.array(["green", "blue", "red"], dtype=object), np.array([9.0, 1.0, 5.0])],
    )
    rugs = [dimension["rug"] for dimension in curves_payload([mixed, mixed])["dims"]]
    assert [rug["sizes"] for rug in rugs] == [[3, 3], [3, 3]]
    np.testing.assert_array_equal(unpack(rugs[0]["values"]), [1, np.nan, 0] * 2)
    np.testing.assert_array_equal(unpack(rugs[1]["values"]), [9, 1, 5] * 2)


def test_a_curve_of_nothing_but_gaps_is_no_error():
    (info, curve), *_ = history("age")
    curve.average[:] = np.nan
    curve.std_error[:] = np.nan
    assert json.dumps(frames([(info, curve)]), allow_nan=False)
    assert frames([])["n"] == []


@pytest.mark.parametrize("feature", ["salary", "colour"])
def test_a_change_has_its_sentence_and_both_curves(feature):
    logged = LoggedChange(7, 1100, change_at(1100, feature))
    payload = json.loads(json.dumps(change(logged, FEATURES), allow_nan=False))
    assert payload["feature"] == FEATURES.index(feature)
    assert payload["sentence"] == logged.change.summary()
    assert payload["curves"]["texts"] == [["chance of yes"]]
    assert (payload["id"], payload["n"], payload["began"]) == (7, 1100, 1000)
    assert payload["where"] == list(logged.change.where)
    before, after = read_frames(payload["curves"])
    np.testing.assert_allclose(before[3], logged.change.before.average, rtol=1e-6)
    np.testing.assert_allclose(after[3], logged.change.after.average, rtol=1e-6)


def test_a_change_on_another_clock_is_put_at_the_log_s():
    found = change_at(1_700_000_000)
    assert change(LoggedChange(1, 1100, found), FEATURES)["began"] == 1000


@pytest.mark.parametrize("name", [*EVIL, 3, True, ("a", "b"), "line\nbreak", "\u202etxt"])
def test_names_are_text_on_one_line(name):
    text = label(name)
    assert text.strip()
    assert text.isprintable()


values = st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30)


@given(values)
@settings(deadline=None)
def test_numbers_come_back_to_a_millionth_of_their_spread(numbers):
    array = np.array(numbers, dtype=float)
    back = unpack(pack(array)).astype(float)
    known = np.isfinite(array)
    np.testing.assert_array_equal(np.isnan(back), np.isnan(array))
    np.testing.assert_array_equal(back[~known], array[~known])
    with np.errstate(over="ignore"):
        spread = np.ptp(array[known]) if known.any() else 0.0
    if np.isfinite(spread):
        np.testing.assert_allclose(back[known], array[known], rtol=0, atol=1e-6 * spread)


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([], "f"),
        ([0.1, 0.2], "f"),
        ([0.1, 0.1], "d"),  # no spread: exact
        ([1.7e9, 1.7e9 + 60], "d"),  # times, which single precision would move by a minute
        ([1e300, 0.0], "d"),
        ([True, False], "b"),
    ],
)
def test_single_precision_is_taken_where_nobody_sees_it(numbers, kind):
    text = pack(np.array(numbers))
    assert text[0] == kind
    if kind == "d":
        np.testing.assert_array_equal(unpack(text), numbers)


times = st.lists(st.integers(0, 10_000), unique=True, min_size=2, max_size=200).map(sorted)


@given(times, st.integers(2, 50), st.lists(st.integers(0, 10_000), max_size=10))
@settings(deadline=None)
def test_ends_and_moments_stay(n, limit, moments):
    n = np.array(n)
    kept = thin(n, limit, moments)
    assert len(kept) == min(limit, len(n))
    assert (np.diff(kept) > 0).all()
    assert {kept[0], kept[-1]} == {0, len(n) - 1}
    special = {0, len(n) - 1, *(max(0, int((n <= moment).sum()) - 1) for moment in moments)}
    if len(special) <= limit:
        assert special <= set(kept.tolist())


@given(st.integers(10, 2000), st.integers(2, 50))
@settings(deadline=None)
def test_the_rest_is_spread_evenly(length, limit):
    kept = thin(np.arange(length), limit)
    gaps = np.diff(kept)
    # Middles of equal parts: next to the ends half a part is missing.
    assert gaps.max() <= np.ceil(2 * length / limit) + 1


def test_the_mean_of_the_past_is_sent_where_it_is_to_be_drawn():
    curves = [curves_at(n)["age"] for n in (500, 700)]
    assert "past" not in curves_payload(curves)
    curves[1] = replace(curves[1], smoothed=curves[1].average[::-1])
    first, second = unpack(curves_payload(curves)["past"]).reshape(2, 2, -1)
    assert np.isnan(first).all()
    np.testing.assert_allclose(second, curves[1].smoothed, atol=1e-6)
