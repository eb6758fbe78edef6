"""Values of some columns only, against the same with a weight for each column."""

import numpy as np
import pytest

from ipdp.core import kernels
from ipdp.core.smoothing import Smoothing


@pytest.fixture(params=["installed", "array"])
def build(request, monkeypatch):
    chosen = kernels.installed() if request.param == "installed" else kernels.array
    monkeypatch.setattr(kernels, "current", chosen)


@pytest.mark.usefixtures("build")
@pytest.mark.parametrize("alpha", [0.1, None])
def test_other_columns_only_age(alpha):
    rng = np.random.default_rng(0)
    some, all_columns = (Smoothing(alpha=alpha, n_rows=2, n_columns=5) for _ in range(2))
    t = 0.0
    for _ in range(50):
        t += rng.integers(1, 4)
        w = rng.uniform(0.5, 2)
        columns = [int(c) for c in rng.permutation(5)[:3]]
        values = rng.normal(size=(2, 3))
        values[:, 2] = 0.0
        full, weights = np.zeros((2, 5)), np.zeros(5)
        full[:, columns], weights[columns] = values, w
        # One of them is not to count, and the last value is 0 without being given.
        columns.insert(1, -1)
        given = np.insert(values, 1, np.nan, axis=1)[:, :3]
        some.update_at(columns, given, w, t)
        all_columns.update(full, weights, t)
    for name in ("mean", "spread", "weight", "squares"):
        np.testing.assert_allclose(getattr(some, name), getattr(all_columns, name), rtol=1e-12)


@pytest.mark.usefixtures("build")
@pytest.mark.parametrize(
    ("columns", "values"), [([0, 1], np.zeros((1, 2))), ([7], np.zeros((2, 1)))]
)
def test_what_does_not_fit_is_refused(columns, values):
    smoothing = Smoothing(alpha=0.1, n_rows=2, n_columns=3)
    with pytest.raises((ValueError, IndexError)):
        smoothing.update_at(columns, values, 1.0, 1.0)


@pytest.mark.usefixtures("build")
def test_several_at_once_are_those_one_by_one_to_the_last_bit():
    rng = np.random.default_rng(1)
    columns, values = rng.integers(-1, 4, size=(9, 1)), rng.normal(size=(9, 2, 1))
    w, t = rng.uniform(0.5, 2, size=9).tolist(), np.cumsum(rng.integers(1, 4, size=9)).tolist()
    together, single = (Smoothing(alpha=0.1, n_rows=2, n_columns=4) for _ in range(2))
    together.update_many_at(columns.astype(np.intp), values, w, t)
    for k in range(9):
        single.update_at(columns[k].tolist(), values[k], w[k], t[k])
    assert together.state == single.state
