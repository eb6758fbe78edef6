"""The drawings of a report show what the curves are."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from tests.web.logs import EVIL, FEATURES, curve_at
from tests.web.test_odd_curves import CURVES, curve

from ipdp.web.drawings import Common, Mark, curve_drawing
from ipdp.web.over_time import carpet_drawing, series_drawing


def at(n, feature="age"):
    return curve_at(feature, n, np.random.default_rng(n))


def parts(svg, kind):
    return [part for part in ET.fromstring(svg) if kind in part.attrib.get("class", "").split()]


def heights(path):
    return [float(y) for _, y in re.findall(r"[ML]([\d.-]+) ([\d.-]+)", path.attrib["d"])]


def test_the_line_is_the_curve():
    shown = at(500)
    [line] = parts(curve_drawing(shown), ["d-line", "d-now"][1])[:1]
    drawn = -np.array(heights(line))  # down is up
    expected = shown.select("yes").average[0]
    np.testing.assert_allclose(np.corrcoef(drawn, expected)[0, 1], 1.0, atol=1e-4)
    svg = curve_drawing(shown, Common("churn"))
    assert ET.fromstring(svg)[0].text == "Chance that churn is yes"


def test_features_that_are_compared_have_one_scale():
    curves = [at(500), replace(at(500), feature="flat", average=np.full((2, 8), 0.5))]
    common = Common.of(curves)
    low, high = common.ends
    assert low < 0.2
    assert high > 0.8
    [flat] = [p for p in parts(curve_drawing(curves[1], common), "d-now") if p.tag == "path"]
    assert np.ptp(heights(flat)) == 0


@pytest.mark.parametrize("feature", FEATURES + EVIL, ids=str)
def test_every_kind_of_feature_is_drawn(feature):
    svg = curve_drawing(at(500, feature))
    assert ET.fromstring(svg).tag == "svg"
    history = [(n, at(n, feature)) for n in range(100, 1500, 100)]
    over_time = carpet_drawing(history, [Mark(300, True), Mark(9_999, False)])
    if isinstance(feature, tuple):
        assert over_time == ""
    else:
        assert len(parts(over_time, "d-mark")) == 1
        assert len(parts(over_time, "d-image")) == 2


@pytest.mark.parametrize("name", CURVES, ids=str)
def test_odd_curves_are_drawn_without_a_warning(name):
    odd = curve(name, *CURVES[name])
    assert ET.fromstring(curve_drawing(odd)).tag == "svg"
    assert "nan" not in curve_drawing(odd)
    assert "nan" not in carpet_drawing([(100, odd), (200, odd)], [])
    assert Common.of([odd]).target is None


def test_one_snapshot_has_no_effect_over_time():
    assert carpet_drawing([(100, at(100))], []) == ""
    assert carpet_drawing([], []) == ""


def test_a_wall_clock_is_on_the_axis():
    day = 86_400
    history = [(k, replace(at(100 * k), t=1_718_000_000 + k * day)) for k in range(1, 30)]
    texts = [part.text for part in parts(carpet_drawing(history, []), "d-text")]
    dates = [text for text in texts if text[-3:] in ("Jun", "Jul")]
    assert dates == ["13 Jun", "20 Jun", "27 Jun", "04 Jul"]  # a week from each to the next
    assert "observations" not in texts


def test_a_metric_over_time():
    n, values = np.arange(1, 101), np.linspace(0.5, 0.9, 100)
    svg = series_drawing("accuracy", (n, values), [Mark(50, True)])
    [line] = parts(svg, "d-metric")
    assert heights(line)[0] > heights(line)[-1]
    assert len(parts(svg, "d-model")) == 1
    assert series_drawing("accuracy", (n[:1], values[:1]), []) == ""
    assert series_drawing("accuracy", (n, np.full(100, np.nan)), []) == ""


def test_a_wild_beginning_does_not_squeeze_a_metric():
    n, values = np.arange(1, 101), np.linspace(80.0, 70.0, 100)
    values[:15] = 200_000.0
    svg = series_drawing("MAE", (n, values), [])
    [line] = parts(svg, "d-metric")
    assert len(heights(line)) == 85  # nothing is drawn of the rest, as if it were at the top
    assert max(heights(line)) - min(heights(line)) > 60
    assert "beyond this scale until 15" in svg


def test_a_short_beginning_that_is_beyond_is_not_worth_a_word():
    n, values = np.arange(1, 101), np.linspace(80.0, 70.0, 100)
    values[:3] = 200_000.0
    svg = series_drawing("MAE", (n, values), [])
    assert len(heights(parts(svg, "d-metric")[0])) == 97
    assert "beyond" not in svg


def test_a_wild_end_is_seen():
    n, values = np.arange(1, 101), np.linspace(80.0, 70.0, 100)
    values[-5:] = 200_000.0
    [line] = parts(series_drawing("MAE", (n, values), []), "d-metric")
    assert heights(line)[50] - heights(line)[-1] > 60


def test_dates_are_where_the_data_were_though_they_came_unevenly():
    """Nine tenths of the observations are of the first day."""
    n = np.arange(1, 101)
    day = 86_400.0
    times = np.where(n <= 90, n / 90, n - 89.0) * day + 1_717_200_000  # 1 June
    svg = series_drawing("accuracy", (n, n / 200), [], clock=(n.astype(float), times))
    texts = [part.text for part in parts(svg, "d-text")]
    assert "time of the data (UTC)" in texts
    assert "observations" not in texts
    assert "01 Jun" in texts
    assert len(set(texts)) == len(texts)
    assert "12 Jun" not in texts


def test_a_feature_that_is_a_time_has_dates():
    grid = 1_717_200_000 + np.linspace(0, 90, 8) * 86_400
    dated = [replace(at(n), grid_values=[grid], rug=[grid], times=(True,)) for n in (100, 200)]
    carpet = carpet_drawing(list(zip((100, 200), dated, strict=True)), [])
    for svg in (curve_drawing(dated[0]), carpet):
        texts = [part.text or "" for part in parts(svg, "d-text")]
        assert any(text.endswith("Jul") for text in texts)
        assert not any("1.72e" in text for text in texts)
