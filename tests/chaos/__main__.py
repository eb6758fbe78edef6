"""`make chaos`: kills, damaged states, bad input, faults and requests; prints how many of each.

    python -m tests.chaos --minutes 30
    python -m tests.chaos --whole --only states inputs

Each part is cut off when its share of the minutes is over; what was done until then is counted.
With `--whole` a part ends when its number is reached. Then each round that is over is written down
(`build/chaos/PART.jsonl`), so that it can be stopped at any time and gone on with; a round that has
failed is done again. Remove the folder to begin anew.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "chaos"
CHECKED = ROOT / "build" / "checked"
BUILDS = {"": {}, "-pure": {"IPDP_PURE": "1"}, "-checked": {"PYTHONPATH": str(CHECKED)}}
"""Compiled, not compiled, and compiled with the bounds of arrays checked."""

NOT_COUNTED = "name", "seconds", "failures"

Found = dict[str, Any]
Round = tuple[str, Callable[[], list[Found]]]
"""What it is called, and does: its seeds are in the name."""


@dataclass(frozen=True)
class Part:
    """What is tried: rounds for a number, a first seed, and whether it is to be whole."""

    rounds: Callable[[int, int, bool], Iterator[Round]]
    number: int
    share: float


def say(text: str) -> None:
    """Print it at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def child(*words: object, seconds: float, **env: str) -> list[Found]:
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


def states(env: dict[str, str], n: int, first: int, whole: bool) -> Iterator[Round]:
    """Damaged states of each kind, in one build."""
    from .states import CASES

    # In small rounds where time is short, so that every kind has had its turn when it is over;
    # else in large ones, since a process takes as long to begin as a thousand cases.
    cases = {name: 4 * number if whole else max(10, number // 8) for name, number in CASES.items()}
    words = [f"{name}={number}" for name, number in cases.items()]
    for k in range(-(-n // sum(cases.values()))):
        seed = first + k * max(cases.values())
        do = functools.partial(child, "tests.chaos.states", seed, *words, seconds=7200, **env)
        yield f"seeds from {seed}", do


def inputs(n: int, first: int, whole: bool) -> Iterator[Round]:
    """Bad observations, weights, times, answers, frames and lines."""
    size = 40_000 if whole else 10_000
    for seed in range(first, first + n, size):
        do = functools.partial(child, "tests.chaos.inputs", size, seed, seconds=7200)
        yield f"seeds from {seed}", do


def kills(n: int, first: int, whole: bool) -> Iterator[Round]:
    """`kill -9` in the middle of runs of each kind, which are then resumed."""
    del whole
    from ..runs.test_kill import KINDS, Zygote, content, killed_often, prepared

    with tempfile.TemporaryDirectory() as name, contextlib.closing(Zygote()) as zygote:

        @functools.cache
        def uninterrupted(kind: str) -> Any:
            folder = prepared(Path(name) / f"whole {kind}")
            assert zygote.run(folder, kind) == 0
            return content(folder), zygote.seconds

        def do(kind: str, seed: int) -> list[Found]:
            folder = Path(name) / str(seed)
            folder.mkdir()
            try:
                done = killed_often(zygote, uninterrupted, folder, kind, kills=3, seed=seed)
            except AssertionError as error:
                return [{"failed": 1, "failures": {str(error)[:200]: f"{kind}, seed {seed}"}}]
            return [{"survived": done}]

        for seed in range(first, first + n, 3):
            kind = KINDS[seed // 3 % len(KINDS)]
            yield f"{kind}, seed {seed}", functools.partial(do, kind, seed)


def faults(n: int, first: int, whole: bool) -> Iterator[Round]:
    """Full disk, lost and damaged files, no memory, two runs at once."""
    del first, whole
    from .faults import FAULTS, again, stopped

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half, end = stopped(folder)

        def do(fault: Callable[[Path, Found], None]) -> list[Found]:
            try:
                fault(again(half, folder / fault.__name__), end)
            except AssertionError as error:
                return [{"failed": 1, "failures": {str(error)[:300]: fault.__name__}}]
            return [{"survived": 1}]

        for fault in FAULTS[:n]:
            yield fault.__name__, functools.partial(do, fault)


def requests(n: int, first: int, whole: bool) -> Iterator[Round]:
    """Many pollers and slow clients of the live page, and requests without its token."""
    del first, whole
    yield "all", functools.partial(child, "tests.chaos.requests", n, seconds=600)


PARTS = {
    "kills": Part(kills, 300, 0.2),
    "faults": Part(faults, 100, 0.15),
    **{
        f"states{build}": Part(functools.partial(states, env), 1_000_000, 0.13)
        for build, env in BUILDS.items()
    },
    "inputs": Part(inputs, 1_000_000, 0.2),
    "requests": Part(requests, 20_000, 0.05),
}


def known(name: str) -> dict[str, list[Found]]:
    """The rounds of a part that are over, by name; not those that have failed."""
    file = KEPT / f"{name}.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    rounds = {each["round"]: each["found"] for each in map(json.loads, lines)}
    return {k: found for k, found in rounds.items() if not any(f.get("failures") for f in found)}


def outcomes(name: str, n: int, first: int, until: float | None) -> Iterator[list[Found]]:
    """What came of each round of a part, until the time is over; without an end it is kept."""
    kept = {} if until else known(name)
    for title, do in PARTS[name].rounds(n, first, until is None):
        if title in kept:
            yield kept[title]
            continue
        if until and time.monotonic() > until:
            return
        found = do()
        if until is None:
            KEPT.mkdir(parents=True, exist_ok=True)
            with (KEPT / f"{name}.jsonl").open("a") as file:
                file.write(json.dumps({"round": title, "found": found}) + "\n")
        yield found


def asked() -> argparse.Namespace:
    """The words of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=28.0)
    parser.add_argument("--whole", action="store_true", help="until the numbers are reached")
    parser.add_argument("--first", type=int, default=10_000_000, help="the first seed")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    for name, part in PARTS.items():
        parser.add_argument(f"--{name}", type=int, default=part.number)
    return parser.parse_args()


def main() -> None:
    """Run the parts, one after the other, and print what came of them."""
    given = asked()
    failures: dict[str, Any] = {}
    for name in given.only:
        started = time.monotonic()
        counts: Counter[str] = Counter()
        until = None if given.whole else started + 60 * given.minutes * PARTS[name].share
        number = getattr(given, name.replace("-", "_"))
        for found in outcomes(name, number, given.first, until):
            for each in found:
                wrong = each.get("failures", {})
                failures |= {f"{name}: {what}": seed for what, seed in wrong.items()}
                counts.update({k: v for k, v in each.items() if k not in NOT_COUNTED})
        if not counts:
            failures[f"{name}: there was no time for any of it"] = ""
        told = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
        say(f"{name:14} {told} ({time.monotonic() - started:,.0f} s)")
    for failure, where in failures.items():
        say(f"FAILED    {failure} {where}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
