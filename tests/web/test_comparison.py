"""The page of a comparison."""

from __future__ import annotations

import numpy as np

import ipdp
from ipdp.web.comparison import comparison_page

HOSTILE = "<img src=x onerror=alert(1)>"


def test_names_are_text():
    curve = ipdp.Curve(
        HOSTILE, (HOSTILE,), [np.arange(3.0)], np.zeros((1, 3)), np.ones((1, 3)), 9, np.full(3, 9.0)
    )
    text = comparison_page(ipdp.compare([curve], [curve], names=(HOSTILE, HOSTILE)))
    assert HOSTILE not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_a_pair_has_a_row_and_no_picture():
    pair = ipdp.Curve(
        ("u", "v"),
        ("prediction",),
        [np.arange(2.0), np.arange(2.0)],
        np.zeros((1, 2, 2)),
        np.ones((1, 2, 2)),
        9,
        np.full((2, 2), 9.0),
        categorical=(False, False),
    )
    text = comparison_page(ipdp.compare(pair, pair))
    assert '<td class="">u*v</td>' in text
    assert "<img" not in text


def test_it_tells_why_the_score_moved():
    rng = np.random.default_rng(1)
    X, name = rng.uniform(size=(300, 2)), HOSTILE
    one, other = (
        ipdp.partial_dependence(lambda x: 2 * x[name], Z, names=[name, "v"]) for Z in (X, X + 0.5)
    )
    text = comparison_page(ipdp.compare(one, other), ipdp.score_move(one, other))
    after = text.partition("<h2>Why the mean prediction moved</h2>")[2]
    assert "<img" in after
    assert HOSTILE not in after
    assert "&lt;img src=x onerror=alert(1)&gt;" in after
    assert "Why the mean" not in comparison_page(ipdp.compare(one, other))
