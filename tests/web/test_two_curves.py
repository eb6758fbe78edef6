"""A model and its challenger in a document."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ipdp
from ipdp.comparison import challenge, paired
from ipdp.web.two_curves import both_drawing, challenger_card, difference_drawing


@pytest.fixture(scope="module")
def found():
    def old(x):
        return x["a"] + (x["group"] == "red")

    def new(x):
        return 2 * x["a"] + (x["group"] == "red")

    rng = np.random.default_rng(1)
    both = challenge(ipdp.IncrementalPDP(old, alpha=0.01), new)
    groups = rng.choice(["red", "<b>"], size=300).tolist()
    rows = zip(rng.normal(size=300).tolist(), groups, strict=True)
    both.explain_many([{"a": a, "group": group} for a, group in rows])
    return paired(both, names=("model", "<new>"))


def test_each_feature_has_its_sentence_and_both_curves(found):
    card = challenger_card("<new>", found)
    assert "<h2>The challenger &lt;new&gt;</h2>" in card
    assert card.index("<h3>a</h3>") < card.index("<h3>group</h3>")
    assert "Different: its effect on the prediction" in card
    assert "Alike: the effect differs by at most 0" in card
    assert "<b>" not in card
    assert "<new>" not in card
    assert card.count("<svg") == 4


def heights(svg, kind):
    [path] = re.findall(rf'<path d="([^"]+)" class="d-line {kind}"', svg)
    return [float(point.split()[1]) for point in re.split("[ML]", path)[1:]]


def test_the_lines_are_those_of_both_models(found):
    each = found["a"]
    svg = both_drawing(each, found.names)
    drawn = np.array([heights(svg, "d-c1"), heights(svg, "d-c2")])
    # One scale for both: what is drawn is a line of what is compared.
    slope, start = np.polyfit([*each.a, *each.b], drawn.ravel(), 1)
    np.testing.assert_allclose(drawn, start + slope * np.array([each.a, each.b]), atol=0.06)
    assert slope < 0  # up is where y is small


def test_the_difference_has_a_band_and_is_shaded_where_it_counts(found):
    svg = difference_drawing(found["a"], found.names)
    assert svg.count("d-beyond") >= 1
    assert svg.count("d-band") == 1
    assert svg.count("d-past") == 2  # the margin on both sides
    alike = difference_drawing(found["group"], found.names)
    assert "d-beyond" not in alike
