"""Are the defaults right where the data are? Both estimators on eight streams, with the same grid.

    python benchmarks/defaults.py [--seeds 5] [--first 100] [--instants]

Eight streams: nothing changes, a trend, a jump, a season, heavy tails, categories, whole numbers,
and elec2. The models are frozen: smooth, bent, with steps at whole numbers, linear;
a booster for elec2. Every 250 observations a curve is compared with the batch curve, which is the
partial dependence over the last 2,000 observations by brute force, at the last 500 values of the
feature. The error is the root mean square as a share of the batch curve's standard deviation, for
elec2 that of the probability.
Where a value is beyond the curve, the end of the curve is taken.

With --instants the error at every second observation is compared with those around it, which is
where a point that has just been added would be seen: the largest ratio to the larger of the medians
over the 50 observations before and after, or to the error that a smoothed mean has at that time had
each past observation been evaluated at the places of now, which moves by itself. Values beyond the
curve, of which it says nothing, are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from streams import elec2

import ipdp
from ipdp.core.typing import Array, FloatArray

ALPHA = 0.001
EVERY = 250
N = 8_000
BATCH = 2_000
RECENT = 500


class Stream(NamedTuple):
    """The values of a feature x and of others, and models of both as functions of columns."""

    name: str
    table: Callable[[np.random.Generator], Array]
    models: tuple[str, ...] = ("smooth", "bent", "steps", "linear")


MODELS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "smooth": lambda x, z: x**2 + x * z + z**2,
    "bent": lambda x, z: np.sin(3 * x) + 0.3 * x * z,
    "steps": lambda x, z: np.floor(x) + 0.3 * x * z,
    "linear": lambda x, z: x + x * z,
    "wide steps": lambda x, z: np.floor(x / 5) + 0.1 * x * z / 5,
    "parts": lambda x, z: np.array([0.0, 2.0, 1.0, 4.0, -1.0])[x.astype(int)] * (1 + 0.5 * z),
}


def numbers(where: Callable[[FloatArray], Any]) -> Callable[[np.random.Generator], Array]:
    """Values of x around a place that depends on time, from 0 to 1; z is N(0, 1)."""

    def table(rng: np.random.Generator) -> Array:
        values = rng.normal(size=(N, 2))
        values[:, 0] += where(np.arange(N) / N)
        return values

    return table


def heavy(rng: np.random.Generator) -> Array:
    """Student's t with three degrees of freedom."""
    return np.column_stack([rng.standard_t(3, size=N), rng.normal(size=N)])


def whole(rng: np.random.Generator) -> Array:
    """Whole numbers whose mean goes from 15 to 25."""
    return np.column_stack([rng.poisson(np.linspace(15, 25, N)), rng.normal(size=N)])


def parts(rng: np.random.Generator) -> Array:
    """Five categories with changing shares; the last is seen from half of the time on."""
    late = rng.choice(5, p=[0.1, 0.1, 0.3, 0.1, 0.4], size=N)
    early = rng.choice(4, p=[0.5, 0.3, 0.1, 0.1], size=N)
    return np.column_stack([np.where(np.arange(N) < N // 2, early, late), rng.normal(size=N)])


STREAMS = (
    Stream("static", numbers(lambda t: 0 * t)),
    Stream("trend", numbers(lambda t: 8 * t)),
    Stream("jump", numbers(lambda t: np.where(t < 0.5, 0, 6))),
    Stream("season", numbers(lambda t: 3 * np.sin(4 * np.pi * t))),
    Stream("heavy tails", heavy),
    Stream("categories", parts, ("parts",)),
    Stream("integers", whole, ("smooth", "wide steps", "linear")),
)
ESTIMATORS = ("pointwise", "regrid")


def errors(
    pdps: dict[str, ipdp.IncrementalPDP],
    rows: list[dict[str, Any]],
    feature: str,
    batch: Callable[[int, Array], FloatArray],
    *,
    every: int = EVERY,
    relative: bool = True,
) -> dict[str, FloatArray]:
    """The error of each explainer over time; `batch` gives the batch curve at a time."""
    found: dict[str, list[float]] = {name: [] for name in pdps}
    for t in range(every, len(rows) + 1, every):
        values = np.array([row[feature] for row in rows[max(0, t - RECENT) : t]])
        true = batch(t, values) if t > BATCH else None
        for name, pdp in pdps.items():
            pdp.explain_many(rows[t - every : t])
            if true is not None:
                scale = max(np.std(true), 1e-9) if relative else 1.0
                found[name].append(error(pdp.curve(feature), values, true) / scale)
    return {name: np.array(values) for name, values in found.items()}


def error(curve: ipdp.Curve, values: Array, true: FloatArray) -> float:
    """How far a curve is from the batch curve at some values."""
    axis = curve.grid_values[0]
    if curve.categorical[0]:
        known = dict(zip(axis.tolist(), curve.average[-1].tolist(), strict=True))
        guess = np.array(
            [known.get(value, np.mean(curve.average[-1])) for value in values.tolist()]
        )
    else:
        guess = np.interp(values.astype(float), axis.astype(float), curve.average[-1])
    return float(np.sqrt(np.mean((guess - true) ** 2)))


def brute_force(
    predict: Callable[[Array], FloatArray], table: Array, column: int
) -> Callable[[int, Array], FloatArray]:
    """The partial dependence over the last observations at some values."""

    def batch(t: int, values: Array) -> FloatArray:
        different, which = np.unique(values, return_inverse=True)
        if len(different) > 200:  # linear in between
            return np.interp(
                values, at := np.quantile(different, np.linspace(0, 1, 200)), over(t, at)
            )
        return over(t, different)[which]

    def over(t: int, values: Array) -> FloatArray:
        rows = np.repeat(table[None, t - BATCH : t], len(values), axis=0)
        rows[:, :, column] = values[:, None]
        answers = predict(rows.reshape(-1, table.shape[1]))
        return answers.reshape(len(values), BATCH).mean(axis=1)

    return batch


def made_up(stream: Stream, seed: int, grid: Any) -> Iterator[tuple[str, dict[str, FloatArray]]]:
    """The errors on one stream for each of its models."""
    table = stream.table(np.random.default_rng(seed))
    rows = [{"x": x, "z": z} for x, z in table.tolist()]
    if stream.name in ("integers", "categories"):
        kind = str if stream.name == "categories" else int
        rows = [{"x": kind(int(row["x"])), "z": row["z"]} for row in rows]
    for name in stream.models:
        f = MODELS[name]

        def predict(X: Any, f: Any = f) -> FloatArray:
            return f(np.asarray(X)[:, 0].astype(float), np.asarray(X)[:, 1].astype(float))

        model = ipdp.models.engine(predict, takes="array")
        pdps = explainers(model, ["x"], grid, seed)
        as_numbers = brute_force(predict, table, 0)
        batch = lambda t, v, b=as_numbers: b(t, v.astype(float))  # noqa: E731
        yield name, errors(pdps, rows, "x", batch)


def real(seed: int, grid: Any) -> Iterator[tuple[str, dict[str, FloatArray]]]:
    """The errors on a part of elec2 under a booster that was trained on another part."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    examples = elec2(45_312)
    names = ["nswprice", "nswdemand", "vicdemand", "transfer", "period"]
    table = np.array([[x[name] for name in names] for x, _ in examples])
    labels = np.array([y for _, y in examples])
    rng = np.random.default_rng(seed)
    start = int(rng.integers(0, len(table) - N))
    train = rng.choice(len(table), 10_000, replace=False)
    booster = HistGradientBoostingClassifier(max_iter=50, random_state=seed)
    booster.fit(table[train], labels[train])

    def predict(X: Any) -> FloatArray:
        return booster.predict_proba(np.asarray(X, dtype=float))[:, 1]

    part = table[start : start + N]
    rows = [dict(zip(names, row, strict=True)) for row in part.tolist()]
    model = ipdp.models.engine(predict, takes="array")
    for column, name in enumerate(names[:4]):
        pdps = explainers(model, [name], grid, seed)
        batch = sparse(brute_force(predict, part, column))
        # As probabilities: a feature may be constant for a time, and its curve has no spread then.
        yield name, errors(pdps, rows, name, batch, every=2 * EVERY, relative=False)


def sparse(batch: Callable[[int, Array], FloatArray]) -> Callable[[int, Array], FloatArray]:
    """The batch curve at 60 quantiles of the values, linear in between: a booster is slow."""

    def at(t: int, values: Array) -> FloatArray:
        quantiles = np.unique(np.quantile(values, np.linspace(0, 1, 60)))
        return np.interp(values, quantiles, batch(t, quantiles))

    return at


def explainers(model: Any, features: Any, grid: Any, seed: int) -> dict[str, ipdp.IncrementalPDP]:
    """One for each estimator with the same grid, and the paper's grid and estimator."""

    def made(grid: Any, estimator: Any) -> ipdp.IncrementalPDP:
        return ipdp.IncrementalPDP(
            model, features, alpha=ALPHA, grid=grid, estimator=estimator, n_ice=0, seed=seed
        )

    named = {name: made(grid, name) for name in ESTIMATORS}
    return {**named, "paper": made(ipdp.grid.Auto(ends="extremes"), "pointwise")}


def instants(stream: Stream, name: str, seed: int) -> FloatArray:
    """The error at every second observation against those around it."""
    table = stream.table(np.random.default_rng(seed))
    f = MODELS[name]
    model = ipdp.models.engine(lambda X: f(X[:, 0], X[:, 1]), takes="array")
    pdp = ipdp.IncrementalPDP(model, ["x"], alpha=ALPHA, n_ice=0, seed=seed)
    found, unavoidable = [], []
    for t, (x, z) in enumerate(table.tolist(), start=1):
        pdp.explain_one({"x": x, "z": z})
        if t > 1_000 and t % 2 == 0:
            curve = pdp.curve("x")
            places = np.linspace(curve.grid_values[0][0], curve.grid_values[0][-1], 60)
            answers = f(places[:, None], table[None, :t, 1])
            true = answers[:, -BATCH:].mean(axis=1)
            smoothed = np.average(answers, axis=1, weights=(1 - ALPHA) ** np.arange(t)[::-1])
            values = table[t - RECENT : t, 0]
            values = values[(values >= places[0]) & (values <= places[-1])]
            away = np.interp(values, places, true) - curve.at(values)[0]
            found.append(np.sqrt(np.mean(away**2)))
            away = np.interp(values, places, true - smoothed)
            unavoidable.append(np.sqrt(np.mean(away**2)))
    errors, k = np.array(found), 25
    # Where the error happens to be next to nothing, a third of what it mostly is counts.
    least = np.median(errors) / 3
    around = [
        max(np.median(errors[i - k : i]), np.median(errors[i + 1 : i + 1 + k]), least, one)
        for i, one in enumerate(unavoidable[k:-k], start=k)
    ]
    return errors[k:-k] / np.array(around)


def print_instants(seeds: range) -> None:
    """Print the largest ratio for each stream and model, over the seeds."""
    print("| stream | " + " | ".join(STREAMS[0].models) + " |")
    print("|---|---|---|---|---|")
    for stream in STREAMS[:5]:
        worst = [
            max(instants(stream, name, seed).max() for seed in seeds) for name in stream.models
        ]
        print(
            f"| {stream.name} | " + " | ".join(f"{ratio:.1f}" for ratio in worst) + " |", flush=True
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="number of streams of each kind")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--instants", action="store_true", help="look for moments that stand out")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    if given.instants:
        print_instants(seeds)
        return
    print("| stream | default | pointwise | ratio (worst model) | the paper's grid and estimator |")
    print("|---|---|---|---|---|")
    for stream in STREAMS:
        found = [item for seed in seeds for item in made_up(stream, seed, None)]
        print(row(stream.name, found), flush=True)
    print(row("elec2", [item for seed in seeds for item in real(seed, None)]))


def row(name: str, found: list[tuple[str, dict[str, FloatArray]]]) -> str:
    """One line of the table: mean errors over time, models and seeds."""
    models = list(dict.fromkeys(model for model, _ in found))
    means = {
        kind: np.array(
            [np.mean([e[kind].mean() for m, e in found if m == model]) for model in models]
        )
        for kind in ("regrid", "pointwise", "paper")
    }
    default, pointwise, paper = (means[kind].mean() for kind in ("regrid", "pointwise", "paper"))
    ratios = means["regrid"] / means["pointwise"]
    worst = models[int(ratios.argmax())]
    return (
        f"| {name} | {default:.3f} | {pointwise:.3f} | {default / pointwise:.2f} "
        f"({worst}: {ratios.max():.2f}) | {paper:.3f} |"
    )


if __name__ == "__main__":
    main()
