"""All figures of speed and memory: one table, a JSON file, and a picture for the docs.

    python benchmarks/bench.py [--quick] [--out DIR]

Takes about half an hour; `--quick` a few minutes, for a look.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import growth
import memory
import parts
import tables
import trees
from table import Row, draw, show, write

import ipdp


def main() -> int:
    """Measure, print and write; the exit code is 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller, for a look")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/notes"), help="where to put bench.json and bench.png"
    )
    given = parser.parse_args()
    rows: list[Row] = []
    for part in (trees, parts, growth, tables, memory):
        found = list(part.rows(quick=given.quick))
        show(found)
        rows += found
    given.out.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("IPDP_DATA", "data")) / "electricity.zip"
    write(
        rows,
        given.out / "bench.json",
        version=ipdp.__version__,
        stream="elec2" if data.exists() else "made up",
        quick=given.quick,
    )
    draw(rows, given.out / "bench.png")
    broken = [row for row in rows if not row.holds]
    print(f"\n{len(rows)} figures, {len(broken)} promises not kept; written to {given.out}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
