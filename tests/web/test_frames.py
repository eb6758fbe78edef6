"""Curves and changes arrive on the page with the log's numbers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.web.logs import EVIL, FEATURES, change_at, curve_at, curves_at, read_frames

from ipdp.log import LoggedChange, SnapshotInfo
from ipdp.web.frames import change, curves_payload, frames, label
from ipdp.web.packing import unpack


def history(feature, times=(100, 500, 700, 1200)):
    return [(SnapshotInfo(n, n, 0.0, "every"), curves_at(n)[feature]) for n in times]


@pytest.mark.parametrize("feature", FEATURES, ids=str)
def test_every_frame_is_its_curve(feature):
    items = history(feature)
    payload = json.loads(json.dumps(frames(items), allow_nan=False))
    assert payload["probabilities"]
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
        np.testing.assert_allclose(half, curve.band()[1] - curve.average, rtol=2e-6)


def test_rugs_missing_points_and_thin_data_are_there():
    items = history("age")
    payload = frames(items)
    rug = unpack(payload["dims"][0]["rug"]["values"])
    np.testing.assert_allclose(rug[:20], np.sort(items[0][1].rug[0]), rtol=1e-6)
    np.testing.assert_allclose(unpack(payload["missing"])[:2], [0.6, 0.4], rtol=1e-6)
    assert "thin" not in payload
    items[0][1].n_effective_points[0] = 1.0
    assert unpack(frames(items)["thin"]).tolist() == [1] + [0] * 31
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
