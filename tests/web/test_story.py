"""The document of a run: the answers first, every feature, settings once."""

from __future__ import annotations

import html
import re

import pytest
from tests.web.browser import visit
from tests.web.logs import EVIL, FEATURES, write_explained, write_run

from ipdp.core.curve import feature_text
from ipdp.log import Log, LogReader
from ipdp.web import write_report
from ipdp.web.pdf import printed
from ipdp.web.report import printed_page
from ipdp.web.run_view import RunView
from ipdp.web.story import settings_rows, story


def told(path):
    with LogReader(path) as reader:
        view = RunView(reader)
        view.refresh()
        return view.told()


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("story") / "loans")


def test_the_answers_come_first(loans):
    text = html.unescape(story(told(loans)))
    quality = "Accuracy 99.9\xa0% after 2,000 observations."
    changes = "The model changed its mind once, about salary at 1,100 of 2,000"
    belief = "It relies most on "
    places = [text.index(said) for said in (quality, changes, belief, "<article")]
    assert places == sorted(places)
    assert text.count("<article") == len(FEATURES)
    for feature in FEATURES:
        assert f"</span> {feature_text(feature)}</h3>" in text


def test_nothing_in_it_is_a_script_or_comes_from_elsewhere(loans):
    text = printed_page(told(loans))
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!data:image/png;base64,)', text)
    assert '<details class="card reading" open>' in text


def test_evil_names_are_text(tmp_path):
    write_run(tmp_path / "<b>evil", 600, features=EVIL, changes=(500,))
    text = story(told(tmp_path / "<b>evil"))
    assert "<img" not in text
    assert "<b>" not in text
    assert "</script>" not in text


def test_further_explainers_are_in_the_appendix(tmp_path):
    text = story(told(write_explained(tmp_path)))
    assert text.index("Appendix") < text.index("gain by shuffling")


def test_a_run_that_came_to_nothing_says_why(tmp_path):
    with Log(tmp_path) as log:
        log.begin({}, ["a"])
        log.end(0, "failed", "no column 'a' in /home/me/data/loans.csv")
    text = html.unescape(story(told(tmp_path)))
    assert "The run failed after 0 observations: no column 'a' in …/loans.csv." in text
    assert "<article" not in text


def test_every_setting_is_there_once():
    settings = {
        "model": "a tree",
        "alpha": 0.1,
        "command": {"model": "a tree", "alpha": 0.1, "limit": None, "data": "/home/me/x/loans.csv"},
        "explainers": {"pdp": {"alpha": 0.1, "grid": "Auto()"}, "pfi": {"alpha": 0.2}},
    }
    assert settings_rows(settings) == [
        ("model", "a tree"),
        ("alpha", "0.1"),
        ("data", "…/loans.csv"),
        ("explainers.pdp.grid", "Auto()"),
        ("explainers.pfi.alpha", "0.2"),
    ]


def test_it_fits_on_a_phone_and_on_paper(browser, loans, tmp_path):
    path = tmp_path / "paper.html"
    path.write_text(printed_page(told(loans)))
    with visit(browser, path.as_uri(), size="phone") as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.locator("svg.drawing").count() > 2 * (len(FEATURES) - 1)
        page.emulate_media(media="print")
        assert page.locator(".feature-card:visible").count() == len(FEATURES)
        avoid = "getComputedStyle(document.querySelector('.feature-card')).breakInside"
        assert page.evaluate(avoid) == "avoid"


def test_a_pdf_is_that_document(browser, loans, tmp_path):
    path = write_report(loans, tmp_path / "report.pdf")
    data = path.read_bytes()
    assert data.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type\s*/Page\b", data))
    assert 2 <= pages <= 1 + len(FEATURES) + 2


def test_a_browser_that_does_not_print_is_named(monkeypatch):
    monkeypatch.setenv("IPDP_BROWSER", "true")
    with pytest.raises(RuntimeError, match="true did not print the report: exit code 0"):
        printed("<p>")
