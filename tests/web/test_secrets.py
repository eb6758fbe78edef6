"""A secret that is given to a run is nowhere to be found: no file, page, metric or line has it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from starlette.testclient import TestClient
from tests.web.logs import write_run
from typer.testing import CliRunner

from ipdp.cli.app import app
from ipdp.log import Log, LogReader, schema
from ipdp.runs import RunConfig
from ipdp.runs.prometheus import Metrics
from ipdp.web import make_app, write_report

SECRET = "hunter2-swordfish"
WEBHOOK = f"http://127.0.0.1:9/T000/{SECRET}?key={SECRET}"
TOPIC = f"kafka://me:{SECRET}@broker:9092/loans?sasl.password={SECRET}"


def files(directory):
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file()).decode(
        errors="replace"
    )


def pages(directory):
    """All that the live page of a run is sent."""
    with TestClient(make_app(directory), base_url="http://127.0.0.1:8321") as client:
        name = client.get("/runs.json").json()["runs"][0]["address"]
        paths = ["/runs.json", name, f"{name}.html", f"{name}.json", f"{name}/features/0.json"]
        answers = [client.get(path) for path in paths]
    assert [answer.status_code for answer in answers] == [200] * len(paths)
    return "".join(answer.text for answer in answers)


def printed(*arguments):
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_a_webhook_is_in_no_file_page_metric_or_line(tmp_path):
    config = RunConfig(
        data="agrawal?n_samples=400&position=200",
        model="river.tree.HoeffdingTreeClassifier(grace_period=50)",
        webhook=WEBHOOK,
        out=tmp_path / "run",
        grid="MinMax(5)",
    )
    metrics, said = Metrics(), []
    with config.assemble() as run:
        for event in run:
            metrics(event)
            said.append(repr(event))
    said += [metrics.text(), repr(config), pages(tmp_path / "run")]
    said += [printed(command, tmp_path / "run") for command in ("show", "changes", "report")]
    said.append(printed("show", tmp_path / "run", "--json"))
    said.append(files(tmp_path))
    assert [text[:60] for text in said if SECRET in text] == []


@pytest.fixture
def old(tmp_path):
    """A log that an earlier version wrote: with whole addresses, and an error that names one."""
    write_run(tmp_path / "old", 400, changes=(), state="failed")
    command = {"webhook": WEBHOOK, "data": TOPIC, "model": "/home/jane/models/loans.skops"}
    with closing(sqlite3.connect(tmp_path / "old" / "log.db")) as connection, connection:
        connection.row_factory = sqlite3.Row
        row = dict(connection.execute("SELECT * FROM run").fetchone())
        row |= {"settings": json.dumps({"command": command}), "message": f"no answer of {TOPIC}"}
        row.pop("checksum")
        connection.execute(*schema.insertion("run", row, "REPLACE"))
    assert SECRET in files(tmp_path)
    return tmp_path / "old"


def test_what_an_older_version_wrote_is_redacted_when_it_is_read(old, tmp_path):
    with LogReader(old) as reader:
        assert reader.verify() == []
        said = [repr(reader.settings), repr(reader.status)]
    said += [pages(old), write_report(old, tmp_path / "report.html").read_text()]
    said += [printed("show", old), printed("show", old, "--json")]
    assert [text[:60] for text in said if SECRET in text] == []
    assert "broker:9092/loans" in said[0]
    assert "/home/jane" not in "".join(said[2:4])
    assert "loans.skops" in said[3]


def test_the_file_itself_is_clean_once_it_is_written_to(old):
    with Log(old) as log:
        assert SECRET not in repr(log.settings)
    assert SECRET not in files(old)


def test_nothing_secret_is_logged_whoever_logs_it(tmp_path):
    with Log(tmp_path) as log:
        log.begin({"webhook": WEBHOOK, "source": {"address": TOPIC}})
        log.end(0, "failed", f"cannot reach {TOPIC}")
    assert SECRET not in files(tmp_path)
