"""The real page in a real browser."""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from tests.web.browser import SIZES, TIMEOUT, drawn, go_to, settled, trace, traces, until, visit
from tests.web.logs import (
    EVIL,
    FEATURES,
    change_at,
    curve_at,
    curves_at,
    write_explained,
    write_run,
)

from ipdp.comparison import compare
from ipdp.core.curve import feature_text
from ipdp.log import Log, LogReader
from ipdp.log.beliefs import belief
from ipdp.log.headline import headline_of
from ipdp.web import background, write_report


@pytest.fixture(scope="module")
def reader(directory):
    with LogReader(directory / "loans") as reader:
        yield reader


@pytest.fixture(scope="module")
def opened(browser, address):
    with visit(browser, f"{address}runs/loans") as page:
        drawn(page)
        yield page


@pytest.fixture
def loans(opened):
    """The page of loans, as it was when it was opened."""
    opened.fill("#search", "")
    opened.evaluate("document.getElementById('search').dispatchEvent(new Event('input'))")
    opened.evaluate("document.activeElement.blur()")
    opened.evaluate(
        "ipdp.page.show({ a: null, b: null, change: null, output: null, follow: true, at: 19,"
        " versus: null })"
    )
    settled(opened)
    return opened


def choose(page, k):
    page.click(f"[data-feature='{k}']")
    until(
        page,
        "(k) => ipdp.page.state.feature === k && ipdp.page.history && !ipdp.page.dirty.size",
        k,
    )
    settled(page)


def test_the_numbers_drawn_are_the_log_s(loans, reader):
    for n in (500, 1300):
        go_to(loans, n // 100 - 1)
        for k, feature in enumerate(FEATURES[:3]):
            choose(loans, k)
            curve = reader.at(n)[feature].select("yes")
            line = trace(loans, part="line", role="now")
            np.testing.assert_allclose(line["y"], curve.average[0], rtol=1e-6)
            if feature == "colour":
                assert line["customdata"] == curve.grid_values[0].tolist()
                continue
            axis = curve.grid_values[0]
            np.testing.assert_allclose(line["x"], axis, rtol=1e-6, atol=1e-6 * np.ptp(axis))
            low, high = curve.band(simultaneous=True)
            band = trace(loans, part="band", role="now")["y"]
            np.testing.assert_allclose(band, [*high[0], *low[0][::-1]], rtol=1e-5)


def test_a_pair_and_its_surface(loans, reader):
    choose(loans, 3)
    surface = trace(loans, part="pair", role="now")
    expected = reader.at(2000)["age", "salary"].select("yes").average[0]
    np.testing.assert_allclose(surface["z"], expected.T, rtol=1e-6)
    dots = trace(loans, part="data", role="now")
    ages, salaries = reader.at(2000)["age", "salary"].rug
    np.testing.assert_allclose(dots["x"], ages, rtol=1e-6)
    np.testing.assert_allclose(dots["y"], salaries, rtol=1e-6)
    assert loans.locator("#carpet").is_hidden()
    assert loans.locator("#carpet-card .only-pair").is_visible()
    loans.keyboard.press("a")
    go_to(loans, 3)
    assert trace(loans, part="pair", role="a")["z"] == surface["z"]


def effect(curve):
    """What the curve of "yes" is above and below its own mean."""
    values = curve.select("yes").average[0]
    return values - values.mean()


def test_the_carpet_shows_every_curve(loans, reader):
    choose(loans, 1)
    carpet = trace(loans, "carpet", part="carpet")
    infos, curves = zip(*reader.history("age"), strict=True)
    assert carpet["x"] == [info.n for info in infos]
    expected = np.array([effect(curve) for curve in curves]).T
    np.testing.assert_allclose(carpet["z"], expected, rtol=1e-5, atol=1e-6)
    # Grids that move are read off at common places.
    choose(loans, 0)
    carpet = trace(loans, "carpet", part="carpet")
    z = np.array(carpet["z"], dtype=float)
    for column in (0, 7, 19):
        curve = reader.at(carpet["x"][column])["salary"].select("yes")
        expected = curve.at(np.array(carpet["y"]))[0] - curve.average[0].mean()
        known = ~np.isnan(expected) & ~np.isnan(z[:, column])
        assert known.sum() > 30
        np.testing.assert_allclose(z[known, column], expected[known], rtol=1e-5, atol=1e-6)


def test_the_timeline_has_metrics_importances_and_changes(loans, reader):
    n, values = reader.metrics()["accuracy"]
    metric = trace(loans, "timeline", part="metric")
    assert metric["x"] == n.tolist()
    np.testing.assert_allclose(metric["y"], values, rtol=1e-6)
    for k, (_, values) in enumerate(reader.importances().values()):
        line = trace(loans, "timeline", part="importance", feature=k)
        np.testing.assert_allclose(line["y"], values, rtol=1e-6)
    assert trace(loans, "timeline", part="changes")["x"] == [1100, 1500]


def test_what_the_numbers_are_is_said_on_the_axis(browser, loans, tmp_path):
    def title():
        return page.evaluate("document.querySelector('#curve .ytitle').textContent")

    page = loans
    assert title() == "chance of yes"
    page.click(".change >> nth=0")
    settled(page)
    assert title() == "chance of yes"
    page.keyboard.press("Escape")

    def target(curve):
        return replace(curve, outputs=("price",), average=1e5 * curve.average)

    change = change_at(1100)
    with Log(tmp_path / "houses") as log:
        log.begin({}, ["salary"])
        curve = curve_at("salary", 100, np.random.default_rng(0)).select("yes")
        log.snapshot({"salary": target(curve)}, 100)
        sides = {"before": target(change.before), "after": target(change.after)}
        log.change(replace(change, output="price", **sides), 1100)
        log.end(1100)
    path = write_report(tmp_path / "houses", tmp_path / "report.html")
    with visit(browser, f"{path.as_uri()}#explore") as page:
        drawn(page)
        assert title() == "predicted price"
        page.click(".change")
        settled(page)
        assert title() == "predicted price"
        assert "effect on the predicted price" in page.inner_text("#caption")


@pytest.fixture(scope="module")
def explained(browser, tmp_path_factory):
    """The page of a run of several explainers, on the server and as a report; and its log."""
    path = write_explained(tmp_path_factory.mktemp("explained") / "run")
    report = write_report(path, path.parent / "report.html")
    with (
        LogReader(path) as reader,
        background(path) as address,
        visit(browser, address) as live,
        visit(browser, f"{report.as_uri()}#explore") as opened,
    ):
        for page in (live, opened):
            drawn(page)
        yield reader, (live, opened)


def test_importances_of_each_explainer_can_be_chosen(explained):
    reader, pages = explained
    for page in pages:
        assert page.locator(".by:visible").count() == 2
        options = page.locator(".by option").all_inner_texts()
        assert options[:3] == [
            "importance of the curve (pdp)",
            "gain by shuffling (gain)",
            "importance of the curve (ale)",
        ]
        for name, title in (("gain", "gain by shuffling"), ("pdp", "importance")):
            page.select_option(".card .by select", name)
            until(page, "(name) => ipdp.page.run.by.name === name && !ipdp.page.dirty.size", name)
            settled(page)
            known = reader.importances(explainer=name)
            for feature, (n, values) in known.items():
                k = [*FEATURES, "size"].index(feature)
                line = trace(page, "timeline", part="importance", feature=k)
                assert line["x"] == n.tolist()
                np.testing.assert_allclose(line["y"], values, rtol=1e-6)
            axis = page.evaluate("document.getElementById('timeline').layout.yaxis2")
            assert axis["title"]["text"].replace("<br>", " ") == title
            assert axis["range"][0] <= min(0, *(values.min() for _, values in known.values()))
            ranked = sorted(known, key=lambda feature: -known[feature][1][-1])
            shown = page.locator("#features .name").all_inner_texts()
            assert shown[: len(ranked)] == list(map(feature_text, ranked))


def test_importances_have_their_band(explained):
    reader, pages = explained
    for page in pages:
        page.select_option(".panel .by select", "gain")
        choose(page, 1)
        until(page, "ipdp.page.run.by.histories.has(1) && !ipdp.page.dirty.size")
        settled(page)
        band = trace(page, "timeline", part="importance band", feature=1)
        low, high = reader.at(100, "gain")["age"].band()
        assert (band["y"][0], band["y"][-1]) == pytest.approx((high, low), rel=1e-5)
        said = page.inner_text("#caption")
        assert said.startswith("Gain by shuffling 0.31, number 1 of 5. Worth about")
        page.select_option(".panel .by select", "pdp")


def test_curves_of_each_explainer_can_be_chosen(explained):
    reader, pages = explained
    for page in pages:
        choose(page, 1)
        assert page.locator("#explainer option").all_inner_texts() == ["pdp", "ale"]
        for name in ("ale", "pdp"):
            page.select_option("#explainer", name)
            until(page, "(name) => ipdp.page.run.shown.name === name && ipdp.page.history", name)
            settled(page)
            expected = reader.at(1000, name)["age"].select("yes").average[0]
            np.testing.assert_allclose(trace(page, part="line")["y"], expected, rtol=1e-6)


def test_a_feature_without_a_curve_says_so(explained):
    _, pages = explained
    for page in pages:
        page.evaluate("ipdp.page.choose(4)")
        until(page, "document.body.classList.contains('no-curve')")
        assert page.inner_text("#caption").endswith("There is no curve of it.")
        assert page.locator("#curve").is_hidden()
        assert page.locator("[data-feature='4'] .spark-dot").get_attribute("r") == "0"
        choose(page, 1)
        assert page.locator("#curve").is_visible()


def test_a_run_of_importances_alone(browser, tmp_path):
    write_explained(tmp_path / "run", explainers=["gain"])
    path = write_report(tmp_path / "run", tmp_path / "report.html")
    with visit(browser, f"{path.as_uri()}#by=absent&explainer=absent") as page:
        until(page, "document.querySelector('#timeline .main-svg') !== null")
        assert page.inner_text("#feature-name") == "age"
        assert "There is no curve of it." in page.inner_text("#caption")
        assert page.locator("#curve").is_hidden()
        assert page.locator("label:has(select):visible").count() == 0


def test_a_link_names_the_explainers(browser, tmp_path):
    write_explained(tmp_path / "run")
    path = write_report(tmp_path / "run", tmp_path / "report.html")
    with visit(browser, f"{path.as_uri()}#feature=1&explainer=ale&by=gain") as page:
        drawn(page)
        assert page.evaluate("[ipdp.page.run.shown.name, ipdp.page.run.by.name]") == ["ale", "gain"]
        assert page.input_value("#explainer") == "ale"
        page.keyboard.press("Home")
        until(page, "location.hash.includes('by=gain') && location.hash.includes('n=100')")


def test_groups_are_listed_for_the_feature_that_is_looked_at(browser, tmp_path):
    """Six features with twenty groups each would be a list of 126."""
    groups = {name: f"{name}, where country = {name[0]}" for name in ("age", "salary")}
    write_run(tmp_path / "run", n=200, features=[*groups, *groups.values()], changes=())
    path = write_report(tmp_path / "run", tmp_path / "report.html")

    def shown(page):
        return {row.inner_text() for row in page.locator("#features li:visible .name").all()}

    with visit(browser, f"{path.as_uri()}#feature=0") as page:
        drawn(page)
        assert shown(page) == {*groups, groups["age"]}
        choose(page, 1)
        assert shown(page) == {*groups, groups["salary"]}
        choose(page, 3)  # the group itself
        assert shown(page) == {*groups, groups["salary"]}
        page.fill("#search", "country")
        assert shown(page) == set(groups.values())


def test_features_are_ordered_by_importance_and_found(loans, reader):
    def shown():
        rows = loans.locator("#features li:visible .name").all()
        return [row.inner_text() for row in rows]

    importance = {name: values[-1] for name, (_, values) in reader.importances().items()}
    ranked = sorted(importance, key=importance.get, reverse=True)
    names = {name: "*".join(name) if isinstance(name, tuple) else name for name in ranked}
    assert shown() == [names[name] for name in ranked]
    loans.keyboard.press("/")
    loans.keyboard.type("SAL")
    assert sorted(shown()) == ["age*salary", "salary"]
    loans.fill("#search", "colo")
    loans.keyboard.press("Enter")
    settled(loans)
    assert loans.inner_text("#feature-name") == "colour"
    loans.keyboard.press("Escape")
    assert len(shown()) == 4


def test_two_times_side_by_side(loans, reader):
    loans.evaluate("ipdp.page.source.comparison = null")  # as in a report, which has no server
    choose(loans, 1)
    go_to(loans, 4)
    loans.click("#pin-a")
    go_to(loans, 14)
    loans.click("#pin-b")
    go_to(loans, 9)
    for role, n in (("a", 500), ("b", 1500), ("now", 1000)):
        expected = reader.at(n)["age"].select("yes").average[0]
        np.testing.assert_allclose(trace(loans, part="line", role=role)["y"], expected, rtol=1e-6)
    before, after = (reader.at(n)["age"].select("yes").average[0] for n in (500, 1500))
    at = np.abs(after - before).argmax()
    said = loans.inner_text("#caption")
    assert said.startswith("From A to B the curve moved most at age = ")
    assert f"{abs((after - before)[at]):.3g}" in said
    loans.click("#legend button >> nth=0")
    settled(loans)
    assert "a" not in {trace["meta"].get("role") for trace in traces(loans)}
    loans.keyboard.press("x")
    settled(loans)
    assert loans.get_attribute("#pin-b", "aria-pressed") == "false"
    loans.evaluate("delete ipdp.page.source.comparison")


def compared(page):
    settled(page)  # by now it is known what is to be compared
    until(page, "ipdp.page.compare.answered === ipdp.page.compare.key")
    settled(page)


def test_two_times_are_judged_as_in_the_terminal(loans, reader):
    assert loans.locator("#compare-card").is_visible()  # there are other runs to compare with
    assert "Keep two times as A and B" in loans.inner_text("#compare-said")
    assert loans.locator("#compare-table").is_hidden()
    for k, place, key in ((0, 7, "a"), (0, 19, "b")):
        choose(loans, k)
        go_to(loans, place)
        loans.keyboard.press(key)
    compared(loans)
    found = compare(reader.path, at=800, against=2000)
    said = loans.inner_text("#compare-said")
    assert said == f"{found.heading}. {found['salary'].summary()}."
    assert loans.inner_text("#caption") == f"{found['salary'].summary()}."
    rows = loans.locator("#compare-rows tr").all_inner_texts()
    assert sorted(row.split("\t")[0] for row in rows) == sorted(map(feature_text, found.features))
    each = found["salary"]
    [row] = [row.split("\t") for row in rows if row.startswith("salary\t")]
    assert row == ["salary", each.verdict, *each.size_texts(), each.place_text()]
    line = trace(loans, "difference", part="difference")
    np.testing.assert_allclose(line["y"], each.shape, rtol=1e-6)
    band = trace(loans, "difference", part="difference-band")["y"]
    ends = [*(each.shape + each.half), *(each.shape - each.half)[::-1]]
    np.testing.assert_allclose(band, ends, rtol=1e-6)
    loans.click("#compare-rows button >> text='colour'")
    settled(loans)
    assert loans.evaluate("ipdp.page.state.feature") == 2
    assert found["colour"].summary() in loans.inner_text("#compare-said")


def test_another_run_is_compared_with_this_one(loans, reader):
    loans.select_option("#versus", "run:died")
    compared(loans)
    assert "died at 400" in loans.inner_text("#compare-legend")


def test_what_cannot_be_compared_says_why(browser, address):
    context = browser.new_context()  # the browser itself reports the status of the answer
    context.set_default_timeout(TIMEOUT)
    page = context.new_page()
    page.goto(f"{address}runs/loans#versus=run:broken.db")
    cannot = "document.getElementById('compare-said').textContent.startsWith('This cannot be')"
    until(page, cannot)
    settled(page)
    assert page.inner_text("#compare-said").startswith("This cannot be compared: ")
    assert page.locator("#difference").is_hidden()
    context.close()


def test_a_click_on_a_change_shows_before_and_after(loans, reader):
    # Those of the model come first; those of the data are folded.
    oldest, newest = loans.locator(".change").all()
    assert newest.is_hidden()
    oldest.click()
    settled(loans)
    change = reader.changes()[0].change
    assert loans.inner_text("#caption") == change.summary()
    assert loans.inner_text("#time") == "1,100"
    for role, curve in (("before", change.before), ("after", change.after)):
        line = trace(loans, part="line", role=role)
        np.testing.assert_allclose(line["y"], curve.average[0], rtol=1e-6)
    shapes = loans.evaluate("document.getElementById('curve').layout.shapes")
    assert (shapes[0]["x0"], shapes[0]["x1"]) == change.where
    loans.click("#moves summary")
    newest.click()
    settled(loans)
    assert loans.inner_text("#feature-name") == "colour"
    assert trace(loans, part="line", role="after")["customdata"] == ["green", "red", "blue"]
    loans.click("#back")
    settled(loans)
    assert trace(loans, part="line", role="now")
    # The keyboard goes from one to the next.
    loans.keyboard.press("n")
    settled(loans)
    assert oldest.get_attribute("aria-pressed") == "true"


def test_keys_move_through_time(loans):
    def time_shown():
        settled(loans)
        return loans.inner_text("#time")

    loans.keyboard.press("Home")
    assert time_shown() == "100"
    loans.keyboard.press("ArrowRight")
    assert time_shown() == "200"
    loans.keyboard.press("Shift+ArrowRight")
    assert time_shown() == "1,200"
    loans.keyboard.press("End")
    assert time_shown() == "2,000"
    assert loans.get_attribute("#follow", "aria-checked") == "false"
    loans.keyboard.press("Home")
    loans.keyboard.press("f")
    assert time_shown() == "2,000"
    assert loans.get_attribute("#follow", "aria-checked") == "true"
    loans.keyboard.press("Home")
    loans.keyboard.press("Space")
    until(loans, "ipdp.page.state.at > 1")
    loans.keyboard.press("Space")
    assert loans.get_attribute("#play", "aria-pressed") == "false"
    loans.keyboard.press("?")
    assert loans.locator("#help").is_visible()
    loans.keyboard.press("Escape")
    assert loans.locator("#help").is_hidden()


def test_an_output_can_be_chosen(loans, reader):
    choose(loans, 1)
    loans.select_option("#output", "no")
    settled(loans)
    expected = reader.at(2000)["age"].select("no").average[0]
    np.testing.assert_allclose(trace(loans, part="line")["y"], expected, rtol=1e-6)
    loans.select_option("#output", "*")
    settled(loans)
    assert [t["meta"]["output"] for t in traces(loans) if t["meta"]["part"] == "line"] == [
        "no",
        "yes",
    ]


def test_a_link_shows_what_was_shown(browser, address, reader):
    with visit(browser, f"{address}runs/loans#feature=1&n=700&a=300") as page:
        drawn(page)
        until(page, "document.getElementById('time').textContent === '700'")
        settled(page)
        expected = reader.at(300)["age"].select("yes").average[0]
        np.testing.assert_allclose(trace(page, part="line", role="a")["y"], expected, rtol=1e-6)
        page.keyboard.press("ArrowRight")
        until(page, "location.hash.includes('n=800')")


@pytest.mark.parametrize(("size", "dark"), [("phone", True), ("desktop", False)])
def test_it_fits_phone_and_desktop_light_and_dark(browser, address, size, dark):
    with visit(browser, f"{address}runs/loans", size=size, dark=dark) as page:
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]
        assert page.get_attribute("html", "data-theme") == ("dark" if dark else "light")
        for node in ("#curve", "#slider", "#play", "#pin-a", "#timeline", "#changes"):
            box = page.locator(node).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= SIZES[size][0]
        if size == "phone":
            assert page.locator("#features").is_hidden()
            page.click("#choose")
            choose(page, 2)
            assert page.locator("#features").is_hidden()
            assert page.inner_text("#feature-name") == "colour"
        page.click("#theme")
        settled(page)
        assert page.get_attribute("html", "data-theme") == ("light" if dark else "dark")


def test_evil_names_are_text(browser, address):
    with visit(browser, f"{address}runs/%3Cb%3Eevil") as page:
        drawn(page)
        names = page.evaluate("[...document.querySelectorAll('.name')].map((n) => n.textContent)")
        assert sorted(names) == sorted(name or "''" for name in EVIL)
        for k, name in enumerate(EVIL):
            page.evaluate("(k) => ipdp.page.choose(k)", k)
            until(page, "(k) => ipdp.page.run.histories.has(k)", k)
            settled(page)
            assert page.inner_text("#feature-name") == (name or "''")
            if 0 < len(name) < 60:
                title = page.evaluate(
                    "document.querySelector('#curve .xtitle').textContent.replace(/\\u00a0/g, ' ')"
                )
                assert title == name
            page.mouse.move(700, 300)  # what is shown of a point is text too
        assert page.locator("img, b").count() == 0
        for width, height in SIZES.values():
            page.set_viewport_size({"width": width, "height": height})
            until(page, "(width) => document.documentElement.scrollWidth === width", width)


@pytest.mark.parametrize(
    ("run", "pill", "sentence"),
    [
        (
            "died",
            "no sign of life",
            "The run broke off after 400 observations, without ",
        ),
        ("failed", "failed", "The run failed after 400 observations: KeyError: 'salary'. What "),
        ("loans", "ended", ""),
    ],
)
def test_what_went_wrong_is_said(browser, address, run, pill, sentence):
    with visit(browser, f"{address}runs/{run}") as page:
        drawn(page)
        assert page.inner_text("#state") == pill
        assert page.inner_text("#banner").startswith(sentence)


def test_before_there_is_anything(browser, address):
    with visit(browser, f"{address}runs/empty") as page:
        until(page, "document.body.dataset.state === 'empty'")
        said = "The run stopped after 0 observations, too few for a curve."
        assert page.inner_text("#empty-title") == said
        assert page.locator("#empty-hint").is_hidden()
        assert page.locator("#curve").is_hidden()


def test_runs_are_listed_and_opened(browser, address):
    with visit(browser, address) as page:
        page.wait_for_selector(".run")
        cards = page.locator(".run").all()
        assert len(cards) == 6
        page.click("text=loans")
        drawn(page)
        assert page.locator("#runs option").count() == 6


def test_a_log_that_is_none_says_so(browser, address):
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT)
    page = context.new_page()
    page.goto(f"{address}runs/broken.db")
    until(page, "document.body.dataset.state === 'unreadable'")
    assert page.inner_text("#empty-title") == "This log cannot be read"
    assert "no log of ipdp" in page.inner_text("#banner")
    context.close()


@pytest.fixture
def live(tmp_path, browser):
    """A page on a run that has begun, and its log."""
    with (
        Log(tmp_path / "live") as log,
        background(tmp_path) as address,
        visit(browser, address) as page,
    ):
        log.begin({}, FEATURES)
        log.commit()
        until(page, "document.body.dataset.state === 'empty'")
        yield log, page
        log.end(log.status.n)


def test_the_page_follows_while_the_run_writes(live):
    log, page = live

    def write():
        for n in range(100, 900, 100):
            log.snapshot(curves_at(n), n)
            log.metric({"accuracy": 0.5}, n)
            log.beat(n)
            if n == 500:
                log.change(change_at(n), n)
            log.commit()
            time.sleep(0.15)

    writer = threading.Thread(target=write)
    writer.start()
    drawn(page)
    page.evaluate("document.querySelector('#curve .main-svg').marked = true")
    page.evaluate("document.getElementById('features').firstChild.marked = true")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    until(page, "document.getElementById('time').textContent === '800'")
    writer.join()
    settled(page)
    # The same nodes, with the new numbers, and nothing asked for twice.
    assert page.evaluate("document.querySelector('#curve .main-svg').marked")
    assert page.evaluate("[...document.getElementById('features').children].some((n) => n.marked)")
    assert page.locator(".change").count() == 1
    assert page.inner_text("#state") == "running"
    name = page.evaluate("ipdp.page.state.feature")
    until(page, "(n) => ipdp.page.history.n.at(-1) === n", 800)
    settled(page)
    expected = log.at(800)[FEATURES[name]].select("yes").average[0]
    np.testing.assert_allclose(trace(page, part="line", role="now")["y"], expected, rtol=1e-6)
    assert all("after=" in url for url in asked)
    curves = [url for url in asked if "/features/" in url]
    assert len(set(curves)) == len(curves)


def test_zoom_and_time_stay_where_the_reader_left_them(live):
    log, page = live
    for n in (100, 200, 300):
        log.snapshot(curves_at(n), n)
    log.commit()
    drawn(page)
    go_to(page, 1)
    page.evaluate("Plotly.relayout('curve', {'xaxis.range[0]': 10000, 'xaxis.range[1]': 20000})")
    log.snapshot(curves_at(400), 400)
    log.commit()
    until(page, "ipdp.page.run.length === 4")
    until(page, "ipdp.page.history.length === 4")
    settled(page)
    assert page.inner_text("#time") == "200"
    assert page.evaluate("document.getElementById('curve').layout.xaxis.range") == [10000, 20000]
    choose(page, 2)
    choose(page, 0)
    assert page.evaluate("document.getElementById('curve').layout.xaxis.range[0]") < 0


def test_a_run_that_was_taken_back_starts_over(live):
    log, page = live
    for n in (100, 200, 300):
        log.snapshot(curves_at(n), n)
    log.change(change_at(300), 300)
    log.commit()
    page.wait_for_selector(".change")
    drawn(page)
    log.rewind(200)
    until(page, "ipdp.page.run.length === 2")
    settled(page)
    assert page.locator(".change").count() == 0
    assert page.inner_text("#time") == "200"


def test_a_feature_that_is_chosen_twice_is_taken_once(live):
    log, page = live
    for n in (100, 200, 300):
        log.snapshot(curves_at(n), n)
    log.commit()
    drawn(page)
    page.evaluate("Promise.all([2, 2, 2].map((k) => ipdp.page.choose(k)))")
    assert page.evaluate("ipdp.page.history.n") == [100, 200, 300]


def test_moving_through_time_moves_the_mark_and_draws_no_line_again(live):
    log, page = live
    for n in (100, 200, 300):
        log.snapshot(curves_at(n), n)
    log.end(300)
    drawn(page)
    go_to(page, 0)
    page.evaluate("document.getElementById('timeline').data[0].marked = true")
    for at, n in ((1, 200), (2, 300)):
        go_to(page, at)
        for plot in ("carpet", "timeline"):
            until(
                page,
                "([plot, n]) => document.getElementById(plot).layout.shapes[0].x0 === n",
                [plot, n],
            )
    assert page.evaluate("document.getElementById('timeline').data[0].marked")


def free_port():
    """A port for a server that comes back: not one that the system gives to others meanwhile."""
    for port in random.sample(range(20_000, 30_000), 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


def test_a_server_that_goes_away_and_comes_back(browser, tmp_path):
    with Log(tmp_path / "run") as log:
        log.begin({}, FEATURES)
        log.snapshot(curves_at(100), 100)
    port = free_port()
    with background(tmp_path, port=port) as address:
        context = browser.new_context()
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        page.goto(address)
        drawn(page)
    page.evaluate("ipdp.page.source.run().catch(() => {})")
    page.wait_for_selector("body.lost")
    assert "does not answer" in page.inner_text("#banner")
    with background(tmp_path, port=port):
        page.wait_for_selector("body:not(.lost)")
        page.wait_for_selector("#banner", state="hidden")
    context.close()


@pytest.fixture(scope="module")
def changed(browser, tmp_path_factory):
    """The page of a run whose model has changed, on the server and as a report."""
    path = tmp_path_factory.mktemp("changed") / "run"
    with Log(path) as log:
        log.begin({"model": "a tree"}, ["age", "colour"])
        for n in (900, 1100):
            curves = {
                name: curve_at(name, n, np.random.default_rng(n)) for name in ("age", "colour")
            }
            moved = {
                name: replace(curve, smoothed=curve.average if n == 900 else curve.average[::-1])
                for name, curve in curves.items()
            }
            log.snapshot(moved, n)
        log.end(1100)
    report = write_report(path, path.parent / "report.html")
    with (
        background(path) as address,
        visit(browser, address) as live,
        visit(browser, f"{report.as_uri()}#explore") as opened,
        LogReader(path) as reader,
    ):
        for page in (live, opened):
            drawn(page)
        yield reader, (live, opened)


def test_the_mean_of_the_past_is_beside_the_model_at_that_time(changed):
    reader, pages = changed
    for page in pages:
        for k, name in enumerate(("age", "colour")):
            choose(page, k)
            go_to(page, 1)
            curve = reader.at(1100)[name].select("yes")
            past = trace(page, part="past")
            np.testing.assert_allclose(past["y"], curve.smoothed[0], atol=1e-6)
            assert "mean of past answers" in page.inner_text("#legend")
            go_to(page, 0)
            assert not [one for one in traces(page) if one["meta"]["part"] == "past"]
            assert "past" not in page.inner_text("#legend")


def test_the_first_screen_answers(loans, reader):
    said = headline_of(reader)
    for name in ("quality", "changes", "belief"):
        assert loans.locator(f"#answer-{name}").is_visible()
        text = loans.inner_text(f"#answer-{name}")
        assert " %" not in text  # no line ends before it
        assert text.replace("\xa0", " ") == getattr(said, name)
    box = loans.locator("#headline").bounding_box()
    assert box["y"] + box["height"] < SIZES["desktop"][1] / 2
    choose(loans, 1)
    assert loans.inner_text("#caption").lower().startswith(belief(reader.at(2000)["age"])[:40])
    assert "if every case had this age" in loans.inner_text("#meaning")
    assert loans.locator(".reading-body").is_hidden()
    loans.click(".reading summary")
    assert loans.locator(".reading-body svg").is_visible()
    loans.click(".reading summary")


def test_axes_follow_what_is_shown(loans, reader):
    choose(loans, 0)  # whose range grows all the time
    for place in (0, 19):
        go_to(loans, place)
        grid = reader.at(100 * (place + 1))["salary"].grid_values[0]
        low, high = loans.evaluate("document.getElementById('curve').layout.xaxis.range")
        assert low < grid[0] < grid[-1] < high < 1.1 * grid[-1]
    # A part of the time that is chosen on one plot is chosen on both.
    loans.evaluate("Plotly.relayout('timeline', {'xaxis.range[0]': 450, 'xaxis.range[1]': 1250})")
    until(loans, "document.getElementById('carpet').layout.xaxis.range[0] === 450")
    until(loans, "document.getElementById('timeline').layout.xaxis.range[1] === 1250")
    assert trace(loans, "carpet", part="carpet")["x"] == list(range(500, 1201, 100))
    line = trace(loans, "timeline", part="importance", feature=0)
    assert (line["x"][0], line["x"][-1]) == (500, 1200)
    loans.evaluate("ipdp.page.show({ shown: null })")
    until(loans, "document.getElementById('carpet').layout.xaxis.range[1] === 2000")


def test_the_height_of_a_curve_is_that_of_its_own_time(browser, tmp_path):
    curve = curve_at("salary", 100, np.random.default_rng(0)).select("yes")
    with Log(tmp_path / "growing") as log:
        log.begin({}, ["salary"])
        for n, size in ((100, 1.0), (200, 100.0)):
            error = size * curve.std_error
            log.snapshot(
                {"salary": replace(curve, average=size * curve.average, std_error=error)}, n
            )
        log.end(200)
    path = write_report(tmp_path / "growing", tmp_path / "report.html")
    with visit(browser, f"{path.as_uri()}#explore") as page:
        drawn(page)
        for place, size in ((0, 1.0), (1, 100.0)):
            go_to(page, place)
            low, high = page.evaluate("document.getElementById('curve').layout.yaxis.range")
            values = size * curve.average
            assert low < values.min() < values.max() < high < 1.5 * size


def test_the_list_of_runs_says_what_each_has_come_to(browser, address):
    with visit(browser, address) as page:
        page.wait_for_selector(".run-headline")
        said = {
            row.locator(".run-title").inner_text(): row.locator(".run-headline").inner_text()
            for row in page.locator("#runs .run").all()
        }
    assert said["failed"].startswith("The run failed after 400 observations: KeyError: 'salary'.")
    assert "Accuracy 99.8 % after 400 observations." in said["failed"]
    assert "The model changed its mind once, about salary" in said["loans"]
    assert said["empty"] == "The run stopped after 0 observations, too few for a curve."
    assert "no log of ipdp" in said["broken.db"]


@pytest.fixture
def without_scripts(browser):
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(TIMEOUT)
    page = context.new_page()
    yield page
    context.close()


def test_without_scripts_there_are_sentences_and_pictures(without_scripts, address):
    page = without_scripts
    page.goto(address)
    page.click("noscript a:has-text('loans')")
    page.wait_for_url("**/runs/loans.html")
    assert "The model changed its mind once" in page.inner_text(".answers")
    assert page.locator("svg.drawing:visible").count() > 4


def test_a_report_opens_as_a_document_and_is_explored_on_demand(browser, directory, tmp_path):
    path = write_report(directory / "loans", tmp_path / "report.html")
    with visit(browser, path.as_uri(), size="phone") as page:
        assert page.locator(".document").is_visible()
        assert page.locator("#curve").is_hidden()
        page.click("#explore")
        drawn(page)
        assert page.locator(".document").is_hidden()
        page.click("#to-document")
        assert page.locator(".document").is_visible()
        page.click("#explore")
        assert page.locator("#curve .main-svg").first.is_visible()


@pytest.fixture(scope="module")
def clocked(tmp_path_factory):
    """A run with dates, from 10 June 2024, and a feature that matters little."""
    place, start, day = tmp_path_factory.mktemp("clocked") / "clocked", 1_718_000_000, 86_400
    with Log(place) as log:
        log.begin({"time": "when"}, ["age", "little"])
        for k in range(1, 9):
            rng = np.random.default_rng(k)
            curve = replace(curve_at("age", 100 * k, rng), t=start + k * day)
            flat = 0.3 + 1e-4 * curve.average
            little = replace(curve, feature="little", average=flat)
            log.snapshot({"age": curve, "little": little}, 100 * k, time=start + k * day)
        log.change(replace(change_at(600, "age"), t=start + 6 * day), 600)
        log.end(800)
    return place


def test_times_are_those_of_the_data_where_they_have_a_clock(browser, clocked, tmp_path):
    path = write_report(clocked, tmp_path / "report.html")
    with visit(browser, f"{path.as_uri()}#explore") as page:
        drawn(page)
        assert page.inner_text("#time") == "18 Jun 2024, 06:13"
        assert page.inner_text(".change .when") == "at 16 Jun 2024, 06:13"
        assert "once this week, about age on Sunday" in page.inner_text("#answer-changes")
        until(page, "document.getElementById('timeline').layout !== undefined")
        ticks = page.evaluate("document.getElementById('timeline').layout.xaxis.ticktext")
        assert ticks[0].endswith("Jun 2024, 06:13")
        page.click("#to-document")
        assert "2024-06-16 06:13" in page.inner_text(".document .sentences >> nth=0")


def test_dates_and_small_numbers_have_room(browser, clocked):
    with background(clocked) as address:
        with visit(browser, address, size="phone") as page:
            drawn(page)
            assert page.inner_text("#time") == "18 Jun 2024, 06:13"
            bar = page.locator(".timebar").bounding_box()
            for node in ("#play", "#slider", "#time", "#pin-a", "#pin-b", "#follow"):
                box = page.locator(node).bounding_box()
                assert box["x"] >= bar["x"]
                assert box["x"] + box["width"] <= bar["x"] + bar["width"]
        with visit(browser, address) as page:
            drawn(page)
            value = page.locator("[data-feature='1'] .value")
            assert value.inner_text().endswith("e\N{MINUS SIGN}05")
            assert value.evaluate("(node) => node.scrollWidth <= node.clientWidth")
