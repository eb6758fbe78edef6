"""Before and after a change."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.plot import ChangeDisplay

from ..conftest import make_categories, make_change, make_pair


def spans(display):
    return [(part.get_x(), part.get_x() + part.get_width()) for part in display.where_]


def test_both_curves_the_place_and_the_sentence(ax):
    change = make_change()
    display = ChangeDisplay(change).plot(ax)
    for side in ("before", "after"):
        (line,) = getattr(display, f"{side}_").lines_
        np.testing.assert_array_equal(line.get_ydata(), getattr(change, side).average[0])
    assert spans(display) == [(2.0, 4.0)]
    assert display.title_.get_text().replace("\n", " ") == change.summary()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["before t = 250", "at t = 300"]
    assert ax.get_ylabel() == "prediction"


def test_a_single_point_is_as_wide_as_what_it_stands_for(ax):
    assert spans(ChangeDisplay(make_change(where=(3.0, 3.0))).plot(ax)) == [(2.5, 3.5)]


@pytest.mark.parametrize(
    ("after", "shaded"),
    [
        ((0.0, 6.0), [(4.0, 6.0)]),
        ((1.0, 3.0), [(0.0, 1.0), (3.0, 4.0)]),
        ((7.0, 9.0), [(0.0, 4.0), (7.0, 9.0)]),
        ((), []),
    ],
)
def test_of_a_virtual_change_what_one_range_only_reaches(after, shaded, ax):
    change = make_change(kind="virtual", where=None, range_after=after)
    if after:
        assert spans(ChangeDisplay(change).plot(ax)) == shaded
    else:
        # Nothing is known of the ranges, as in changes that were made by hand.
        from ipdp.plot.shown.change import shown_change

        assert shown_change(change).parts == []


def test_categories_are_shaded_one_by_one(ax):
    before, after = make_categories("a", "b", "c", rug=[]), make_categories("c", "b", "a", rug=[])
    change = make_change(before=before, after=after, where=("a", "c"))
    assert spans(ChangeDisplay(change).plot(ax)) == [(-0.5, 0.5), (1.5, 2.5)]


def test_categories_that_came_or_went(ax):
    change = make_change(
        before=make_categories("a", "b", rug=[]),
        after=make_categories("b", "c", rug=[]),
        kind="virtual",
        where=None,
        range_before=("a", "b"),
        range_after=("b", "c"),
    )
    assert spans(ChangeDisplay(change).plot(ax)) == [(-0.5, 0.5), (1.5, 2.5)]


def test_change_plot_gives_the_display(ax):
    display = make_change().plot(ax)
    assert isinstance(display, ChangeDisplay)
    assert display.ax_ is ax


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_a_pair_is_refused(backend):
    pair = make_pair()
    change = make_change(feature=pair.feature, before=pair, after=pair, where=None)
    with pytest.raises(ValueError, match=r"is a pair.*draw change\.before and change\.after"):
        change.plot(backend=backend)
