"""What is drawn of a move of the mean prediction."""

import pytest

from ipdp.plot.shown.score_move import shown_score_move

from ..conftest import make_move


def test_each_bar_begins_where_the_last_one_ended():
    move = make_move(("a", 0.5, -0.25), ("b", 0.1, 0.0), level=1.0, rest=-0.125)
    shown = shown_score_move(move)
    assert shown.rows == ["mean in May", "a", "b", "level", "features together", "mean in June"]
    assert [bar.kind for bar in shown.bars] == ["data", "model", "data", "model", "rest"]
    assert shown.bars[0].start == 2.0
    for one, other in zip(shown.bars, shown.bars[1:], strict=False):
        assert other.start == pytest.approx(one.end)
    assert shown.bars[-1].end == pytest.approx(move.after)
    assert shown.texts == ["2", "+0.25", "+0.1", "+1", "\N{MINUS SIGN}0.125", "3.23"]
    assert shown.sentence == "y: mean +1.23, most of all by the data of a"


def test_of_many_features_the_small_ones_are_one_bar():
    move = make_move(*((f"x{k}", 1.0 / (k + 1), 0.0) for k in range(15)), same_model=True)
    shown = shown_score_move(move)
    assert "6 others" in shown.rows
    assert "level" not in shown.rows
    assert shown.bars[-1].end == pytest.approx(move.after)
