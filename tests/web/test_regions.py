"""Small multiples of the parts of a feature's observations, on page and report."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.web.browser import drawn, until, visit

import ipdp
from ipdp.core.curve import Curve
from ipdp.log import LogReader
from ipdp.web import background, write_report
from ipdp.web.regions import part_drawings


def model(x):
    return x["hour"] * (2 if x["day"] == "work" else -1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("regions") / "run"
    draws = random.Random(1)
    rows = [
        {"hour": draws.uniform(0, 24), "day": draws.choice(["work", "work", "sun"])}
        for _ in range(600)
    ]
    ipdp.run(rows, model, ipdp.IncrementalRegions(model), learn=False, log=place)
    return place


def slope(path):
    ends = [float(y) for y in path.attrib["d"].replace("M", "L").replace("L", " ").split()[1::2]]
    return ends[0] - ends[-1]  # up is less


def test_a_panel_for_each_side_with_the_curve_of_all(run):
    with LogReader(run) as reader:
        curves = list(reader.at(600, "regions").values())
    whole = next(curve for curve in curves if curve.feature == "hour")
    panels = [ET.fromstring(svg) for svg in part_drawings(whole, curves)]
    titles = [panel[0].text for panel in panels]
    assert [title.partition(":")[0] for title in titles] == ["day = work", "day = sun"]
    assert titles[0].endswith(" % of the data")
    lines = [
        [part for part in panel if part.tag == "path" and kind in part.attrib["class"]]
        for panel in panels
        for kind in ("d-now", "d-past")
    ]
    slopes = [slope(line) for (line,) in lines]
    assert slopes[0] > slopes[1] > 0 > slopes[2]
    assert slopes[1] == slopes[3]  # one axis, one curve of all
    # A part, a pair and a feature without parts have none.
    assert part_drawings(next(c for c in curves if c.where), curves) == []
    assert part_drawings(Curve("b", ("y",), *[[np.arange(2.0)]], *np.zeros((2, 1, 2)), 1,
                               np.ones(2)), curves) == []  # fmt: skip


def test_parts_are_in_the_card_of_their_feature_and_have_none_of_their_own(tmp_path):
    rows = [{"a": k % 7, "shop": f"s{k % 8}"} for k in range(800)]
    pdp = ipdp.IncrementalPDP(model_of_a, ["a"], by="shop")
    ipdp.run(rows, model_of_a, pdp, learn=False, log=tmp_path / "run")
    text = write_report(tmp_path / "run", tmp_path / "report.html").read_text()
    cards = [c.split("</article>")[0] for c in text.split("<article")[1:]]
    assert [card.split("</span> ")[1].split("</h3>")[0] for card in cards] == ["a"]
    assert cards[0].count("% of the data") == 6
    assert "Shown are the 6 largest of 8 groups." in cards[0]


def model_of_a(x):
    return float(x["a"])


def test_page_and_report_have_them(browser, run, tmp_path):
    report = write_report(run, tmp_path / "report.html")
    assert report.read_text().count("Where it differs</h4>") >= 1
    assert "600 observations · 2 features" in report.read_text()
    with (
        background(run) as address,
        visit(browser, f"{address}#feature=0") as live,
        visit(browser, f"{report.as_uri()}#feature=0") as opened,
    ):
        for page in (live, opened):
            drawn(page)
            assert page.locator("#parts .drawing").count() == 2
            assert "2 features" in page.inner_text("#facts")
            assert "day = work" in page.inner_text("#parts")
            part = page.evaluate(
                "ipdp.page.run.features.findIndex((f) => f.name.includes('where'))"
            )
            page.evaluate("(k) => ipdp.page.choose(k)", part)
            until(page, "document.getElementById('parts-card').hidden")
