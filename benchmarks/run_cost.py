"""What `ipdp run` costs beside the same loop without explanation.

elec2, ARF(10) or `StandardScaler | LogisticRegression` (`--model linear`), all features: `ipdp run`
with all that comes with it (explainer, monitor, log, checkpoints, metric) against predict, score,
learn. Each has a process of its own, and they go through the stream side by side, in turns of some
hundred observations, by the CPU time of the thread. With the sources of another version, compiled
in place (`--against OLD/src`), its run takes turns with them. Start it with IPDP_DATA naming the
directory that holds electricity.zip.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from river import metrics

import ipdp
from ipdp.models.load import load_model
from ipdp.runs import RunConfig

TURN = 500
MODELS = {
    "forest": "river.forest.ARFClassifier(n_models=10, seed=42)",
    "linear": "river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression()",
}
LIMITS = {"forest": 1.3, "linear": 3.0}  # of what it takes without


def bare(model: Any, n: int) -> Iterator[int]:
    """Predict, score, learn; says how far it is after every turn."""
    accuracy = metrics.Accuracy()
    for k, (x, y) in enumerate(ipdp.datasets.load("elec2"), start=1):
        prediction = model.predict_one(x)
        if prediction is not None:
            accuracy.update(y, prediction)
        model.learn_one(x, y)
        if k % TURN == 0:
            yield k
        if k == n:
            return


def explained(model: str, n: int, out: Path) -> Iterator[int]:
    """The same as `ipdp run` does it."""
    with RunConfig(data="elec2", model=model, limit=n, out=out).assemble() as run:
        told = 0
        for event in run:
            if event.n // TURN > told:
                told = event.n // TURN
                yield event.n


def work(name: str, model: str, n: int) -> None:
    """Take a turn whenever a line comes; say how far it is, 0 at the end, and what it took."""
    with tempfile.TemporaryDirectory() as directory:
        is_bare = name == "bare"
        loop = bare(load_model(model), n) if is_bare else explained(model, n, Path(directory))
        for _ in sys.stdin:
            started = time.thread_time()
            reached = next(loop, None)
            print(f"{reached or 0} {time.thread_time() - started}", flush=True)


def main() -> int:
    """Let all go through the stream in turns and compare their times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=45_312, help="number of observations")
    parser.add_argument("--model", choices=MODELS, default="forest")
    parser.add_argument("--against", metavar="SRC", help="sources of another version to compare")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    n, limit = given.n, LIMITS[given.model]
    if given.worker:
        work(given.worker, MODELS[given.model], n)
        return 0
    here = str(Path(ipdp.__file__).parents[1])
    sources = {"bare": here, "this": here} | ({"other": given.against} if given.against else {})
    seconds = in_turns(sources, ["--n", str(n), "--model", given.model])
    times = ", ".join(f"{name} {1e6 * each / n:,.0f} us" for name, each in seconds.items())
    print(f"elec2, {given.model}, {ipdp.models.build()}, {n:,} observations: {times}")
    print(f"{ratios(seconds)} (limit {limit})")
    return int(seconds["this"] > limit * seconds["bare"])


def in_turns(sources: dict[str, str], options: list[str]) -> dict[str, float]:
    """The seconds of each, a worker with these sources."""
    workers = {
        name: subprocess.Popen(
            [sys.executable, __file__, "--worker", name, *options],
            env={**os.environ, "PYTHONPATH": source},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, source in sources.items()
    }
    seconds, told = dict.fromkeys(workers, 0.0), 0
    while workers:
        for name, worker in list(workers.items()):
            print(file=worker.stdin, flush=True)
            reached, took = worker.stdout.readline().split()
            seconds[name] += float(took)
            if reached == "0":
                worker.communicate()
                del workers[name]
        if workers and int(reached) // 5_000 > told:
            told = int(reached) // 5_000
            print(f"{5_000 * told:>7,} observations: {ratios(seconds)}", flush=True)
    return seconds


def ratios(seconds: dict[str, float]) -> str:
    """By how much a run takes longer than the loop without explanation."""
    bare = seconds["bare"]
    return ", ".join(
        f"{name} / bare {each / bare:.2f}" for name, each in seconds.items() if name != "bare"
    )


if __name__ == "__main__":
    sys.exit(main())
