"""Readers in other processes while a run writes."""

import json
import subprocess
import sys
import time

import pytest
from tests.log.making import make_change, make_curve

from ipdp.log import Log, Retention

FOLLOW = """
import json, sys, time
from ipdp.log import LogReader
path, stop = sys.argv[1], sys.argv[2]
polls, seen, last, changes, again = 0, [], 0, 0, 0
with LogReader(path) as reader:
    print("reading", flush=True)
    state = "running"
    while state == "running":
        state = reader.status.state
        if polls % 7 == 0:  # as somebody who comes and goes
            reader.close()
            reader = LogReader(path)
        new = reader.snapshots(after=last)
        curves = list(reader.history("a", after=last))
        reader.importances(after=last)
        reader.metrics(after=last)
        found = reader.changes(after=changes)
        if new:
            assert all(curve.n_samples == info.n for info, curve in curves)
            reader.at(new[-1].n)
            seen += [info.n for info in new]
            last = new[-1].id
        if found:
            changes = found[-1].id
        polls += 1
        time.sleep(0.005)
print(json.dumps([polls, seen, changes]))
"""


def follow(path, seconds):
    """Write for some seconds while two others read; what they saw and what was written."""
    with Log(path, retention=Retention(recent=5_000, per_doubling=10)) as log:
        log.begin({}, ["a", "b"])
        log.snapshot({name: make_curve(name, n_samples=1) for name in "ab"}, 1)
        log.commit()
        command = [sys.executable, "-c", FOLLOW, str(path), "x"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        readers = [subprocess.Popen(command, **pipes) for _ in range(2)]
        assert [reader.stdout.readline() for reader in readers] == ["reading\n"] * 2
        n, end = 1, time.monotonic() + seconds
        while time.monotonic() < end:
            n += 1
            log.snapshot({name: make_curve(name, n_samples=n) for name in "ab"}, n)
            log.metric({"MAE": 0.5}, n)
            if n % 500 == 0:
                log.change(make_change(t=n), n)
            if n % 20 == 0:
                log.commit()
        log.end(n)
        answers = [reader.communicate(timeout=300) for reader in readers]
    return n, answers


def check(path, seconds):
    n, answers = follow(path, seconds)
    for out, errors in answers:
        assert errors == ""
        polls, seen, changes = json.loads(out)
        assert polls > 1
        # Nothing twice, nothing out of order, and nothing missed of what was there to be seen.
        assert seen == sorted(set(seen))
        assert set(range(max(1, n - 4_000), n + 1)) <= set(seen)
        assert changes == n // 500


def test_two_readers_poll_while_a_run_writes(tmp_path):
    check(tmp_path, seconds=10)


@pytest.mark.slow
def test_two_readers_poll_for_a_minute(tmp_path):
    check(tmp_path, seconds=60)
