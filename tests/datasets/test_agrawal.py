from __future__ import annotations

import numpy as np
import pytest
from river.datasets import base, synth

from ipdp.datasets import AgrawalDrift


def by_salary(x):
    """The second rule, written down again."""
    low = 50_000 if x["age"] < 40 else 75_000 if x["age"] < 60 else 25_000
    return int(low <= x["salary"] <= low + 50_000)


def test_before_and_after_the_real_drift_it_is_rivers_stream():
    got = list(AgrawalDrift(300, stretch_position=600, seed=9).take(600))
    first = list(synth.Agrawal(classification_function=2, seed=9).take(600))
    second = list(synth.Agrawal(classification_function=1, seed=9).take(600))
    assert got[:300] == first[:300]
    assert got[300:] == second[300:]


def test_stretched_salaries_keep_the_rule():
    stream = AgrawalDrift(0, stretch_position=0, seed=9)
    rows = list(stream.take(2_000))
    assert all(y == by_salary(x) for x, y in rows)
    factors = [
        x["salary"] / old["salary"]
        for (x, _), (old, _) in zip(rows, synth.Agrawal(seed=9).take(2_000), strict=True)
    ]
    assert 1 <= min(factors) < 1.01
    assert 1.32 < max(factors) <= 1.3334
    assert np.mean(factors) == pytest.approx(1.1667, abs=0.01)


def test_without_relabelling_the_class_is_that_of_the_old_salary():
    rows = list(AgrawalDrift(0, stretch_position=0, relabel=False, seed=9).take(500))
    old = list(synth.Agrawal(classification_function=1, seed=9).take(500))
    assert [y for _, y in rows] == [y for _, y in old]
    assert any(y != by_salary(x) for x, y in rows)


def test_the_same_seed_gives_the_same_stream():
    def rows(seed):
        return list(AgrawalDrift(10, 5, stretch_position=20, stretch_width=5, seed=seed).take(40))

    assert rows(1) == rows(1) != rows(2)


def test_it_has_rivers_interface():
    stream = AgrawalDrift(n_samples=4, seed=1)
    assert isinstance(stream, base.SyntheticDataset)
    assert len(list(stream)) == stream.n_samples == 4
    assert "stretch_position" in repr(stream)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"functions": (2, 10)}, "0 to 9"),
        ({"functions": (2,)}, "two numbers"),
        ({"stretch": 0.5}, "stretch"),
        ({"stretch_width": -1}, "negative"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        AgrawalDrift(**settings)
