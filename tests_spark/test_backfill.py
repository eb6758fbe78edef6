"""A history explained in parallel is that of one process, with its snapshots and its log."""

from __future__ import annotations

import numpy as np
import pytest

import ipdp
import ipdp.spark
from ipdp.grid import Categories, Fixed, MinMax, QuantileRange, Quantiles
from ipdp.spark import backfill

N = 3_000


@pytest.fixture(scope="module")
def df(spark):
    rng = np.random.default_rng(1)
    rows = [
        (int(i), float(a), str(c), float(w))
        for i, a, c, w in zip(
            range(N),
            np.cumsum(rng.normal(size=N)) / 10,
            rng.choice(["x", "y", "z"], N),
            rng.choice([0.0, 1.0, 2.0], N),
            strict=True,
        )
    ]
    order = rng.permutation(N)
    frame = spark.createDataFrame(
        [rows[k] for k in order], "seq long, a double, c string, w double"
    )
    frame = frame.repartition(4).cache()
    frame.count()
    return frame


def model(x):
    return np.sin(x["a"]) * (2.0 if x["c"] == "x" else 1.0)


def assert_same(got, want):
    for feature, curve in want.items():
        for x, y in zip(got[feature].grid_values, curve.grid_values, strict=True):
            assert x.dtype == y.dtype
            if x.dtype == object:
                assert x.tolist() == y.tolist()
            else:
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
        for name in ("average", "std_error", "importance"):
            ours, theirs = getattr(got[feature], name), getattr(curve, name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, err_msg=name)


def test_it_is_the_run_of_one_process(df, tmp_path, monkeypatch):
    monkeypatch.setattr(backfill, "_SEGMENT", 800)
    pdp = ipdp.IncrementalPDP(model, seed=3, n_ice=5)
    end, taken = ipdp.spark.explain(
        pdp, df, order_by="seq", snapshots=1_000, weights="w", log=tmp_path / "run"
    )
    rows = df.orderBy("seq").toArrow()
    whole = ipdp.IncrementalPDP(model, seed=3, n_ice=5)
    assert list(taken) == [1_000, 2_000, 3_000]
    with ipdp.Log(tmp_path / "one") as log:
        log.begin({})
        for n, results in taken.items():
            part = rows.slice(whole.n_seen, 1_000)
            whole.explain_many(part.select(["a", "c"]), w=part["w"].to_pylist())
            log.snapshot(whole.results(), n)
            assert_same(results, whole.results())
    with ipdp.LogReader(tmp_path / "run") as ours, ipdp.LogReader(tmp_path / "one") as theirs:
        assert ours.status.state == "ended"
        for got, want in zip(ours.between(0, N), theirs.between(0, N), strict=True):
            assert got.n == want.n
            assert_same(got.curves, want.curves)
    assert end.n_seen == N


GRIDS = {
    "Auto": {},
    "MinMax": {"grid": {"a": MinMax(6, window=200)}},
    "QuantileRange": {"grid": {"a": QuantileRange(6, window=300, select="age")}},
    "Quantiles": {"grid": {"a": Quantiles(5)}},
    "Categories": {"grid": {"c": Categories(2, 50)}},
    "Fixed": {"grid": {"a": Fixed([-1.0, 0.0, 2.0])}},
    "pointwise": {"estimator": "pointwise", "grid": {"a": MinMax(6), "c": Categories(3)}},
}


@pytest.mark.parametrize(("name", "partitions"), [*zip(GRIDS, [1, 2, 3, 5, 7, 11, 4], strict=True)])
def test_every_grid_and_any_number_of_partitions(df, name, partitions, monkeypatch):
    monkeypatch.setattr(backfill, "_SEGMENT", 230)
    some = df.where("seq < 1000").repartition(partitions)
    pdp = ipdp.IncrementalPDP(model, ["a", "c"], seed=3, n_ice=0, n_past=0, **GRIDS[name])
    end, taken = ipdp.spark.explain(pdp, some.drop("w"), order_by="seq", snapshots=500)
    whole = ipdp.IncrementalPDP(model, ["a", "c"], seed=3, n_ice=0, n_past=0, **GRIDS[name])
    rows = some.orderBy("seq").select("a", "c").toArrow()
    for n, results in taken.items():
        whole.explain_many(rows.slice(whole.n_seen, n - whole.n_seen))
        assert_same(results, whole.results())
    assert (list(taken), end.n_seen) == ([500, 1_000], 1_000)


def test_what_is_wrong_is_refused_in_one_sentence(df, tmp_path):
    pdp = ipdp.IncrementalPDP(lambda x: x["b"])
    with pytest.raises(ValueError, match="order_by: 'time'"):
        ipdp.spark.explain(pdp, df, order_by="time")
    with pytest.raises(KeyError, match="b"):
        ipdp.spark.explain(pdp, df.limit(100), order_by="seq", log=tmp_path / "failed")
    with ipdp.LogReader(tmp_path / "failed") as reader:
        assert reader.status.state == "failed"
