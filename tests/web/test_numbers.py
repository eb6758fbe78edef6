"""Numbers are written by one set of rules: core/words.py, and the same ones on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.web.browser import chromium, visit
from tests.web.logs import write_run

import ipdp
from ipdp.core.words import brief, few_digits, percent
from ipdp.web import background

SOURCE = Path(ipdp.__file__).parent

FEW = {
    0: "0",
    0.063134: "0.0631",
    -2.5: "-2.5",
    12.345: "12.3",
    1.125: "1.12",
    -0.3125: "-0.312",
    99.96: "100",
    100.5: "100",
    1987: "1,987",
    -1987.4: "-1,987",
    9999.7: "10,000",
    12_350: "12,400",
    102_389: "102,000",
    0.00009999: "0.0001",
    0.00004063: "4.06e-05",
    4.063e-06: "4.06e-06",
    999_900_000: "1e+09",
    3.2e12: "3.2e+12",
    1.125e10: "1.12e+10",
}
WITHIN = {
    (4.063e-06, 99): "0",
    (98.99999, 99): "99",
    (37.12345, 0.1): "37.1234",
    (1_199_310.4, 10): "1,199,310.4",
    (1_199_310.4, 1e6): "1,199,310",
    (-0.0004, 1): "0",
    (5.0, 1e-9): "5",
}
BRIEF = {0.063134: "0.063", 1987: "2,000", 4.06e-6: "4.1e-06", -12.5: "-12", 0: "0"}
PERCENT = {
    0.873: "87 %",
    0.125: "12 %",
    0.9985: "99.9 %",
    0.99999: "99.9 %",
    0.004: "0.4 %",
    0: "0 %",
    1: "100 %",
    -0.25: "-25 %",
}


def test_numbers_in_texts():
    assert {v: few_digits(v) for v in FEW} == FEW
    assert {v: few_digits(*v) for v in WITHIN} == WITHIN
    assert {v: brief(v) for v in BRIEF} == BRIEF
    assert {v: percent(v) for v in PERCENT} == PERCENT
    assert few_digits(float("nan")) == percent(float("inf")) == "unknown"


def test_numbers_on_the_page_are_the_same(tmp_path):
    """With the minus sign of print, as plotly has it on the axes beside them."""

    def minus(table):
        return [text.replace("-", "\N{MINUS SIGN}") for text in table.values()]

    write_run(tmp_path / "run")
    with background(tmp_path) as address, chromium() as browser, visit(browser, address) as page:
        said = [page.evaluate("(all) => all.map((v) => ipdp.number(v))", list(FEW))]
        said += [
            page.evaluate("(all) => all.map((v) => ipdp.number(...v))", list(map(list, WITHIN)))
        ]
        said += [page.evaluate("(all) => all.map((v) => ipdp.brief(v))", list(BRIEF))]
        said += [page.evaluate("(all) => all.map((v) => ipdp.percent(v))", list(PERCENT))]
    assert said == list(map(minus, (FEW, WITHIN, BRIEF, PERCENT)))


# Coordinates of drawings, exact values and counts of seconds are no numbers for people.
_OTHERS = (
    "core/words.py",
    "core/times.py",
    "web/svg.py",
    "web/page/base.js",
    "paper/",
    "checks/",
    "demo/",
)


@pytest.mark.parametrize(
    ("suffix", "rule"), [("py", r"\{[^{}]*:[+,]*\.[1-9]g\}"), ("js", "toPrecision")]
)
def test_there_are_no_other_rules(suffix, rule):
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob(f"*.{suffix}")
        if not str(path.relative_to(SOURCE)).startswith(_OTHERS)
        for line in path.read_text().splitlines()
        if re.search(rule, line) and "rgba(" not in line
    ]
    assert found == []
