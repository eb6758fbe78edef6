"""`kill -9` at any moment; resume; the end is that of the run that was never interrupted."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ipdp.log import LogReader

from .zygote import write_csv

HERE = Path(__file__).parent
TICK = os.sysconf("SC_CLK_TCK")
KILLED = -signal.SIGKILL


class Zygote:
    """Talks to the process that forks runs."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, HERE / "zygote.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )

    def run(self, directory: Path, kind: str, *, kill_after: float | None = None, **order) -> int:
        """One run, killed once it has used so many seconds of its processor; its exit code."""
        print(
            json.dumps({"directory": str(directory), "kind": kind, **order}),
            file=self.process.stdin,
            flush=True,
        )
        number = int(self.process.stdout.readline())
        if kill_after is not None:
            wait_for(number, kill_after)
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        code, seconds = self.process.stdout.readline().split()
        self.seconds = float(seconds)
        return int(code)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(120)
        self.process.stdout.close()


def wait_for(number: int, seconds: float) -> None:
    """Wait until a process has used so much of its processor, or is over: load does not matter."""
    while True:
        try:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return
        if fields[0] in "ZX" or (int(fields[11]) + int(fields[12])) / TICK >= seconds:
            break
        time.sleep(0.002)
    time.sleep(random.Random(seconds).random() / TICK)  # somewhere within the tick


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote()
    yield zygote
    zygote.close()


@pytest.fixture(scope="module")
def whole(zygote, tmp_path_factory):
    """Runs that were never interrupted, by kind: what they leave behind, and how long they took."""
    known = {}

    def of(kind: str) -> tuple[dict, float]:
        if kind not in known:
            directory = prepared(tmp_path_factory.mktemp(kind))
            assert zygote.run(directory, kind) == 0
            known[kind] = content(directory), zygote.seconds
        return known[kind]

    return of


def prepared(directory: Path) -> Path:
    directory.mkdir(exist_ok=True)
    write_csv(directory / "rows.csv")
    return directory


def content(directory: Path) -> dict:
    """Everything that a run leaves behind, but for the time of day."""
    with LogReader(directory) as log:
        assert log.verify() == []
        return {
            "status": (log.status.state, log.status.n, log.status.message),
            "features": log.features,
            "snapshots": [
                (s.n, s.reason, {f: c.to_dict() for f, c in s.curves.items()})
                for s in log.between(0, 10**9)
            ],
            "changes": [(c.n, c.change.to_dict()) for c in log.changes()],
            "metrics": {k: (n.tolist(), v.tolist()) for k, (n, v) in log.metrics().items()},
            "final": json.loads((directory / "final.json").read_text()),
        }


def killed_often(zygote, whole, tmp_path: Path, kind: str, *, kills: int, seed: int) -> int:
    """Kill runs of a kind so often in all, each of them several times, and compare every end."""
    expected, seconds = whole(kind)
    assert expected["changes"] or kind not in LEARNING  # there is something to be lost
    rng = random.Random(seed)
    done = resumed = 0
    while done < kills:
        directory = prepared(tmp_path / f"run{done}")
        for k in range(min(5, kills - done)):
            # The first one may be at the very beginning, the others have come to a checkpoint.
            after = rng.uniform(0.1 if k else 0.0, 0.35) * seconds
            if zygote.run(directory, kind, kill_after=after) != KILLED:
                break
            done += 1
        else:
            assert zygote.run(directory, kind) == 0
        assert content(directory) == expected
        starts = [int(n) for n in (directory / "starts").read_text().split()]
        assert starts == sorted(starts)  # no kill took a run back to before where it had gone on
        resumed += sum(n > 0 for n in starts)
    assert resumed >= kills // 2  # of those in a directory all but the first, if that came early
    return done


LEARNING = ["pickle", "replay", "delay", "skops"]
"""Ways to keep a model that learns, and labels that come later."""

SOURCES = ["frozen", "jsonl", "parquet", "stdin", "kafka"]
"""Where rows come from; "frozen" reads CSV."""

KINDS = [*LEARNING, *SOURCES, "budget", "classes", "pairs", "retention", "challenger"]
"""Also a budget, several classes, pairs, logs that forget, and a second model."""


@pytest.mark.parametrize("kind", KINDS)
def test_killed_25_times(zygote, whole, tmp_path, kind):
    killed_often(zygote, whole, tmp_path, kind, kills=2 if kind in KINDS[:11] else 1, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_300_times(zygote, whole, tmp_path, kind):
    killed_often(zygote, whole, tmp_path, kind, kills=22, seed=2)


def test_killed_between_the_steps_of_writing_checkpoints(zygote, whole, tmp_path):
    expected, _ = whole("pickle")
    directory = prepared(tmp_path)
    # Before and after each sync and each renaming, of the log's and of the checkpoint's files.
    for call in (1, 2, 3, 4, 5, 6, 7, 8):
        assert zygote.run(directory, "pickle", die_at=call) == KILLED
    assert zygote.run(directory, "pickle") == 0
    assert content(directory) == expected
