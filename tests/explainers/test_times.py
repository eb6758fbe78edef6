"""Datetimes are an axis of time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import ConciseDateFormatter
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ipdp

START = datetime(2024, 1, 1)


def days(n: int = 300) -> list[datetime]:
    return [START + timedelta(days=float(d)) for d in np.random.default_rng(0).uniform(0, 365, n)]


def age_in_days(x: dict) -> float:
    assert isinstance(x["signed"], datetime)
    return (x["signed"] - START) / timedelta(days=1)


def test_a_model_gets_times_and_the_curve_has_an_axis_of_time():
    pdp = ipdp.IncrementalPDP(age_in_days, alpha=0.05)
    for when in days():
        pdp.explain_one({"signed": when, "a": 1.0})
    curve = pdp.curve("signed")
    assert curve.categorical == (False,)
    assert curve.times == (True,)
    seconds = curve.grid_values[0] - START.replace(tzinfo=UTC).timestamp()
    np.testing.assert_allclose(curve.average[0], seconds / 86400, atol=1e-6)
    twin = pdp.from_bytes(pdp.state_bytes())
    twin.explain_one({"signed": START, "a": 1.0})
    assert ipdp.Curve.from_dict(curve.to_dict()).times == (True,)
    assert pdp.merge(pdp.successor()).curve("signed").times == (True,)


@pytest.mark.parametrize(
    "convert",
    [
        pd.Timestamp,
        lambda t: t.replace(tzinfo=UTC),
        datetime.date,
        lambda t: np.datetime64(t, "s"),
    ],
)
def test_times_of_every_kind_come_back_as_that_kind(convert):
    given = set()

    def model(x):
        given.add(type(x["t"]))
        return 0.0

    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    for when in days(50):
        pdp.explain_one({"t": convert(when), "a": 1.0})
    assert pdp.curve("t").times == (True,)
    # Its own value stays what it was; Timestamp is a datetime.
    assert all(issubclass(kind, (date, np.datetime64)) for kind in given)


def test_a_pipeline_on_a_frame_with_times():
    X = pd.DataFrame({"signed": days(), "a": np.random.default_rng(1).normal(size=300)})
    X.loc[::7, "signed"] = pd.NaT

    def numbers(X):
        since = (X["signed"] - pd.Timestamp(START)).dt.total_seconds() / 86400
        return pd.DataFrame({"days": since.fillna(180), "a": X["a"]})

    model = make_pipeline(FunctionTransformer(numbers, validate=False), LinearRegression())
    model.fit(X, numbers(X)["days"])
    pdp = ipdp.IncrementalPDP(model, ["signed"], alpha=0.05)
    pdp.explain_many(X)
    for x in X.to_dict("records"):
        pdp.explain_one(x)
    [curve] = ipdp.partial_dependence(model, X, ["signed"])
    for known in (pdp.curve("signed"), curve):
        assert known.times == (True,)
        assert np.ptp(known.average) > 300


def test_the_axis_has_dates():
    pdp = ipdp.IncrementalPDP(age_in_days, alpha=0.05)
    for when in days():
        pdp.explain_one({"signed": when, "a": 1.0})
    for display in (pdp.curve("signed").plot(), *pdp.plot().displays_[:1]):
        assert isinstance(display.ax_.xaxis.get_major_formatter(), ConciseDateFormatter)
        low, high = display.ax_.get_xlim()
        assert np.datetime64("2023-06-01") < np.datetime64(round(low), "D")
        assert np.datetime64(round(high), "D") < np.datetime64("2025-06-01")
    for figure in (pdp.curve("signed").plot(backend="plotly"), pdp.plot(backend="plotly")):
        line = next(trace for trace in figure.data if trace.meta == "curve")
        assert str(line.x[0]).startswith(("2023-12", "2024-01"))
    assert "2024" in pdp._repr_html_()
    assert "2024" in pdp.curve("signed")._repr_html_()


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_model_of_a_frame_gets_the_dtype_of_its_times(zone):
    signed = pd.Series(days()).dt.tz_localize(zone).dt.as_unit("s")
    X = pd.DataFrame({"signed": signed, "a": np.random.default_rng(1).normal(size=300)})
    given = set()

    def numbers(X):
        given.add(str(X["signed"].dtype))
        return X[["a"]]

    model = make_pipeline(FunctionTransformer(numbers, validate=False), LinearRegression())
    model.fit(X, X["a"])
    pdp = ipdp.IncrementalPDP(model, ["signed"], alpha=0.05)
    pdp.explain_many(X)
    assert pdp.curve("signed").times == (True,)
    assert given == {str(signed.dtype)}
