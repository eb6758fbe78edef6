"""Logs to look at: small, of every kind of feature, and always the same."""

from __future__ import annotations

import sqlite3
import time

import numpy as np

from ipdp import Change, Curve
from ipdp.core.importance import Importance
from ipdp.log import Log, files
from ipdp.web.payload import unpack

FEATURES = ["salary", "age", "colour", ("age", "salary")]
OUTPUTS = ("no", "yes")
_WRITERS = []  # what holds the locks of the logs whose runs are running
EVIL = ["<img src=x onerror=alert(1)>", "a\"b'c", "x" * 200, "Зарплата", "", "</script>%{x}&lt;"]


def curves_at(n, features=FEATURES):
    """The curves after n observations; the effect of salary turns at 1,000."""
    rng = np.random.default_rng(n)
    return {feature: curve_at(feature, n, rng) for feature in features}


def curve_at(feature, n, rng):
    if isinstance(feature, tuple):
        grids, categorical = [np.linspace(20, 60, 5), np.linspace(0, 9e4, 4)], (False, False)
    elif feature == "colour":
        names = ["red", "green"] if n < 600 else ["green", "red", "blue"]
        grids, categorical = [np.array(names, dtype=object)], (True,)
    else:
        # Salaries rise, so the grid of salary is another one each time.
        width = 80_000 + (10 * n if feature == "salary" else 0)
        grids, categorical = [np.linspace(0, width, 8)], (False,)
    shape = tuple(len(grid) for grid in grids)
    slope = np.linspace(0.2, 0.8, int(np.prod(shape)))
    yes = (slope if n <= 1000 else slope[::-1]) + rng.normal(0, 0.01, len(slope))
    yes = yes.reshape(shape)
    missing = np.array([0.6, 0.4]) if feature == "age" else None
    return Curve(
        feature=feature,
        outputs=OUTPUTS,
        grid_values=grids,
        average=np.array([1 - yes, yes]),
        std_error=np.full((2, *shape), 0.02),
        n_samples=n,
        n_effective_points=np.full(shape, float(n)),
        categorical=categorical,
        t=n,
        rug=[rng.choice(grid, 20) for grid in grids],
        missing=missing,
        missing_std_error=None if missing is None else np.array([0.01, 0.01]),
    )


def change_at(n, feature="salary", kind="real"):
    rng = np.random.default_rng(n)
    before, after = (curve_at(feature, t, rng).select("yes") for t in (900, 1100))
    return Change(
        feature=feature,
        output="yes",
        t=n,
        began=n - 100,
        before=before,
        after=after,
        size=0.5,
        where=("red",) if feature == "colour" else (10_000.0, 30_000.0),
        kind=kind,
        range_before=(0.0, 1.0),
        range_after=(0.5, 2.0),
        n_since=100,
    )


def write_run(path, n=2000, *, every=100, features=FEATURES, changes=(1100, 1500), state="ended"):
    """A run of n observations; of several changes the first is of salary, then of colour."""
    with Log(path) as log:
        log.begin({"model": "a tree", "alpha": 0.01, "grid": {"size": 8}}, features)
        for t in range(every, n + 1, every):
            log.snapshot(curves_at(t, features), t)
            log.metric({"accuracy": 1 - 1 / t}, t)
        for k, t in enumerate(changes):
            log.change(change_at(t, ("salary", "colour")[k % 2], ("real", "virtual")[k % 2]), t)
        if state in ("ended", "stopped", "failed"):
            log.end(n, state, "KeyError: 'salary'" if state == "failed" else None)
    if state in ("running", "died"):
        set_state(path, heartbeat=time.time() - (400 if state == "died" else 0))
    if state == "running":
        _WRITERS.append(files.lock(files.find(path)))
    return path


def importances_at(n, features):
    """Importances after n observations: each less than the one before, the last negative."""
    return {
        feature: Importance(feature, 0.3 - 0.2 * k + n / 1e5, 0.02, n, float(n), n)
        for k, feature in enumerate(features)
    }


def write_explained(path, n=1000, *, every=100, explainers=("pdp", "gain", "ale")):
    """A run of several explainers: two that give curves, and one that gives importances.

    That of importances has a title, puts the features in another order, and knows one more.
    """
    with Log(path) as log:
        log.begin({"explainers": {"gain": {"title": "gain by shuffling"}}})
        for t in range(every, n + 1, every):
            results = {
                "pdp": curves_at(t),
                "gain": importances_at(t, ["age", "salary", "size"]),
                "ale": curves_at(t + 5000, ["age", "salary"]),
            }
            log.snapshot({name: results[name] for name in explainers}, t)
        log.end(n)
    return path


def set_state(path, heartbeat, state="running"):
    """What a run leaves behind that is killed, or that has not ended yet."""
    connection = sqlite3.connect(path / "log.db")
    connection.execute("UPDATE run SET state = ?, heartbeat = ?", (state, heartbeat))
    connection.commit()
    connection.close()


def read_frames(payload):
    """The frames of a payload as the page reads them: (n, outputs, grids, average, half) each."""
    average, half = unpack(payload["average"]), unpack(payload["half"])
    read, start = [], 0
    for k in range(len(payload["output"])):
        grids = [_grid(dimension, k) for dimension in payload["dims"]]
        outputs = payload["outputs"][payload["output"][k]]
        shape = (len(outputs), *(len(grid) for grid in grids))
        end = start + int(np.prod(shape))
        values = average[start:end].reshape(shape), half[start:end].reshape(shape)
        read.append((payload["n"][k] if "n" in payload else k, outputs, grids, *values))
        start = end
    assert start == len(average) == len(half)
    return read


def _grid(dimension, frame):
    index = dimension["index"][frame]
    if dimension["categorical"]:
        return dimension["grids"][index]
    ends = np.cumsum([0, *dimension["sizes"]])
    return unpack(dimension["grids"])[ends[index] : ends[index + 1]]
