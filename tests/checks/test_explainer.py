"""The laws of explainers: ours keep them, and what breaks one is found."""

import numpy as np
import pytest
from river import metrics
from tests.builds import nothing_compiled

import ipdp
from ipdp.checks import check_explainer
from ipdp.core import kernels


def model(x):
    return x["a"] * x["b"] + {"red": 1.0, "blue": -1.0}.get(x["colour"], 0.0)


def classes(x):
    p = 1 / (1 + np.exp(-x["a"]))
    return {"no": 1 - p, "yes": p} if x["b"] > 1 else {"no": 1.0}


RNG = np.random.default_rng(0)
STREAM = [
    {"a": a, "b": int(b), "colour": colour}
    for a, b, colour in zip(
        RNG.normal(size=90).tolist(),
        RNG.integers(0, 40, 90),
        RNG.choice(["red", "blue", "green"], 90).tolist(),
        strict=True,
    )
]
GAPS = [{**x, "b": x["b"] if k % 4 else None, "colour": x["colour"]} for k, x in enumerate(STREAM)]


def with_gaps(x):
    return x["a"] + (0.0 if x["b"] is None or x["b"] != x["b"] else x["b"])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"alpha": None},
        {"alpha": 0.1, "estimator": "regrid"},
        {"every": 3},
        {"features": ["a", ("a", "b"), "colour"]},
        {"features": ["a", "b"], "grid": ipdp.grid.QuantileRange(5, window=40, storage_size=20)},
        {"features": ["a", "b"], "grid": ipdp.grid.Quantiles(5, window=40), "estimator": "regrid"},
    ],
    ids=str,
)
@pytest.mark.parametrize("function", [model, classes])
def test_curves_keep_the_laws(settings, function):
    check_explainer(lambda: ipdp.IncrementalPDP(function, **{"seed": 1, **settings}), STREAM)


def test_curves_of_features_with_gaps_keep_the_laws():
    grid = {"b": ipdp.grid.MinMax(5, missing=True)}
    check_explainer(lambda: ipdp.IncrementalPDP(with_gaps, ["a", "b"], grid=grid), GAPS)


@pytest.mark.parametrize("settings", [{}, {"n_inner": 3, "alpha": 0.2}, {"every": 2}], ids=str)
def test_importances_keep_the_laws(settings):
    examples = [(x, model(x) + 1) for x in STREAM]
    check_explainer(
        lambda: ipdp.IncrementalPFI(model, loss=metrics.MAE(), seed=1, **settings), examples
    )


class Counting(ipdp.IncrementalPDP):
    """An explainer that breaks a law."""

    n_made = 0

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        Counting.n_made += 1
        self.number = Counting.n_made


class Different(Counting):
    def results(self):
        results = super().results()
        return {k: v for k, v in results.items() if self.number % 2 == 0}


class Meddling(ipdp.IncrementalPDP):
    def explain_one(self, x, *y, **settings):
        super().explain_one(x, *y, **settings)
        x["a"] = 0.0


class Careless(ipdp.IncrementalPDP):
    """Counts an observation before the model was asked."""

    def explain_one(self, x, *y, **settings):
        if self._memory is not None:
            self._memory.seen += 1
        super().explain_one(x, *y, **settings)


class Unsaved(ipdp.IncrementalPDP):
    @property
    def state(self):
        return {**super().state, "fold": None}

    @state.setter
    def state(self, state):
        self._memory = None


class Hungry(ipdp.IncrementalPDP):
    @property
    def state(self):
        return {**super().state, "seen": [0.125] * 50 * self.n_seen}

    @state.setter
    def state(self, state):
        ipdp.IncrementalPDP.state.fset(self, state)


class OneBuild(ipdp.IncrementalPDP):
    def explain_one(self, x, *y, **settings):
        if kernels.current is kernels.array and self.n_seen == 30:
            raise OverflowError("too large")
        super().explain_one(x, *y, **settings)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Different, "made and run twice"),
        (Meddling, "was changed"),
        (Careless, "as it was"),
        (Unsaved, "after a restart"),
        (Hungry, "grows with the stream"),
        (OneBuild, "one build says '', the other 'OverflowError: too large'"),
    ],
)
def test_what_breaks_a_law_is_found(kind, sentence):
    if kind is OneBuild and kernels.current is kernels.array:
        nothing_compiled()  # there is no other build to differ from
    stream = [dict(x) for x in STREAM]
    with pytest.raises(AssertionError, match=sentence):
        check_explainer(lambda: kind(model, ["a", "b"], seed=1), stream)


def test_a_number_too_large_is_refused_by_both_builds():
    calls = iter(range(10**9))

    def huge(x):
        return 1e308 if next(calls) == 0 else x["a"]

    for build in (kernels.installed(), kernels.array):
        before, kernels.current = kernels.current, build
        calls = iter(range(10**9))
        try:
            pdp = ipdp.IncrementalPDP(huge, ["a"], grid=ipdp.grid.Fixed([0.0, 1.0]))
            with pytest.raises(ValueError, match="NaN or infinity"):
                pdp.explain_one({"a": 1.0})
            pdp.explain_one({"a": 1.0})
            assert pdp.curve("a").average.tolist() == [[0.0, 1.0]]
        finally:
            kernels.current = before


def test_a_stream_must_be_long_enough():
    with pytest.raises(ValueError, match="some observations"):
        check_explainer(lambda: ipdp.IncrementalPDP(model), STREAM[:3])
