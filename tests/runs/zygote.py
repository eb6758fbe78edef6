"""Runs that can be killed: a process that has imported everything and forks one for each order.

An order is a line of JSON on the standard input; the answers are the number of the process, and how
it ended, with the seconds of the processor that it used. So a kill costs milliseconds instead of
the seconds of an import.
"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import traceback
from functools import cache
from pathlib import Path

import pandas as pd
import skops.io  # noqa: F401  # beforehand, not in each run
from river import linear_model, metrics, preprocessing, tree
from sklearn.linear_model import SGDClassifier

import ipdp
import ipdp.log
import ipdp.models.river
import ipdp.models.sklearn
import ipdp.models.trees
from ipdp.log import Retention
from ipdp.runs import Run, Started
from ipdp.runs import step as run_step
from ipdp.runs.challengers import with_challengers
from ipdp.sources import open_source

N = 900


def rows(n: int = N):
    """A rule that turns around in the middle, a category that appears, a number that is stuck."""
    rng = random.Random(7)
    for k in range(n):
        b = rng.gauss(0, 1) if k < 3 * n // 4 else 0.5
        x = {"a": rng.random(), "b": b, "c": rng.choice("uvw"[: 2 + (k > n // 3)])}
        yield x, (x["a"] > 0.5) ^ (k > n // 2) ^ (rng.random() < 0.05)


def frozen(x):
    return x["a"] * x["b"] + (x["c"] == "u")


def classes(x):
    """Three classes."""
    scores = [x["a"], abs(x["b"]), float(x["c"] == "u")]
    return {name: score / (sum(scores) or 1) for name, score in zip("xyz", scores, strict=True)}


class SteadyBudget(run_step.Budget):
    """One for which explaining always takes as long: what is explained is then the same twice."""

    def update(self, seconds: float, rest: float) -> bool:
        return super().update(0.003 if self._wanted else 0.0001, 0.004)


def write_jsonl(path: Path) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps({**x, "y": y}) + "\n" for x, y in rows())


def write_csv(path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "y"])
        writer.writerows([*x.values(), y] for x, y in rows())


def write_parquet(path: Path) -> None:
    if not path.exists():  # it would be another file each time
        pd.DataFrame([{**x, "y": y} for x, y in rows()]).to_parquet(path, row_group_size=100)


def source_of(directory: Path, kind: str):
    """Where the rows come from, and come from again after a kill."""
    if kind == "replay":
        return rows()
    if kind == "jsonl":
        write_jsonl(directory / "rows.jsonl")
        return open_source(str(directory / "rows.jsonl"), target="y")
    if kind == "parquet":
        write_parquet(directory / "rows.parquet")
        return open_source(str(directory / "rows.parquet"), target="y", drop=["c"])
    if kind == "stdin":
        sys.stdin = (directory / "rows.csv").open()
        return open_source("-", target="y")
    if kind == "kafka":
        return open_source((directory / "topic").read_text(), target="y")
    return open_source(str(directory / "rows.csv"), target="y")


@cache
def broker() -> subprocess.Popen[str]:
    """A mock cluster of Kafka in a process of its own, which outlives what is killed."""
    command = [sys.executable, Path(__file__).parent / "broker.py"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def fill_topic(directory: Path) -> None:
    """A topic of its own for a directory, with its address in it."""
    if not (directory / "topic").exists():
        wanted = [f"rows-{abs(hash(directory))}", *({**x, "y": y} for x, y in rows())]
        print(json.dumps(wanted), file=broker().stdin, flush=True)
        (directory / "topic").write_text(broker().stdout.readline().strip())


def make(directory: Path, kind: str) -> Run:
    """A run of some kind in a directory: to be started, or to be resumed."""
    source = source_of(directory, kind)
    features = ["a", "b", "c"]
    options = {"learn": True, "allow_pickle": kind in ("pickle", "delay")}
    model = tree.HoeffdingAdaptiveTreeClassifier(grace_period=40, seed=1)
    metric = [metrics.Accuracy(), metrics.LogLoss()]
    if kind == "skops":  # which is slower, and knows no categories
        features = ["a"]
        source = (({"a": x["a"]}, y) for x, y in rows(2 * N // 3))
        model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=1.0, random_state=1)
        model.partial_fit([[0.5]], [False], classes=[False, True])
    if kind in ("classes", "pairs", "challenger"):
        model, metric, options = classes, None, {"learn": False}
    if kind == "pairs":
        features = ["a", "c", ("a", "b")]
    if kind == "parquet":
        features = ["a", "b"]
        model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        options["allow_pickle"] = True
    if kind in ("jsonl", "retention", "frozen", "stdin", "kafka", "budget"):
        model, metric, options = frozen, metrics.MAE(), {"learn": False}
    if kind == "delay":
        options["delay"] = 30
    if kind == "budget":
        run_step.Budget = SteadyBudget
        options["budget"] = 0.2
    pdp = ipdp.IncrementalPDP(model, features, alpha=0.01, seed=3)
    monitor = ipdp.Monitor(pdp, warm_up=150, cool_down=150)
    log, explainers = directory, pdp
    if kind == "retention":
        log = ipdp.Log(directory, retention=Retention(recent=100, per_doubling=2))
    if kind == "challenger":
        explainers = with_challengers(pdp, {"turned": lambda x: classes({**x, "a": 1 - x["a"]})})
    return Run(
        source,
        model,
        explainers,
        metric=metric,
        monitor=monitor,
        log=log,
        checkpoint=directory,
        checkpoint_every=30,
        snapshot_every=25,
        resume=(directory / "log.db").exists(),
        **options,
    )


def die_at(call: int) -> None:
    """Let the process kill itself at the so many-th step of writing to disk."""
    calls = 0

    def dying(function):
        def instead(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

        return instead

    os.fsync = dying(os.fsync)
    Path.replace = dying(Path.replace)


def work(order: dict) -> None:
    directory = Path(order["directory"])
    if order.get("die_at"):
        die_at(order["die_at"])
    run = make(directory, order["kind"])
    for event in run:
        if isinstance(event, Started):
            with (directory / "starts").open("a") as file:
                file.write(f"{event.n}\n")
    final = {"pdp": run.explainers["pdp"].state, "monitor": run.monitor.state, "scores": run.scores}
    (directory / "final.json").write_text(json.dumps(final))


def answer(*values: object) -> None:
    sys.stdout.write(" ".join(map(str, values)) + "\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if order["kind"] == "kafka":
            fill_topic(Path(order["directory"]))
        child = os.fork()
        if not child:
            try:
                work(order)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        answer(child)
        _, status, usage = os.wait4(child, 0)
        seconds = usage.ru_utime + usage.ru_stime
        answer(os.waitstatus_to_exitcode(status), seconds)
    if broker.cache_info().currsize:
        broker().stdin.close()
        broker().wait()


if __name__ == "__main__":
    main()
