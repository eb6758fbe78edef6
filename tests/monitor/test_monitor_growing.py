"""What grows while it is watched: the number of points, and what the model has learnt."""

import numpy as np
from river import tree

import ipdp
from ipdp.monitor.features import newest_ice, widest


def test_a_range_that_grows_under_regrid_is_found_and_called_virtual():
    # The lattice of regrid gets more points with a wider range; that alone is no new beginning.
    rng = np.random.default_rng(3)
    pdp = ipdp.IncrementalPDP(
        lambda x: x["a"] ** 2 / 9 + x["b"] * x["a"],
        ["a", "b"],
        alpha=0.005,
        grid=ipdp.grid.MinMax(10, window=500),
        estimator="regrid",
    )
    monitor = ipdp.Monitor(pdp, warm_up=500, cool_down=500)
    widths = set()
    for t in range(6_000):
        stretch = 1.0 if t < 3_000 else 1.5
        monitor.explain_one({"a": stretch * rng.uniform(0, 3), "b": rng.normal()})
        if (ice := newest_ice(pdp)) is not None:
            widths.add(widest(ice.layout, [0]))
    assert len(widths) > 1
    found = [(change.feature, change.kind) for change in monitor.changes]
    assert found == [("a", "virtual")]
    assert 3_000 < monitor.changes[0].t < 4_000


def test_a_model_that_has_learnt_nothing_yet_is_waited_for():
    model = tree.HoeffdingTreeClassifier()
    pdp = ipdp.IncrementalPDP(model, ["age"])
    monitor = ipdp.Monitor(pdp, warm_up=20)
    stream = ipdp.datasets.AgrawalDrift(seed=1)
    for x, _ in stream.take(200):
        monitor.explain_one(x)
    assert monitor.changes == []
    for x, y in stream.take(200):
        monitor.explain_one(x)
        model.learn_one(x, y)
    assert pdp.curve("age").outputs
