"""Whatever is given where something else belongs is quoted in a sentence, and not as a whole."""

import inspect

import pytest

import ipdp
from ipdp.log import Retention
from ipdp.sources import open_source


def model(x):
    return x["a"]


def loss(y, said):
    return abs(y - said)


def rows(n=40):
    return [{"a": k % 7 / 7, "b": k % 5 / 5} for k in range(n)]


class Long:
    def __repr__(self):
        return "z" * 20_000


LONG = ["y" * 20_000, ("y" * 20_000,), [["y" * 20_000]], {"y" * 20_000: 1}, 10**4_200, 10**6_000]
LONG += [["yyyyyyyy"] * 3_000, b"y" * 20_000, Long()]

EXPLAINERS = ipdp.IncrementalPDP, ipdp.IncrementalALE, ipdp.IncrementalRegions, ipdp.IncrementalPFI
PARTS = [
    *(ipdp.grid.MinMax, ipdp.grid.QuantileRange, ipdp.grid.Quantiles, ipdp.grid.Categories),
    *(ipdp.grid.Auto, ipdp.Reservoir, ipdp.WindowedExtremes, Retention),
]


def told(do):
    """What an error says, if there is one; it is raised if it is no error of ours."""
    try:
        do()
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


def explain(kind, **given):
    options = {"features": ["a"], **({"loss": loss} if kind is ipdp.IncrementalPFI else {})}
    explainer = kind(model, **{**options, **given})
    for x in rows():
        explainer.explain_one(x, *([0.1] if explainer.needs_label else []))


CASES = [
    (kind, name)
    for kind in (*EXPLAINERS, *PARTS)
    for name in inspect.signature(kind).parameters
    # Taken as they are: many questions, and many numbers.
    if name not in ("model", "n_inner", "seed", "n_past", "missing", "integers")
]


@pytest.mark.filterwarnings("ignore::ipdp.ColumnWarning")
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_arguments(kind, name):
    for value in LONG:
        if kind in EXPLAINERS:
            text = told(lambda value=value: explain(kind, **{name: value}))
        else:
            text = told(lambda value=value: kind(**{name: value}))
        assert len(text) < 1_000


def test_methods_and_functions(tmp_path):
    pdp = ipdp.IncrementalPDP(model, ["a"], seed=1)
    for x in rows():
        pdp.explain_one(x)
    with ipdp.Log(tmp_path) as log:
        log.begin({}, pdp.features)
        log.snapshot(pdp.results(), pdp.n_seen)
    curve = pdp.curve("a")
    with ipdp.LogReader(tmp_path) as reader:
        functions = [
            *(pdp.curve, pdp.merge, pdp.explain_one, pdp.interactions, curve.select),
            *(ipdp.Curve.from_dict, ipdp.Importance.from_dict, ipdp.Change.from_dict),
            *(reader.history, reader.snapshots, lambda value: reader.at(1, value)),
            lambda value: setattr(pdp, "state", value),
            lambda value: open_source("rows.csv", format=value),
            lambda value: ipdp.Monitor(pdp, report=value),
            lambda value: ipdp.Monitor(pdp, statistic=value),
            lambda value: ipdp.Monitor(pdp, period=value),
            lambda value: curve.plot(backend=value),
            lambda value: ipdp.compare(pdp, pdp, margin=value),
        ]
        for function in functions:
            for value in LONG:
                text = told(lambda function=function, value=value: function(value))
                assert len(text) < 1_000
