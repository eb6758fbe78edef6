"""Friedman's H of forests of river on the default grid, against its definition by plain calls.

    python benchmarks/h_statistic.py [--first 200] [--seeds 2] [--n 300]

A forest learns 3,000 observations; n others are explained, without forgetting. The definition takes
the square of their number in predictions, three times, over those that came after the warm-up.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from river import datasets, forest

import ipdp

LEARNT = 3_000


def cases(seed: int) -> dict[str, tuple[Any, Any, tuple[Any, Any], Any]]:
    """A stream, a model, a pair and an output each."""
    agrawal, forests = datasets.synth.Agrawal, forest.ARFClassifier
    age = "age", "salary"
    return {
        "Agrawal rule 2, ARF(10)": (agrawal(2, seed), forests(n_models=10, seed=seed), age, 1),
        "Agrawal rule 1, ARF(5)": (agrawal(1, seed), forests(n_models=5, seed=seed), age, 1),
        "Friedman, ARF(5)": (
            datasets.synth.Friedman(seed),
            forest.ARFRegressor(n_models=5, seed=seed),
            (0, 1),
            None,
        ),
    }


def definition(model: Any, rows: list[Any], pair: tuple[Any, Any], output: Any) -> float:
    """H² as Friedman and Popescu (2008) define it."""

    def said(x: Any) -> float:
        if output is None:
            return float(model.predict_one(x))
        return float(model.predict_proba_one(x).get(output, 0.0))

    def dependence(*names: Any) -> Any:
        replaced = ({name: own[name] for name in names} for own in rows)
        values = np.array([np.mean([said({**x, **new}) for x in rows]) for new in replaced])
        return values - values.mean()

    both, first, second = dependence(*pair), dependence(pair[0]), dependence(pair[1])
    return float(((both - first - second) ** 2).sum() / (both**2).sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--n", type=int, default=300)
    given = parser.parse_args()
    print(f"{'':32}{'asked':>8}{'surface':>9}{'definition':>12}")
    for seed in range(given.first, given.first + given.seeds):
        for name, (stream, model, pair, output) in cases(seed).items():
            data = list(stream.take(LEARNT + given.n))
            for x, y in data[:LEARNT]:
                model.learn_one(x, y)
            rows = [x for x, _ in data[LEARNT:]]
            pdp = ipdp.IncrementalPDP(model, [*pair, pair], alpha=None, seed=1)
            pdp.explain_many(rows)
            curve = pdp.curve(pair)
            row = 0 if output is None else curve.outputs.index(output)
            surface: Any = curve.h_squared
            asked = pdp.h_statistic(pair)[row]
            wanted = definition(model, rows[-curve.n_samples :], pair, output)
            print(
                f"{name + f', seed {seed}':32}{asked:8.3f}{surface[row]:9.3f}{wanted:12.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
