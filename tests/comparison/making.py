"""Curves, explainers and logs to compare."""

from __future__ import annotations

import numpy as np

import ipdp


def make_curve(values, *, points=None, error=0.1, n=500.0, **changes):
    """A curve of a number whose shape and level have errors of about the same size."""
    values = np.atleast_2d(np.asarray(values, dtype=float))
    m = values.shape[1]
    given = {
        "feature": "age",
        "outputs": ("prediction",),
        "grid_values": [np.arange(float(m)) if points is None else np.asarray(points)],
        "average": values,
        "std_error": np.full(values.shape, error * np.sqrt(2)),
        "centred_std_error": np.full(values.shape, error),
        "n_samples": round(n),
        "n_effective_points": np.full(m, n),
        "inflation": np.ones(len(values)),
        "degrees": np.full(len(values), 200.0),
        **changes,
    }
    return ipdp.Curve(**given)


def rows(n, seed, *, memory=0.0, shift=0.0):
    """Observations of three numbers; the mean of the last one may be shifted."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    for t in range(1, n):
        z[t] = memory * z[t - 1] + np.sqrt(1 - memory**2) * z[t]
    z[:, 2] += shift
    return [dict(zip("abc", row.tolist(), strict=True)) for row in z]


def explained(model, data, **settings):
    """An explainer that has seen some observations."""
    pdp = ipdp.IncrementalPDP(model, n_ice=0, **settings)
    pdp.explain_many(data)
    return pdp


def logged(path, data, model=lambda x: x["a"] + x["b"] * x["c"], every=50, **settings):
    """The directory of a run over some observations with a model that stays as it is."""
    pdp = ipdp.IncrementalPDP(model, n_ice=0, **settings)
    ipdp.run(data, model, pdp, learn=False, log=path, snapshot_every=every)
    return path
