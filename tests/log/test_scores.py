"""The mean prediction over time."""

import numpy as np

import ipdp


def test_mean_predictions_of_a_run(tmp_path):
    def model(x):
        return {False: 1 - x["a"], True: x["a"]}

    pdp = ipdp.IncrementalPDP(model, alpha=None, grid=ipdp.grid.Fixed([0.0, 1.0]))
    values = np.random.default_rng(1).uniform(size=300)
    rows = [{"a": value} for value in values.tolist()]
    ipdp.run(rows, model, pdp, learn=False, log=tmp_path / "run", snapshot_every=100)
    with ipdp.LogReader(tmp_path / "run") as reader:
        ((name, (n, means)),) = reader.scores().items()
        later = reader.scores(after=100)
    assert name == "mean chance of True"
    assert n.tolist() == [100, 200, 300]
    np.testing.assert_allclose(means, [values[:k].mean() for k in n], atol=1e-12)
    assert later["mean chance of True"][0].tolist() == [200, 300]


def test_a_log_without_them_has_none(tmp_path):
    with ipdp.Log(tmp_path / "run") as log:
        log.begin({}, features=["a"])
        curve = ipdp.Curve(
            feature="a",
            outputs=("prediction",),
            grid_values=[np.array([0.0, 1.0])],
            average=np.zeros((1, 2)),
            std_error=np.zeros((1, 2)),
            n_samples=10,
            n_effective_points=np.full(2, 10.0),
        )
        log.snapshot({"a": curve}, 10)
        assert log.scores() == {}
