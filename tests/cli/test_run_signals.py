"""Ctrl-C, SIGTERM and kill -9, from outside."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
import urllib.request

import confluent_kafka
import numpy as np
import pytest

from ipdp.core import kernels
from ipdp.log import LogReader

MODEL = "river.tree.HoeffdingTreeClassifier(grace_period=50)"
# The compiled build adds up one observation after the other. In the pure one numpy adds up several
# at once, and how many they are depends on when the run was stopped: the same to rounding.
TOLERANCE = 1e-9 if kernels.current is kernels.array else 0


def wait_for(condition, seconds=300):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def seen(out):
    try:
        with LogReader(out) as reader:
            return reader.status.n
    except (OSError, ValueError):
        return 0


def arguments(out, n=100_000):
    given = ["run", "--data", f"agrawal?n_samples={n}", "--model", MODEL, "--out", str(out)]
    return [*given, "--features", "age,salary", "--checkpoint-every", "200"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_ends_with_a_checkpoint_and_says_how_to_go_on(start, tmp_path, number, code):
    out = tmp_path / "run"
    process = start(*arguments(out))
    wait_for(lambda: seen(out) > 0)
    process.send_signal(number)
    said, errors = process.communicate(timeout=300)
    assert process.returncode == code
    assert errors.splitlines()[-1] == f"Stopped with a checkpoint. To go on: ipdp resume {out}"
    assert "Traceback" not in errors
    n = int(said.split()[0].replace(",", ""))
    with LogReader(out) as reader:
        assert (reader.status.state, reader.status.n) == ("stopped", n)
        assert reader.snapshots()[-1].n == n
    assert (out / "checkpoint.ipdp").exists()


BESIDE = ["--by", "elevel", "--n-groups", "3", "--link", "logit", "--challenger", MODEL]


@pytest.mark.filterwarnings("default:the challenger")
@pytest.mark.parametrize("more", [[], BESIDE], ids=["plain", "groups, challenger and link"])
def test_a_stopped_run_ends_as_if_it_had_not_been_stopped(start, tmp_path, ipdp, more):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert ipdp(*arguments(whole, 2_500), *more, "--quiet").code == 0
    code = 0
    for _ in range(5):  # on a busy machine it may be over before it is stopped
        shutil.rmtree(parts, ignore_errors=True)
        process = start(*arguments(parts, 2_500), *more)
        wait_for(lambda: process.poll() is not None or seen(parts) > 0)  # noqa: B023
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        code = process.returncode
        if code:
            break
    assert code == 130
    assert ipdp("resume", parts, "--quiet").code == 0
    with LogReader(whole) as a, LogReader(parts) as b:
        assert [(i.n, i.reason) for i in a.snapshots()] == [(i.n, i.reason) for i in b.snapshots()]
        assert [c.change.summary() for c in a.changes()] == [
            c.change.summary() for c in b.changes()
        ]
        assert ("challenger challenger" in a.explainers) is bool(more)
        for explainer in a.explainers:
            again = b.at(2_500, explainer)
            for name, curve in a.at(2_500, explainer).items():
                np.testing.assert_allclose(again[name].average, curve.average, TOLERANCE, 0)
        groups = {curve.where for curve in a.at(2_500).values()} - {None}
        assert len(groups) == (4 if more else 0)


SLOW = """
import signal, time
def predict(x):
    stop = signal.getsignal(signal.SIGINT)
    def told(*given):
        stop(*given)
        open("told", "w").close()
    signal.signal(signal.SIGINT, told)
    open("begun", "w").close()
    time.sleep(3600)
"""


def test_a_second_ctrl_c_ends_it_at_once(start, tmp_path):
    # The model's one prediction takes an hour: it cannot end after the observation in hand.
    (tmp_path / "slow.py").write_text(SLOW)
    given = ["--model", "slow:predict", "--features", "age", "--grid", "Fixed([30, 40])"]
    process = start("run", "--data", "agrawal", *given, cwd=tmp_path)
    for sign in ("begun", "told"):
        wait_for((tmp_path / sign).exists)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_standard_input(start, tmp_path):
    out = tmp_path / "run"
    given = ["--target", "y", "--model", MODEL, "--out", str(out), "--snapshot-every", "50"]
    process = start("run", "--data", "-", *given, stdin=subprocess.PIPE)
    rng = np.random.default_rng(0)
    for _ in range(120):
        a = rng.normal()
        process.stdin.write(json.dumps({"a": a, "b": rng.normal(), "y": a > 0}) + "\n")
    process.stdin.flush()
    wait_for(lambda: seen(out) >= 100)  # also without a further line
    process.send_signal(signal.SIGTERM)  # while it waits for more
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 143, errors
    assert said.startswith("120 observations in ")
    with LogReader(out) as reader:
        assert reader.status.state == "stopped"


def test_kafka_after_a_kill_nothing_is_lost_or_explained_twice(start, tmp_path, ipdp):
    producer = confluent_kafka.Producer(
        {"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0}
    )
    [broker] = producer.list_topics(timeout=120).brokers.values()
    rng = np.random.default_rng(0)
    for _ in range(3_000):
        a = rng.normal()
        value = json.dumps({"a": a, "b": rng.normal(), "y": bool(a > 0)})
        producer.produce("loans", value, partition=0)
    producer.flush(120)
    address = f"kafka://{broker.host}:{broker.port}/loans?end=now"
    # With the partitions in one order the run is one run, whatever happens to it.
    given = ["--data", address, "--target", "y", "--model", MODEL, "--checkpoint-every", "100"]
    assert ipdp("run", *given, "--out", tmp_path / "whole", "--quiet").code == 0
    given[1] += "&group=killed"
    out = tmp_path / "killed"
    process, kills = start("run", *given, "--out", out), 0
    for n in (300, 1_000):
        wait_for(lambda: process.poll() is not None or seen(out) > n)  # noqa: B023
        if process.poll() is not None:  # on a busy machine it may be over by now
            break
        process.kill()
        process.communicate()
        kills += 1
        # Its log alone opens no connection.
        process = start("resume", out, "--data", given[1])
    assert kills
    process.communicate(timeout=300)
    assert process.returncode == 0
    with LogReader(tmp_path / "whole") as a, LogReader(out) as b:
        assert b.status.n == 3_000
        assert [(i.n, i.reason) for i in a.snapshots()] == [(i.n, i.reason) for i in b.snapshots()]
        for name, curve in a.at(3_000).items():
            resumed = b.at(3_000)[name].average
            np.testing.assert_allclose(curve.average, resumed, rtol=TOLERANCE, atol=TOLERANCE)
            assert curve.n_samples == b.at(3_000)[name].n_samples
    assert committed(broker, "killed") == 3_000


def committed(broker, group):
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": f"{broker.host}:{broker.port}", "group.id": group, "log_level": 0}
    )
    partition = confluent_kafka.TopicPartition("loans", 0)
    [found] = consumer.committed([partition], timeout=120)
    consumer.close()
    return found.offset


def test_the_page_is_there_while_it_runs_and_ends_with_it(tmp_path, start, monkeypatch):
    monkeypatch.setenv("BROWSER", "true")  # a program that opens nothing
    given = ["--model", MODEL, "--features", "age", "--out", tmp_path / "run", "--limit", 10**7]
    process = start("run", "--data", "agrawal?n_samples=10000000", *given, "--watch")
    address = None
    for line in process.stderr:
        found = re.search(r"The live page: (http://127\.0\.0\.1:\d+\S*)", line)
        if found:
            address = found[1]
            break
    assert address is not None
    with urllib.request.urlopen(address, timeout=120) as page:
        assert page.status == 200
        assert b"ipdp" in page.read()
    process.terminate()
    process.stderr.read()
    assert process.wait(timeout=300) == 143
    try:
        urllib.request.urlopen(address, timeout=5)
    except OSError:
        pass
    else:
        raise AssertionError("the page outlived the run")
