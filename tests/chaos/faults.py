"""Faults around a run: full disk, no permission, files that vanish or change, no memory, two runs.

Each ends in one sentence, and what the run had come to can be gone on from: then its end is that of
a run without the fault. Every run is a process of its own (`python -m tests.chaos.faults ORDER`).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
N = 400


def model(x: dict[str, Any]) -> float:
    """A frozen one."""
    return x["a"] * x["b"] + (x["c"] == "u")


def write_rows(path: Path, n: int = N, *, first: int = 0) -> None:
    """A CSV file, the same each time."""
    lines = [
        f"{(k * 37 % 100) / 100},{(k * 53 % 71) / 10},{'uvw'[k * 7 % 3]}" for k in range(first, n)
    ]
    path.write_text("a,b,c\n" + "\n".join(lines) + "\n")


def work(
    folder: Path, *, slow_fsync: float = 0.0, stop_at: int | None = None, waits: bool = False
) -> None:
    """One run, started or resumed; it may be stopped in the middle, or wait there for a word."""
    import ipdp
    from ipdp.runs import Run
    from ipdp.sources import open_source

    if slow_fsync:
        sync = os.fsync

        def slowly(number: int) -> None:
            time.sleep(slow_fsync)
            sync(number)

        os.fsync = slowly
    pdp = ipdp.IncrementalPDP(model, ["a", "b", "c"], seed=1)
    run = Run(
        open_source(str(folder / "rows.csv")),
        model,
        pdp,
        monitor=ipdp.Monitor(pdp, warm_up=100),
        learn=False,
        log=folder,
        checkpoint=folder,
        checkpoint_every=40,
        snapshot_every=20,
        resume=(folder / "log.db").exists(),
    )
    for event in run:
        if waits:
            wait_in(folder)
        if stop_at is not None and run.n >= stop_at:
            run.stop()
        del event
    (folder / "end.json").write_text(json.dumps({"n": run.n, "pdp": pdp.state}))


def wait_in(folder: Path) -> None:
    """Say that the run has begun, and wait until it may go on."""
    (folder / "begun").touch()
    until(folder / "go-on")


def until(path: Path) -> None:
    """Wait until a file is there."""
    deadline = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} is still not there"
        time.sleep(0.02)


def limited(order: dict[str, Any]) -> None:
    """Set the limits that an order asks for."""
    if "file_size" in order:  # what is written beyond is refused, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_size"],) * 2)
    if "memory" in order:
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + order["memory"],) * 2)


def main() -> None:
    """Do as ordered, and end with a sentence if it cannot be done."""
    import signal

    import ipdp.log
    import ipdp.sources
    from ipdp.runs import RunFailed
    from ipdp.runs.checkpoint import CheckpointError

    order = json.loads(sys.argv[1])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limited(order)
    options = {name: order[name] for name in ("slow_fsync", "stop_at", "waits") if name in order}
    told = CheckpointError, ipdp.log.LogError, RunFailed, OSError, ValueError, MemoryError
    try:
        work(Path(order["folder"]), **options)
    except told as error:
        sys.exit(f"{type(error).__name__}: {error}")


def do(folder: Path, **order: Any) -> tuple[int, str]:
    """Have a run done in a process of its own: how it ended, and what it said."""
    ended = start(folder, **order)
    _, said = ended.communicate(timeout=300)
    return ended.returncode, said.strip().splitlines()[-1] if said.strip() else ""


def start(folder: Path, **order: Any) -> subprocess.Popen[str]:
    """Begin a run."""
    command = [
        sys.executable,
        "-m",
        "tests.chaos.faults",
        json.dumps({"folder": str(folder), **order}),
    ]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True)


def prepared(folder: Path) -> Path:
    """A directory with data."""
    folder.mkdir(parents=True)
    write_rows(folder / "rows.csv")
    return folder


def must_say(ended: tuple[int, str], *words: str) -> None:
    """Raise unless a run has ended with a sentence that has one of these words in it."""
    code, said = ended
    is_told = any(word.lower() in said.lower() for word in words)
    assert (code, is_told) == (1, True), f"exit code {code}, it said: {said[:500]!r}"
    assert len(said) < 700


def must_be_whole(folder: Path, end: dict[str, Any]) -> None:
    """Raise unless a run has come to its end as one that nothing happened to."""
    from ipdp.log import LogReader

    assert json.loads((folder / "end.json").read_text()) == end
    with LogReader(folder) as log:
        assert log.verify() == []
        assert log.status.n == N


def _snapshots(folder: Path) -> list[tuple[int, Any]]:
    from ipdp.log import LogReader

    with LogReader(folder) as log:
        return [(s.n, {f: c.to_dict() for f, c in s.curves.items()}) for s in log.between(0, N)]


# Faults: each gets a directory in which a run was stopped in the middle, and what the end would be.


def full_disk(folder: Path, end: dict[str, Any]) -> None:
    size = (folder / "log.db").stat().st_size
    must_say(do(folder, file_size=size), "cannot", "full", "large")
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


def read_only(folder: Path, end: dict[str, Any]) -> None:
    """Where root may write everything the checkpoint's place is taken by a directory instead."""
    kept = folder / "checkpoint.ipdp"
    kept.rename(folder / "kept")
    kept.mkdir()
    code, said = do(folder)
    assert code == 1, said
    kept.rmdir()
    (folder / "kept").rename(kept)
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


def lost_checkpoint(folder: Path, end: dict[str, Any]) -> None:
    kept = folder / "checkpoint.ipdp"
    kept.rename(folder / "kept")
    before = _snapshots(folder)
    must_say(do(folder), "checkpoint")
    assert _snapshots(folder) == before
    (folder / "kept").rename(kept)
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


def damaged_checkpoint(folder: Path, end: dict[str, Any]) -> None:
    kept = folder / "checkpoint.ipdp"
    data = kept.read_bytes()
    kept.write_bytes(data[: len(data) // 2])
    must_say(do(folder), "checkpoint")
    kept.write_bytes(data)
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


def changed_source(folder: Path, end: dict[str, Any]) -> None:
    write_rows(folder / "rows.csv", N + 7, first=7)
    must_say(do(folder), "not the", "changed", "another")
    write_rows(folder / "rows.csv")
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


def vanished_source(folder: Path, end: dict[str, Any]) -> None:
    (folder / "rows.csv").unlink()
    must_say(do(folder), "rows.csv")
    write_rows(folder / "rows.csv")
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


def clock_back(folder: Path, end: dict[str, Any]) -> None:
    """Files and heartbeats from the future, as after a clock was set back."""
    later = time.time() + 10 * 365 * 86_400
    for path in folder.iterdir():
        os.utime(path, (later, later))
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


def two_processes(folder: Path, end: dict[str, Any]) -> None:
    with start(folder, waits=True) as first:
        until(folder / "begun")
        said = do(folder)
        (folder / "go-on").touch()
        first.communicate(timeout=300)
    must_say(said, "another", "being written", "in use")
    assert first.returncode == 0
    must_be_whole(folder, end)


def slow_fsync(folder: Path, end: dict[str, Any]) -> None:
    assert do(folder, slow_fsync=0.2)[0] == 0
    must_be_whole(folder, end)


def out_of_memory(folder: Path, end: dict[str, Any]) -> None:
    """Less and less memory: a sentence or an end, and then it goes on."""
    for memory in (2**16, 2**20, 2**22):
        code, said = do(folder, memory=memory)
        assert code in (0, 1), said
        assert len(said) < 700
    assert do(folder)[0] == 0
    must_be_whole(folder, end)


FAULTS: list[Callable[[Path, dict[str, Any]], None]] = [
    full_disk,
    read_only,
    lost_checkpoint,
    damaged_checkpoint,
    changed_source,
    vanished_source,
    clock_back,
    two_processes,
    slow_fsync,
    out_of_memory,
]


def stopped(folder: Path) -> tuple[Path, dict[str, Any]]:
    """A directory in which a run was stopped in the middle, and what a whole one comes to."""
    whole = prepared(folder / "whole")
    assert do(whole)[0] == 0
    half = prepared(folder / "half")
    assert do(half, stop_at=N // 2)[0] == 0
    (half / "end.json").unlink()
    return half, json.loads((whole / "end.json").read_text())


def again(half: Path, folder: Path) -> Path:
    """A copy of it in which something may happen."""
    shutil.copytree(half, folder)
    return folder


if __name__ == "__main__":
    main()
