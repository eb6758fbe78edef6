"""A table of Spark gives the curves of one process, to rounding."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import ipdp
import ipdp.spark
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles, Thresholds
from ipdp.grid.lattice import Lattice
from ipdp.spark.grids import look_at

N = 1_200
FEATURES = [
    "temp",
    "hour",
    "load",
    "day",
    "holiday",
    "region",
    ("temp", "region"),
    ("load", "temp"),
]
GRIDS = {
    "default": None,
    "extremes": Auto(6, ends="extremes", missing=True),
    "each its own": {
        "temp": QuantileRange(7, 0.05, 0.95, missing=True),
        "hour": MinMax(5),
        "load": Quantiles(6),
        "day": Quantiles(4),
        "holiday": Categories(),
        "region": Categories(3),
    },
    "fixed": {
        "temp": Fixed([-5.0, 0.0, 12.5], missing=True),
        "hour": Fixed([0, 8, 16]),
        "load": Thresholds([100.0, 250.0, 400.0]),
        "day": Categories(4, missing=True),
        "holiday": MinMax(),
        "region": Fixed(["north", "south"]),
    },
}


def table(n=N, seed=1):
    """Numbers, whole numbers, few of them, truth values and text; some of each are missing."""
    rng = np.random.default_rng(seed)
    temp = np.round(rng.normal(10, 8, n), 3)
    temp[rng.random(n) < 0.05] = np.nan
    temp[[3, 900]] = np.inf, 1e200
    rows = pd.DataFrame({"temp": temp, "hour": rng.integers(0, 24, n)})
    rows["load"] = rng.gamma(2.0, 100.0, n)
    rows["day"] = pd.array(rng.integers(1, 8, n), dtype="Int64")
    rows.loc[rng.random(n) < 0.1, "day"] = pd.NA
    rows["holiday"] = rng.random(n) < 0.1
    rows["region"] = rng.choice(["north", "south", "east", "west"], n, p=[0.5, 0.3, 0.15, 0.05])
    rows.loc[rng.random(n) < 0.02, "region"] = None
    rows["w"] = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    return rows


@pytest.fixture(scope="module")
def df(spark):
    rows = table().astype({"day": object, "region": object})
    plain = [
        {name: None if value is pd.NA else value for name, value in row.items()}
        for row in rows.to_dict("records")
    ]
    schema = (
        "temp double, hour long, load double, day long, holiday boolean, region string, w double"
    )
    frame = spark.createDataFrame(plain, schema).coalesce(1).repartitionByRange(3, "hour").cache()
    frame.count()
    return frame


@pytest.fixture(scope="module")
def rows(df):
    return [row.asDict() for row in df.collect()]


def number(value):
    return value if value is not None and math.isfinite(value) else 5.0


def classes(x):
    """Three classes, one of them now and then absent; a plain function of one observation."""
    score = 0.05 * min(number(x["temp"]), 50) + 0.002 * number(x["load"]) + 0.02 * number(x["hour"])
    score += 0.3 * (x["holiday"] is True) - 0.05 * number(x["day"]) + 0.1 * (x["region"] == "north")
    p = 1 / (1 + math.exp(-score))
    if number(x["hour"]) < 20:
        return {"low": 1 - p, "high": p}
    return {"low": 1 - p, "high": p / 2, "top": p / 2}


def without_weights(rows):
    return [{k: v for k, v in row.items() if k != "w"} for row in rows]


def assert_same(got, want, tolerance=1e-12):
    assert [c.feature for c in got] == [c.feature for c in want]
    for a, b in zip(got, want, strict=True):
        assert (a.outputs, a.categorical, a.n_samples, a.t) == (
            b.outputs,
            b.categorical,
            b.n_samples,
            b.t,
        )
        assert a.provisional == b.provisional
        for x, y in zip(a.grid_values, b.grid_values, strict=True):
            assert x.tolist() == y.tolist()
        for x, y in zip(a.rug, b.rug, strict=True):
            assert x.tolist() == y.tolist()
        for name in (
            "average",
            "std_error",
            "importance",
            "equal_importance",
            "missing",
            "missing_std_error",
            "n_effective_points",
            "weights",
        ):
            x, y = getattr(a, name), getattr(b, name)
            assert (x is None) == (y is None), name
            if x is not None:
                np.testing.assert_allclose(
                    np.asarray(x, float),
                    np.asarray(y, float),
                    rtol=tolerance,
                    atol=tolerance,
                    err_msg=name,
                )


@pytest.mark.parametrize("name", GRIDS)
def test_curves_are_those_of_one_process(df, rows, name):
    grid = GRIDS[name]
    got = ipdp.spark.partial_dependence(classes, df, FEATURES, grid=grid, weights="w")
    want = ipdp.partial_dependence(
        classes,
        without_weights(rows),
        FEATURES,
        grid=grid,
        weights=[r["w"] for r in rows],
        ice=False,
    )
    assert_same(got, want)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_any_number_of_partitions(df, partitions):
    own = df.drop("w", "day", "region").repartition(partitions)
    got = ipdp.spark.partial_dependence(lambda x: x["load"] * x["hour"], own)
    want = ipdp.partial_dependence(lambda x: x["load"] * x["hour"], own.toArrow(), ice=False)
    assert_same(got, want)


def test_pipelines_of_scikit_learn(df):
    names = ["temp", "hour", "load", "region"]
    own = df.select(*names).where("temp < 100 and region is not null")
    frame = own.toPandas()
    encoder = make_column_transformer((OrdinalEncoder(), ["region"]), remainder="passthrough")
    model = make_pipeline(encoder, HistGradientBoostingRegressor(max_iter=10))
    model.fit(frame, frame["load"] + 10 * frame["temp"])
    assert_same(
        ipdp.spark.partial_dependence(model, own),
        ipdp.partial_dependence(model, own.toArrow(), ice=False),
    )
    classifier = HistGradientBoostingClassifier(max_iter=5)
    numbers = own.drop("region")
    classifier.fit(numbers.toPandas(), frame["hour"] % 3)
    assert_same(
        ipdp.spark.partial_dependence(classifier, numbers, ["temp", ("hour", "load")]),
        ipdp.partial_dependence(
            classifier, numbers.toArrow(), ["temp", ("hour", "load")], ice=False
        ),
    )


def test_by_the_values_of_a_column(df, rows):
    got = ipdp.spark.partial_dependence(
        classes, df.drop("w"), ["load"], by="region", grid=MinMax(4)
    )
    assert set(got) == {"north", "south", "east", "west", None}
    loads = [row["load"] for row in rows]
    grid = Fixed(np.linspace(min(loads), max(loads), 4))
    for region, [curve] in got.items():
        own = [row for row in without_weights(rows) if row["region"] == region]
        [want] = ipdp.partial_dependence(classes, own, ["load"], grid=grid, ice=False)
        np.testing.assert_allclose(curve.average, want.average, rtol=1e-12)
        np.testing.assert_allclose(curve.std_error, want.std_error, rtol=1e-10)
        assert curve.n_samples == len(own)


def test_quantiles_of_a_column_with_ties_and_of_many_values(spark):
    frame = spark.range(120_000).selectExpr(
        "cast(id * 7919 % 120000 as double) / 7 as a", "id % 11 as b"
    )
    table = look_at(frame, ["a", "b"], {"a": Quantiles(5), "b": QuantileRange(5)}, None)
    a = np.arange(120_000) / 7
    np.testing.assert_array_equal(table.grids["a"].points, np.quantile(a, [0, 0.25, 0.5, 0.75, 1]))
    assert table.grids["b"].points.tolist() == [0, 3, 5, 8, 10]
    assert table.grids["b"].points.dtype.kind == "i"


def unpicklable():
    lock = __import__("threading").Lock()
    return lambda x: 1.0 if lock else 0.0


class OwnGrid(MinMax):
    """A grid of somebody's own."""


WRONG = {
    "column": (lambda df: {"features": ["lod"]}, ValueError, "lod.*load"),
    "weights": (lambda df: {"weights": "wieght"}, ValueError, "weights: 'wieght'"),
    "negative": (lambda df: {"weights": "temp"}, ValueError, "weight"),
    "by": (lambda df: {"by": "reg"}, ValueError, "by: 'reg'"),
    "grid": (
        lambda df: {"features": "load", "grid": OwnGrid()},
        ValueError,
        "OwnGrid, cannot be had exactly",
    ),
    "lattice": (
        lambda df: {"features": "load", "grid": Lattice(MinMax())},
        ValueError,
        "cannot be had exactly",
    ),
    "text": (lambda df: {"features": "region", "grid": MinMax()}, TypeError, "holds strings"),
    "type": (lambda df: {"df": df.selectExpr("array(load) as a")}, TypeError, "Spark's type array"),
    "empty": (lambda df: {"df": df.limit(0)}, ValueError, "no rows"),
    "only missing": (
        lambda df: {"df": df.selectExpr("cast(null as double) as a")},
        ValueError,
        "only missing ones",
    ),
    "zero": (
        lambda df: {"df": df.selectExpr("load", "0.0 as w"), "weights": "w"},
        ValueError,
        "all be 0",
    ),
    "pandas": (
        lambda df: {"df": pd.DataFrame({"a": [1.0]})},
        TypeError,
        "a frame of Spark, got DataFrame",
    ),
    "pickle": (lambda df: {"model": unpicklable()}, TypeError, "cannot be sent to Spark's workers"),
    "model": (lambda df: {"model": lambda x: x["nothing"]}, KeyError, "nothing"),
    "infinite": (
        lambda df: {"model": lambda x: math.inf},
        ValueError,
        "answered with NaN or infinity",
    ),
}


@pytest.mark.parametrize(("given", "kind", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_in_one_sentence(df, given, kind, message):
    arguments = {"model": classes, "df": df, "features": None, **given(df)}
    with pytest.raises(kind, match=message) as caught:
        ipdp.spark.partial_dependence(**arguments)
    assert "\n" not in str(caught.value)


def test_columns_may_have_any_name_that_spark_can_send(spark, tmp_path):
    """Dots everywhere, and the quotes of Spark in a stream; else they are refused."""
    rng = np.random.default_rng(1)
    rows = [
        {"a`b": float(a), "c.d": float(c), "w`": 1.0 + k % 2, "t`": float(k)}
        for k, (a, c) in enumerate(rng.normal(size=(60, 2)))
    ]
    names, df = ["a`b", "c.d"], spark.createDataFrame(rows).coalesce(1)
    grid, refused = Fixed([-1.0, 0.0, 1.0]), "cannot send the column 'a`b' to Python: rename it"

    def model(x):
        return x["a`b"] * x["c.d"]

    one, streamed = (ipdp.IncrementalPDP(model, names, grid=grid) for _ in range(2))
    for row in rows:
        one.explain_one({name: row[name] for name in names}, row["w`"])
    with ipdp.spark.Sink(streamed, log=tmp_path / "run", time="t`", weights="w`") as sink:
        sink(df, 0)
    for name in names:
        both = (pdp.curve(name).average for pdp in (one, streamed))
        np.testing.assert_allclose(*both, rtol=1e-9)
    with pytest.raises(ValueError, match=refused):
        ipdp.spark.partial_dependence(model, df, names, grid=grid)
    with pytest.raises(ValueError, match=refused):
        ipdp.spark.explain(one, df, order_by="t`")
