"""The stream of the demo, the rules behind it, its run and what is recorded of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import ipdp
from ipdp.core.curve import Curve
from ipdp.monitor import Change
from ipdp.runs import Changed, Run, Scored, Snapshotted, stop_on_signals

if TYPE_CHECKING:
    from river.datasets import base

FEATURES = ("salary", "age", "elevel")

Person = dict[Any, Any]
_SNAPSHOTS = 150


@dataclass
class Record:
    """A listener that keeps the curves, accuracy and changes of n observations for the picture."""

    n: int
    pdp: ipdp.IncrementalPDP | None = None  # its curves have ICE curves, those of events have not
    seconds: float = 0.0
    t: list[int] = field(default_factory=list)  # when the following were taken
    curves: list[dict[Any, Curve]] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def __call__(self, event: Any) -> None:
        """Keep what an event says."""
        match event:
            case Changed():
                self.changes.append(event.change)
            case Snapshotted() if event.reason == "every":
                self.t.append(event.n)
                own = event.curves if self.pdp is None else self.pdp.snapshot(now=True)
                self.curves.append(dict(own))
            case Scored() if self.t and self.t[-1] == event.n:
                self.accuracy[len(self.t) - 1 :] = event.values.values()

    @property
    def step(self) -> int:
        """How many observations there are from one snapshot to the next."""
        return max(self.n // _SNAPSHOTS, 1)

    @property
    def drifts(self) -> tuple[int, int]:
        """When the real and the virtual drift happen."""
        return -(-self.n // 3), -(-2 * self.n // 3)

    @property
    def moments(self) -> tuple[int, int, int, int]:
        """When to look: before, during and after the real drift, and after the virtual one."""
        real, virtual = self.drifts
        return real, real + 4 * self.step, virtual, self.n

    def salary(self, t: float) -> Curve:
        """The last curve of salary that was taken up to this time, of the class "granted"."""
        return self.curves[np.searchsorted(self.t, t, side="right") - 1]["salary"].select(1)


class Accuracy:
    """A metric: the recent share of right predictions, weighted like the curves."""

    def __init__(self, alpha: float | None) -> None:
        self._hits = ipdp.Smoothing(alpha=alpha)

    def update(self, y: Any, y_pred: Any) -> None:
        """Count a prediction."""
        self._hits.update(float(y == y_pred))

    def get(self) -> float:
        """The share."""
        return float(self._hits.value)


def by_education(x: Person) -> int:
    """The first rule: age and education decide (river's classification function 2)."""
    if x["age"] < 40:
        return int(x["elevel"] in (0, 1))
    return int(x["elevel"] in ((1, 2, 3) if x["age"] < 60 else (2, 3, 4)))


def by_salary(x: Person) -> int:
    """The second rule: age and salary decide (river's classification function 1)."""
    low = 50_000 if x["age"] < 40 else 75_000 if x["age"] < 60 else 25_000
    return int(low <= x["salary"] <= low + 50_000)


def stream(record: Record) -> base.Dataset:
    """Loan decisions with a real drift after a third of them and a virtual one after two."""
    from ipdp.datasets import AgrawalDrift

    real, virtual = record.drifts
    return AgrawalDrift(real, stretch_position=virtual, n_samples=record.n, seed=42)


def run(n: int, *, log: Any = None, listeners: Sequence[Callable[[Any], object]] = ()) -> Record:
    """Predict, explain, learn, n times; the listeners are called with each event."""
    from river import tree

    # Splits early, so that it is right again soon after the rule has changed.
    model: Any = tree.HoeffdingAdaptiveTreeClassifier(grace_period=25, delta=0.01, seed=42)
    window = max(n // 15, 20)
    pdp = ipdp.IncrementalPDP(
        model,
        FEATURES,
        alpha=min(30 / n, 0.05),
        grid={"salary": ipdp.grid.MinMax(20, window), "age": ipdp.grid.MinMax(8, window)},
        estimator="regrid",
        every=2,  # enough for the picture, in half of the time
        seed=42,
    )
    record = Record(n, pdp)
    settings = {"data": "agrawal", "model": "river.tree.HoeffdingAdaptiveTreeClassifier"}
    loop = Run(
        stream(record),
        model,
        pdp,
        metric={"accuracy": Accuracy(pdp.alpha)},
        monitor=ipdp.Monitor(pdp, warm_up=max(n // 30, 1), cool_down=max(n // 30, 1)),
        log=log,
        snapshot_every=record.step,
        settings={"demo": True, **settings},
    )
    called: list[Callable[[Any], object]] = [record, *listeners]
    started = perf_counter()
    with stop_on_signals(loop):
        for event in loop:
            for listener in called:
                listener(event)
    if loop.state == "stopped":
        raise KeyboardInterrupt
    record.seconds = perf_counter() - started
    return record
