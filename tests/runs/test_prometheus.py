"""What Prometheus gets, over real HTTP, read by its own parser."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families as families

import ipdp
from ipdp.runs import Checkpointed, Exporter, Snapshotted
from ipdp.runs.prometheus import Metrics, MetricsServer

EXAMPLES = Path(__file__).parents[2] / "examples" / "grafana"
NAMES = {
    "ipdp_events",
    "ipdp_explain_seconds",
    "ipdp_feature_importance",
    "ipdp_feature_interaction",
    "ipdp_explained_share",
    "ipdp_effective_samples",
    "ipdp_changes",
    "ipdp_last_checkpoint_timestamp_seconds",
    "ipdp_score",
    "ipdp_explain_every",
    "ipdp_skipped",
}


def get(url: str) -> dict[str, dict[tuple, float]]:
    """The samples at an address: by name, and by the values of their labels."""
    with urlopen(url, timeout=120) as answer:
        assert answer.status == 200
        text = answer.read().decode()
    samples: dict[str, dict[tuple, float]] = {}
    for family in families(text):
        for sample in family.samples:
            samples.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return samples


def turning(n: int):
    """A model that turns around in the middle, and observations of it."""
    rng = np.random.default_rng(1)
    slope = {"a": 1.0}

    def model(x):
        return slope["a"] * x["a"] + x["b"]

    def rows():
        for k in range(n):
            if k == n // 2:
                slope["a"] = -1.0
            yield {"a": rng.uniform(), "b": rng.uniform()}, 1.0

    return model, rows()


def test_a_run_as_prometheus_sees_it(tmp_path):
    from river import metrics

    model, stream = turning(1_200)
    pdp = ipdp.IncrementalPDP(model, ["a", ("a", "b")], grid=ipdp.grid.MinMax(5), alpha=0.01)
    monitor = ipdp.Monitor(pdp, warm_up=200, cool_down=200)
    started = time.time()
    with MetricsServer(0) as server:
        ipdp.run(
            stream,
            model,
            pdp,
            learn=False,
            monitor=monitor,
            metric=metrics.MAE(),
            checkpoint=tmp_path,
            prometheus=server,
        )
        samples = get(server.url)
    assert samples["ipdp_events_total"][()] == 1_200
    assert samples["ipdp_explain_seconds_count"][()] == 1_200
    assert 0 < samples["ipdp_explain_seconds_sum"][()] < time.time() - started
    curve = pdp.results()["a"]
    assert samples["ipdp_feature_importance"][("pdp", "a")] == curve.importance.max()
    assert samples["ipdp_feature_interaction"][("pdp", "a")] == curve.interaction.max()
    assert samples["ipdp_explained_share"][("pdp",)] == curve.explained.max()
    assert samples["ipdp_effective_samples"][("pdp", "a")] == curve.n_effective
    assert set(samples["ipdp_feature_importance"]) == {("pdp", "a"), ("pdp", "a*b")}
    assert samples["ipdp_changes_total"][("a", "real")] >= 1
    assert sum(samples["ipdp_changes_total"].values()) == len(monitor.changes)
    assert 0 < samples["ipdp_score"][("MAE",)] < 2
    assert started <= samples["ipdp_last_checkpoint_timestamp_seconds"][()] <= time.time()
    # A few numbers for each feature, whatever the grid.
    assert sum(map(len, samples.values())) < 25
    assert samples["ipdp_changes_total"][("a", "both")] == 0


def test_permutation_importance_is_exported():
    from river import metrics

    model, stream = turning(300)
    pdp = ipdp.IncrementalPDP(model, ["a"])
    pfi = ipdp.IncrementalPFI(model, ["a", ("a", "b")], loss=metrics.MAE(), seed=1)
    with MetricsServer(0) as server:
        ipdp.run(stream, model, [pdp, pfi], learn=False, prometheus=server)
        samples = get(server.url)
    importance = samples["ipdp_feature_importance"]
    assert set(importance) == {("pdp", "a"), ("pfi", "a"), ("pfi", "a*b")}
    assert importance["pfi", "a*b"] == pfi.importance["a", "b"]
    assert samples["ipdp_effective_samples"]["pfi", "a"] == pfi.results()["a"].n_effective


def test_labels_that_come_later():
    """A model without a label has no output yet, and a feature no importance."""
    from river import metrics, tree

    model = tree.HoeffdingTreeClassifier()
    _, stream = turning(200)
    pdp = ipdp.IncrementalPDP(model, ["a"])
    rows = [(x, x["a"] > 0.5) for x, _ in stream]
    with MetricsServer(0) as server:
        options = {"metric": metrics.Accuracy(), "delay": 150, "prometheus": server}
        ipdp.run(rows, model, pdp, snapshot_every=100, **options)
        assert get(server.url)["ipdp_feature_importance"]["pdp", "a"] >= 0


def test_a_second_run_is_counted_on_top():
    with MetricsServer(0) as server:
        for n in (300, 100):
            model, stream = turning(n)
            pdp = ipdp.IncrementalPDP(model, ["a"] if n == 100 else ["a", "b"])
            ipdp.run(stream, model, pdp, learn=False, prometheus=server)
        samples = get(server.url)
    assert samples["ipdp_events_total"][()] == samples["ipdp_explain_seconds_count"][()] == 400
    assert set(samples["ipdp_feature_importance"]) == {("pdp", "a")}


def test_while_it_runs():
    model, stream = turning(10_000)
    pdp = ipdp.IncrementalPDP(model, ["a"], seed=1)
    seen = []
    with MetricsServer(0) as server:

        def scrape(event):
            if isinstance(event, Snapshotted) and event.n % 500 == 0:
                seen.append(get(server.url))
                if event.n == 1_000:
                    loop.stop()

        loop = ipdp.Run(stream, model, pdp, learn=False)
        export = Exporter(server.metrics)
        for event in loop:
            export(event)
            scrape(event)
    assert seen[0]["ipdp_feature_importance"][("pdp", "a")] > 0
    assert len(seen) >= 2


def test_only_this_machine_is_served_and_the_programs_own_metrics_are_left_alone():
    with MetricsServer(0) as server:
        assert server.url == f"http://127.0.0.1:{server.port}/metrics"
        names = set(get(server.url))
    assert not any(name.startswith(("python_", "process_")) for name in names)
    assert not any(family.name.startswith("ipdp") for family in REGISTRY.collect())


def test_nothing_is_left_behind():
    before = threading.active_count()
    with MetricsServer(0) as server:
        port = server.port
    assert threading.active_count() == before
    with MetricsServer(port):  # it can be had again
        pass


def test_a_port_that_another_program_has():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(
            OSError, match=f"cannot serve metrics at 127.0.0.1:{port}: another program has this"
        ):
            MetricsServer(port)


def test_a_number_that_is_no_port():
    with pytest.raises(ValueError, match="a port is a number from 0 to 65535, got 70000"):
        MetricsServer(70_000)


@pytest.mark.parametrize(
    ("odd", "shown"), [('a "b"\\\n', 'a "b"\\\n'), ("half \ud800", "half \\ud800")]
)
def test_names_of_features_may_be_anything(odd, shown):
    metrics = Metrics()
    pdp = ipdp.IncrementalPDP(lambda x: x[odd] + x[0], [odd, 0], grid=ipdp.grid.MinMax(3))
    for k in range(50):
        pdp.explain_one({odd: k / 50, 0: k % 3})
    metrics(Snapshotted(50, {"pdp": pdp.results()}, "every"))
    labels = {
        sample.labels["feature"]
        for family in families(metrics.text())
        if family.name == "ipdp_feature_importance"
        for sample in family.samples
    }
    assert labels == {shown, "0"}


# What comes with it.


def asked(text: str) -> set[str]:
    return set(re.findall(r"\bipdp_[a-z_]+", text))


def exported() -> set[str]:
    metrics = Metrics()
    metrics(Checkpointed(0, EXAMPLES / "run.ipdp", 1, 0.1))
    families_there = {family.name for family in metrics.collect()}
    assert families_there == NAMES
    counters = {f"{name}_total" for name in ("ipdp_events", "ipdp_changes", "ipdp_skipped")}
    return families_there | counters | {"ipdp_explain_seconds_sum", "ipdp_explain_seconds_count"}


def test_the_dashboard_asks_for_what_there_is():
    board = json.loads((EXAMPLES / "dashboard.json").read_text())
    expressions = [t["expr"] for panel in board["panels"] for t in panel.get("targets", [])]
    assert len(expressions) >= 6
    assert asked(" ".join(expressions)) <= exported()
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & taken
        taken |= cells


def test_the_alerts_ask_for_what_there_is():
    text = (EXAMPLES / "alerts.yml").read_text()
    rules = asked(text)
    assert {"ipdp_changes_total", "ipdp_last_checkpoint_timestamp_seconds"} <= rules
    assert rules <= exported()
