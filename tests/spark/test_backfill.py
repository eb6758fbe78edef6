"""Segments that are explained on their own and merged are one run; here without Spark."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import ipdp
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles
from ipdp.spark import backfill

N = 2_600
COLUMNS = ["a", "b", "k", "c"]
SETUPS = {
    "default": {},
    "weights": {"weights": "w", "alpha": 0.02},
    "every": {"every": 3, "alpha": 0.01},
    "clock": {"t": "i", "half_life": 300},
    "plain mean": {"alpha": None, "grid": Auto(missing=True)},
    "pairs": {"features": ["a", ("a", "c")]},
    "paper": {
        "estimator": "pointwise",
        "grid": {
            "a": MinMax(window=300),
            "b": QuantileRange(select="age", window=200),
            "k": Categories(3, 100),
            "c": Categories(3, 50),
        },
    },
    "fixed": {"features": ["a", "b"], "grid": {"a": Fixed([0.0, 1.0]), "b": Quantiles(5)}},
}
READ = [
    "average",
    "std_error",
    "importance",
    "n_effective_points",
    "smoothed",
    "inflation",
    "degrees",
    "centred_std_error",
    "missing",
    "missing_std_error",
]
# What a segment says of how much ICE curves differ is relative to levels of its own.
NEARLY = {
    "prediction": 1e-4,
    "prediction_std": 1e-3,
    "explained": 0.05,
    "ice_spread": 0.3,
}


def table():
    """A series with memory that wanders off, categories, missing values, weights."""
    rng = np.random.default_rng(1)
    a, noise = np.zeros(N), rng.normal(size=N)
    for i in range(1, N):
        a[i] = 0.9 * a[i - 1] + noise[i]
    values = (a + np.linspace(0, 15, N)).tolist()
    values[5], values[1_500] = None, math.nan
    return pa.table(
        {
            "i": np.arange(N),
            "a": pa.array(values, pa.float64()),
            "b": rng.gamma(2.0, size=N),
            "k": rng.integers(0, 4, N),
            "c": rng.choice(list("xyzuv"), N),
            "w": rng.choice([0.0, 0.5, 1.0, 2.0], N),
        }
    )


TABLE = table()


def model(x):
    """A third class is met now and then."""
    a, b = (0.0 if x[n] is None or math.isnan(x[n]) else x[n] for n in ("a", "b"))
    p = 1 / (1 + math.exp(-(math.sin(a) + 0.3 * b + 0.5 * (x["c"] == "x") + 0.1 * (x["k"] or 0))))
    return {0: 1 - p, 1: p} if x["k"] != 3 else {0: 1 - p, 1: p / 2, 2: p / 2}


class Here:
    """What would be sent, where it is."""

    def __init__(self, thing):
        self.thing = thing

    def load(self):
        return self.thing


def cutting(pdp, every=None, weights=None, t=None):
    sent = Here((pdp.engine, pdp.settings, pdp._unsaved))
    own = backfill._Cutting(sent, pdp.state_bytes(), COLUMNS, every)
    own.order_by, own.weights, own.t = "i", weights, t
    return own


def in_segments(pdp, cut, rows=TABLE):
    """The explainer after each segment."""
    explaining, joined = backfill._Explaining(cut), None
    for segment in cut(iter(rows.to_batches(max_chunksize=333))):
        [done] = explaining(pa.Table.from_batches([segment])).to_pylist()
        part = pdp.from_bytes(done["state"])
        joined = joined.merge(part) if done["segment"] else part
        yield joined


def assert_same(got, want, nearly=NEARLY):
    assert got.keys() == want.keys()
    for feature, curve in want.items():
        other = got[feature]
        assert (curve.n_samples, curve.t, curve.outputs) == (
            other.n_samples,
            other.t,
            other.outputs,
        )
        assert curve.provisional == other.provisional
        for x, y in zip(curve.grid_values, other.grid_values, strict=True):
            if x.dtype == object:
                assert x.tolist() == y.tolist()
            else:
                np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-12)
        for name in READ:
            x, y = getattr(curve, name), getattr(other, name)
            assert (x is None) == (y is None), name
            if x is not None:
                np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-12, err_msg=name)
        for name, share in nearly.items():
            x, y = getattr(curve, name), getattr(other, name)
            assert (x is None) == (y is None), name
            if x is not None:
                largest = 1.0 if name == "explained" else np.nanmax(np.abs(x), initial=0.0)
                np.testing.assert_allclose(y, x, rtol=0, atol=share * largest, err_msg=name)


@pytest.mark.parametrize("name", SETUPS)
def test_segments_are_one_run(name, monkeypatch):
    monkeypatch.setattr(backfill, "_SEGMENT", 700)
    setup = dict(SETUPS[name])
    columns = {what: setup.pop(what, None) for what in ("weights", "t")}
    pdp = ipdp.IncrementalPDP(model, seed=4, **{"features": COLUMNS, **setup})
    cut = cutting(pdp, every=1_000, **columns)
    whole, ends = pdp.from_bytes(pdp.state_bytes()), []
    for joined in in_segments(pdp, cut):
        cut.explain(whole, TABLE.slice(whole.n_seen, joined.n_seen - whole.n_seen))
        ends.append(joined.n_seen)
        # Levels of points that move with a short window are of the last rows only.
        nearly = {"prediction": 1e-4} if name == "paper" else NEARLY
        assert_same(joined.results(), whole.results(), nearly)
    assert ends == [700, 1_000, 1_400, 2_000, 2_100, N]
    assert pdp.n_seen == 0


def test_it_goes_on_from_an_explainer_that_has_seen_something():
    pdp = ipdp.IncrementalPDP(model, COLUMNS, seed=4)
    cut = cutting(pdp)
    cut.explain(pdp, TABLE.slice(0, 900))
    *_, joined = in_segments(pdp, cutting(pdp, every=500), TABLE.slice(900))
    cut.explain(pdp, TABLE.slice(900))
    assert joined.n_seen == N
    assert_same(joined.results(), pdp.results())


def test_rows_in_another_order_are_refused():
    pdp = ipdp.IncrementalPDP(model, COLUMNS)
    batches = TABLE.to_batches(max_chunksize=700)
    with pytest.raises(RuntimeError, match="did not keep the order"):
        list(cutting(pdp)(iter(batches[::-1])))
    missing = TABLE.set_column(0, "i", pa.array([None] * N, pa.int64()))
    with pytest.raises(ValueError, match="'i' has missing values"):
        list(cutting(pdp)(iter(missing.to_batches())))


def test_only_curves_are_explained_in_segments():
    pfi = ipdp.IncrementalPFI(model, loss=lambda y, p: 0.0)
    with pytest.raises(TypeError, match="only curves can be explained in segments"):
        ipdp.spark.explain(pfi, None, order_by="i")


@pytest.mark.parametrize(
    ("error", "state"), [(KeyboardInterrupt(), "stopped"), (ValueError("no"), "failed")], ids=repr
)
def test_the_log_of_a_history_that_was_broken_off_says_so(tmp_path, error, state):
    pdp = ipdp.IncrementalPDP(model, COLUMNS, seed=4)
    pdp.explain_many(TABLE.slice(0, 100).select(COLUMNS))

    def broken_off():
        with backfill._recorded(tmp_path, pdp) as write:
            write(pdp.results(), 100)
            raise error

    with pytest.raises(type(error)):
        broken_off()
    with ipdp.LogReader(tmp_path) as reader:
        assert (reader.status.state, reader.status.n) == (state, 100)
        assert [snapshot.n for snapshot in reader.between(0, 1_000)] == [100]
