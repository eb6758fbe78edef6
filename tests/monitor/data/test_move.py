"""What is said of a move of the data."""

import json

import pytest

from ipdp.core.jsonable import decode_name, encode_name, readable
from ipdp.monitor.data.move import Move

ENDS = {"range_before": (1.0, 5.0), "range_after": (6.25, 9.0)}


@pytest.mark.parametrize(
    ("aspect", "told", "said"),
    [
        (
            "missing",
            {"before": 0.0123, "after": 0.3},
            "x is missing in 30 % of the observations since 5,140, in 1 % before",
        ),
        (
            "missing",
            {"before": 0.0, "after": 1.0},
            "x is always missing since 5,140, in 0 % before",
        ),
        (
            "stuck",
            {"before": 3, "after": 12.5},
            "x is stuck at 12.5 since 5,140; before, it stayed the same for at most 3 observations",
        ),
        (
            "stuck",
            {"before": 1, "after": 0.0},
            "x is stuck at 0 since 5,140; before, it changed every time",
        ),
        ("level", ENDS, "x lies between 6.25 and 9 since 5,140, between 1 and 5 before"),
        (
            "level",
            {"range_before": (2, 2), "range_after": (3, 12_345)},
            "x lies between 3 and 12,345 since 5,140, at 2 before",
        ),
        (
            "width",
            {"before": 4.0, "after": 1.0, **ENDS},
            "x spreads less widely since 5,140: it lies between 6.25 and 9, between 1 and 5 before",
        ),
        (
            "unit",
            {"before": 1.0, "after": 1003.0, **ENDS},
            "x is about 1,000 times as large since 5,140, as if its unit had changed: "
            "it lies between 6.25 and 9, between 1 and 5 before",
        ),
        (
            "unit",
            {"before": 1.0, "after": 1 / 60, **ENDS},
            "x is about 1/60 as large since 5,140, as if its unit had changed: "
            "it lies between 6.25 and 9, between 1 and 5 before",
        ),
        (
            "shares",
            {"shares": (("red", 0.9, 0.05), ("blue", 0.05, 0.9), ("green", 0.05, 0.05))},
            "x has other shares since 5,140: red 5 % (before 90 %), blue 90 % (before 5 %)",
        ),
    ],
)
def test_each_way_has_its_words(aspect, told, said):
    assert Move("x", aspect, 5140, 60, **told).text() == f"data moved: {said}"


def test_what_only_grows_has_not_moved():
    said = "as a clock or a counter does: its values are not watched"
    assert Move("id", "grows", 3000, 0, after=1.0).text() == f"id only grows, {said}"
    assert Move("left", "grows", 3000, 0, after=-1.0).text() == f"left only falls, {said}"


def test_further_moves_have_a_history():
    first = Move("x", "level", 5000, 40, **ENDS)
    third = first.followed_by(Move("x", "width", 6000, 90, 1.0, 2.0)).followed_by(
        Move("x", "level", 7000, 20, **ENDS)
    )
    assert third.text() == (
        "data moved: x lies between 6.25 and 9 since 7,000, between 1 and 5 before "
        "(it has moved 3 times since 5,000)"
    )
    assert [since for since, _ in third.earlier] == [5000, 6000]
    assert third.earlier[0][1] == first.text()


def test_moves_that_follow_each_other_belong_together_or_not():
    groups = {aspect: Move("x", aspect, 0, 0).group for aspect in ("level", "stuck", "missing")}
    assert groups == {"level": "values", "stuck": "values", "missing": "missing"}
    assert Move("x", "unit", 0, 0).is_elsewhere
    assert not Move("x", "missing", 0, 0).is_elsewhere


def test_it_comes_back_from_json():
    move = Move("x", "shares", 5140.5, 60, shares=(("red", 0.9, 0.05),), range_before=("red",))
    move = move.followed_by(move)
    for written in (encode_name(move), readable(move)):
        assert Move.restored(decode_name(json.loads(json.dumps(written)))) == move
        assert Move.restored(json.loads(json.dumps(written))) == move


@pytest.mark.parametrize(
    ("t", "said"),
    [
        (12.5, "12.5"),
        (5_140.0, "5,140"),
        (86_400_000.0, "86,400,000"),
        (1_718_000_000.4, "2024-06-10 06:13 UTC"),
    ],
)
def test_times_are_said_as_the_clock_of_the_stream_has_them(t, said):
    move = Move("x", "missing", since=t, n_since=60, before=0.01, after=0.3)
    assert f"since {said}, in 1 % before" in move.text()
