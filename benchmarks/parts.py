"""Explaining against learning, for river's models of all kinds: means and 99th percentiles.

The default grid, and streams that were not used while the parts were written. Each observation is
explained once and then learned, in thread CPU time; the first ones are not timed. Every figure is a
ratio taken in one run: the mean of `explain_one` over that of `learn_one`, and the 99th percentile
of `explain_one` over its median.

    python benchmarks/parts.py [--quick] [name of a model ...]

With the sources of another version, compiled in place, both take turns on the same stream, each
with a model of its own, and the build that is installed is compared:

    python benchmarks/parts.py --against OLD/src [name of a model ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from own_cost import Version
from river import (
    compose,
    drift,
    ensemble,
    feature_extraction,
    forest,
    linear_model,
    multiclass,
    naive_bayes,
    preprocessing,
    stats,
    tree,
)
from river.datasets import synth
from streams import elec2
from table import Row, show
from trees import builds, seconds, use

import ipdp

ARF = partial(forest.ARFClassifier, n_models=10, seed=1)
SS, LR = preprocessing.StandardScaler, linear_model.LogisticRegression
HT, NB = tree.HoeffdingTreeClassifier, naive_bayes.GaussianNB
WARM_UP, TIMED = 1_200, 800
TURN = 20


def two_classes(n: int) -> list[Any]:
    """Nine numbers, which drift."""
    stream = synth.ConceptDriftStream(seed=7, position=1_500, width=200)
    return list(islice(iter(stream), n))


def four_classes(n: int) -> list[Any]:
    """Ten numbers, moving centres."""
    stream = synth.RandomRBFDrift(
        seed_model=1, seed_sample=2, n_classes=4, n_features=10, n_centroids=30,
        change_speed=0.001, n_drift_centroids=10,
    )  # fmt: skip
    return list(islice(iter(stream), n))


def loans(n: int) -> list[Any]:
    """Agrawal with three features as text."""
    stream = synth.Agrawal(classification_function=4, seed=8, perturbation=0.1)
    texts = ("elevel", "car", "zipcode")
    return [
        ({**x, **{name: f"{name} {x[name]}" for name in texts}}, y) for x, y in islice(stream, n)
    ]


def numbers(n: int) -> list[Any]:
    """A number to predict."""
    return list(islice(iter(synth.FriedmanDrift("gra", position=(1_000, 1_800), seed=9)), n))


def encoded() -> Any:
    """Numbers are scaled, text is one-hot."""
    return (compose.SelectType(int, float) | SS()) + (
        compose.SelectType(str) | preprocessing.OneHotEncoder()
    )


Case = tuple[Callable[[], Any], Callable[[int], list[Any]], float | None]
"""A model, its stream, and how many learning steps are promised at most, compiled."""

MODELS: dict[str, Case] = {
    "HT": (HT, two_classes, 0.5),
    "HAT": (lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=1), two_classes, 0.5),
    "EFDT": (tree.ExtremelyFastDecisionTreeClassifier, two_classes, 0.5),
    "ARF(10)": (ARF, two_classes, 0.2),
    "ARF(10), elec2": (ARF, elec2, 0.2),
    "SRP(10 HT)": (
        lambda: ensemble.SRPClassifier(HT(), n_models=10, seed=1), two_classes, 0.2,
    ),
    "LeveragingBagging(10 HT)": (
        lambda: ensemble.LeveragingBaggingClassifier(HT(), n_models=10, seed=1), two_classes, 0.2,
    ),
    "Bagging(10 HT)": (
        lambda: ensemble.BaggingClassifier(HT(), n_models=10, seed=1), two_classes, 0.2,
    ),
    "LR": (LR, two_classes, None),
    "SS | LR": (lambda: SS() | LR(), two_classes, 1.0),
    "SS | Softmax, 4 classes": (
        lambda: SS() | linear_model.SoftmaxRegression(), four_classes, None,
    ),
    "SS | OneVsRest(LR), 4 classes": (
        lambda: SS() | multiclass.OneVsRestClassifier(LR()), four_classes, None,
    ),
    "SS | PAClassifier": (lambda: SS() | linear_model.PAClassifier(), two_classes, None),
    "SS | LinearRegression": (
        lambda: SS() | linear_model.LinearRegression(), numbers, None,
    ),
    "Bagging(10 SS | LR)": (
        lambda: ensemble.BaggingClassifier(SS() | LR(), n_models=10, seed=1), two_classes, None,
    ),
    "AdaBoost(10 HT)": (
        lambda: ensemble.AdaBoostClassifier(HT(), n_models=10, seed=1), two_classes, 1.0,
    ),
    "BOLE(10 HT)": (
        lambda: ensemble.BOLEClassifier(HT(), n_models=10, seed=1), two_classes, 1.0,
    ),
    "ADWINBoosting(10 HT)": (
        lambda: ensemble.ADWINBoostingClassifier(HT(), n_models=10, seed=1), two_classes, 1.0,
    ),
    "DriftRetraining(HT)": (
        lambda: drift.DriftRetrainingClassifier(HT(), drift.binary.DDM()), two_classes, None,
    ),
    "Discard | SS | LR": (lambda: compose.Discard("salary") | SS() | LR(), two_classes, 2.0),
    "Discard | HT": (lambda: compose.Discard("salary") | HT(), two_classes, 2.0),
    "numbers + one-hot | LR": (lambda: encoded() | LR(), loans, 2.0),
    "numbers + one-hot | HT": (lambda: encoded() | HT(), loans, 2.0),
    "ordinal | HT": (lambda: preprocessing.OrdinalEncoder() | HT(), loans, 2.0),
    "numbers + mean by car | HT": (
        lambda: compose.Select("salary", "age", "loan")
        + feature_extraction.TargetAgg(by="car", how=stats.Mean())
        | HT(),
        loans,
        None,
    ),
    "hasher | LR": (
        lambda: preprocessing.FeatureHasher(n_features=32, seed=1) | LR(), loans, None,
    ),
    "GaussianNB": (NB, two_classes, 5.0),
    "GaussianNB, 4 classes": (NB, four_classes, 5.0),
    "Stacking(SS | LR, HT, NB)": (
        lambda: ensemble.StackingClassifier([SS() | LR(), HT(), NB()], LR()), two_classes, None,
    ),
}  # fmt: skip

LEARN = "explain_one / learn_one, means, default grid"
PAIR = "explain_one with a pair of features - without / learn_one, means, default grid"
TAIL = "explain_one, 99th percentile / median, default grid"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="models of these names, or with these in them; pair"
    )
    parser.add_argument("--quick", action="store_true", help="a third of the observations")
    parser.add_argument("--against", metavar="SRC", help="sources of another version to compare")
    given = parser.parse_args()
    if given.against:
        against(given.against, given.names)
        return
    show(rows(quick=given.quick, names=given.names))


def rows(*, quick: bool = False, names: Sequence[str] = ()) -> Iterator[Row]:
    """The figures of all models and of a pair, or of those that `names` ask for."""
    found = {}
    for name, (make, stream, bound) in MODELS.items():
        if not is_asked(name, names):
            continue
        for build in builds():
            use(build)
            explain, learn = along(make(), stream(WARM_UP + TIMED // (3 if quick else 1)))
            found[f"{name}, {build.build}"] = (
                explain.mean() / learn.mean(),
                bound if build.build == "compiled" else None,
                np.percentile(explain, 99) / np.median(explain),
            )
    for what, (ratio, bound, _) in found.items():
        yield Row(LEARN, what, float(ratio), at_most=bound)
    for what, (_, _, tail) in found.items():
        yield Row(TAIL, what, float(tail), at_most=5 if what.endswith("compiled") else None)
    if is_asked("pair", names):
        for build in builds():
            use(build)
            bound = 0.4 if build.build == "compiled" else None
            price = of_a_pair(ARF(), elec2(WARM_UP + TIMED // (3 if quick else 1)))
            yield Row(PAIR, f"ARF(10), elec2, {build.build}", price, at_most=bound)


def is_asked(name: str, names: Sequence[str]) -> bool:
    """Whether `names` have a model's name, or a part of it that is not the name of another."""
    return not names or name in names or any(k in name for k in names if k not in MODELS)


def along(model: Any, examples: Sequence[Any]) -> tuple[Any, Any]:
    """Seconds of each `explain_one` and of each `learn_one`, after the warm-up."""
    pdp = ipdp.IncrementalPDP(model, seed=1)
    explain, learn = [], []
    for x, y in examples:
        explain.append(seconds(pdp.explain_one, x))
        learn.append(seconds(model.learn_one, x, y))
    return np.array(explain[WARM_UP:]), np.array(learn[WARM_UP:])


def against(other: str, names: Sequence[str]) -> None:
    """Print what another version and this one take, in turns of some observations."""
    versions = [Version(other), Version(str(Path(ipdp.__file__).parent.parent))]
    print("explain / learn: the other, this one; this / other: mean, median; p99 / median: both")
    for name in [name for name in MODELS if is_asked(name, names)]:
        make, stream, _ = MODELS[name]
        made, explain, learn = [], ([], []), ([], [])  # type: ignore[var-annotated]
        for version in versions:
            with version.active():
                model = make()
                made.append((model, version.ipdp.IncrementalPDP(model, seed=1)))
        examples = stream(WARM_UP + TIMED)
        for start in range(0, len(examples), TURN):
            for k in (0, 1) if start // TURN % 2 else (1, 0):
                model, pdp = made[k]
                with versions[k].active():
                    for x, y in examples[start : start + TURN]:
                        explain[k].append(seconds(pdp.explain_one, x))
                        learn[k].append(seconds(model.learn_one, x, y))
        then, now = (np.array(own[WARM_UP:]) for own in explain)
        step = np.mean([own[WARM_UP:] for own in learn])
        medians = np.median(then), np.median(now)
        tails = np.percentile(then, 99) / medians[0], np.percentile(now, 99) / medians[1]
        figures = (then.mean() / step, now.mean() / step, now.mean() / then.mean())
        numbers = [*figures, medians[1] / medians[0], *tails]
        print(f"{name:32}" + "".join(f"{number:8.2f}" for number in numbers), flush=True)


def of_a_pair(model: Any, examples: Sequence[Any]) -> float:
    """What a pair adds to the eight features, in learning steps.

    The two explainers take turns in being the first, who finds cold memory.
    """
    names = list(examples[0][0])
    kinds = (names, [*names, ("nswprice", "nswdemand")])
    pdps = [ipdp.IncrementalPDP(model, features, seed=1) for features in kinds]
    times: list[list[float]] = [[], [], []]
    for t, (x, y) in enumerate(examples):
        for k in (0, 1) if t % 2 else (1, 0):
            times[k].append(seconds(pdps[k].explain_one, x))
        times[2].append(seconds(model.learn_one, x, y))
    alone, both, learn = (np.mean(own[WARM_UP:]) for own in times)
    return float((both - alone) / learn)


if __name__ == "__main__":
    main()
