"""What it costs to check observations and states.

    python benchmarks/checks.py [--n 8000]

Eight features, autoregressive with 0.9, a gap now and then, default grid and settings, a monitor,
which keeps observations. Two figures for `explain_one`:

- *ratio*: two monitors of one seed explain the same 50 observations in turns, one of them without
  the checks of each observation (can it be saved, is it another thread); which of them is first
  alternates. The median of the ratios of their threads' times, with its quartiles.
- *share*: the time of the checks alone, called in a loop, by that of explaining the same
  observations: what the ratio cannot resolve.

A state is given to an explainer with the checks and without, in turns, and the difference of the
medians is what they cost.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
from river import linear_model, tree

import ipdp
from ipdp.core import kernels, schema
from ipdp.core.jsonable import must_be_savable
from ipdp.explainers.base import Explainer
from ipdp.monitor import monitor

NAMES = list("abcdefgh")
TURN, TIMES, WARM_UP = 50, 15, 1000


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


@contextmanager
def unguarded() -> Iterator[None]:
    """Explain without the checks of each observation."""
    with (
        patch.object(monitor, "must_be_savable", lambda _: None),
        patch.object(Explainer, "_claim", lambda _: None),
    ):
        yield


def explaining(model: Any, rows: list[dict[str, Any]]) -> tuple[list[float], float]:
    """Quartiles of the time with the checks by the time without, and the share of the checks."""
    checked, plain = (ipdp.Monitor(ipdp.IncrementalPDP(model, NAMES, seed=1)) for _ in range(2))
    ratios, alone, whole = [], 0.0, 0.0
    for turn, start in enumerate(range(0, len(rows), TURN)):
        part = rows[start : start + TURN]
        seconds = {}
        for watched in (checked, plain) if turn % 2 else (plain, checked):
            with nullcontext() if watched is checked else unguarded():
                seconds[watched] = timed(lambda: [watched.explain_one(x) for x in part])  # noqa: B023
        if start >= WARM_UP:
            ratios.append(seconds[checked] / seconds[plain])
            claim = checked.pdp._claim
            alone += timed(lambda: [(must_be_savable(x), claim()) for x in part])  # noqa: B023
            checked.pdp._thread = None
            whole += seconds[plain]
    return statistics.quantiles(ratios, n=4), alone / whole


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
    gc.disable()  # else one of two pays for what the other has left
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        gc.enable()


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=8000)
    n = parser.parse_args().n
    rows = list(stream(n))
    print(f"{'pure' if kernels.current is kernels.array else 'compiled'} build, {n} observations")
    for name, model in models(rows).items():
        (low, ratio, high), share = explaining(model, rows)
        pdp = ipdp.IncrementalPDP(model, NAMES, seed=1)
        pdp.explain_many(rows)
        checked, plain = taking(pdp)
        cost = f"{1000 * (checked - plain):.1f} ms of {1000 * checked:.1f} ms"
        print(
            f"{name:22}  explain_one {ratio:.3f} ({low:.3f} to {high:.3f}), "
            f"share {100 * share:.2f} %  checks of a state {cost}"
        )


if __name__ == "__main__":
    main()
