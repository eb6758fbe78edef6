"""Runs on sources that wait, and on topics whose offsets go with the checkpoint."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import confluent_kafka
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import metrics, tree

import ipdp
from ipdp.runs import Run, RunFailed, Started, stop_on_signals
from ipdp.runs.checkpoint import read
from ipdp.sources import open_source
from ipdp.sources.open import open_stdin

from .conftest import rows


@pytest.fixture
def address():
    """A topic of 200 messages on librdkafka's mock cluster."""
    producer = confluent_kafka.Producer(
        {"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0}
    )
    [broker] = producer.list_topics(timeout=120).brokers.values()
    for x, y in rows(200):
        producer.produce("rows", json.dumps({**x, "y": y}), partition=0)
    assert producer.flush(10) == 0
    yield f"kafka://{broker.host}:{broker.port}/rows?end=now&group=test"
    producer.purge()


def frozen(x):
    if x["a"] == frozen.fails_on:
        raise ZeroDivisionError
    return x["a"] * x["b"]


frozen.fails_on = None


def run(source, **options) -> Run:
    pdp = ipdp.IncrementalPDP(frozen, ["a"], seed=1)
    return Run(source, frozen, pdp, learn=False, **options)


def test_offsets_are_committed_with_the_checkpoint(address, tmp_path, monkeypatch):
    options = {"checkpoint": tmp_path, "checkpoint_every": 50, "snapshot_every": 10}
    with open_source(address, target="y") as source, monkeypatch.context() as patch:
        patch.setattr(frozen, "fails_on", list(rows(200))[170][0]["a"])
        with pytest.raises(RunFailed, match="observation 171"):
            list(run(source, metric=metrics.MAE(), **options))
    assert read(tmp_path / "checkpoint.ipdp")["run"]["feed"]["n"] == 150
    with open_source(address, target="y") as source:
        assert source.position["offsets"]["0"] == 150  # where the group is
    with open_source(address, target="y") as source:
        one = run(source, metric=metrics.MAE(), resume=True, **options)
        events = list(one)
    assert next(event for event in events if isinstance(event, Started)).n == 150
    with open_source(f"{address}-other", target="y") as source:
        other = run(source, metric=metrics.MAE(), snapshot_every=10)
        list(other)
    assert other.n == one.n == 200
    assert one.explainers["pdp"].state == other.explainers["pdp"].state
    assert one.scores == other.scores


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_for_input(tmp_path, number):
    ours, theirs = os.pipe()
    os.write(theirs, b"a,b\n" + b"".join(b"%d,%d\n" % (k, k % 3) for k in range(100)))
    with os.fdopen(ours, "rb") as file, os.fdopen(theirs, "wb"):
        source = open_stdin("csv", file=file)
        loop = run(source, checkpoint=tmp_path)

        def signal_at_the_end():
            while loop.n < 100:
                time.sleep(0.01)
            os.kill(os.getpid(), number)

        # There is no more input, and no end of it.
        with stop_on_signals(loop):
            threading.Thread(target=signal_at_the_end).start()
            list(loop)
    assert (loop.state, loop.n) == ("stopped", 100)
    assert read(tmp_path / "checkpoint.ipdp")["run"]["feed"]["n"] == 100


GOOD = [f"{x['a']},{x['b']},{str(y).lower()}\n".encode() for x, y in rows(80)]
BAD = [b"1\n", b"one,2,true\n", b"1,2,true,4\n", b"\xff,2,true\n", b"1,\0,true\n", b"1,2,maybe\n"]


def learnt(lines):
    """What a run on some lines comes to, and how many of them it skipped."""
    model = tree.HoeffdingTreeClassifier(grace_period=20)
    pdp = ipdp.IncrementalPDP(model, ["a", "b"], grid=ipdp.grid.MinMax(3, window=50), seed=1)
    monitor = ipdp.Monitor(pdp, warm_up=30, cool_down=30, clock=8)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "rows.csv")
        file.write_bytes(b"a,b,y\n" + b"".join(lines))
        with open_source(str(file), target="y", on_error="skip") as source:
            run = Run(source, model, pdp, metric=metrics.LogLoss(), monitor=monitor)
            list(run)
    return (run.n, pdp.state, monitor.state, run.scores, model.summary), run.n_skipped


@pytest.fixture(scope="module")
def undisturbed():
    return learnt(GOOD)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.integers(1, len(GOOD)), st.sampled_from(BAD)), min_size=1))
def test_skipped_lines_change_nothing(undisturbed, bad):
    lines = list(GOOD)
    for place, line in sorted(bad, reverse=True):
        lines.insert(place, line)
    assert learnt(lines) == (undisturbed[0], len(bad))
