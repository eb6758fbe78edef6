"""Partial dependence and local effects together, and the band of single observations."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from tests.web.browser import drawn, settled, trace, traces, until, visit
from tests.web.logs import curve_at, curves_at

import ipdp
from ipdp.log import Log, LogReader
from ipdp.web import background, write_report
from ipdp.web.drawings import Common, curve_drawing
from ipdp.web.effects import NAME, both_kinds, effect_drawing, effect_frames, joined
from ipdp.web.payload import unpack
from ipdp.web.run_view import RunView

SPREAD = 0.3


def pdp_at(n, feature="age"):
    curve = curve_at(feature, n, np.random.default_rng(n))
    off = np.full(len(curve.grid_values[0]), 0.25)
    return replace(curve, ice_spread=np.full(curve.average.shape, SPREAD), off_data=off)


def ale_at(n, feature="age"):
    """As the PDP but for its first point, where that asks about what does not occur."""
    curve = pdp_at(n, feature)
    yes = curve.average[1] - 0.5
    yes[0] -= 0.4
    both, nothing = np.array([-yes, yes]), {"ice_spread": None, "off_data": None, "missing": None}
    return replace(curve, average=both, kind="ale", missing_std_error=None, **nothing)


def write_both(path, n=700, *, every=100):
    with Log(path) as log:
        log.begin({"explainers": {"ale": {"title": "local effects"}}})
        for t in range(every, n + 1, every):
            pdp = {**curves_at(t), **{f: pdp_at(t, f) for f in ("age", "colour")}}
            ale = {feature: ale_at(t, feature) for feature in ("age", "colour")}
            log.snapshot({"pdp": pdp, "ale": ale}, t)
        log.end(n)
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_both(tmp_path_factory.mktemp("effects") / "run")


def frames_of(run, feature):
    with LogReader(run) as reader:
        view = RunView(reader)
        view.refresh()
        k = [name["name"] for name in view.run()["features"]].index(feature)
        return view.feature(k, explainer=NAME), view.run()


def test_the_two_are_sent_at_one_level_with_what_is_to_be_seen(run):
    payload, about = frames_of(run, "age")
    assert payload["n"] == payload["beside"]["n"] == [*range(100, 701, 100)]
    ale = ale_at(700)
    np.testing.assert_allclose(unpack(payload["beside"]["average"])[-8:], ale.average[1], atol=1e-6)
    # All but the first point agree, once the PDP is at the level of the ALE.
    np.testing.assert_allclose(unpack(payload["average"])[-7:], ale.average[1][1:], atol=1e-6)
    [(start, end)] = payload["parts"][-1]["yes"]
    assert start < ale.grid_values[0][0] < end < ale.grid_values[0][2]
    said = payload["sentences"][-1]["yes"]
    assert said.startswith("Shaded: extrapolation.")
    assert said.endswith("25 % of what the PDP asks is off the data.")
    assert payload["texts"] == [["effect on the chance of no", "effect on the chance of yes"]]
    np.testing.assert_allclose(unpack(payload["spread"]), SPREAD, atol=1e-6)
    (joint,) = [one for one in about["explainers"] if one.get("joint")]
    assert [text is not None for text in joint["importance"]] == [False, True, True, False]


def test_categories_that_part_are_named(run):
    payload, _ = frames_of(run, "colour")
    assert payload["parts"][-1]["yes"] == ["green"]


def test_a_feature_that_one_of_them_does_not_know_has_no_frames(run):
    assert frames_of(run, "salary")[0]["n"] == []
    assert frames_of(run, "age*salary")[0]["n"] == []
    assert effect_frames([])["n"] == []


def test_without_both_there_is_nothing_to_join(run):
    with LogReader(run) as reader:
        newest = {name: reader.at(700, name) for name in ("pdp", "ale")}
    assert both_kinds(newest) == ("pdp", "ale")
    assert both_kinds({"pdp": newest["pdp"]}) is None
    assert joined([], []) == []


def parts(svg, kind):
    return [part for part in ET.fromstring(svg) if kind in part.attrib.get("class", "").split()]


@pytest.mark.parametrize("feature", ["age", "colour"])
def test_the_drawing_of_both(feature):
    svg, said = effect_drawing(pdp_at(700, feature), ale_at(700, feature))
    assert said.startswith("Shaded: extrapolation.")
    assert len(parts(svg, "d-beyond")) == 1
    assert parts(svg, "d-spread")
    assert {"PDP", "ALE", "single observations (± 1 sd)"} <= {e.text for e in ET.fromstring(svg)}
    assert effect_drawing(pdp_at(500), replace(ale_at(500), outputs=("x", "z"))) == ("", "")


def test_a_document_shows_the_spread_where_observations_differ():
    curve = pdp_at(500)
    assert parts(curve_drawing(curve), "d-spread")
    low, high = Common.of([curve]).ends
    assert (low, high) == (0.0, 1.0)  # chances: the spread is cut there
    same = replace(curve, ice_spread=np.full(curve.average.shape, 0.01))
    assert not parts(curve_drawing(same), "d-spread")
    assert Common.of([same]).ends[0] > 0.1


def test_the_page_draws_them_on_request(browser, run, tmp_path):
    report = write_report(run, tmp_path / "report.html")
    assert "PDP and ALE part" in report.read_text()
    with (
        background(run) as address,
        visit(browser, f"{address}#feature=1") as live,
        visit(browser, f"{report.as_uri()}#feature=1") as opened,
    ):
        for page in (live, opened):
            drawn(page)
            assert "spread" not in {one["meta"]["part"] for one in traces(page)}
            page.click("#spread")
            until(page, "ipdp.page.state.spread === true && !ipdp.page.dirty.size")
            settled(page)
            top = trace(page, part="spread")["y"][0]
            expected = pdp_at(700).average[1][0] + SPREAD
            assert top == pytest.approx(expected, abs=1e-5)
            page.keyboard.press("s")
            until(page, "ipdp.page.state.spread === false && !ipdp.page.dirty.size")
            page.select_option("#explainer", NAME)
            until(page, "ipdp.page.history && ipdp.page.history.beside && !ipdp.page.dirty.size")
            settled(page)
            line = trace(page, part="line", role="ale")
            np.testing.assert_allclose(line["y"], ale_at(700).average[1], atol=1e-5)
            shapes = page.evaluate("document.getElementById('curve').layout.shapes")
            assert [shape["type"] for shape in shapes] == ["rect"]
            assert page.inner_text("#caption").startswith("Shaded: extrapolation.")


def test_a_run_notes_what_is_off_the_data_where_there_are_local_effects(tmp_path):
    def model(x):
        return x["a"] + x["b"]

    rng = np.random.default_rng(1)
    a, noise = rng.normal(size=(2, 200))
    stream = [{"a": x, "b": x + 0.3 * e} for x, e in zip(a.tolist(), noise.tolist(), strict=True)]
    for name, kinds in (("both", [ipdp.IncrementalALE]), ("alone", [])):
        explainers = [kind(model) for kind in (ipdp.IncrementalPDP, *kinds)]
        ipdp.run(stream, model, explainers, learn=False, log=tmp_path / name)
    with LogReader(tmp_path / "both") as both, LogReader(tmp_path / "alone") as alone:
        curve = both.at(200)["a"]
        assert 0.2 < curve.off_data @ curve.weights < 0.9
        assert alone.at(200)["a"].off_data is None
