"""Alarms that mean something: detectors of change compared, on streams where the truth is known.

Every row is one way of raising alarms, every scenario a stream with one change, or none. All ways
watch the same explainer in the same run.

    python benchmarks/alarms.py --short                          2 runs, long streams cut
    python benchmarks/alarms.py --runs 30 --out runs.jsonl       the table of docs/notes; hours
    python benchmarks/alarms.py slope both --ways ours,paper     some scenarios, some ways
    python benchmarks/alarms.py --cost [--against OLD/src]       the monitor against explain_one

What was run is kept in the file of `--out`, and not run again.
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from own_cost import Version
from parts import MODELS
from river import drift
from scenarios import SCENARIOS, Scenario
from streams import elec2
from trees import seconds

import ipdp
from ipdp.monitor import Change, Monitor

WAYS = ("ours", "paper", "Page-Hinkley", "KSWIN")
# The seeds of the table: thresholds were found on 0 to 29.
FIRST_SEED = 1000
# The model's own curves are looked at so often, with so many observations, to score alarms.
LOOK_EVERY, SAMPLE = 200, 60
# From this share of the output's standard deviation on, a curve of the model has changed; the
# monitor's own tolerance is 0.1.
CHANGED = 0.05
# To score a place the model is looked at closer: with so many observations, and so often in the
# last so many before the drift, as the leaves of a tree change their minds from look to look.
PLACE_SAMPLE, PLACE_EVERY, PLACE_LAST = 500, 100, 1000


class Score(NamedTuple):
    """What one way made of one run.

    Attributes
    ----------
    early, early_false
        Alarms before the drift, and those at which the model's own curve had not changed.
    delay
        From the drift to the first alarm about the feature that changed; None: not found.
    kind
        Whether it was called by the right name; None where ways name none.
    place
        Whether the place on the axis is right; None where there is none.
    others, others_false
        Other features named after the drift, and those whose own curve had not changed.
    """

    early: int
    early_false: int
    delay: float | None
    kind: bool | None = None
    place: bool | None = None
    others: int = 0
    others_false: int = 0


class Places:
    """By what a feature's curve differs after a drift from what it was, of a model that learns.

    The curves are the model's own, at the explainer's points, over a fixed sample. What it was
    before is a mean over time, what it is now is what it is at an alarm.
    """

    def __init__(self, pdp: ipdp.IncrementalPDP, feature: str, drift: int) -> None:
        self.pdp = pdp
        self.feature = feature
        self.drift = drift
        self.sample: list[dict[str, Any]] = []
        self.points: Any = None
        self.before: list[Any] = []
        self.now: dict[int, Any] = {}

    def update(self, t: int, x: dict[str, Any], alarm: bool) -> None:
        """Note the observation; look at the model before the drift, and at alarms after it."""
        if len(self.sample) < PLACE_SAMPLE:
            self.sample.append(dict(x))
        if 0 <= self.drift - t <= PLACE_LAST and (self.drift - t) % PLACE_EVERY == 0:
            self.before.append(self._look())
        elif alarm and t > self.drift:
            self.now[t] = self._look()

    def _look(self) -> Any:
        if self.points is None:
            self.points = self.pdp.curve(self.feature).grid_values[0]
        grid = ipdp.grid.Fixed(self.points)
        engine, sample = self.pdp.engine, self.sample
        (curve,) = ipdp.partial_dependence(engine, sample, self.feature, grid=grid, ice=False)
        return curve.average[-1]

    def difference(self, t: int) -> Callable[[Any], Any]:
        """The difference at an alarm, as a function of the feature."""
        moved = self.now[t] - np.mean(self.before, axis=0)
        return partial(np.interp, xp=self.points, fp=moved)


class Ledger:
    """The model's own curves over a fixed sample along the stream, to score alarms by."""

    def __init__(
        self, pdp: ipdp.IncrementalPDP, features: list[str], scenario: Scenario, drift: int
    ) -> None:
        self.model = pdp.engine
        self.features = features
        self.sample: list[dict[str, Any]] = []
        self.times: list[int] = []
        self.curves: list[dict[str, Any]] = []
        self.places: Places | None = None
        if scenario.difference is not None:
            self.places = Places(pdp, next(iter(scenario.changes)), drift)

    def update(self, t: int, x: dict[str, Any], alarm: bool) -> None:
        """Note the observation; look at the model now and then, and at every alarm."""
        if len(self.sample) < SAMPLE:
            self.sample.append(dict(x))
        elif alarm or t % LOOK_EVERY == 0:
            curves = ipdp.partial_dependence(self.model, self.sample, self.features)
            self.times.append(t)
            self.curves.append({curve.feature: curve for curve in curves})
        if self.places is not None:
            self.places.update(t, x, alarm)

    def changed(self, change: Change) -> bool:
        """Whether the feature's curve changed from before the alarm's beginning to the alarm."""
        times = np.array(self.times)
        first = max(np.searchsorted(times, change.began, "right") - 2, 0)
        last = np.searchsorted(times, change.t) + 1
        seen = [curves[change.feature] for curves in self.curves[first:last]]
        if len(seen) < 2:
            return False
        shapes = np.array([_shape(curve) for curve in seen])
        spread = float(np.std(seen[0].ice[-1]))
        moves = np.sqrt(((shapes[1:] - shapes[0]) ** 2).mean(axis=1))
        return bool(moves.max() >= CHANGED * spread)


def _shape(curve: ipdp.Curve) -> Any:
    return curve.average[-1] - curve.average[-1].mean()


def make(way: str, pdp: ipdp.IncrementalPDP) -> Monitor:
    """One way to raise alarms."""
    if way == "ours":
        return Monitor(pdp)
    detectors = {"paper": None, "Page-Hinkley": drift.PageHinkley(), "KSWIN": drift.KSWIN(seed=1)}
    return Monitor(pdp, statistic="importance", detector=detectors[way])


def run(
    scenario: Scenario,
    seed: int,
    ways: tuple[str, ...] = WAYS,
    before: int | None = None,
    after: int | None = None,
) -> dict[str, Score]:
    """One run of some ways; shorter than the scenario if so wished."""
    before = scenario.before if before is None else before
    after = scenario.after if after is None else after
    model, examples, features = scenario.make(seed, before, after)
    pdp = ipdp.IncrementalPDP(model, features, seed=seed)
    monitors = {way: make(way, pdp) for way in ways}
    ledger = Ledger(pdp, features, scenario, before) if scenario.learns else None
    accuracy, alarms = drift.ADWIN(), []
    for t, (x, y) in enumerate(examples, start=1):
        pdp.explain_one(x)
        n_changes = sum(len(monitor.changes) for monitor in monitors.values())
        for monitor in monitors.values():
            monitor.update(x)
        if ledger is not None:
            accuracy.update(_loss(pdp.model, x, y))
            if accuracy.drift_detected:
                alarms.append(t)
            alarm = sum(len(monitor.changes) for monitor in monitors.values()) > n_changes
            ledger.update(t, x, alarm)
            pdp.model.learn_one(x, y)
    scores = {way: score(m.changes, scenario, before, ledger) for way, m in monitors.items()}
    if ledger is not None:
        late = [t for t in alarms if t > before]
        early = sum(scenario.settles < t <= before for t in alarms)
        scores["accuracy"] = Score(early, early, late[0] - before if late else None)
    return scores


def _loss(model: Any, x: dict[str, Any], y: Any) -> float:
    if hasattr(model, "predict_one"):
        return float(model.predict_one(x) != y)
    return float((model(np.array([list(x.values())]))[0] - y) ** 2)


def score(changes: list[Change], scenario: Scenario, before: int, ledger: Ledger | None) -> Score:
    """What a way's changes are worth."""

    def false(found: list[Change]) -> list[Change]:
        return found if ledger is None else [c for c in found if not ledger.changed(c)]

    early = [c for c in changes if scenario.settles < c.t <= before]
    late = [c for c in changes if c.t > before]
    feature = next(iter(scenario.changes), None)
    right = [c for c in late if c.feature == feature]
    others = [c for c in late if c.feature not in scenario.changes]
    place = None
    if right and scenario.difference is not None:
        # A model that learns has only begun to change when the first alarm comes.
        truth = scenario.difference
        if ledger is not None and ledger.places is not None:
            truth = ledger.places.difference(int(right[0].t))
        place = is_place(right[0], truth)
    return Score(
        len(early),
        len(false(early)),
        right[0].t - before if right else None,
        is_kind(right, scenario) if right else None,
        place,
        len({c.feature for c in others}),
        len({c.feature for c in false(others)}),
    )


def is_kind(right: list[Change], scenario: Scenario) -> bool:
    """Whether the first alarm has the right name.

    A model that learns changes later than its data: there, a virtual change that is followed by a
    real one is both.
    """
    truth = scenario.changes[right[0].feature]
    if truth != "both" or not scenario.learns:
        return right[0].kind == truth
    reported = {
        kind for c in right for kind in (("real", "virtual") if c.kind == "both" else (c.kind,))
    }
    return {"real", "virtual"} <= reported


def is_place(change: Change, difference: Any) -> bool:
    """Whether the reported place and a true one have more in common than not.

    The true places are the stretches of the axis on which the true difference, centred, is at least
    half as large as its largest one.
    """
    if not change.where:
        return False
    knots = change.before.grid_values[0]
    axis = np.linspace(knots[0], knots[-1], 1001)
    true = np.abs(difference(axis) - difference(knots).mean())
    places = _stretches(axis, true >= true.max() / 2)
    return any(_common(change.where, place) >= 0.5 for place in places)


def _stretches(axis: Any, inside: Any) -> Iterator[tuple[float, float]]:
    """Where on an axis something holds, from end to end."""
    ends = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    yield from zip(axis[ends[::2]], axis[ends[1::2] - 1], strict=True)


def _common(reported: tuple[float, ...], true: tuple[float, float]) -> float:
    """What two stretches have in common, as a share of both together."""
    both = max(reported[1], true[1]) - min(reported[0], true[0])
    return (min(reported[1], true[1]) - max(reported[0], true[0])) / both


# Tables.

COLUMNS = (
    "scenario",
    "way",
    "runs",
    "alarms before (false)",
    "found",
    "median delay",
    "right kind",
    "right place",
    "others named (falsely)",
)


class Runs:
    """The scores of all runs by scenario, seed and way, in a file if one is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.scores: dict[tuple[str, int, str], Score] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                *key, score = json.loads(line)
                self.scores[tuple(key)] = Score(*score)

    def add(self, name: str, seed: int, ways: tuple[str, ...], short: bool) -> None:
        """Run what has not been run yet."""
        ways = tuple(way for way in ways if (name, seed, way) not in self.scores)
        if not ways:
            return
        scenario = SCENARIOS[name]
        before = min(scenario.before, 10_000) if short else None
        for way, result in run(scenario, seed, ways, before).items():
            self.scores[name, seed, way] = result
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([name, seed, way, result]) + "\n")

    def rows(self, name: str) -> Iterator[list[Any]]:
        """One row of the table for each way."""
        has_drift = bool(SCENARIOS[name].changes)
        for way in (*WAYS, "accuracy"):
            scores = [s for (own, _, by), s in self.scores.items() if (own, by) == (name, way)]
            if not scores:
                continue
            found = [s.delay for s in scores if s.delay is not None]
            early = str(sum(s.early for s in scores))
            if way != "accuracy":  # which is about no feature's curve
                early += f" ({sum(s.early_false for s in scores)})"
            cells = [name, way, len(scores), early, len(found), "", "", "", ""]
            if found:
                cells[5] = f"{median(found):,.0f}"
            for k, part in ((6, "kind"), (7, "place")):
                known = [getattr(s, part) for s in scores if getattr(s, part) is not None]
                cells[k] = str(sum(known)) if known else ""
            others = [s.others > 0 for s in scores], [s.others_false > 0 for s in scores]
            cells[8] = f"{sum(others[0])} ({sum(others[1])})" if way != "accuracy" else ""
            yield cells if has_drift else [*cells[:4], "", "", "", "", ""]


COST_TURN = 320


def cost(sources: list[str], n: int = 4_000) -> None:
    """Time of the monitor against that of `explain_one`; several versions take turns."""
    models = {name: MODELS[name][0] for name in ("ARF(10)", "HAT", "SS | LR")} | {"function": None}
    versions = [Version(source) for source in sources]
    print("microseconds of explain_one, of the monitor; ratio; median of the monitor")
    for name, make in models.items():
        followed, times = [], [([], []) for _ in sources]  # type: ignore[var-annotated]
        for version in versions:
            with version.active():
                own = version.ipdp
                model = (
                    make()
                    if make
                    else own.models.engine(lambda X: X[:, 3] * X[:, 4], takes="array")
                )
                pdp = own.IncrementalPDP(model, seed=1)
                followed.append((model, pdp, own.Monitor(pdp)))
        examples = elec2(n)
        gc.freeze()  # what others have made is not looked through each time
        for first in range(0, n, COST_TURN):
            for k in range(len(sources))[:: 1 if first % (2 * COST_TURN) else -1]:
                model, pdp, monitor = followed[k]
                with versions[k].active():
                    for x, y in examples[first : first + COST_TURN]:
                        times[k][0].append(seconds(pdp.explain_one, x))
                        times[k][1].append(seconds(monitor.update, x))
                        getattr(model, "learn_one", lambda *_: None)(x, y)
        for k, (explain, watch) in enumerate(times):
            a, b, each = (1e6 * t for t in (np.mean(explain), np.mean(watch), median(watch)))
            print(f"{name:12}{a:8.1f}{b:8.1f}{b / a:8.3f}{each:8.1f}  {sources[k]}", flush=True)


def main() -> None:
    """Print the table, or what the monitor costs."""
    parser = argparse.ArgumentParser(description="Compare ways of raising alarms.")
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--runs", type=int, default=2, help="0: only those that were kept")
    parser.add_argument("--short", action="store_true", help="cut long streams")
    parser.add_argument("--cost", action="store_true", help="measure the monitor instead")
    parser.add_argument("--against", metavar="SRC", help="another version, compiled in place")
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="first seed")
    parser.add_argument("--ways", default=",".join(WAYS), help="with commas between them")
    parser.add_argument("--out", type=Path, help="file to keep the runs in")
    options = parser.parse_args()
    if options.cost:
        own = str(Path(ipdp.__file__).parent.parent)
        cost([options.against, own] if options.against else [own])
        return
    runs = Runs(options.out)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for name in options.names or SCENARIOS:
        for seed in range(options.first, options.first + options.runs):
            runs.add(name, seed, tuple(options.ways.split(",")), options.short)
        for row in runs.rows(name):
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
