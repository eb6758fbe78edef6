"""The report: one file, whole or not at all, that asks nobody for anything."""

from __future__ import annotations

import html
import json
import re
import time

import numpy as np
import pytest
from tests.web.browser import drawn, go_to, settled, trace, until, visit
from tests.web.logs import EVIL, FEATURES, curves_at, write_explained, write_run

from ipdp.core.curve import Curve, feature_text
from ipdp.log import Log, LogReader
from ipdp.web import write_report
from ipdp.web.report import payload_of


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "loans")


@pytest.fixture(scope="module")
def report(run, tmp_path_factory):
    return write_report(run, tmp_path_factory.mktemp("reports") / "report.html")


def payload_in(path):
    text = path.read_text()
    found = re.search(r'<script type="application/json" id="payload">(.*?)</script>', text, re.S)
    return json.loads(found[1])


def test_the_file_holds_the_run(report, run):
    data = payload_in(report)
    with LogReader(run) as reader:
        assert data["run"]["n"] == [info.n for info in reader.snapshots()]
    assert len(data["features"]) == len(FEATURES)
    assert len(data["run"]["changes"]) == 2


def test_the_file_holds_the_results_of_all_explainers(tmp_path):
    write_explained(tmp_path)
    data = payload_in(write_report(tmp_path, tmp_path / "report.html"))
    assert len(data["features"]) == len(FEATURES) + 1
    assert set(data["others"]) == {"gain", "ale"}
    assert data["others"]["gain"][1]["n"] == data["features"][1]["n"] == data["run"]["n"]


def test_it_is_a_document_without_scripts_too(report, run):
    said = html.unescape(report.read_text().split('<div id="explorer">')[0])
    with LogReader(run) as reader:
        for logged in reader.changes():
            assert logged.change.summary(evidence=False) in said
    assert said.index("Is it right?") < said.index("the most important first")
    for feature in map(feature_text, FEATURES):
        assert f"</span> {feature}</h3>" in said
    assert said.index("Appendix") > said.rindex("</article>")
    assert said.count("a tree") == 2  # in the header and among the settings, once each


def test_nothing_in_it_points_elsewhere(report):
    text = report.read_text()
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", text)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src" not in policy


def test_a_run_of_many_features_is_thinned_until_it_fits(tmp_path):
    """The size of some of them stands for all."""
    write_run(tmp_path, 400, every=10, features=[f"x{k}" for k in range(230)])
    with LogReader(tmp_path) as reader:
        size = len(json.dumps(payload_of(reader, 2_000_000)))
    assert 1_000_000 < size < 2_200_000


def test_a_large_run_is_thinned_until_it_fits(tmp_path):
    features = [f"x{k}" for k in range(20)]
    write_run(tmp_path, 3000, every=10, features=features, changes=(1111,))
    with LogReader(tmp_path) as reader:
        whole = payload_of(reader)
        small = payload_of(reader, 400_000)
    size = len(json.dumps(small, separators=(",", ":")))
    assert len(json.dumps(whole)) > 1_000_000
    assert 300_000 < size <= 400_000
    assert len(whole["run"]["n"]) == 300
    assert {10, 1010, 1110, 3000} <= set(small["run"]["n"])
    assert all(frames["n"] == small["run"]["n"] for frames in small["features"])


def test_what_was_there_is_kept_if_it_fails(run, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("the old one")

    def fail(*_args):
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="full"):
        write_report(run, path)
    assert path.read_text() == "the old one"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_errors_say_what_to_do(run, tmp_path):
    with pytest.raises(ValueError, match="say what the report is to be called"):
        write_report(run, tmp_path)
    with pytest.raises(FileNotFoundError, match="no log"):
        write_report(tmp_path / "absent", tmp_path / "report.html")
    (tmp_path / "no.db").write_text("no")
    with pytest.raises(ValueError, match="no log of ipdp"):
        write_report(tmp_path / "no.db", tmp_path / "report.html")


def test_the_page_opens_from_disk(browser, report, run):
    with (
        LogReader(run) as reader,
        visit(browser, f"{report.as_uri()}#explore", size="phone") as page,
    ):
        drawn(page)
        assert page.inner_text("#state") == "ended"
        assert page.inner_text("#run-name") == "loans"
        assert page.locator("#follow").is_hidden()
        assert "a tree" in page.text_content("#settings")
        page.set_viewport_size({"width": 1440, "height": 900})
        page.click("[data-feature='1']")
        go_to(page, 4)
        page.click("#pin-a")
        go_to(page, 11)
        for role, n in (("a", 500), ("now", 1200)):
            expected = reader.at(n)["age"].select("yes").average[0]
            line = trace(page, part="line", role=role)
            np.testing.assert_allclose(line["y"], expected, rtol=1e-6)
        page.click(".change >> nth=0")
        settled(page)
        change = reader.changes()[0].change
        assert page.inner_text("#caption") == change.summary()
        line = trace(page, part="line", role="after")
        np.testing.assert_allclose(line["y"], change.after.average[0], rtol=1e-6)
        page.keyboard.press("Escape")
        page.keyboard.press("Home")
        page.click("#play")
        until(page, "ipdp.page.state.at > 1")


def test_coming_back_to_the_report_adds_nothing(browser, report):
    with visit(browser, f"{report.as_uri()}#explore") as page:
        drawn(page)
        length = page.evaluate("ipdp.page.run.length")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        settled(page)
        assert page.evaluate("ipdp.page.run.length") == length > 0


def test_evil_names_are_text_in_the_file(browser, tmp_path):
    directory = tmp_path / "<script>alert(2)<!--"
    write_run(directory, 600, features=EVIL, changes=(500,))
    path = write_report(directory, tmp_path / "report.html")
    assert len(payload_in(path)["run"]["features"]) == len(EVIL)
    with visit(browser, f"{path.as_uri()}#explore") as page:
        drawn(page)
        names = page.evaluate("[...document.querySelectorAll('.name')].map((n) => n.textContent)")
        assert sorted(names) == sorted(name or "''" for name in EVIL)
        assert page.locator("img").count() == 0
        assert page.title() == "<script>alert(2)<!-- · ipdp"


def test_a_run_without_curves_has_a_report_too(browser, tmp_path):
    with Log(tmp_path / "run") as log:
        log.begin({}, ["a"])
        path = write_report(log, tmp_path / "report.html")
        with visit(browser, f"{path.as_uri()}#explore") as page:
            until(page, "document.body.dataset.state === 'empty'")
            assert page.inner_text("#empty-title") == "Waiting for the first observation."
        log.snapshot(curves_at(100), 100)
        write_report(log, path)
    assert payload_in(path)["run"]["n"] == [100]


def test_a_curve_of_very_many_categories(tmp_path):
    """20,000 of them; each was looked for among all the others."""
    n = 20_000
    names = np.array([f"shop {k}" for k in range(n)], dtype=object)
    curve = Curve(
        feature="shop",
        outputs=("prediction",),
        grid_values=[names],
        average=np.arange(n, dtype=float)[None],
        std_error=np.ones((1, n)),
        n_samples=n,
        n_effective_points=np.ones(n),
        categorical=(True,),
    )
    with Log(tmp_path) as log:
        log.begin({}, ["shop"])
        for k in (1, 2):
            log.snapshot({"shop": curve}, k * n)
        log.end(2 * n)
    started = time.thread_time()
    write_report(tmp_path, tmp_path / "report.html")
    assert time.thread_time() - started < 6
