"""What it costs to check observations and states.

    python benchmarks/checks.py [--n 4000]

Eight features, autoregressive with 0.9, a gap now and then, default grid and settings.
Two monitors, which keep observations, take turns of 200 observations in one run, one of them
without the check whether an observation can be saved; the ratio is of the sums of their threads'
times. A state is given to an explainer with the checks and without, in turns, and the difference
of the medians is what they cost.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from river import linear_model, tree

import ipdp
from ipdp.core import kernels, schema
from ipdp.explainers.base import Explainer
from ipdp.monitor import monitor

NAMES = list("abcdefgh")
TURN, TIMES = 200, 15


def stream(n: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Observations of eight numbers, one of them missing at times."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=8)
    for k in range(n):
        x = 0.9 * x + rng.normal(size=8) * np.sqrt(1 - 0.81)
        row: dict[str, Any] = dict(zip(NAMES, x.tolist(), strict=True))
        yield {**row, "h": None if k % 50 == 7 else row["h"]}


def models(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The quickest ones, of which a check is the largest part, and a tree."""
    line, voter = linear_model.LinearRegression(), tree.HoeffdingTreeClassifier()
    for x in rows[:1000]:
        numbers = {name: x[name] or 0.0 for name in NAMES}
        line.learn_one(numbers, x["a"])
        voter.learn_one(numbers, x["a"] > 0)
    return {"river, linear": line, "river, Hoeffding tree": voter, "function": lambda x: x["a"]}


@contextmanager
def unchecked() -> Iterator[None]:
    """Take states as they are."""
    with ExitStack() as stack:
        for name in ("check", "must_fit"):
            stack.enter_context(patch.object(schema, name, lambda *_, **__: None))
        stack.enter_context(patch.object(Explainer, "_try", lambda *_: None))
        yield


def explaining(model: Any, rows: list[dict[str, Any]]) -> float:
    """Time with the check by time without."""
    checked, plain = (ipdp.Monitor(ipdp.IncrementalPDP(model, NAMES, seed=1)) for _ in range(2))
    seconds = dict.fromkeys(("checked", "plain"), 0.0)
    for start in range(0, len(rows), TURN):
        turn = rows[start : start + TURN]
        order = (checked, plain) if start // TURN % 2 else (plain, checked)
        for watched in order:
            name = "checked" if watched is checked else "plain"
            check = monitor.must_be_savable if watched is checked else lambda _: None
            with patch.object(monitor, "must_be_savable", check):
                taken = timed(lambda own=watched, turn=turn: [own.explain_one(x) for x in turn])
            seconds[name] += taken if start >= 5 * TURN else 0.0
    return seconds["checked"] / seconds["plain"]


def taking(pdp: Any) -> tuple[float, float]:
    """Seconds to take a state, with the checks and without."""
    state, twin = json.loads(json.dumps(pdp.state)), pdp._twin()

    def take() -> None:
        twin.state = state

    both: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(TIMES):
        both[True].append(timed(take))
        with unchecked():
            both[False].append(timed(take))
    return statistics.median(both[True]), statistics.median(both[False])


def timed(work: Callable[[], Any]) -> float:
    """Seconds of this thread's processor."""
    gc.collect()
    began = time.thread_time()
    work()
    return time.thread_time() - began


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=4000)
    n = parser.parse_args().n
    rows = list(stream(n))
    print(f"{'pure' if kernels.current is kernels.array else 'compiled'} build, {n} observations")
    for name, model in models(rows).items():
        ratio = explaining(model, rows)
        pdp = ipdp.IncrementalPDP(model, NAMES, seed=1)
        pdp.explain_many(rows)
        checked, plain = taking(pdp)
        cost = f"{1000 * (checked - plain):.1f} ms of {1000 * checked:.1f} ms"
        print(f"{name:22}  explain_one {ratio:.3f}  checks of a state {cost}")


if __name__ == "__main__":
    main()
