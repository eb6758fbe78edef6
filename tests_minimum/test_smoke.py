"""Every library at the lowest version that is declared: does what ipdp does with it still work?

Each test does one thing that users do, so that a minimum that is too low is named by it.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest
from packaging.version import Version
from river import forest, metrics, tree, utils
from tests_minimum.requirements import minimums

import ipdp

TREE = "river.tree.HoeffdingTreeClassifier(grace_period=50)"


@pytest.mark.parametrize(("name", "lowest"), minimums().items())
def test_the_lowest_version_is_installed(name, lowest):
    assert Version(version(name)) == Version(lowest)


def rows(n: int = 600) -> Iterator[tuple[dict, bool]]:
    """A number that decides, the other way around from 300 on; a category and noise beside it."""
    rng = random.Random(1)
    for k in range(n):
        x = {"a": rng.random(), "b": rng.gauss(0, 1), "c": rng.choice(["red", "green"])}
        yield x, (x["a"] > 0.5) ^ (k > 300)


def frame(n: int = 600) -> pd.DataFrame:
    return pd.DataFrame([{**x, "y": y} for x, y in rows(n)])


# Explaining.


@pytest.mark.parametrize(
    "model",
    [tree.HoeffdingTreeClassifier(grace_period=50), forest.ARFClassifier(n_models=3, seed=1)],
    ids=["Hoeffding tree", "ARF"],
)
def test_a_model_of_river(model):
    pdp = ipdp.IncrementalPDP(model, ["a", "c", ("a", "b")], alpha=0.02, seed=1)
    pfi = ipdp.IncrementalPFI(model, ["a", "b"], loss=metrics.Accuracy(), alpha=0.02, seed=1)
    assert "walk" in repr(pdp.engine)
    for x, y in rows(300):
        pdp.explain_one(x)
        pfi.explain_one(x, y)
        model.learn_one(x, y)
    assert pdp.curve("a").overall_importance > 0.2
    n_outputs, *sides = pdp.curve(("a", "b")).average.shape
    assert n_outputs == 2
    assert min(sides) >= 10
    assert pfi.results()["a"].overall_importance > pfi.results()["b"].overall_importance


def test_a_frame_of_pandas():
    X = frame().drop(columns="y")
    one = ipdp.IncrementalPDP(lambda x: x["a"] * 2, ["a", "c"], alpha=0.02, seed=1)
    many = ipdp.IncrementalPDP(lambda x: x["a"] * 2, ["a", "c"], alpha=0.02, seed=1)
    for x, _ in rows():
        one.explain_one(x)
    many.explain_many(X)
    np.testing.assert_allclose(many.curve("a").average, one.curve("a").average)
    assert set(many.curve("c").grid_values[0]) == {"red", "green"}


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_a_curve_as_a_frame(backend):
    [curve] = ipdp.partial_dependence(lambda x: x["a"], frame(50), ["a"])
    table = curve.to_frame(backend)
    assert table.shape == (curve.average.size, 4)


def test_a_function_of_a_frame_that_is_not_pandas():
    engine = ipdp.models.engine(lambda X: X["a"].to_numpy(), takes="frame", backend="pyarrow")
    [curve] = ipdp.partial_dependence(engine, frame(50)[["a", "b"]], ["a"])
    np.testing.assert_allclose(curve.average[0], curve.grid_values[0])


def test_a_model_of_scikit_learn():
    from sklearn.ensemble import HistGradientBoostingClassifier

    X = frame()[["a", "b"]]
    model = HistGradientBoostingClassifier(max_iter=10).fit(X, X["a"] > 0.5)
    pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.01)
    pdp.explain_many(X)
    assert pdp.curve("a").at([0.1, 0.9])[:, 1].round() == pytest.approx([0, 1])


@pytest.mark.parametrize("grid", [ipdp.grid.MinMax, ipdp.grid.QuantileRange, ipdp.grid.Quantiles])
@pytest.mark.parametrize("width", [3, 10**9])
def test_whole_numbers_beyond_64_bits(grid, width):
    values = [2**70, 2**70 + width] * 20
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] / 2**70, ["a"], grid=grid(5), alpha=None)
    pdp.explain_many([{"a": value} for value in values])
    assert pdp.curve("a").average == pytest.approx(1.0)
    alone = grid(5)
    for value in values:
        alone.update(value)
    assert alone.points.astype(float) == pytest.approx(2.0**70)


# Runs.


def new_run(directory: Path, n: int = 600, **options) -> ipdp.Run:
    """A run with all that belongs to it; the monitor sees the stream turn around."""
    model = tree.HoeffdingAdaptiveTreeClassifier(grace_period=50, seed=1)
    pdp = ipdp.IncrementalPDP(model, ["a", "b", "c"], alpha=0.02, seed=1)
    return ipdp.Run(
        rows(n),
        model,
        [pdp, ipdp.IncrementalPFI(model, ["a", "b"], loss=metrics.Accuracy(), alpha=0.02, seed=1)],
        metric=[metrics.LogLoss(), utils.Rolling(metrics.Accuracy(), 100)],
        monitor=ipdp.Monitor(pdp, warm_up=50, cool_down=50),
        log=directory,
        checkpoint=directory,
        **options,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The directory of a run that has ended."""
    directory = tmp_path_factory.mktemp("runs") / "run"
    for _ in new_run(directory):
        pass
    return directory


def test_a_run_with_monitor_and_log(finished):
    with ipdp.LogReader(finished) as reader:
        assert [info.n for info in reader.snapshots()][-1] == 600
        assert "a" in {logged.change.feature for logged in reader.changes()}
        assert reader.at(600)["a"].n_samples > 500


@pytest.mark.parametrize("allow_pickle", [False, True])
def test_a_resumed_run_ends_as_the_other(finished, tmp_path, allow_pickle):
    for _ in new_run(tmp_path, 250, allow_pickle=allow_pickle):
        pass
    started, *_ = new_run(tmp_path, resume=True, allow_pickle=allow_pickle)
    assert started.n == 250
    with ipdp.LogReader(finished) as expected, ipdp.LogReader(tmp_path) as reader:
        assert reader.at(600)["a"].to_dict() == expected.at(600)["a"].to_dict()


def test_a_model_that_a_checkpoint_keeps_by_skops(tmp_path):
    from sklearn.linear_model import SGDClassifier

    def assemble(n: int, resume: bool) -> ipdp.Run:
        stream = [({"a": x["a"], "b": x["b"]}, y) for x, y in rows(n)]
        first = pd.DataFrame([x for x, _ in stream[:50]])
        model = SGDClassifier(loss="log_loss", random_state=1)
        model.partial_fit(first, [y for _, y in stream[:50]], classes=[False, True])
        pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.02, seed=1)
        return ipdp.Run(stream, model, pdp, checkpoint=tmp_path, resume=resume)

    for run in (assemble(100, False), assemble(200, True)):
        for _ in run:
            pass
    assert run.n == 200


def test_metrics_for_prometheus(tmp_path):
    from prometheus_client.parser import text_string_to_metric_families as families

    from ipdp.runs import Exporter
    from ipdp.runs.prometheus import MetricsServer

    with MetricsServer(0) as server:
        export = Exporter(server.metrics)
        for event in new_run(tmp_path):
            export(event)
        with urlopen(server.url, timeout=10) as answer:
            text = answer.read().decode()
    names = {family.name for family in families(text)}
    assert {"ipdp_events", "ipdp_feature_importance", "ipdp_changes", "ipdp_score"} <= names


# Sources.


def test_a_parquet_file(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    from ipdp.sources import open_source

    table = pa.Table.from_pandas(frame(100), preserve_index=False)
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=30)
    with open_source(tmp_path / "rows.parquet", target="y") as source:
        assert [{**x, "y": y} for x, y in source] == table.to_pylist()


def test_a_topic_of_kafka():
    """Against the cluster that librdkafka itself simulates."""
    from confluent_kafka import Producer

    from ipdp.sources import open_source

    producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "x", "log_level": 0})
    [broker] = producer.list_topics(timeout=10).brokers.values()
    for k in range(40):
        producer.produce("rows", json.dumps({"a": k, "y": k % 2}), partition=k % 4)
    assert producer.flush(10) == 0
    address = f"kafka://{broker.host}:{broker.port}/rows?end=now"
    with open_source(address, target="y") as source:
        assert sorted(x["a"] for x, _ in source) == list(range(40))


# Figures, report and page.


def displays(run: Path) -> list:
    from ipdp import plot

    with ipdp.LogReader(run) as reader:
        [change, *_] = reader.changes()
        return [
            plot.PDPDisplay(reader.at(600)["a"]),
            plot.OverviewDisplay(reader.at(600)),
            plot.CarpetDisplay(reader, "a"),
            plot.TimelineDisplay(reader),
            plot.ChangeDisplay(change.change),
        ]


def test_figures_of_matplotlib(finished):
    for display in displays(finished):
        picture = io.BytesIO()
        display.plot().figure_.savefig(picture, format="png")
        assert picture.getvalue()[1:4] == b"PNG"


def test_figures_of_plotly(finished):
    for display in displays(finished):
        figure = display.plot(backend="plotly")
        assert len(figure.data) > 0
        assert figure.to_html(include_plotlyjs=False)


def test_a_pair_is_drawn():
    [pair] = ipdp.partial_dependence(lambda x: x["a"] * x["b"], frame(50), [("a", "b")])
    assert pair.plot().figure_.axes
    assert pair.plot(backend="plotly").data


def test_the_page_over_http(finished):
    from ipdp.web.server import background

    with background(finished) as address:
        with urlopen(address, timeout=10) as answer:
            page = answer.read().decode()
        assert "<title>run" in page
        with urlopen(f"{address}runs/run.json", timeout=10) as answer:
            assert json.load(answer)["n"][-1] == 600
        script = next(part for part in page.split('"') if part.startswith("/static/plotly"))
        with urlopen(address.rstrip("/") + script, timeout=10) as answer:
            assert answer.headers["content-type"].startswith("text/javascript")


def test_the_page_for_another_machine_is_compressed(finished):
    from ipdp.web import make_app

    app = make_app(finished, token="a secret", host="0.0.0.0", names=["example.org"])
    sent: list[dict] = []

    async def receive() -> dict:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict) -> None:
        sent.append(message)

    headers = {
        "host": "example.org",
        "authorization": "Bearer a secret",
        "accept-encoding": "gzip",
    }
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/runs/run.json",
        "raw_path": b"/runs/run.json",
        "root_path": "",
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
        "client": ("192.0.2.1", 12345),
        "server": ("192.0.2.2", 80),
    }
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 200
    body = b"".join(message.get("body", b"") for message in sent[1:])
    assert json.loads(gzip.decompress(body))["n"][-1] == 600


# The command line.


def command(*arguments: object) -> str:
    """What `ipdp` with these arguments prints."""
    script = Path(sys.executable).with_name("ipdp")
    answer = subprocess.run(
        [script, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.mark.parametrize("arguments", [[], ["run"], ["show"], ["watch"]], ids=" ".join)
def test_help(arguments):
    assert "Usage: ipdp" in command(*arguments, "--help")


def test_a_run_of_a_file_is_shown_reported_and_resumed(tmp_path):
    out = tmp_path / "run"
    frame().to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "run.toml").write_text(
        f'model = "{TREE}"\ntarget = "y"\nalpha = 0.02\nexplainers = ["pdp", "pfi"]\n'
        'features = ["a", "c", ["a", "b"]]\n[grid]\na = "MinMax(5)"\n'
    )
    given = ["--config", tmp_path / "run.toml", "--data", tmp_path / "rows.csv", "--out", out]
    ended = json.loads(command("run", *given, "--json"))
    assert (ended["state"], ended["n"]) == ("ended", 600)
    assert "a*b" in command("show", out)
    assert json.loads(command("show", out, "--json"))
    command("report", out, "--out", tmp_path / "report.html")
    assert "In short" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with (tmp_path / "rows.csv").open("a") as file:
        file.write("0.5,0.5,red,True\n")
    assert json.loads(command("resume", out, "--json"))["n"] == 601
