"""Interactions that turn while every mean stays, and interactions that do not.

    python benchmarks/interaction_changes.py --first 30000
    python benchmarks/interaction_changes.py --runs 6 --quiet 0

The model is exchanged after 3,000 observations of a stream, 3,000 follow; 20,000 where nothing
changes. All settings are the defaults, and none was settled on these streams.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import cycle, islice, product
from statistics import median
from typing import Any

import numpy as np
from model_changes import stream
from sklearn.ensemble import HistGradientBoostingRegressor

import ipdp

Rows = np.ndarray
Answer = Callable[[Rows], Rows]


def fitted(y: Answer, seed: int) -> Answer:
    """A booster that was trained on such a function, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3_000, 4))
    booster = HistGradientBoostingRegressor(max_iter=80, random_state=seed)
    booster.fit(X, y(X) + 0.1 * rng.normal(size=len(X)))
    return booster.predict  # type: ignore[no-any-return]


def with_own(effect: Answer) -> Answer:
    """An interaction beside an effect of another feature that stays."""
    return lambda X: effect(X) + 0.5 * X[:, 3]


# From what to what, and in whose effects that is an interaction.
FORMS: dict[str, tuple[Answer, Answer, set[str]]] = {
    "product": (lambda X: X[:, 0] * X[:, 1], lambda X: -X[:, 0] * X[:, 1], {"a", "b"}),
    "opposite signs": (
        lambda X: np.sign(X[:, 0] * X[:, 1]),
        lambda X: -np.sign(X[:, 0] * X[:, 1]),
        {"a", "b"},
    ),
    "by category": (
        lambda X: X[:, 0] * np.where(X[:, 2] > 0, 1.0, -1.0),
        lambda X: X[:, 0] * np.where(X[:, 2] > 0, -1.0, 1.0),
        {"a", "c"},
    ),
    "another partner": (
        lambda X: X[:, 0] * X[:, 1],
        lambda X: X[:, 0] * X[:, 2],
        {"a", "b", "c"},
    ),
    "weaker": (lambda X: X[:, 0] * X[:, 1], lambda X: 0.3 * X[:, 0] * X[:, 1], {"a", "b"}),
}


def cases(first: int) -> Iterator[tuple[str, str, int]]:
    """Forms and streams in turn, each with a seed of its own."""
    forms = [*FORMS, "a booster, product"]
    both = list(product(("i.i.d.", "AR.9"), forms))
    for seed, (kind, form) in enumerate(cycle(both), start=first):
        yield kind, form, seed


def watched(kind: str, form: str, seed: int, n: int, turn: int | None) -> list[ipdp.Change]:
    """The changes that a monitor with defaults reports."""
    before, after, _ = FORMS.get(form, FORMS["product"])
    models = [with_own(before), with_own(after)]
    if form not in FORMS:
        models = [fitted(model, seed + k) for k, model in enumerate(models)]
    rows = stream(kind, n, 4, np.random.default_rng(seed))
    now = [0]

    def answer(X: Rows) -> Rows:
        return models[now[0]](X)

    model = ipdp.models.engine(answer, takes="array")
    monitor = ipdp.Monitor(ipdp.IncrementalPDP(model, seed=seed))
    for t, row in enumerate(rows.tolist()):
        now[0] = int(turn is not None and t >= turn)
        monitor.explain_one(dict(zip("abcd", row, strict=True)))
    return list(monitor.changes)


def main() -> None:
    """Print what was found and what was not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--quiet", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    given: Any = parser.parse_args()
    found, named, delays, others = 0, 0, [], 0
    for kind, form, seed in islice(cases(given.first), given.runs):
        changes = [c for c in watched(kind, form, seed, 6_000, 3_000) if c.kind == "real"]
        early = [c for c in changes if c.t <= 3_000]
        expected = FORMS.get(form, FORMS["product"])[2]
        right = [c for c in changes if c.feature in expected and c not in early]
        found += bool(right)
        named += any(c.is_interaction for c in right)
        others += len(changes) - len(right)
        delays += [min(c.t for c in right) - 3_000] if right else []
        said = ", ".join(
            f"{c.feature}{'' if c.is_interaction else ' (curve)'} {c.t - 3_000:+,.0f}"
            for c in changes
        )
        print(f"{kind:8}{form:22}{seed:8}  {said or 'nothing'}", flush=True)
    if given.runs:
        print(
            f"found {found} of {given.runs}, called an interaction {named}; "
            f"delay {median(delays):,.0f}; other reports {others}"
        )
    false = hidden = 0
    quiet = islice(cases(given.first + 1_000), given.quiet)
    for n, (kind, form, seed) in enumerate(quiet, start=1):
        changes = watched(kind, form, seed, 20_000, None)
        false += sum(c.kind == "real" for c in changes)
        # Told by the share that curves tell, or by regions, though nothing moved.
        hidden += sum(c.statistic in ("explained", "regions") for c in changes)
        said = f"{false} changes of the model, {hidden} of what curves tell"
        print(f"quiet: {said} in {n} x 20,000 ({kind}, {form})", flush=True)


if __name__ == "__main__":
    main()
