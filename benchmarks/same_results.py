"""Whether two versions of ipdp give the same results, to rounding: curves, changes, logs.

Each version runs the same three streams in a process of its own: a classifier that learns under
drift, a regressor on fixed knots, and categories, missing values and a pair under a function, with
permutation importance beside it.

    python benchmarks/same_results.py OLD/src [NEW/src]

The directories hold the package `ipdp`; by default the new one is that of this file.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
# What a version may have and another one not.
NEW_FIELDS = {"is_probability"}


def main(old: str, new: str = str(HERE.parents[1] / "src")) -> int:
    """Compare, print a line for each stream and build, and say by the exit code if all agree."""
    failed = 0
    for build in ("compiled", "pure"):
        then, now = (results(source, build) for source in (old, new))
        for name in STREAMS:
            bits = list(compared(then[name], now[name], name))
            differences = list(compared(then[name], now[name], name, rounding=1e-7))
            failed += len(differences)
            counts = ", ".join(f"{len(part)} {what}" for what, part in now[name].items())
            alike = "the same to rounding" if bits else "the same to the last bit"
            print(f"{name:12} {build:9} {'DIFFERENT' if differences else alike}: {counts}")
            for difference in differences[:5]:
                print(f"    {difference}")
    return int(failed > 0)


def results(source: str, build: str) -> Any:
    """What one version says, computed in a process of its own."""
    pure = {"IPDP_PURE": "1"} if build == "pure" else {}
    answer = subprocess.run(
        [sys.executable, str(HERE), "--worker"],
        env={**os.environ, **pure, "PYTHONPATH": source},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(answer.stdout)


def compared(one: Any, other: Any, where: str, *, rounding: float = 0.0) -> Iterator[str]:
    """Where two results differ, by more than the rounding of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other} - NEW_FIELDS):
            if key not in one or key not in other:
                yield f"{where}/{key} is there in one of them only"
            else:
                yield from compared(one[key], other[key], f"{where}/{key}", rounding=rounding)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for k, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            yield from compared(mine, theirs, f"{where}/{k}", rounding=rounding)
    elif one != other and not (rounding and are_close(one, other, rounding)):
        yield f"{where}: {one!r:.60} and {other!r:.60}"


def are_close(one: Any, other: Any, rounding: float) -> bool:
    """Whether two texts are numbers that are the same to rounding."""
    try:
        numbers = [float.fromhex(text) for text in (one, other)]
    except (TypeError, ValueError):
        return False
    return math.isclose(*numbers, rel_tol=rounding, abs_tol=rounding)


# What each version runs.


def classifier() -> tuple[Any, Any, dict[str, Any]]:
    """A tree that learns; the rule changes in the middle."""
    from river import metrics, tree

    import ipdp

    model = tree.HoeffdingAdaptiveTreeClassifier(seed=42)
    pdp = ipdp.IncrementalPDP(model, ["salary", "age", "elevel"], alpha=0.005, seed=1)
    stream = ipdp.datasets.load("agrawal", n_samples=6_000, position=3_000, seed=7)
    return stream, pdp, {"metric": metrics.Accuracy(), "monitor": ipdp.Monitor(pdp)}


def regressor() -> tuple[Any, Any, dict[str, Any]]:
    """A forest of regression trees, on fixed knots between two quantiles."""
    from river import datasets, forest, metrics

    import ipdp

    model = forest.ARFRegressor(n_models=3, seed=42)
    grid = ipdp.grid.QuantileRange(8, window=800, storage_size=200)
    pdp = ipdp.IncrementalPDP(model, [0, 1, 3], alpha=0.01, grid=grid, estimator="regrid", seed=1)
    stream = datasets.synth.FriedmanDrift(drift_type="gra", position=(900, 1_800), seed=5)
    return stream.take(2_500), pdp, {"metric": metrics.MAE(), "monitor": ipdp.Monitor(pdp)}


def mixed() -> tuple[Any, Any, dict[str, Any]]:
    """Categories that come and go, values that are missing, whole numbers, and a pair."""
    import numpy as np

    import ipdp

    rng = np.random.default_rng(3)
    rows = []
    for t in range(4_000):
        colour = ["red", "blue", "green", "grey"][int(rng.integers(0, 2 + t // 1_500))]
        hour = None if rng.random() < 0.1 else float(rng.normal(t / 1_000, 1))
        x = {"colour": colour, "hour": hour, "count": int(rng.poisson(30)), "w": rng.normal()}
        rows.append((x, function(x, t)))
    pdp = ipdp.IncrementalPDP(
        function,
        ["colour", "hour", "count", ("colour", "hour")],
        alpha=0.01,
        grid={"hour": ipdp.grid.MinMax(6, window=500, missing=True)},
        seed=1,
    )
    loss = lambda y, prediction: (y - prediction) ** 2  # noqa: E731
    pfi = ipdp.IncrementalPFI(function, loss=loss, alpha=0.01, seed=2)
    options = {"monitor": ipdp.Monitor(pdp), "pfi": pfi, "learn": False}
    return rows, pdp, options


def function(x: Any, t: int = 0) -> float:
    """A model of categories and numbers, with and without a value."""
    hour = x.get("hour")
    known = hour is not None and not math.isnan(hour)
    effect = {"red": 1.0, "blue": -1.0}.get(x["colour"], 0.25)
    return effect * (hour if known else 2.0) + 0.1 * x["count"] + (t > 10**9) * x["w"]


STREAMS = {"classifier": classifier, "regressor": regressor, "mixed": mixed}


def work() -> None:
    """Run all streams and print what came of them, numbers to the last bit."""
    warnings.simplefilter("ignore")
    print(json.dumps({name: run(make) for name, make in STREAMS.items()}))


def run(make: Any) -> dict[str, Any]:
    """One stream through a run with a log, and what log and explainers say at the end."""
    import ipdp

    stream, pdp, options = make()
    with tempfile.TemporaryDirectory() as directory:
        ipdp.run(stream, pdp.model, pdp, log=directory, snapshot_every=250, **options)
        with ipdp.LogReader(directory) as log:
            taken = [info.n for info in log.snapshots()]
            logged = {str(n): {str(f): bits(c) for f, c in log.at(n).items()} for n in taken}
            changes = [bits(item.change) | {"n": item.n} for item in log.changes()]
            metrics = {name: bits(list(pair)) for name, pair in log.metrics().items()}
            importances = {str(f): bits(list(pair)) for f, pair in log.importances().items()}
    pfi = options.get("pfi")
    return {
        "curves": {str(feature): bits(curve) for feature, curve in pdp.curves.items()},
        "snapshots": logged,
        "changes": changes,
        "metrics": metrics,
        "importances": importances,
        "permutation importances": {} if pfi is None else bits(pfi.importance),
    }


def bits(value: Any) -> Any:
    """A value with all its numbers to the last bit, for JSON."""
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [bits(item) for item in value]
    if isinstance(value, dict):
        return {str(key): bits(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: bits(getattr(value, name)) for name in value.__dataclass_fields__}
    return value if isinstance(value, (int, str, bool, type(None))) else str(value)


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        work()
    elif len(sys.argv) in (2, 3):
        sys.exit(main(*sys.argv[1:]))
    else:
        sys.exit(__doc__)
