"""What is of a wrong type is refused by a sentence of ours, not by an error of Python's."""

import ast
import functools
import inspect
import traceback
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import ipdp
from ipdp.datasets import AgrawalDrift, Hyperplane
from ipdp.monitor.notify import Webhook
from ipdp.plot import (
    ChangeDisplay,
    ComparisonDisplay,
    EffectDisplay,
    InteractionDisplay,
    OverviewDisplay,
    PDPDisplay,
    RegionsDisplay,
    ScoreMoveDisplay,
    SegmentsDisplay,
    TimelineDisplay,
)

SOURCE = Path(ipdp.__file__).parent
WRONG = [
    None,
    "abc",
    "",
    -1,
    0,
    float("nan"),
    float("inf"),
    np.int64(5),
    np.float32(0.5),
    [],
    [1, 2],
]
WRONG += [["a", "b"], ("a",), {}, {"a": 1}, b"xx", object(), int, 10**400]
WRONG += [Decimal(1), {1}, 1j, [[1], [2, 3]], [None], Decimal("sNaN")]


def model(x):
    return x["a"] * 2 + x["b"]


def loss(y, said):
    return abs(y - said)


def rows(n=40):
    return [{"a": k % 7 / 7, "b": k % 5 / 5, "c": k % 3} for k in range(n)]


def explained(kind=ipdp.IncrementalPDP, **given):
    explainer = kind(model, **{"features": ["a", "b"], **given})
    for x in rows():
        explainer.explain_one(x, *([1.0] if explainer.needs_label else []))
    return explainer


@functools.cache
def raised_at(file):
    """The lines of a file that are part of a `raise`."""
    tree = ast.parse(Path(file).read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    return {line for node in nodes for line in range(node.lineno, node.end_lineno + 1)}


def foreign(error):
    """Whether an error was raised by something that ipdp did, and not by ipdp."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if last.filename == __file__:
        return False  # a model's own
    if not Path(last.filename).is_relative_to(SOURCE):
        return True
    return last.lineno not in raised_at(last.filename)


def raised_by(do):
    try:
        do()
    except Exception as error:
        return error
    return None


def refused_or_taken(do, name, value):
    error = raised_by(do)
    if error is not None:
        text = "".join(traceback.format_exception(error))
        assert not foreign(error), f"{name}={value!r}\n{text}"
        assert "\n" not in str(error)


def constructors():
    pdp = explained()
    curve = pdp.curve("a")
    explainers = [ipdp.IncrementalPDP, ipdp.IncrementalALE, ipdp.IncrementalRegions]
    given = {kind: ({"model": model, "features": ["a"]}, explained_by) for kind in explainers}
    given[ipdp.IncrementalPFI] = {"model": model, "features": ["a"], "loss": loss}, explained_by
    given[ipdp.Monitor] = {"pdp": pdp}, None
    for kind in (ipdp.grid.MinMax, ipdp.grid.QuantileRange, ipdp.grid.Quantiles, ipdp.grid.Auto):
        given[kind] = {}, followed_on
    given[ipdp.grid.Fixed] = {"values": [0.0, 1.0]}, followed_on
    given[ipdp.Reservoir] = {"size": 5}, None
    given[ipdp.Smoothing] = {"alpha": 0.1}, None
    given[ipdp.WindowedExtremes] = {"window": 5}, None
    given[ipdp.partial_dependence] = {"model": model, "X": rows()}, None
    given[ipdp.accumulated_local_effects] = {"model": model, "X": rows()}, None
    given[ipdp.compare] = {"a": pdp, "b": pdp}, None
    given[Webhook] = {"url": "https://example.com/a"}, None
    given[AgrawalDrift] = {}, None
    given[Hyperplane] = {}, None
    given[PDPDisplay] = {"curve": curve}, drawn
    given[EffectDisplay] = {"pdp": curve}, drawn
    given[OverviewDisplay] = {"curves": [curve]}, drawn
    given[TimelineDisplay] = {"curves": [curve]}, drawn
    given[SegmentsDisplay] = {"feature": "a", "curves": {"one": curve}, "by": "b"}, drawn
    for kind in (ChangeDisplay, ComparisonDisplay, InteractionDisplay, RegionsDisplay):
        given[kind] = {}, None
    given[ScoreMoveDisplay] = {}, None
    return given


def explained_by(explainer):
    for x in rows():
        explainer.explain_one(x, *([1.0] if explainer.needs_label else []))
    explainer.results()


def followed_on(grid):
    explained_by(ipdp.IncrementalPDP(model, ["a"], grid=grid))


def drawn(display):
    display.plot()


GIVEN = constructors()
# Taken as they are: what is true or false, what numbers start from, and functions of the user.
PLAIN = {
    "seed",
    "missing",
    "integers",
    "relabel",
    "dependence",
    "gradient",
    "ice",
    "loss",
    "before",
}
PLAIN |= {"after", "run", "page", "detector", "target", "feature", "by", "response"}
CASES = [
    (kind, name)
    for kind in GIVEN
    for name in inspect.signature(kind).parameters
    if name not in PLAIN or (name == "by" and kind is ipdp.IncrementalPDP)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda it: getattr(it, "__name__", it))
def test_arguments_of_another_kind(kind, name):
    given, then = GIVEN[kind]
    for value in WRONG:
        if name == "by" and value is int:
            continue  # a function of the user

        def do(value=value):
            made = kind(**{**given, name: value})
            if then is not None:
                then(made)

        refused_or_taken(do, name, value)


def methods(tmp_path):
    pdp, groups = explained(), explained(by="c")
    ale, pfi = explained(ipdp.IncrementalALE), explained(ipdp.IncrementalPFI, loss=loss)
    pairs = explained(features=["a", "b", ("a", "b")])
    monitor = ipdp.Monitor(explained())
    log = ipdp.Log(tmp_path / "log.db")
    log.begin({}, ["a", "b"])
    log.snapshot(pdp.results(), 40)
    x = rows()[0]
    return [
        *((each.explain_many, {"X": rows(3), "w": None, "t": None}) for each in (pdp, ale)),
        (pdp.explain_many, {"X": np.zeros((3, 3)), "names": ["a", "b", "c"]}),
        (pfi.explain_many, {"X": rows(3), "w": None}),
        *((each.explain_one, {"x": x, "w": 1.0, "t": None}) for each in (pdp, ale, monitor)),
        (monitor.explain_many, {"X": rows(3), "w": None, "t": None, "names": None}),
        (monitor.update, {"x": x, "t": None}),
        *((each.curve, {"feature": "a"}) for each in (pdp, ale)),
        (pdp.plot, {"ax": None, "most": 12, "features": None, "backend": "matplotlib"}),
        (pdp.plot_effect, {"feature": "a", "ale": None, "backend": "matplotlib"}),
        (groups.segment_curves, {"feature": "a"}),
        (groups.plot_segments, {"feature": "a", "most": 8, "band": 0.95}),
        (pdp.interactions, {"n": 3, "output": None, "budget": 100}),
        (pdp.merge, {"later": pdp}),
        (pdp.from_bytes, {"data": pdp.state_bytes()}),
        (pairs.h_statistic, {"pair": ("a", "b")}),
        (pfi.band, {"level": 0.9}),
        (pdp.curve("a").band, {"level": 0.9}),
        (pdp.curve("a").missing_band, {"level": 0.9}),
        (pdp.curve("a").at, {"x": 0.5}),
        (pairs.curve(("a", "b")).at, {"x": (0.5, 0.5)}),
        (pdp.curve("a").plot, {"ax": None, "backend": "matplotlib"}),
        (log.begin, {"settings": {}, "features": None}),
        (log.snapshot, {"results": pdp.results(), "n": 50, "reason": "every"}),
        (log.change, {"change": None, "n": 50}),
        (log.metric, {"values": {"MAE": 1.0}, "n": 50}),
        (log.snapshots, {"after": 0}),
        (log.at, {"n": 40, "explainer": None}),
        (log.importances, {"explainer": None, "after": 0}),
        (log.changes, {"after": 0}),
        (log.metrics, {"after": 0}),
        (log.export, {"path": tmp_path / "a.csv", "format": None}),
    ]


@pytest.mark.filterwarnings("ignore")
def test_methods_with_arguments_of_another_kind(tmp_path):
    for method, given in methods(tmp_path):
        for name in given:
            if (name, method.__name__) == ("path", "export"):
                continue  # pathlib says it
            for value in WRONG:
                changed = {**given, name: value}
                labels = [[1.0] * 3] if "IncrementalPFI.explain_many" in repr(method) else []
                if labels:
                    changed = {k: v for k, v in changed.items() if k != "X"}
                    first = value if name == "X" else given["X"]
                    do = functools.partial(method, first, *labels, **changed)
                else:
                    do = functools.partial(method, **changed)
                refused_or_taken(do, f"{method.__qualname__}: {name}", value)


@pytest.mark.parametrize("challengers", [3, "abc", [1], {1}])
def test_challengers_are_a_dict(challengers):
    with pytest.raises(TypeError, match="challengers must be a dict"):
        ipdp.run([(x, 1.0) for x in rows()], model, explained(), challengers=challengers)
