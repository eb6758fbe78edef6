"""How curves and explainers show themselves in a notebook."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import ipdp

from .conftest import make_binary, make_categories, make_curve, make_pair


def drawing(page):
    """The first drawing of a page, parsed."""
    return ElementTree.fromstring(re.search(r"<svg.*?</svg>", page, re.DOTALL).group())


def heights(svg):
    """The vertical positions of the first line without a frame."""
    path = next(part for part in svg.iter("path") if part.get("stroke") != "currentColor")
    return [float(point.split(",")[1]) for point in re.split("[ML]", path.get("d"))[1:]]


def test_the_line_goes_up_and_down_with_the_curve():
    curve = make_curve(std_error=np.full((1, 5), np.nan))
    at = np.array(heights(drawing(curve._repr_html_())))
    values = curve.average[0]
    # Downwards on the page: a straight line with a slope below zero.
    slope, level = np.polyfit(values, at, 1)
    np.testing.assert_allclose(at, slope * values + level, atol=0.11)
    assert slope < 0


def test_a_curve_says_what_it_is_and_where_its_axes_end():
    page = make_curve()._repr_html_()
    assert "prediction by <b>age</b>" in page
    assert [text.text for text in drawing(page).iter("text")] == ["0", "4", "1", "5"]
    assert "300 observations explained, t = 300" in page


def test_noise_does_not_look_like_an_effect():
    p = 0.95 + np.array([0.0, 1e-5, -1e-5, 0.0, 1e-5])
    flat = make_binary(average=np.stack([1 - p, p]), ice=None)._repr_html_()
    assert np.ptp(heights(drawing(flat))) < 1


def test_lines_are_broken_where_nothing_is_known():
    average = np.array([[1.0, np.nan, 2.0, 3.0, 1.0]])
    curve = make_curve(average=average, std_error=np.full((1, 5), np.nan))
    path = next(
        p for p in drawing(curve._repr_html_()).iter("path") if p.get("stroke") != "currentColor"
    )
    assert path.get("d").count("M") == 2


@pytest.mark.parametrize(
    ("curve", "part", "count"),
    [
        (make_categories("a", "b"), "circle", 2),
        (make_pair(), "rect", 12),
        (
            make_curve(
                grid_values=[np.array([3.0])],
                average=np.ones((1, 1)),
                std_error=np.ones((1, 1)),
                n_effective_points=np.ones(1),
            ),
            "circle",
            1,
        ),
        (
            make_curve(
                outputs=("a", "b"), average=np.ones((2, 5)), std_error=np.ones((2, 5)), ice=None
            ),
            "polygon",
            2,
        ),
    ],
)
def test_each_kind_has_its_drawing(curve, part, count):
    assert len(list(drawing(curve._repr_html_()).iter(part))) == count


def test_the_histogram_is_under_the_curve():
    svg = drawing(make_categories("a", "b", "c")._repr_html_())
    bars = [path for path in svg.iter("path") if path.get("stroke") is None]
    assert [path.get("d").count("M") for path in bars] == [3]
    lowest = max(float(dot.get("cy")) for dot in svg.iter("circle"))
    tops = [float(top) for top in re.findall(r"V([\d.]+)H", bars[0].get("d"))]
    assert tops == sorted(tops, reverse=True)
    assert min(tops) > lowest


def test_few_data_are_dotted():
    svg = drawing(make_curve(n_effective_points=np.array([9.0, 9.0, 9.0, 0.1, 9.0]))._repr_html_())
    dotted = [path for path in svg.iter("path") if path.get("stroke-dasharray") == "2 3"]
    assert len(dotted) == 1


def test_large_pairs_stay_small():
    m = 200
    pair = make_pair(
        grid_values=[np.arange(float(m))] * 2,
        average=np.random.default_rng(0).normal(size=(1, m, m)),
        std_error=np.ones((1, m, m)),
        n_effective_points=np.ones((m, m)),
    )
    assert len(pair._repr_html_()) < 100_000


def test_a_curve_that_knows_nothing_says_so():
    assert "nothing yet" in make_curve(average=np.full((1, 5), np.nan))._repr_html_()
    missing = make_curve(missing=np.array([6.0]))._repr_html_()
    assert "when missing: 6" in missing


def test_an_explainer_is_a_table_the_most_important_feature_first():
    pdp = ipdp.IncrementalPDP(
        lambda x: x["weak"] + 5 * x["strong"] + x["kind"],
        ["weak", "strong", "kind", ("weak", "strong")],
    )
    assert "no observation yet" in pdp._repr_html_()
    for k in range(50):
        pdp.explain_one({"weak": k / 50, "strong": 1 - k / 50, "kind": k % 2})
    page = pdp._repr_html_()
    table = ElementTree.fromstring(re.search(r"<table.*</table>", page, re.DOTALL).group())
    rows = [["".join(cell.itertext()) for cell in row] for row in table.find("tbody")]
    importance = {name: curve.importance[0] for name, curve in pdp.curves.items()}
    wanted = sorted(importance, key=importance.get, reverse=True)
    shown = {("weak", "strong"): "weak*strong"}
    assert [row[0] for row in rows] == [shown.get(name, name) for name in wanted]
    assert len(list(table.iter("svg"))) == 4
    assert "50 observations" in page
    assert "<script" not in page


def test_an_explainer_of_many_features_shows_the_first_thirty():
    pdp = ipdp.IncrementalPDP(lambda x: sum(x.values()), n_ice=0, grid=ipdp.grid.Fixed([0.0, 1.0]))
    pdp.explain_one({f"f{k}": 0.0 for k in range(40)})
    page = pdp._repr_html_()
    assert page.count("<tr>") == 31
    assert "and 10 more" in page


def test_notebooks_need_no_other_library():
    import subprocess
    import sys

    code = """
import sys
sys.modules["matplotlib"] = sys.modules["plotly"] = None
import ipdp
[curve] = ipdp.partial_dependence(lambda x: x["a"], [{"a": 0.0}, {"a": 1.0}])
assert "<svg" in curve._repr_html_()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
