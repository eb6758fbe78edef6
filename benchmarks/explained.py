"""The explained share on a stream against a batch computation of the model as it is at the end.

    python benchmarks/explained.py [--seed 1] [--plain] [names of streams]

The batch is the last 2 / alpha observations, or the last 6 / alpha with the weights of the
smoothing: the mean of the model over 400 of them at the own value of each (at 80 quantiles where
there are more values); of river's models by their walk, or with --plain by plain calls. `curves` is
the same for the last 2 / alpha with the curves of the explainer, lines between their points.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from river import datasets, forest
from streams import elec2

import ipdp

ALPHA, N = 0.002, 6_000
Example = tuple[dict[str, Any], Any]


def agrawal(rule: int, seed: int) -> tuple[list[Example], Any]:
    """Agrawal's rules with an adaptive random forest."""
    stream = datasets.synth.Agrawal(classification_function=rule, seed=seed).take(N)
    return list(stream), forest.ARFClassifier(n_models=10, seed=seed)


def electricity(seed: int) -> tuple[list[Example], Any]:
    """elec2 with an adaptive random forest."""
    return list(elec2(N)), forest.ARFClassifier(n_models=10, seed=seed)


def friedman(seed: int) -> tuple[list[Example], Any]:
    """Friedman's function with an adaptive random forest."""
    stream = datasets.synth.Friedman(seed=seed).take(N)
    return list(stream), forest.ARFRegressor(n_models=5, seed=seed)


def autoregressive(seed: int) -> tuple[list[Example], Any]:
    """AR(.9) features and a function of them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(N, 4))
    for t in range(1, N):
        z[t] = 0.9 * z[t - 1] + np.sqrt(1 - 0.81) * z[t]
    rows = [{f"x{k}": value for k, value in enumerate(row)} for row in z.tolist()]
    return [
        (x, None) for x in rows
    ], lambda x: x["x0"] * x["x1"] + np.sin(2 * x["x2"]) + x["x3"] / 2


def messy(seed: int) -> tuple[list[Example], Any]:
    """Categories, and a number that is missing in 15 % of the observations."""
    draws = random.Random(seed)
    rows = [
        {
            "a": None if draws.random() < 0.15 else draws.gauss(0, 1),
            "b": draws.gauss(0, 1),
            "c": draws.choice("xyz"),
        }
        for _ in range(N)
    ]

    def model(x: dict[str, Any]) -> float:
        a = -1.0 if x["a"] is None or x["a"] != x["a"] else x["a"]
        return {"x": 1.0, "y": -1.0, "z": 0.2}[x["c"]] * a + x["b"] + 2.0 * (x["c"] == "x")

    return [(x, None) for x in rows], model


STREAMS: dict[str, Callable[[int], tuple[list[Example], Any]]] = {
    "Agrawal rule 2, ARF": lambda seed: agrawal(2, seed),
    "Agrawal rule 0, ARF": lambda seed: agrawal(0, seed),
    "elec2, ARF": electricity,
    "Friedman, ARF": friedman,
    "AR(.9), function": autoregressive,
    "categories and missing, function": messy,
}


def on_stream(stream: list[Example], model: Any) -> ipdp.IncrementalPDP:
    """The explainer at the end."""
    grid = {"a": ipdp.grid.Auto(missing=True)} if "c" in stream[0][0] else None
    pdp = ipdp.IncrementalPDP(model, alpha=ALPHA, grid=grid, seed=1)
    for x, y in stream:
        pdp.explain_one(x)
        if y is not None:
            model.learn_one(x, y)
    return pdp


def calls(model: Any, output: Any, rows: list[dict[str, Any]]) -> Iterator[float]:
    """Plain calls."""
    for x in rows:
        if hasattr(model, "predict_proba_one"):
            yield model.predict_proba_one(x).get(output, 0.0)
        else:
            yield model.predict_one(x) if hasattr(model, "predict_one") else model(x)


def batch(
    rows: list[dict[str, Any]], model: Any, output: Any, weights: np.ndarray, plain: bool
) -> float:
    """The share by brute force."""
    said = np.fromiter(calls(model, output, rows), dtype=float)
    chosen = np.random.default_rng(0).choice(len(rows), 400, p=weights / weights.sum())
    background = [rows[k] for k in chosen]
    left = said.copy()
    for name in rows[0]:
        own = [x[name] for x in rows]
        numbers = all(type(v) is float for v in own if v is not None)
        values = sorted({v for v in own if v is not None}, key=None if numbers else str)
        if numbers and len(values) > 80:
            points = np.quantile([v for v in own if v is not None], np.linspace(0, 1, 80))
            values = np.unique(points).tolist()
        asked = [*values, *([None] if None in own else [])]
        mean = (means_by_calls if plain else means_by_walk)(model, output, name, asked, background)
        if numbers:
            heights = [mean[v] for v in values]
            left -= [mean[v] if v is None else np.interp(v, values, heights) for v in own]
        else:
            left -= [mean[v] for v in own]
    return share_of(said, left, weights)


def share_of(said: np.ndarray, left: np.ndarray, weights: np.ndarray) -> float:
    """The share, given predictions and what curves leave of them."""
    whole, rest = (
        np.average((v - np.average(v, weights=weights)) ** 2, weights=weights) for v in (said, left)
    )
    return float(1 - rest / whole)


def by_curves(pdp: ipdp.IncrementalPDP, output: Any, rows: list[dict[str, Any]]) -> float:
    """The share that the curves have as they are shown, over some rows."""
    said = np.fromiter(calls(pdp.model, output, rows), dtype=float)
    left = said.copy()
    for name, curve in pdp.curves.items():
        row = curve.outputs.index(output)
        points, heights = curve.grid_values[0].tolist(), curve.average[row].tolist()
        values = dict(zip(points, heights, strict=True))
        for k, x in enumerate(rows):
            if x[name] is None and curve.missing is not None:
                left[k] -= curve.missing[row]
            elif curve.categorical[0]:
                left[k] -= values.get(x[name], np.mean(heights))
            else:
                left[k] -= np.interp(x[name], points, heights)
    return share_of(said, left, np.ones(len(rows)))


def means_by_calls(
    model: Any, output: Any, name: str, values: list[Any], rows: list[dict[str, Any]]
) -> dict[Any, float]:
    """The mean of the model at some values of a feature."""
    return {
        v: float(np.mean([*calls(model, output, [{**x, name: v} for x in rows])])) for v in values
    }


def means_by_walk(
    model: Any, output: Any, name: str, values: list[Any], rows: list[dict[str, Any]]
) -> dict[Any, float]:
    """The same by an explainer that forgets nothing."""
    if len(values) < 2:
        return dict.fromkeys(values, 0.0)
    ordered = sorted(values)
    pdp = ipdp.IncrementalPDP(model, name, alpha=None, grid=ipdp.grid.Fixed(ordered), n_past=0)
    pdp.explain_many(rows)
    curve = pdp.curve(name)
    average = curve.average[curve.outputs.index(output) if output in curve.outputs else 0]
    return dict(zip(ordered, average.tolist(), strict=True))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("names", nargs="*", default=[])
    settings = parser.parse_args()
    columns = ("last", "weights", "curves")
    print(f"{'':36}{'stream':>8}" + "".join(f"{name:>8}{'difference':>12}" for name in columns))
    for name in settings.names or STREAMS:
        stream, model = STREAMS[name](settings.seed)
        pdp = on_stream(stream, model)
        share, output = pdp.explained.value, pdp.explained.output
        rows = [x for x, _ in stream[-int(6 / ALPHA) :]]
        age = np.arange(len(rows))[::-1]
        plain = settings.plain or not hasattr(model, "learn_one")
        batches = [
            batch(rows[-n:], model, output, weights[-n:], plain)
            for n, weights in (
                (int(2 / ALPHA), np.ones(len(rows))),
                (len(rows), (1 - ALPHA) ** age),
            )
        ]
        batches.append(by_curves(pdp, output, rows[-int(2 / ALPHA) :]))
        differences = "".join(f"{found:8.3f}{share - found:12.3f}" for found in batches)
        print(f"{name:36}{share:8.3f}{differences}", flush=True)


if __name__ == "__main__":
    main()
