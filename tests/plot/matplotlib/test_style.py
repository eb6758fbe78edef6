"""Names in matplotlib figures are plain text."""

from __future__ import annotations

import numpy as np
import pytest

from ..conftest import make_categories, make_curve

SHOWN = {
    "salary": "salary",
    "": "''",
    "   ": "'   '",
    "$x_1": "$x_1",
    "$\\frac{1$": "$\\frac{1$",
    "100 % of _under_ & ^over^ \\alpha": "100 % of _under_ & ^over^ \\alpha",
    "<img src=x onerror=alert(1)>": "<img src=x onerror=alert(1)>",
    "x" * 200: "x" * 23 + "…" + "x" * 23,
    "two\nlines\x00\ud800": "two lines  ",
    7: "7",
    None: "None",
}


@pytest.mark.parametrize(("name", "shown"), SHOWN.items())
def test_names_are_plain_text(name, shown, ax, render):
    curve = make_curve(
        feature=name,
        outputs=(name, "b"),
        average=np.full((2, 5), 3.0),
        std_error=np.ones((2, 5)),
        ice=None,
    )
    curve.plot(ax, line_kw={"label": "_$hidden"})
    assert ax.get_xlabel() == shown
    texts = ax.get_legend().get_texts()
    short = shown if len(shown) <= 24 else f"{shown[:11]}…{shown[-11:]}"
    assert [text.get_text() for text in texts] == [f"_$hidden: {short}", "_$hidden: b"]
    assert not any(text.get_parse_math() for text in [ax.xaxis.label, ax.yaxis.label, *texts])
    render(ax)


@pytest.mark.parametrize(("name", "shown"), SHOWN.items())
def test_names_of_categories_are_plain_text(name, shown, ax, render):
    make_categories(name, "other").plot(ax)
    render(ax)
    ticks = ax.get_xticklabels()
    wanted = shown if len(shown) <= 16 else f"{shown[:7]}…{shown[-7:]}"
    assert [tick.get_text() for tick in ticks] == [wanted, "other"]
    assert not any(tick.get_parse_math() for tick in ticks)
