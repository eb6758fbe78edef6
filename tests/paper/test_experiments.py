"""Every experiment on a short stream, with bounds that hold there."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.datasets.made_up import CALIFORNIA, ELEC2, electricity, housing, write_csv

from ipdp.paper import agrawal, california, elec2, hyperplane, illustration, storage
from ipdp.paper.elec2_watched import Watched
from ipdp.paper.following import Recording


def silent(_line):
    pass


def bounds(rows):
    """What became of each claim that has a bound."""
    return {row.claim: row.agrees for row in rows if row.agrees is not None}


def line_of(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


# Storage.


def test_storage_is_exact_and_small():
    run = storage.run(42, silent, windows=(10, 100, 300))
    assert all(bounds(storage.rows([run])).values())
    # A value is kept if it is larger than all newer ones: harmonic number of the window.
    assert run.mean("independent", 300) == pytest.approx(np.log(300) + 0.577, abs=2)


def test_storage_draws_what_is_kept():
    figure = storage.figures(storage.run(42, silent, windows=(10, 30)))["storage"]
    [counts_ax] = [ax for ax in figure.axes if ax.get_label() == "counts"]
    counts = line_of(counts_ax, "falling values")
    np.testing.assert_array_equal(counts.get_xdata(), [10, 30])
    np.testing.assert_array_equal(counts.get_ydata(), [10, 30])


# Illustrations, and agrawal within them.


@pytest.fixture(scope="module")
def drawn():
    return illustration.run(42, silent, length=1_500, trees=3)


def test_illustrations_follow_the_equations(drawn):
    found = bounds(illustration.rows([drawn]))
    assert all(agrees for claim, agrees in found.items() if claim.startswith(("Fig. 1", "Fig. 3")))
    # Only a part of the new observation's range has been taken over.
    assert 1 < drawn.after.grid_values[0][-1] < 2


def test_illustrations_are_drawn(drawn):
    figures = illustration.figures(drawn)
    assert list(figures) == ["illustration_pdp", "illustration_drifts", "illustration_update"]
    pdp = line_of(figures["illustration_pdp"].axes[0], "PDP")
    np.testing.assert_array_equal(pdp.get_ydata(), drawn.pdp.average[0])


def test_agrawal_sees_the_real_and_the_virtual_drift(drawn):
    run = drawn.drifts
    first, second, third = run.times
    assert max(run.rmse(t) for t in run.times) < 0.1
    assert run.span(first) < 0.15 < run.span(second)
    # The smoothed end of the grid lags behind: 1,500 observations after the drift it is not there.
    assert 148 < run.right_end(first) <= 150
    assert 180 < run.right_end(third) <= 200
    salary = run.recording.pfi["salary"]
    assert abs(salary[first // 50 - 1]) < 0.05 < salary[-1]


def test_agrawal_is_drawn_and_kept(drawn):
    run = drawn.drifts
    panels = agrawal.figures(run)["agrawal"].axes[:3]
    for ax, t in zip(panels, run.times, strict=True):
        np.testing.assert_array_equal(line_of(ax, "iPDP").get_ydata(), run.curve(t).average[0])
        np.testing.assert_array_equal(line_of(ax, "batch PDP").get_ydata(), run.batch[t].average[0])
    assert agrawal.numbers(run)[f"at {run.times[0]}"]["rmse"] == run.rmse(run.times[0])
    assert len(agrawal.rows([run])) == 7


# Hyperplane.


@pytest.fixture(scope="module")
def turned():
    return hyperplane.run(42, silent, drift=3_000, soon=3_500, end=6_000)


def test_hyperplane_turns_round(turned):
    drift, soon, end = turned.times
    assert turned.rise("script", drift) > 0.5
    assert turned.rise("script", end) < -0.5
    assert max(turned.rmse("script", t) for t in (drift, end)) < 0.15
    assert turned.rmse("script", soon) < 0.3
    # 500 observations after the drift the settings of the text still show more of the old effect.
    assert turned.rise("text", soon) > turned.rise("script", soon) + 0.2
    assert 0.1 < min(turned.pfi()) <= max(turned.pfi()) < 0.5


def test_hyperplane_is_drawn_and_kept(turned):
    figures = hyperplane.figures(turned)
    assert list(figures) == ["hyperplane", "hyperplane_text"]
    panels = figures["hyperplane"].axes[:3]
    for ax, t in zip(panels, turned.times, strict=True):
        curve = turned.curve("script", t)
        np.testing.assert_array_equal(line_of(ax, "iPDP").get_xdata(), curve.grid_values[0])
    assert hyperplane.numbers(turned)["script at 3000"]["rise"] == turned.rise("script", 3_000)
    known = [row for row in hyperplane.rows([turned]) if row.known]
    assert [row.agrees for row in known] == [False]


# California, on data of the same form.


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    directory = tmp_path_factory.mktemp("data")
    write_csv(directory / "california_housing.csv", CALIFORNIA, housing(3_000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPDP_DATA", str(directory))
        yield california.run(42, silent, shuffles=2)


def test_california_comes_close_to_the_batch_pdp(static):
    fast, slow = (np.mean(static.rmses(alpha)) for alpha in california.ALPHAS)
    assert slow < fast < 0.06
    # Values fall to the east by 0.05 a degree, and so does the curve, in standardised units.
    slope = np.polyfit(static.batch.grid_values[0], static.batch.average[0], 1)[0]
    assert slope / static.sd == pytest.approx(-0.05, abs=0.01)


def test_california_is_standardised_by_its_training_data(static, monkeypatch, tmp_path):
    write_csv(tmp_path / "california_housing.csv", CALIFORNIA, housing(500))
    monkeypatch.setenv("IPDP_DATA", str(tmp_path))
    data = california.prepared(1)
    assert data.is_train.sum() == 350
    train = data.x[data.is_train]
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(train.std(axis=0), 1, atol=1e-12)
    assert not np.isnan(data.x).any()
    assert len(california.prepared(1, n=100).x) == 100


def test_california_is_drawn_in_degrees(static):
    figures = california.figures(static)
    assert list(figures) == ["california", "california_order"]
    batch = line_of(figures["california"].axes[0], "batch PDP")
    assert -124.1 < batch.get_xdata()[0] < -123.8
    np.testing.assert_allclose(batch.get_ydata(), 10 ** static.batch.average[0])
    assert california.numbers(static)["r2"] == static.scores["r2"] > 0.75
    assert len(california.rows([static])) == 8


def test_dead_networks_are_passed_over(static, monkeypatch, tmp_path):
    class Constant:
        def fit(self, _x, y):
            self.mean = y.mean()
            return self

        def predict(self, X):
            return np.full(len(X), self.mean)

    write_csv(tmp_path / "california_housing.csv", CALIFORNIA, housing(200))
    monkeypatch.setenv("IPDP_DATA", str(tmp_path))
    lines = []
    monkeypatch.setattr(
        california.networks, "fitter", lambda _library: lambda x, y, _seed: Constant().fit(x, y)
    )
    with pytest.raises(RuntimeError, match="seeds 42 to 46"):
        california.run(42, lines.append)
    assert sum("predicts a constant" in line for line in lines) == 5


def test_ctrl_c_while_the_network_learns_is_not_lost(monkeypatch):
    def interrupted(*_arguments, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn.neural_network.MLPRegressor._backprop", interrupted)
    rng = np.random.default_rng(0)
    fit = california.networks.fitter("sklearn")
    with pytest.raises(KeyboardInterrupt):
        fit(rng.normal(size=(50, 2)), rng.normal(size=50), 1)


@pytest.mark.parametrize(
    ("library", "error", "message"),
    [
        ("jax", ValueError, "sklearn or torch, got 'jax'"),
        ("torch", ImportError, "pip install torch"),
        ("sklearn", ImportError, "pip install 'ipdp\\[sklearn\\]'"),
    ],
)
def test_a_library_that_is_not_here_is_refused_at_once(monkeypatch, library, error, message):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "sklearn.neural_network", None)
    monkeypatch.setattr(california, "prepared", lambda *_: pytest.fail("the data were read"))
    with pytest.raises(error, match=message):
        california.run(42, silent, network=library)


# elec2, on data of the same form.


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    directory = tmp_path_factory.mktemp("data")
    write_csv(directory / "electricity.csv", (*ELEC2, "class"), electricity(4_500, 1_200))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPDP_DATA", str(directory))
        patch.setattr(elec2, "CONSTANT_UNTIL", 1_200)
        patch.setattr(elec2, "LOOKS", (3_000, 4_400))
        patch.setattr(elec2, "PAPER_CHANGES", (3_000, 4_000, 4_400))
        yield elec2.run(42, silent, n=4_500, n_models=2, features=["vicprice", "nswprice"])


def test_elec2_has_no_effect_while_the_feature_is_constant(watched):
    found = bounds(elec2.rows([watched]))
    early = [agrees for claim, agrees in found.items() if "until" in claim]
    assert early == [True] * 6
    for model in watched.models.values():
        assert model.rise(4_400) > 0.05


def test_elec2_finds_the_change_afterwards(watched):
    times = [t for model in watched.models.values() for t in model.paper.get("vicprice", [])]
    assert times
    assert min(times) > 1_200
    assert sum(watched.forest.remaining().values()) == len(watched.forest.paper["vicprice"])


def test_elec2_tells_which_alarms_remain_and_which_would_by_chance():
    found = Watched(
        recording=Recording(t=[10_000, 12_000, 20_000, 22_000, 30_000, 40_000], n=40_000),
        paper={"vicprice": [12_000, 20_500, 31_000, 35_000]},
        own={"vicprice": [(12_900, "real"), (20_000, "virtual"), (32_000, "both")]},
    )
    assert found.remaining() == {"effect": 2, "range": 1, "nothing": 1}
    # Of the five times since the first alarm one is near a change of the effect: 12,000.
    assert sum(found.by_chance()) / len(found.by_chance()) == 1 / 5


def test_elec2_is_drawn_and_kept(watched):
    figures = elec2.figures(watched)
    assert list(figures) == ["elec2", "elec2_bagging", "elec2_changes", "elec2_features"]
    first = min(watched.forest.at_change)
    curve = line_of(figures["elec2_changes"].axes[0], "iPDP")
    np.testing.assert_array_equal(curve.get_ydata(), watched.forest.at_change[first].average[0])
    kept = elec2.numbers(watched)["ARF"]
    assert kept["changes"] == watched.forest.paper
    assert 0.5 < kept["accuracy"] < 1


def test_elec2_says_how_much_of_the_stream_it_needs():
    with pytest.raises(ValueError, match=r"needs the first [\d,]+ observations"):
        elec2.run(42, silent, n=1_000)
