"""The changes that a run on elec2 reports, each held against an independent batch comparison.

    python benchmarks/elec2_changes.py              all 45,312 observations, ARF(10), some minutes
    python benchmarks/elec2_changes.py --n 10000    the first ones

Explainer and monitor have their defaults. Nothing of the monitor is used to judge a change. Of the
model a copy is pickled every 500 observations. For a change of the model, partial dependence is
computed by brute force (`predict_proba_one` at twelve quantiles of the feature, over 200 rows
drawn from the 2,000 before the change) with the last copy from before the change and with the first
one from after it ended: it is confirmed if the two centred curves differ by at least 5 % of
the standard deviation of the predictions. For a move of the data the 2,000 values before and the
2,000 since are compared: it is confirmed if the Kolmogorov-Smirnov distance, or the difference of
the shares of missing values, is at least 0.3; that a column only grows, if it did up to then.
"""

from __future__ import annotations

import argparse
import pickle
from typing import Any

import numpy as np
from river import forest
from scipy.stats import ks_2samp
from streams import ELEC2_FILE, elec2

import ipdp

LOOK_EVERY, N_ROWS, N_PLACES = 500, 200, 12
AROUND = 2_000
CHANGED, MOVED = 0.05, 0.3

Row = dict[str, Any]


def run(n: int, seed: int) -> tuple[list[Row], dict[int, bytes], ipdp.Monitor]:
    """The rows, pickled models by the number of rows learnt, and the monitor."""
    model = forest.ARFClassifier(n_models=10, seed=seed)
    monitor = ipdp.Monitor(ipdp.IncrementalPDP(model, seed=seed))
    rows, copies = [], {}
    for t, (x, y) in enumerate(elec2(n)):
        if t % LOOK_EVERY == 0:
            copies[t] = pickle.dumps(model)
        rows.append(dict(x))
        monitor.explain_one(x)
        model.learn_one(x, y)
    copies[n] = pickle.dumps(model)
    return rows, copies, monitor


def centred_curve(
    model: Any, rows: list[Row], feature: str, places: Any, label: Any = True
) -> tuple[Any, float]:
    """Partial dependence of a class by brute force, and the spread of all predictions."""
    answers = np.array(
        [
            [model.predict_proba_one({**x, feature: value}).get(label, 0.0) for value in places]
            for x in rows
        ]
    )
    curve = answers.mean(axis=0)
    return curve - curve.mean(), float(answers.std())


def model_moved(change: ipdp.Change, rows: list[Row], copies: dict[int, bytes]) -> float:
    """Root mean square of the difference of the curves before and after, in standard deviations."""
    began, end = int(change.began), int(change.ended or change.t)
    before = max(t for t in copies if t <= max(began - 1, 0))
    after = min((t for t in copies if t >= end), default=max(copies))
    past = rows[max(began - AROUND, 0) : max(began, 50)]
    rng = np.random.default_rng(0)
    sample = [past[k] for k in rng.choice(len(past), min(N_ROWS, len(past)), replace=False)]
    feature = str(change.feature)
    values = np.array([x[feature] for x in past], dtype=float)
    places = np.unique(np.quantile(values, np.linspace(0.02, 0.98, N_PLACES)))
    then, spread = centred_curve(pickle.loads(copies[before]), sample, feature, places)
    now, _ = centred_curve(pickle.loads(copies[after]), sample, feature, places)
    return float(np.sqrt(((now - then) ** 2).mean())) / spread


def data_moved(change: ipdp.Change, rows: list[Row]) -> float:
    """How far the values before and since are apart, from 0 to 1."""
    values = np.array([x[str(change.feature)] for x in rows], dtype=float)
    if change.move is not None and change.move.aspect == "grows":
        steps = np.diff(values[: int(change.t)])
        return float((steps >= 0).all() or (steps <= 0).all())
    at = int(change.began) - 1
    sides = values[max(at - AROUND, 0) : at], values[at : at + AROUND]
    missing = abs(np.isnan(sides[0]).mean() - np.isnan(sides[1]).mean())
    return float(max(missing, ks_2samp(*(side[~np.isnan(side)] for side in sides)).statistic))


def main() -> None:
    """Print the changes with what an independent comparison says."""
    parser = argparse.ArgumentParser(description="Changes on elec2, confirmed.")
    parser.add_argument("--n", type=int, default=45_312)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not ELEC2_FILE.exists():
        parser.error(f"there is no {ELEC2_FILE}: set IPDP_DATA to the directory of the file")
    rows, copies, monitor = run(options.n, options.seed)
    print("| t | said | model: difference of the curves, sd | data: distance | confirmed |")
    print("|---|---|---|---|---|")
    for change in monitor.changes:
        cells, is_confirmed = ["", ""], False
        if change.kind != "virtual":
            moved = model_moved(change, rows, copies)
            cells[0], is_confirmed = f"{moved:.2f}", moved >= CHANGED
        if change.kind != "real":
            apart = data_moved(change, rows)
            cells[1], is_confirmed = f"{apart:.2f}", is_confirmed or apart >= MOVED
        said = f"{change.t:,.0f} | {change.summary()}"
        print(f"| {said} | {cells[0]} | {cells[1]} | {'yes' if is_confirmed else 'NO'} |")
    print(f"\n{len(monitor.changes)} changes")


if __name__ == "__main__":
    main()
