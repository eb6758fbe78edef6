"""Small calls of scikit-learn's own parallel loops use one thread."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from ipdp.models import engine


class Watched(HistGradientBoostingRegressor):
    """Remembers how many threads there were."""

    __module__ = "sklearn.made_up"
    seen: list[tuple[int, int]] = []  # noqa: RUF012

    def predict(self, X):
        self.seen.append((len(X), max(threads())))
        return super().predict(X)


def threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp"]


def test_few_rows_have_one_thread_and_many_have_all():
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    model = Watched(max_iter=2).fit(X, X[:, 0])
    asked = engine(model.predict)
    Watched.seen.clear()
    with threadpool_limits(limits=2, user_api="openmp"):  # also where there is one core
        before = threads()
        asked.predict([{0: 0.0, 1: 1.0}])
        asked.predict([{0: 0.0, 1: 1.0}] * 3_000)
        assert Watched.seen == [(1, 1), (3_000, 2)]
        assert threads() == before
