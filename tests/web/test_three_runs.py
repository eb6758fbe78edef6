"""Page, report and document of runs of three kinds of models, as `ipdp run` makes them.

Nothing goes wrong in the browser, and nobody else is asked: `visit` looks at both.
"""

from __future__ import annotations

import csv
import random
import warnings

import pytest
from tests.web.browser import drawn, settled, visit
from typer.testing import CliRunner

from ipdp.cli.app import app
from ipdp.log import LogReader
from ipdp.web import background, write_report
from ipdp.web.report import printed_page
from ipdp.web.run_view import RunView

TREE = "river.tree.HoeffdingTreeClassifier(grace_period=50)"
LINEAR = "river.preprocessing.StandardScaler() | river.linear_model.LinearRegression()"


def loans(rng):
    """Two classes."""
    salary, age = rng.uniform(10, 90), rng.randint(18, 80)
    return {"salary": salary, "age": age, "granted": "yes" if salary > 50 else "no"}


def rents(rng):
    """A number."""
    size, floor = rng.uniform(20, 200), rng.randint(0, 9)
    return {"size": size, "floor": floor, "rent": round(12 * size + rng.gauss(0, 30), 2)}


def parcels(rng):
    """Three classes, with text, and cells that are empty."""
    distance, carrier = rng.uniform(5, 900), rng.choice(["north", "blue line"])
    late = distance / 300 + (carrier == "north") + rng.gauss(0, 0.3)
    outcome = "on time" if late < 1 else "late" if late < 2.5 else "lost"
    hidden = rng.random()
    return {
        "distance": "" if hidden < 0.2 else distance,
        "carrier": "" if hidden > 0.9 else carrier,
        "outcome": outcome,
    }


RUNS = {
    "granted": (loans, TREE, "chance that granted is yes"),
    "rent": (rents, LINEAR, "predicted rent"),
    "outcome": (parcels, TREE, "chance that outcome is "),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request, tmp_path_factory):
    """A run, and what its numbers are."""
    make, model, said = RUNS[request.param]
    directory, rng = tmp_path_factory.mktemp(request.param), random.Random(5)
    rows = [make(rng) for _ in range(600)]
    with (directory / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    used = ["run", "--data", str(directory / "rows.csv"), "--target", request.param]
    used += ["--model", model, "--out", str(directory / "run"), "--snapshot-every", "100", "-q"]
    with warnings.catch_warnings():  # marks of a module do not reach its fixtures
        warnings.simplefilter("default")
        result = CliRunner().invoke(app, used)
    assert result.exit_code == 0, result.stderr
    return directory / "run", said


@pytest.mark.parametrize(("size", "dark"), [("desktop", False), ("phone", True)])
def test_the_page(browser, run, size, dark):
    path, said = run
    with background(path) as address, visit(browser, address, size=size, dark=dark) as page:
        drawn(page)
        settled(page)
        assert page.inner_text("#answer-quality")
        assert said in page.inner_text("#answer-belief")
        assert page.inner_text("#answer-changes").startswith("The model")
        title = page.evaluate("document.getElementById('curve').layout.yaxis.title.text")
        assert said in title or title == "chance of each outcome"
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


@pytest.mark.parametrize(("size", "dark"), [("desktop", True), ("phone", False)])
def test_the_report(browser, run, tmp_path, size, dark):
    path, said = run
    report = write_report(path, tmp_path / "report.html")
    with visit(browser, report.as_uri(), size=size, dark=dark) as page:
        assert said in page.inner_text(".document .answers")
        assert page.locator(".feature-card svg").count() >= 4
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
        page.click("#explore")
        drawn(page)
        settled(page)
        assert said in page.inner_text("#answer-belief")


def test_the_document_for_paper(browser, run, tmp_path):
    path, said = run
    with LogReader(path) as reader:
        view = RunView(reader)
        view.refresh()
        (tmp_path / "paper.html").write_text(printed_page(view.content()))
    with visit(browser, (tmp_path / "paper.html").as_uri()) as page:
        page.emulate_media(media="print")
        assert said in page.inner_text(".document .answers")
