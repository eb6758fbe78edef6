"""All figures of speed and memory: one table, a JSON file, and a picture for the docs.

    python benchmarks/bench.py [--quick] [--fresh] [--seconds N] [--out DIR]

Takes some ten minutes, and those that pip needs; `--quick` a few, for a look. What was measured is
kept in `build/bench`, a file for each model or part, and is not measured again: a run that was
stopped goes on there. `--fresh` begins anew. With `--seconds`, nothing more is begun after so many.
"""

from __future__ import annotations

import argparse
import re
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import growth
import memory
import parts
import peers
import tables
from picture import draw
from table import Row, read, show, write

import ipdp

KEPT = Path("build/bench")


def jobs(*, quick: bool) -> dict[str, Callable[[], Iterator[Row]]]:
    """What is measured, each by itself."""
    models = [*parts.MODELS, "pair"]
    each = {f"parts {name}": partial(parts.rows, quick=quick, names=[name]) for name in models}
    whole = {part.__name__: partial(part.rows, quick=quick) for part in (growth, tables, memory)}
    return {**each, **whole, "peers": partial(peers.rows, quick=quick)}


def main() -> int:
    """Measure, print and write; the exit code is 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller, for a look")
    parser.add_argument("--fresh", action="store_true", help="measure everything again")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing after so many")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/notes"), help="where to put bench.json and bench.png"
    )
    given = parser.parse_args()
    kept = KEPT / ("quick" if given.quick else "whole")
    if given.fresh:
        shutil.rmtree(kept, ignore_errors=True)
    found, left = measured(jobs(quick=given.quick), kept, given.seconds)
    if left:
        print(f"\n{left} parts are left: run it again")
        return 2
    given.out.mkdir(parents=True, exist_ok=True)
    rows = sorted(found, key=lambda row: row.figure)
    write(rows, given.out / "bench.json", version=ipdp.__version__, quick=given.quick)
    draw(rows, given.out / "bench.png")
    broken = [row for row in rows if not row.holds]
    print(f"\n{len(rows)} figures, {len(broken)} promises not kept; written to {given.out}")
    return 1 if broken else 0


def measured(
    wanted: dict[str, Callable[[], Iterator[Row]]], kept: Path, seconds: float
) -> tuple[list[Row], int]:
    """The figures of all jobs, and how many of these are left."""
    kept.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    found: list[Row] = []
    left = 0
    for name, rows in wanted.items():
        file = kept / f"{re.sub(r'[^A-Za-z0-9]+', '-', name)}.json"
        if not file.exists():
            if time.monotonic() - start > seconds:
                left += 1
                continue
            own = list(rows())
            show(own)
            write(own, file, version=ipdp.__version__)
        found += read(file)
    return found, left


if __name__ == "__main__":
    raise SystemExit(main())
