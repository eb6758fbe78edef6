"""The document of a run: the answers first, every feature, settings once."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from tests.web.browser import drawn, visit
from tests.web.logs import EVIL, FEATURES, change_at, curves_at, write_explained, write_run

from ipdp.core.curve import feature_text
from ipdp.log import Log, LogReader
from ipdp.log.beliefs import belief
from ipdp.monitor.data.move import Move
from ipdp.web import write_report
from ipdp.web.pdf import printed
from ipdp.web.report import printed_page
from ipdp.web.run_document import _short_model, run_document, settings_rows
from ipdp.web.run_view import RunView


def content(path):
    with LogReader(path) as reader:
        view = RunView(reader)
        view.refresh()
        return view.content()


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("document") / "loans")


def test_the_answers_come_first(loans):
    text = html.unescape(run_document(content(loans)))
    quality = "Accuracy 99.9\xa0% after 2,000 observations."
    changes = "The model changed its mind once, about salary at 1,100 of 2,000"
    belief = "It relies most on "
    places = [text.index(said) for said in (quality, changes, belief, "<article")]
    assert places == sorted(places)
    assert text.count("<article") == len(FEATURES)
    for feature in FEATURES:
        assert f"</span> {feature_text(feature)}</h3>" in text


def test_a_card_has_curve_effect_over_time_and_changes(loans):
    text = html.unescape(run_document(content(loans)))
    cards = {re.search(r"</span> (.*?)</h3>", card)[1]: card for card in text.split("<article")[1:]}
    assert cards["salary"].count("<figure>") == 2  # the curve, and the effect over time
    assert "salary: model changed since 1,000" in cards["salary"]
    assert "Its changes" not in cards["age"]
    with LogReader(loans) as reader:
        said = belief(reader.at(2000)["age"])
    assert f"<p>{said[:1].upper()}{said[1:]}.</p>" in cards["age"]


def test_nothing_in_it_is_a_script_or_comes_from_elsewhere(loans):
    text = printed_page(content(loans))
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!data:image/png;base64,)', text)
    assert '<details class="card reading" open>' in text


def test_evil_names_are_text(tmp_path):
    write_run(tmp_path / "<b>evil", 600, features=EVIL, changes=(500,))
    text = run_document(content(tmp_path / "<b>evil"))
    assert "<img" not in text
    assert "<b>" not in text
    assert "</script>" not in text


def test_further_explainers_are_in_the_appendix(tmp_path):
    text = run_document(content(write_explained(tmp_path)))
    assert text.index("Appendix") < text.index("gain by shuffling")


def test_a_run_that_came_to_nothing_says_why(tmp_path):
    with Log(tmp_path) as log:
        log.begin({}, ["a"])
        log.end(0, "failed", "no column 'a' in /home/me/data/loans.csv")
    text = html.unescape(run_document(content(tmp_path)))
    assert "The run failed after 0 observations: no column 'a' in …/loans.csv." in text
    assert "<article" not in text


def test_what_only_grows_is_no_move_of_the_data(tmp_path):
    """As in the headline: a clock that was recognised as one is a note at its feature."""
    grows = Move("salary", "grows", 300, 8, after=1.0)
    with Log(tmp_path) as log:
        log.begin({}, ["salary"])
        for n in range(100, 1001, 100):
            log.snapshot(curves_at(n, ["salary"]), n)
            log.metric({"Accuracy": 0.5 + n / 1e4}, n)
        log.change(replace(change_at(600, kind="virtual"), move=grows), 600)
        log.end(1000)
    text = html.unescape(run_document(content(tmp_path)))
    assert "the data have not moved" in text
    assert "the data moved" not in text
    assert "How the data moved" not in text
    assert "salary only grows, as a clock or a counter does" in text.split("<article")[1]


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("river.forest.ARFClassifier(n_models=10, seed=42)", "ARFClassifier"),
        (
            "river.preprocessing.StandardScaler() | m.LR(river.optim.SGD(0.1))",
            "StandardScaler | LR",
        ),
        ("river.preprocessing.TargetStandardScaler(f.ARFRegressor(seed=1))", "ARFRegressor"),
        ("models:make", "models:make"),
        ("", ""),
    ],
)
def test_the_model_is_named_without_its_arguments(model, short):
    assert _short_model(model) == short


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
    path.write_text(printed_page(content(loans)))
    with visit(browser, path.as_uri(), size="phone") as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.locator("svg.drawing").count() > 2 * (len(FEATURES) - 1)
        page.emulate_media(media="print")
        assert page.locator(".feature-card:visible").count() == len(FEATURES)
        avoid = "getComputedStyle(document.querySelector('.feature-card')).breakInside"
        assert page.evaluate(avoid) == "avoid"


def test_a_report_on_paper_has_no_controls(browser, loans, tmp_path):
    path = write_report(loans, tmp_path / "report.html")
    # Features and changes are buttons, too, and stay: they are read.
    controls = "button:not(.feature, .change):visible, input:visible, select:visible, a:visible"
    with visit(browser, path.as_uri()) as page:
        assert page.locator(controls).count()
        page.emulate_media(media="print")
        assert page.locator(controls).count() == 0
        page.emulate_media(media="screen")
        page.click("#explore")
        drawn(page)
        page.emulate_media(media="print")
        assert page.locator(controls).evaluate_all("nodes => nodes.map((n) => n.className)") == [
            "brand"
        ]


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
