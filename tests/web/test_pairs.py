"""The heat map of interactions, from the search of a run to page and report."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import pytest
from tests.web.browser import drawn, visit

import ipdp
from ipdp.core.interactions import RESULTS, Interaction, Interactions
from ipdp.log import LogReader
from ipdp.web import background, write_report
from ipdp.web.pairs import interactions_drawing
from ipdp.web.run_view import RunView

NAMES = ["<b>a", "b", "c"]


def model(x):
    return 3 * x["<b>a"] * x["b"] + x["c"]


def observations(n):
    draws = random.Random(1)
    return [{name: draws.gauss(0, 1) for name in NAMES} for _ in range(n)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Searched for after 200 and 400 of 450 observations, and at the end."""
    place = tmp_path_factory.mktemp("pairs") / "run"
    pdp = ipdp.IncrementalPDP(model, alpha=0.01)
    ipdp.run(observations(450), model, pdp, learn=False, log=place, interactions=200)
    return place


def test_a_run_logs_what_the_search_finds(run):
    with LogReader(run) as reader:
        n, values = reader.importances(explainer=RESULTS)["<b>a", "b"]
        assert n.tolist() == [200, 400, 450]
        # Two independent features of variance 1, times 3.
        assert values[-1] == pytest.approx(3, rel=0.35)
        view = RunView(reader)
        view.refresh()
        assert view.interactions[0].pair == ("<b>a", "b")
        assert view.interactions[0].share == pytest.approx(0.9, abs=0.25)
        about = view.run()
    # Pairs are no features, and the search is no explainer to choose.
    assert [one["name"] for one in about["explainers"]] == ["pdp"]
    assert len(about["features"]) == 3
    drawing, said = about["interactions"]
    assert "<b>" not in drawing
    assert said == "What two features do together, on prediction (sd), at 450."


def test_what_was_found_last_is_shown_until_there_is_more(tmp_path):
    pdp = ipdp.IncrementalPDP(model, alpha=0.01)
    ipdp.run(observations(300), model, pdp, learn=False, log=tmp_path, interactions=200)
    with LogReader(tmp_path) as reader:
        view = RunView(reader)
        view.refresh()
        assert reader.at(300).keys() == set(NAMES)
        assert view.run()["interactions"][1].endswith("at 200.")


def test_the_numbers_are_in_the_cells():
    strong, weak = (Interaction(pair, size, 0.1, size**2 / 9, 90) for pair, size in
                    ((("a", "b"), 2.0), (("a", "c"), 0.5)))  # fmt: skip
    found = Interactions((strong, weak), (), "prediction", 640)
    svg = ET.fromstring(interactions_drawing(found))
    cells = [part.attrib for part in svg if part.attrib.get("class") == "d-cell"]
    assert [float(cell.get("opacity", 1)) for cell in cells] == [1.0, 0.25]
    texts = [part.text for part in svg if part.tag == "text"]
    assert texts[0] == "Strongest: a*b, 44 % of the variance"
    assert {"2", "0.5", "a", "b", "c"} <= set(texts)
    nothing = Interactions((), (), "prediction", 10)
    assert "add up" in interactions_drawing(nothing)


def test_what_is_logged_comes_back():
    pairs = (Interaction(("a", "b"), 2.0, 0.1, 0.5, 90), Interaction(("a", "c"), 0.1, 0.1, 0, 16))
    found = Interactions(pairs[:1], pairs[1:], "yes", 640, t=7.0)
    again = Interactions.of_results(found.results(100), "yes", 8.0)
    assert again.found == pairs[:1]
    assert [one.pair for one in again.others] == [("a", "c")]
    assert (again.output, again.t) == ("yes", 7.0)


def test_page_and_report_have_it(browser, run, tmp_path):
    report = write_report(run, tmp_path / "report.html")
    assert "What features do together" in report.read_text()
    with (
        background(run) as address,
        visit(browser, address) as live,
        visit(browser, f"{report.as_uri()}#feature=1") as opened,
    ):
        for page in (live, opened):
            drawn(page)
            assert page.is_visible("#pairs .drawing")
            assert "<b>a*b" in page.inner_text("#pairs")
            assert page.inner_text("#pairs-said").endswith("at 450.")


def test_what_cannot_be_searched_is_refused():
    pdp = ipdp.IncrementalPDP(model, n_past=0)
    with pytest.raises(ValueError, match="n_past"):
        ipdp.run([], model, pdp, learn=False, interactions=100)
    pdp = ipdp.IncrementalPDP(model)
    with pytest.raises(ValueError, match="multiple of snapshot_every"):
        ipdp.run([], model, pdp, learn=False, interactions=150, snapshot_every=100)
    with pytest.raises(ValueError, match="cannot be called 'interactions'"):
        ipdp.run([], model, {"interactions": pdp}, learn=False, interactions=100)
