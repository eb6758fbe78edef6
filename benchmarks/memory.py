"""Peak memory: of explaining beside the model, and along the stream.

Each figure is taken in a process of its own, whose peak the operating system knows.

    python benchmarks/memory.py [--quick]
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from table import Row, show

FEATURES = 8


def rows(*, quick: bool = False) -> Iterator[Row]:
    """All figures of this file."""
    base = peak("nothing", 0)
    lengths = (10_000, 50_000) if quick else (10_000, 100_000, 1_000_000)
    first = peak("explain", lengths[0])
    yield Row("peak memory, MB", "import ipdp and river", base)
    yield Row("peak memory, MB", f"8 features x 10 points, {lengths[0]:,} observations", first)
    for n in lengths[1:]:
        ratio = peak("explain", n) / first
        yield Row("peak memory, n / 10,000 observations", f"n = {n:,}", ratio, at_most=1.1)


def peak(what: str, n: int) -> float:
    """Peak of a process that explains n observations, in MB."""
    answer = subprocess.run(
        [sys.executable, __file__, "--child", what, str(n)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(answer.stdout)


def child(what: str, n: int) -> None:
    """Explain a made-up stream and print the peak."""
    import river.tree  # noqa: F401  # in every contestant

    import ipdp

    if what == "explain":
        rng = np.random.default_rng(0)
        half = np.full(FEATURES * 10, 0.5)
        model = ipdp.models.engine(lambda X: half[: len(X)], takes="array")
        pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.QuantileRange(10), seed=1)
        for _ in range(n // 1_000):
            for row in rng.normal(size=(1_000, FEATURES)).tolist():
                pdp.explain_one(dict(enumerate(row)))
    print(own_peak())


def own_peak() -> float:
    """The peak of this process so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux, where the other figure begins with the peak of the parent
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        show(rows(quick="--quick" in sys.argv))
