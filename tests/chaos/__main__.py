"""`make chaos`: kills, damaged states, bad input, faults and requests; prints how many of each.

    python -m tests.chaos --minutes 30 --states 1000000 --inputs 1000000 --kills 300

Each part is cut off when its share of the minutes is over; what was done until then is counted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SHARES = {"states": 0.4, "inputs": 0.25, "kills": 0.2, "faults": 0.1, "requests": 0.05}
"""Of the minutes."""


def say(text: str) -> None:
    """Print it at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def child(*words: object, seconds: float, **env: str) -> list[dict[str, Any]]:
    """What a part of this folder says, as lines of JSON; a crash or a hang is a failure."""
    command = [sys.executable, "-m", *map(str, words)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **env}
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [{"failed": 1, "failures": {f"{' '.join(command[2:])} hung": ""}}]
    if done.returncode:
        told = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return [{"failed": 1, "failures": {f"{' '.join(command[2:])}: {told[0][:300]}": ""}}]
    return [json.loads(line) for line in done.stdout.splitlines()]


def states(n: int, until: float) -> Iterator[dict[str, Any]]:
    """Damaged states of each kind, in both builds and with the bounds of arrays checked."""
    from .states import CASES

    builds: list[dict[str, str]] = [{}, {"IPDP_PURE": "1"}]
    if (ROOT / "build" / "checked" / "ipdp").exists():
        builds.append({"PYTHONPATH": str(ROOT / "build" / "checked")})
    # In small rounds, so that every build and every kind has had its turn when the time is over.
    cases = {name: max(10, number // 8) for name, number in CASES.items()}
    words = [f"{name}={number}" for name, number in cases.items()]
    done, first = 0, 0
    while done < n:
        for env in builds:
            if time.monotonic() > until or done >= n:
                return
            yield from child("tests.chaos.states", first, *words, seconds=900, **env)
            done += sum(cases.values())
        first += max(cases.values())


def inputs(n: int, until: float) -> Iterator[dict[str, Any]]:
    """Bad observations, weights, times, answers, frames and lines."""
    for first in range(0, n, 10_000):
        if time.monotonic() > until:
            return
        yield from child("tests.chaos.inputs", min(10_000, n - first), first, seconds=900)


def kills(n: int, until: float) -> Iterator[dict[str, Any]]:
    """`kill -9` in the middle of runs of each kind, which are then resumed."""
    from ..runs.test_kill import KINDS, Zygote, content, killed_often, prepared

    zygote, known = Zygote(), {}
    with tempfile.TemporaryDirectory() as name, contextlib.closing(zygote):

        def whole(kind: str) -> Any:
            if kind not in known:
                folder = prepared(Path(name) / f"whole {kind}")
                assert zygote.run(folder, kind) == 0
                known[kind] = content(folder), zygote.seconds
            return known[kind]

        for k in range(0, n, 3):
            if time.monotonic() > until:
                return
            kind, folder = KINDS[k // 3 % len(KINDS)], Path(name) / str(k)
            folder.mkdir()
            try:
                done = killed_often(zygote, whole, folder, kind, kills=3, seed=k)
                yield {"survived": done}
            except AssertionError as error:
                yield {"failed": 1, "failures": {f"{kind}, seed {k}: {str(error)[:200]}": ""}}


def faults(n: int, until: float) -> Iterator[dict[str, Any]]:
    """Full disk, lost and damaged files, no memory, two runs at once."""
    from .faults import FAULTS, again, stopped

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half, end = stopped(folder)
        for fault in FAULTS[:n]:
            if time.monotonic() > until:
                return
            try:
                fault(again(half, folder / fault.__name__), end)
                yield {"survived": 1}
            except AssertionError as error:
                yield {"failed": 1, "failures": {f"{fault.__name__}: {str(error)[:300]}": ""}}


def requests(n: int, until: float) -> Iterator[dict[str, Any]]:
    """Many pollers and slow clients of the live page, and requests without its token."""
    del until
    yield from child("tests.chaos.requests", n, seconds=600)


PARTS: dict[str, Callable[[int, float], Iterator[dict[str, Any]]]] = {
    "kills": kills,
    "faults": faults,
    "states": states,
    "inputs": inputs,
    "requests": requests,
}


def main() -> None:
    """Run the parts, one after the other, and print what came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=28.0)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    numbers = {"states": 1_000_000, "inputs": 1_000_000, "kills": 300, "faults": 10}
    numbers["requests"] = 20_000
    for name, number in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args()
    failures: dict[str, Any] = {}
    for name in given.only:
        started = time.monotonic()
        counts: Counter[str] = Counter()
        until = started + 60 * given.minutes * SHARES[name]
        for outcome in PARTS[name](getattr(given, name), until):
            failures |= outcome.pop("failures", {})
            counts.update({k: v for k, v in outcome.items() if k not in ("name", "seconds")})
        told = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
        say(f"{name:9} {told} ({time.monotonic() - started:,.0f} s)")
    for failure, where in failures.items():
        say(f"FAILED    {failure} {where}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
