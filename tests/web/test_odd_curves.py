"""Curves that are out of the ordinary, on the page."""

from __future__ import annotations

import numpy as np
import pytest
from tests.web.browser import drawn, settled, trace, visit

from ipdp import Curve
from ipdp.log import Log
from ipdp.web import write_report

nan = float("nan")
X = np.linspace(0.0, 5.0, 6)
CATEGORIES = np.array([f"zip {k}" for k in range(40)], dtype=object)
CURVES = {
    "constant": ([np.full(6, 0.003467)], np.full(6, 0.4)),
    "gap": ([X], np.array([1.0, 2.0, nan, nan, 5.0, 6.0])),
    "unknown": ([X], np.full(6, nan)),
    "huge": ([1e25 * X], 1e18 * X),
    "tiny": ([1e-19 * X], 1e-12 * X),
    "many": ([CATEGORIES], np.arange(40.0)),
    ("a", "b"): ([X, X], np.add.outer(X, X)),
    ("a", "constant"): ([X, np.full(3, 7.0)], np.ones((6, 3))),
}


def curve(feature, grids, average):
    return Curve(
        feature=feature,
        outputs=("prediction",),
        grid_values=grids,
        average=average[None],
        std_error=np.where(np.isnan(average), nan, 0.1)[None],
        n_samples=100,
        n_effective_points=np.full(average.shape, 100.0),
        categorical=tuple(grid.dtype == object for grid in grids),
        rug=[grid[:3] for grid in grids],
        t=100,
    )


def written(path, n_snapshots):
    """The report of a run of these curves."""
    with Log(path / "run") as log:
        log.begin({}, list(CURVES))
        for k in range(n_snapshots):
            taken = {name: curve(name, *parts) for name, parts in CURVES.items()}
            log.snapshot(taken, 100 * (k + 1))
            log.metric({"accuracy": 0.5}, 100 * (k + 1))
        log.end(100 * n_snapshots)
    return write_report(path / "run", path / "report.html").as_uri() + "#explore"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    with visit(browser, written(tmp_path_factory.mktemp("odd"), 3)) as page:
        drawn(page)
        yield page


def choose(page, feature):
    page.evaluate("(k) => ipdp.page.choose(k)", list(CURVES).index(feature))
    settled(page)
    settled(page)


def test_each_of_them_is_drawn_without_complaint(page):
    for feature in CURVES:
        choose(page, feature)
        name = feature if isinstance(feature, str) else "*".join(feature)
        assert page.inner_text("#feature-name") == name


def test_a_constant_has_a_row_that_can_be_read_off(page):
    choose(page, "constant")
    carpet = trace(page, "carpet", part="carpet")
    low, high = carpet["y"]
    assert 0 < low < 0.003467 < high < 0.01
    assert np.array(carpet["z"]) == pytest.approx(np.zeros((1, 3)))  # against its own mean


def test_a_band_is_broken_where_the_curve_is(page):
    choose(page, "gap")
    band = trace(page, part="band")
    assert band["x"] == [0.0, 1.0, 1.0, 0.0, None, 4.0, 5.0, 5.0, 4.0]
    half = band["y"][0] - 1.0
    assert half > 0.1
    wanted = [1 + half, 2 + half, 2 - half, 1 - half, 5 + half, 6 + half, 6 - half, 5 - half]
    assert [y for y in band["y"] if y is not None] == pytest.approx(wanted, rel=1e-5)


def test_where_nothing_is_known_words_say_so(page):
    choose(page, "unknown")
    assert page.text_content("#curve .annotation-text") == "nothing yet"


def test_numbers_keep_to_their_place(page):
    shown = page.inner_text(f"[data-feature='{list(CURVES).index('huge')}'] .value")
    assert shown == "1.9e+18"
    assert page.evaluate("[ipdp.brief(-3e18), ipdp.brief(4e-5), ipdp.brief(1200)]") == [
        "\N{MINUS SIGN}3e+18",
        "4e\N{MINUS SIGN}05",
        "1,200",
    ]


def test_of_many_categories_some_are_named(page):
    choose(page, "many")
    ticks = page.evaluate("document.getElementById('carpet').layout.yaxis.ticktext")
    assert len(ticks) == 12
    assert (ticks[0], ticks[-1]) == ("zip 0", "zip 39")
    said = page.evaluate("document.getElementById('carpet').data[0].text[7][0]")
    assert "at zip 7<br>" in said


def test_a_pair_says_why_it_has_no_carpet(page):
    choose(page, ("a", "b"))
    assert page.locator("#carpet").is_hidden()
    assert page.inner_text("#carpet-card .only-pair").startswith("A pair is a surface")
    choose(page, "gap")
    assert page.locator("#carpet").is_visible()
    assert page.locator("#carpet-card .only-pair").is_hidden()


def test_a_single_snapshot_is_seen(browser, tmp_path):
    with visit(browser, written(tmp_path, 1)) as page:
        drawn(page)
        choose(page, "gap")
        low, high = trace(page, "carpet", part="carpet")["x"]
        assert low < 100 < high
        modes = page.evaluate("document.getElementById('timeline').data.map((t) => t.mode)")
        assert set(modes) == {"markers"}
