"""Whether two versions of the monitor report the same: feature, kind, time, size and sentence.

Streams with and without drift, independent and not, of functions and of models that learn; elec2 is
read where `IPDP_DATA` says. Each version runs them in a process of its own:

    python benchmarks/same_changes.py OLD/src [NEW/src] [--only NAME ...]

The directories hold the package `ipdp`; by default the new one is that of this file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
SEED = 50_100


def main() -> int:
    """Run both versions and print, for each stream, whether they say the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default=str(HERE.parents[1] / "src"))
    parser.add_argument("--only", nargs="*", default=list(streams()))
    given = parser.parse_args()
    failed = 0
    for name in given.only:
        then, now = (reported(source, name) for source in (given.old, given.new))
        failed += then != now
        told = "DIFFERENT" if then != now else "the same"
        print(f"{name:36} {told}: {len(then)} changes, {len(now)}", flush=True)
        for mark, own, other in (("-", then, now), ("+", now, then)):
            for line in [line for line in own if line not in other]:
                print(f"  {mark} {line}")
    return int(failed > 0)


def reported(source: str, name: str) -> Any:
    """What one version reports on a stream."""
    answer = subprocess.run(
        [sys.executable, str(HERE), "--worker", name],
        env={**os.environ, "PYTHONPATH": source},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(answer.stdout)


def told(changes: Sequence[Any]) -> list[str]:
    """Each change in a line."""
    return [
        f"{c.feature} {c.output} {c.kind} {c.t:.0f} since {c.began:.0f} {c.size:.6g}: {c.summary()}"
        for c in changes
    ]


# The streams; what they need is imported by the worker.


def streams() -> dict[str, Callable[[], list[Any]]]:
    """The changes that are reported on each stream."""
    scenarios = ("slope", "gradual", "virtual", "both", "linear", "hyperplane", "agrawal")
    no_change = ("i.i.d.", "AR .9", "weekly, noisy", "random walk", "gaps")
    return {
        **{f"{name}, drift": partial(of_scenario, name) for name in scenarios},
        "settled HAT, no drift": partial(of_scenario, "settled HAT", before=12_000, after=0),
        **{
            f"reversal, {kind}": partial(of_function, kind, "reversal")
            for kind in ("AR.9", "AR.99")
        },
        "uv to -uv, weekly": partial(of_function, "weekly", "uv to -uv"),
        **{f"{name}, function, no drift": partial(of_values, name) for name in no_change},
        "weekly with its period": partial(of_values, "weekly, noisy", period=336),
        "faults of AR .9": of_faults,
        "four classes, moving centres, HAT": of_classes,
        "elec2, HAT": partial(of_elec2, "HAT", 18_500),
        "elec2, logistic regression": partial(of_elec2, "SS | LR", 18_500),
        "elec2, ARF(10)": partial(of_elec2, "ARF(10)", 18_500),
    }


def of_scenario(name: str, before: int = 5_000, after: int = 3_000) -> list[Any]:
    """A drift that is known, under a function or a model that learns."""
    from scenarios import SCENARIOS

    model, examples, features = SCENARIOS[name].make(SEED, before, after)
    return followed(model, examples, features)


def of_function(kind: str, name: str) -> list[Any]:
    """A function that is exchanged for another, on values that depend on their past."""
    from model_changes import run

    return run(kind, name, SEED, 4_000, 4_000)[1]


def of_values(name: str, **settings: Any) -> list[Any]:
    """A function that stays, on values in which nothing changes."""
    from no_change import made, named, watched

    return watched(named(made(name, SEED, 12_000)), **settings)


def of_faults() -> list[Any]:
    """Missing, stuck, other units, levels, widths and shares, a column that only grows."""
    import numpy as np
    from no_change import cases, watched

    return watched({name: own for name, _, own in cases(np.random.default_rng(SEED), "AR .9")})


def of_classes() -> list[Any]:
    """Several outputs."""
    from parts import four_classes
    from river import tree

    examples = four_classes(6_000)
    model = tree.HoeffdingAdaptiveTreeClassifier(seed=1)
    return followed(model, examples, list(examples[0][0]))


def of_elec2(name: str, n: int) -> list[Any]:
    """A real stream."""
    from parts import MODELS
    from streams import elec2

    return followed(MODELS[name][0](), elec2(n), None)


def followed(model: Any, examples: Any, features: Any) -> list[Any]:
    """The changes that are reported while a model learns."""
    import ipdp

    pdp = ipdp.IncrementalPDP(model, features, seed=1)
    monitor = ipdp.Monitor(pdp)
    learn = getattr(model, "learn_one", getattr(getattr(pdp, "model", None), "learn_one", None))
    for x, y in examples:
        monitor.explain_one(x)
        if learn is not None:
            learn(x, y)
    return monitor.changes


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        warnings.simplefilter("ignore")
        print(json.dumps(told(streams()[sys.argv[2]]())))
    else:
        sys.exit(main())
