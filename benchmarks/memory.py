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
    wide, long = (300, 50_000) if quick else (3_000, 1_000_000)
    beyond = "peak memory beyond import, MB, defaults"
    for what, of in (("linear", "LogisticRegression"), ("array", "a function of an array")):
        value = peak(what, wide) - base
        yield Row(beyond, f"{wide:,} features, {of}", value, at_most=300)
    value = peak("many", long) - peak("table", long)
    yield Row(beyond, f"explain_many, {long:,} rows of 8, beside the table", value, at_most=300)


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

    rng = np.random.default_rng(0)
    if what == "explain":
        half = np.full(1_000, 0.5)
        model = ipdp.models.engine(lambda X: half[: len(X)], takes="array")
        pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.QuantileRange(10), seed=1)
        for _ in range(n // 1_000):
            for row in rng.normal(size=(1_000, FEATURES)).tolist():
                pdp.explain_one(dict(enumerate(row)))
    elif what in ("linear", "array"):
        explain_wide(what, rng.normal(size=(60, n)))
    elif what in ("table", "many"):
        table = rng.normal(size=(n, FEATURES))
        if what == "many":
            model = ipdp.models.engine(lambda X: X.sum(axis=1), takes="array")
            ipdp.IncrementalPDP(model, seed=1).explain_many(table)
    print(own_peak())


def explain_wide(what: str, table: np.ndarray) -> None:
    """Explain a few observations of many features."""
    from river import linear_model

    import ipdp

    linear, weights = linear_model.LogisticRegression(), np.ones(table.shape[1])
    sums = ipdp.models.engine(lambda X: X @ weights, takes="array")
    pdp = ipdp.IncrementalPDP(linear if what == "linear" else sums, seed=1)
    for k, row in enumerate(table.tolist()):
        x = dict(enumerate(row))
        pdp.explain_one(x)
        linear.learn_one(x, k % 2 == 0)
    print(len(pdp.curves), "curves", file=sys.stderr)


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
