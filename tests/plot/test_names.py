"""Names are shown letter by letter, in every figure and whatever they are."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import ipdp
from ipdp.core.interactions import Interaction, Interactions
from ipdp.explainers import Split
from ipdp.plot import (
    CarpetDisplay,
    ChangeDisplay,
    ComparisonDisplay,
    EffectDisplay,
    InteractionDisplay,
    OverviewDisplay,
    RegionsDisplay,
    ScoreMoveDisplay,
    SegmentsDisplay,
    TimelineDisplay,
)
from ipdp.plot.shown.style import named

from .conftest import make_categories, make_change, make_curve, make_move, make_pair

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "a\"b'c",
    "$x_1$",
    "n" * 200,
    "Зарплата",
    "",
    "%{x} {y}",
    "&lt;b&gt;",
    "</svg><script>alert(1)</script>",
]


def figures_of(name):
    """Every display with the name wherever a name can be."""
    outputs = {"outputs": (name,), "ice": None}
    curve = make_curve(feature=name, **outputs)
    categories = make_categories(name, "other", feature=name, ice=None, outputs=(name,))
    pair = make_pair(feature=(name, "salary"), outputs=(name,))
    change = make_change(feature=name, output=name, before=curve, after=curve)
    several = make_curve(
        feature=name,
        outputs=(name, "b"),
        average=np.full((2, 5), 3.0),
        std_error=np.ones((2, 5)),
        ice=None,
    )
    split = Split(name, name, (name, name), 0.5, 0.1, 0.3, curve, (curve, several))
    return {
        "curve": several.plot,
        "categories": categories.plot,
        "pair": pair.plot,
        "regions": RegionsDisplay([split]).plot,
        "segments": SegmentsDisplay(name, {name: curve, "b": curve}, name).plot,
        "overview": OverviewDisplay([curve, categories, several]).plot,
        "carpet": CarpetDisplay([curve], changes=[change]).plot,
        "rows": CarpetDisplay([categories]).plot,
        "timeline": TimelineDisplay([curve], changes=[change], metrics={name: ([300], [0.5])}).plot,
        "change": ChangeDisplay(change).plot,
        "effect": EffectDisplay(curve, replace(curve, kind="ale")).plot,
        "interactions": InteractionDisplay(
            Interactions((Interaction((name, "b"), 2.0, 0.1, 0.5, 100),), (), name, 640)
        ).plot,
        "comparison": ComparisonDisplay(ipdp.compare([curve], [curve], names=(name, name))).plot,
        "score": ScoreMoveDisplay(
            make_move((name, 0.5, 0.0), names=(name, name), output=name, output_text=name)
        ).plot,
        "two categories": ComparisonDisplay(ipdp.compare([categories], [categories])).plot,
    }


def is_there(name, texts):
    """Whether one of the texts has the name as it is shown, at one of the widths in use."""
    shown = [named(name, width) for width in (48, 24, 22, 20, 18, 16)]
    joined = [text.replace("\n", " ") for text in texts]
    return any(form in text for form in shown for text in joined)


@pytest.mark.parametrize("name", HOSTILE[:6])  # the others mean nothing to matplotlib
@pytest.mark.parametrize("kind", figures_of("x"))
def test_in_matplotlib(kind, name):
    figure = Figure()
    figures_of(name)[kind](figure.subplots())
    figure.draw_without_rendering()
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    assert is_there(name, [text.get_text() for text in texts])
    with_dollars = [text for text in texts if "$" in text.get_text()]
    assert not any(text.get_parse_math() or text.get_usetex() for text in with_dollars)


def plotly_texts(part):
    """All texts of a figure as plotly gets them."""
    if isinstance(part, dict):
        return [text for value in part.values() for text in plotly_texts(value)]
    if isinstance(part, (list, tuple, np.ndarray)) and len(part) < 1000:
        return [text for value in part for text in plotly_texts(value)]
    return [part] if isinstance(part, str) else []


# Markup, variables, and shares in per cent.
_OURS = r"</?(b|i|br|extra)>|%\{(x|y|text|customdata(\[\d\])?)(:[,.\dfg]+)?\}|(?<=\d) %(?= of )"


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", figures_of("x"))
def test_in_plotly(kind, name):
    figure = figures_of(name)[kind](backend="plotly")
    layout = figure.layout.to_plotly_json()
    layout.pop("template")
    texts = plotly_texts([trace.to_plotly_json() for trace in figure.data] + [layout])
    # The only markup and the only variables are our own.
    for text in texts:
        rest = re.sub(_OURS, "", text)
        assert not set(rest) & set("<>$%{}"), text
    assert is_there(name, [html.unescape(text) for text in texts])


@pytest.mark.parametrize("name", HOSTILE)
def test_in_notebooks(name):
    pdp = ipdp.IncrementalPDP(lambda x: {name: 0.2, "b": 0.3, "c": 0.5}, n_ice=0)
    for k in range(30):
        pdp.explain_one({name: k / 30, "c": name, "n": k % 2 == 0})
    for page in (pdp._repr_html_(), *(curve._repr_html_() for curve in pdp.curves.values())):
        rest = re.sub(
            r"</?(div|b|br|small|code|span|table|thead|tbody|tr|th|td|svg|path|polygon|"
            r"circle|rect|text)( [a-z-]+=\"[^\"<>]*\")*/?>",
            "",
            page,
            flags=re.IGNORECASE,
        )
        assert not set(rest) & set("<>"), page
        assert "onerror" not in re.sub(r"&[^;]*;[^<]*", "", page)
        assert named(name) in html.unescape(page)
