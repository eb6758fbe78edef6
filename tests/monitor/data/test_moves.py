"""Moves of the data: each way is found once and described rightly, and nothing else is."""

import copy
import json

import numpy as np
import pytest

from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import Target
from ipdp.grid import Categories, MinMax
from ipdp.monitor.data.moves import DataMoves
from ipdp.monitor.features import Record
from ipdp.monitor.history import History

AT, N = 5_139, 7_000
LATER = np.arange(N) >= AT


def layout_of(columns):
    """Texts and booleans are categories, as with the explainer's own grid."""
    is_set = [isinstance(values[0], (str, bool)) for values in columns.values()]
    targets = [
        Target(name, (name,), (Categories() if own else MinMax(2),))
        for name, own in zip(columns, is_set, strict=True)
    ]
    keys = [(("a",), ("b",)) if own else (0, 1) for own in is_set]
    return Layout.of(targets, range(len(targets)), keys, [(False,)] * len(targets))


class Watched:
    """Feeds columns, and keeps what is found."""

    def __init__(self, columns, *, warm_up=1000, per=1e6, period=None):
        self.columns = {
            n: v.tolist() if isinstance(v, np.ndarray) else v for n, v in columns.items()
        }
        self.layout = layout_of(self.columns)
        self.moves = DataMoves(range(len(columns)), list(columns), per, warm_up, period)
        self.history = History()
        self.found = []

    def go(self, first=0, last=None):
        rows = list(zip(*self.columns.values(), strict=True))[first:last]
        for n, row in enumerate(rows, start=first + 1):
            x = dict(zip(self.columns, row, strict=True))
            record = Record(n, float(n), x, self.layout, np.zeros((1, 2)), np.zeros((1, 2)))
            self.history.update(record)
            self.found += [(n, found) for found in self.moves.update(record, self.history)]
        return self

    def of(self, name):
        return [found for _, found in self.found if found.move.feature == name]


def noise(seed, n=N, memory=0.0):
    steps = np.random.default_rng(seed).normal(size=n) * np.sqrt(1 - memory**2)
    for k in range(1, n):
        steps[k] += memory * steps[k - 1]
    return steps


@pytest.fixture(scope="module", params=[0.0, 0.9], ids=["independent", "AR(.9)"])
def faulty(request):
    """Columns with one fault each, from observation 5,140 on."""
    values = [noise(seed, memory=request.param) for seed in range(9)]
    rng = np.random.default_rng(9)
    missing = rng.random(N) < np.where(LATER, 0.3, 0.01)
    shares = [rng.choice(["a", "b", "c"], N, p=p) for p in ([0.9, 0.05, 0.05], [0.05, 0.05, 0.9])]
    columns = {
        "fine": values[0],
        "missing": np.where(missing, np.nan, values[1]),
        "gone": np.where(LATER | (rng.random(N) < 0.01), np.nan, values[2]),
        "stuck": np.where(LATER, values[3][AT], values[3]),
        "unit": (10 + values[4]) * np.where(LATER, 1000.0, 1.0),
        "level": values[5] + 5 * LATER,
        "whole": np.round(20 + 5 * values[6]) + 25 * LATER,
        "width": values[7] * np.where(LATER, 0.2, 1.0),
        "shares": np.where(LATER, shares[1], shares[0]).tolist(),
        "flag": (rng.random(N) < np.where(LATER, 0.4, 0.02)).tolist(),
        "clock": np.arange(N) // 48,
    }
    return Watched(columns).go()


@pytest.mark.parametrize(
    ("name", "aspect"),
    [
        ("missing", "missing"),
        ("gone", "missing"),
        ("stuck", "stuck"),
        ("unit", "unit"),
        ("level", "level"),
        ("whole", "level"),
        ("width", "width"),
        ("shares", "shares"),
        ("flag", "shares"),
    ],
)
def test_each_fault_is_found_once_soon_and_named(faulty, name, aspect):
    (found,) = faulty.of(name)
    assert found.move.aspect == aspect
    # When it began is known to a block of 32, most to a few observations.
    assert abs(found.move.since - (AT + 1)) <= (32 if aspect in ("level", "unit", "stuck") else 64)
    (n,) = [n for n, own in faulty.found if own.move.feature == name]
    assert n - AT <= 400


def test_what_is_fine_is_not_mentioned_and_a_clock_once(faulty):
    assert faulty.of("fine") == []
    assert [found.move.aspect for found in faulty.of("clock")] == ["grows"]
    assert faulty.moves.growing == ["clock"]


def test_the_numbers_are_those_before_and_since_the_cut(faulty):
    told = {name: faulty.of(name)[0].move for name in faulty.columns if faulty.of(name)}
    assert told["missing"].before == pytest.approx(0.01, abs=0.005)
    assert told["missing"].after == pytest.approx(0.3, abs=0.2)
    assert told["gone"].after == 1.0
    assert told["unit"].after == pytest.approx(1000, rel=0.2)
    assert 6_000 < told["unit"].range_after[0] < told["unit"].range_after[1] < 14_000
    assert told["level"].range_after[0] > 1.5
    assert told["level"].range_before[1] < 3.0
    assert all(isinstance(end, int) for end in told["whole"].range_after)
    assert told["stuck"].after == faulty.columns["stuck"][-1]
    assert told["width"].after < 0.5 * told["width"].before
    shares = {category: (then, now) for category, then, now in told["shares"].shares}
    assert shares["a"][0] > 0.8
    assert shares["c"][1] > 0.7


def test_a_stuck_value_that_moves_again_is_no_further_move():
    values = noise(1)
    values[AT : AT + 300] = values[AT]
    (found,) = Watched({"x": values}).go().of("x")
    assert found.move.aspect == "stuck"


def test_moves_that_follow_each_other_are_one_change():
    values = noise(2, 16_000)
    values[4_000:] += 8
    values[8_500:] += 8
    first, second = Watched({"x": values}).go().of("x")
    assert (first.is_further, second.is_further) == (False, True)


def test_a_column_that_goes_back_is_watched_again():
    n = 12_000
    values = np.arange(float(n))
    values[4_000:] = noise(3, n)[4_000:]
    values[10_000:] += 9
    aspects = [found.move.aspect for found in Watched({"x": values}).go().of("x")]
    assert aspects == ["grows", "level"]


def test_with_a_period_smaller_moves_are_found():
    t = np.arange(N)
    values = 3 * np.sin(2 * np.pi * t / 336) + 0.3 * noise(4) + 0.9 * LATER
    assert Watched({"x": values}).go(0, AT + 300).of("x") == []
    for period in (336, {"x": 336.0}):
        (found,) = Watched({"x": values}, period=period).go(0, AT + 300).of("x")
        assert found.move.aspect == "level"


def test_a_constant_that_begins_to_vary():
    later = np.arange(N) >= 5_148  # four observations before the end of a block
    values = np.where(later, 0.02 + 0.01 * noise(5), 0.0035)
    (found,) = Watched({"x": values}).go().of("x")
    assert found.move.aspect == "level"
    assert found.move.since == 5_149
    assert found.move.range_before == pytest.approx((0.0035, 0.0035))


def test_as_many_false_alarms_as_were_asked_for():
    columns = {f"x{k}": noise(20 + k) for k in range(12)}
    found = Watched(columns, per=500).go().found
    # 3,400 observations are tested, and each alarm takes 3,500 of one of the twelve from that:
    # about 6 are expected.
    assert 2 <= len(found) <= 12
    assert Watched(columns).go().found == []


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_the_rate_holds_where_further_moves_are_no_alarms(memory):
    """After an alarm a feature raises no other one for 8,192 observations."""
    n, found = 20_000, []
    for seed in range(2):
        columns = {f"x{k}": noise(100 * seed + k, n, memory) for k in range(6)}
        found += Watched(columns, per=2_000).go().found
    n_alarms = sum(not own.is_further for _, own in found)
    expected = 2 * (n - 3_500) / 2_000
    assert expected / 2 <= n_alarms <= 2 * expected


@pytest.mark.parametrize("cut", [0, 31, 32, 300, 4_000, AT + 20, AT + 100])
def test_it_goes_on_from_its_state(cut):
    rng = np.random.default_rng(6)
    columns = {
        "x": noise(6) + 5 * LATER,
        "season": np.sin(np.arange(N) / 8) + noise(7),
        "colour": rng.choice(["a", "b"], N).tolist(),
        "missing": [None if m else 1.0 * k for k, m in enumerate(rng.random(N) < 0.2)],
    }
    setup = {"period": {"season": 50.0}, "warm_up": 300}
    one, other = Watched(columns, **setup).go(0, cut), Watched(columns, **setup)
    other.history, other.found = copy.deepcopy(one.history), list(one.found)
    state = json.loads(json.dumps(one.moves.state, allow_nan=False))
    other.moves.state = state
    one.go(cut, AT + 200)
    other.go(cut, AT + 200)
    assert one.moves.state == other.moves.state
    assert one.found == other.found
    assert [found.move.aspect for found in one.of("x")] == ["level"]


def test_numbers_that_become_categories_are_learnt_anew():
    columns = {"x": noise(8)}
    watched = Watched(columns, warm_up=300).go(0, 2_000)
    watched.layout = layout_of({"x": ["a"]})
    watched.columns = {"x": ["a", "b"] * (N // 2)}
    assert watched.go(2_000, 4_000).found == []
    assert watched.moves._blocks.n_columns == 9
