"""Partial dependence of one table by ipdp and by other libraries, against one stacked prediction.

    python benchmarks/peers.py

2,000 rows, 8 features x 10 points, scikit-learn's HistGradientBoostingRegressor of 100 trees. Each
library is installed by pip into an environment of its own, `build/peers/NAME`, once, with the same
scikit-learn if it allows that, and is timed there (`peer.py`): CPU seconds of one thread, against
those of one prediction of all points in the same environment, the least of three. What does not
install, or fails, is left out with a sentence. Curves are compared with the stacked prediction's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sklearn
from peer import LIBRARIES, NAMES, measured
from table import Row, show

import ipdp

ENVIRONMENTS = Path("build/peers")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
FIGURE = "PDP of 2,000 rows, 8 x 10 points, HistGradientBoosting: CPU time / one stacked predict"
# The largest difference of two curves that are the same: some libraries have single precision.
SAME = 1e-5


def rows(*, quick: bool = False) -> Iterator[Row]:
    """All figures of this file; ipdp and scikit-learn only if it is to be quick."""
    os.environ.update(ONE_THREAD)
    for name, call in (("ipdp.partial_dependence", by_ipdp), ("ipdp explain_many", by_stream)):
        library, stacked, difference = measured(call)
        yield Row(FIGURE, named(name, difference), library / stacked)
    for name in list(LIBRARIES)[: 1 if quick else None]:
        found = in_its_own(name)
        if found is not None:
            what = named(name, found["difference"])
            yield Row(FIGURE, what, found["library"] / found["stacked"])
    if not quick:
        print("ixai 0.1.3, the authors' package as released, has no partial dependence: left out")


def named(name: str, difference: float | None) -> str:
    """The library, and whether its curves are those of the stacked prediction."""
    if difference is None:
        return f"{name} (ALE, other curves)"
    return name if difference < SAME else f"{name} (off by {difference:.2g})"


def by_ipdp(model: Any, X: Any, grid: dict[str, Any], y: Any) -> Any:
    """A table at once."""
    del y
    own = {name: ipdp.grid.Fixed(values.tolist()) for name, values in grid.items()}
    curves = ipdp.partial_dependence(model, X, NAMES, grid=own)
    return [curve.average[0] for curve in curves]


def by_stream(model: Any, X: Any, grid: dict[str, Any], y: Any) -> Any:
    """The same as a stream that forgets nothing, with bands."""
    del y
    own = {name: ipdp.grid.Fixed(values.tolist()) for name, values in grid.items()}
    pdp = ipdp.IncrementalPDP(model, NAMES, grid=own, alpha=None)
    pdp.explain_many(X)
    return [pdp.curve(name).average[0] for name in NAMES]


def in_its_own(name: str) -> dict[str, Any] | None:
    """What a library's own environment says; None with a sentence if there is no answer."""
    python = sys.executable if name == "scikit-learn" else installed(name)
    if python is None:
        return None
    command = [python, str(Path(__file__).with_name("peer.py")), name]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **ONE_THREAD}
    )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no word"])[-1]
        print(f"{name} is left out: {why[:200]}", flush=True)
        return None
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def installed(name: str) -> str | None:
    """The interpreter of a library's environment, which is made if it is not there."""
    place = ENVIRONMENTS / name
    python, done = place / "bin" / "python", place / "done"
    if done.exists():
        return str(python)
    print(f"installing {name} into {place}", flush=True)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--clear", str(place)], check=True
    )
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "-q",
        "--no-compile",
        name,
        "pandas",
    ]
    for version in (f"scikit-learn=={sklearn.__version__}", "scikit-learn"):
        got = subprocess.run([*pip, version], capture_output=True, text=True, check=False)
        if not got.returncode:
            done.touch()
            return str(python)
    why = (got.stderr.strip().splitlines() or ["no word"])[-1]
    print(f"{name} is left out, as it does not install: {why[:200]}", flush=True)
    return None


if __name__ == "__main__":
    show(rows(quick="--quick" in sys.argv))
