"""How models of scikit-learn learn in parts, and are kept in the format of skops."""

from __future__ import annotations

import copy
import io
import json
import sys
import warnings
import zipfile
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from river import base, metrics
from sklearn.base import is_regressor
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import FunctionTransformer

import ipdp
from ipdp.models import engine
from ipdp.runs import Replayed, Run
from ipdp.runs.checkpoint import CheckpointError, read, write
from ipdp.runs.metrics import Scores
from ipdp.runs.models import Order, predictor

from . import endings

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3))
CLASSES = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
# The order of the features is that of the first observation, also for those that have another one.
ROWS = [
    {name: row["abc".index(name)] for name in ("abc" if k % 3 else "cab")}
    for k, row in enumerate(X.tolist())
]
ROWS[0] = dict(zip("abc", X[0].tolist(), strict=True))

MODELS = {
    "SGD": lambda: SGDClassifier(loss="log_loss", random_state=0),
    "averaged SGD": lambda: SGDClassifier(
        loss="log_loss", average=10, random_state=np.random.RandomState(1)
    ),
    "SGD regressor": lambda: SGDRegressor(random_state=0),
    "perceptron": lambda: Perceptron(random_state=0),
    "naive Bayes": GaussianNB,
    "one against the rest": lambda: OneVsRestClassifier(
        SGDClassifier(loss="log_loss", random_state=0)
    ),
    "network": lambda: MLPClassifier((5,), random_state=0),
    "network, SGD": lambda: MLPClassifier((5,), solver="sgd", momentum=0.5, random_state=0),
    "network regressor": lambda: MLPRegressor(hidden_layer_sizes=(5,), random_state=0),
}


class Own(SGDClassifier):
    """A class that skops does not know."""


def begun(model, frame=False):
    """A model as it is at the start of a run: it knows its classes."""
    given = pd.DataFrame(X[:10], columns=list("abc")) if frame else X[:10]
    classes = {} if is_regressor(model) else {"classes": [0, 1, 2]}
    return model.partial_fit(given, CLASSES[:10], **classes)


def make(model, n=N, **options):
    grid = ipdp.grid.MinMax(3, window=50)
    pdp = ipdp.IncrementalPDP(model, ["a"], grid=grid, alpha=0.05, seed=1)
    metric = metrics.MAE() if is_regressor(model) else metrics.Accuracy()
    stream = list(zip(ROWS, CLASSES.tolist(), strict=True))[:n]
    return Run(stream, model, pdp, metric=metric, **options)


def finished(run):
    assert not [event for event in run if isinstance(event, Replayed)]
    return run


def assert_same(one, other):
    """Two runs came to the same, and their models answer the same, bit for bit."""
    endings.assert_same_end(one, other)
    assert answers(one.model) == answers(other.model)


def answers(model):
    ask = getattr(model, "predict_proba", getattr(model, "decision_function", model.predict))
    given = pd.DataFrame(X, columns=list("abc")) if hasattr(model, "feature_names_in_") else X
    return ask(given).tobytes()


@pytest.mark.parametrize(
    ("name", "frame"), [*((name, False) for name in MODELS), ("SGD", True), ("network", True)]
)
def test_it_ends_as_if_there_had_been_no_stop(tmp_path, name, frame):
    whole = finished(make(begun(MODELS[name](), frame)))
    for n in (15, 40):
        finished(make(begun(MODELS[name](), frame), n, checkpoint=tmp_path, resume=n > 15))
        assert read(tmp_path / "checkpoint.ipdp")["run"]["model"] == "skops"
    model = begun(MODELS[name](), frame)
    one = finished(make(model, checkpoint=tmp_path, resume=True))
    assert_same(one, whole)
    assert one.model is model  # whoever made it holds the one that learnt


def test_no_pickle_is_written_where_none_is_needed(tmp_path):
    finished(make(begun(MODELS["SGD"]()), checkpoint=tmp_path, allow_pickle=True))
    parts = read(tmp_path / "checkpoint.ipdp")
    assert parts["run"]["model"] == "skops"
    assert "pickle" not in parts
    # What was kept so needs no leave to be loaded.
    finished(make(begun(MODELS["SGD"]()), checkpoint=tmp_path, resume=True))


@pytest.mark.parametrize(
    ("allow_pickle", "how", "instead"),
    [(False, "replay", "the observations are replayed"), (True, "pickle", "kept by pickle")],
)
def test_types_that_are_not_trusted_are_kept_in_another_way(tmp_path, allow_pickle, how, instead):
    def run(n=N, **options):
        model = begun(Own(random_state=0))
        return make(model, n, checkpoint=tmp_path, allow_pickle=allow_pickle, **options)

    one = run(40, checkpoint_every=10)
    with pytest.warns(RuntimeWarning, match=rf"skops does not trust .*Own\): .*{instead}") as told:
        list(one)
    assert len(told) == 1
    assert read(tmp_path / "checkpoint.ipdp")["run"]["model"] == how
    again = run(resume=True)
    with pytest.warns(RuntimeWarning, match=instead):
        list(again)
    assert_same(again, finished(make(begun(Own(random_state=0)))))


def test_a_metric_that_only_pickle_keeps_goes_with_the_model(tmp_path):
    class Closed(metrics.Accuracy):
        def __setstate__(self, state):
            self.__dict__.update(state)

    model = begun(MODELS["SGD"]())
    pdp = ipdp.IncrementalPDP(model, ["a"])
    stream = zip(ROWS, CLASSES.tolist(), strict=True)
    list(Run(stream, model, pdp, metric=Closed(), checkpoint=tmp_path))
    assert read(tmp_path / "checkpoint.ipdp")["run"]["model"] == "replay"


def test_without_skops_it_learns_again(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "skops.io", None)
        finished(make(begun(MODELS["SGD"]()), 40, checkpoint=tmp_path / "a"))
        assert read(tmp_path / "a" / "checkpoint.ipdp")["run"]["model"] == "replay"
        one = make(begun(MODELS["SGD"]()), checkpoint=tmp_path / "a", resume=True)
        list(one)
    assert_same(one, finished(make(begun(MODELS["SGD"]()))))
    finished(make(begun(MODELS["SGD"]()), 40, checkpoint=tmp_path / "b"))
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(CheckpointError, match=r"skops's format: pip install 'ipdp\[sklearn\]'"):
        list(make(begun(MODELS["SGD"]()), checkpoint=tmp_path / "b", resume=True))


# What others may have put in.


def edited(data, change, compression=zipfile.ZIP_STORED, **more):
    """An archive of skops with another schema, and with further files."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    changed = change(json.loads(files["schema.json"]))
    files["schema.json"] = (changed if isinstance(changed, str) else json.dumps(changed)).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in {**files, **more}.items():
            archive.writestr(name, content)
    return out.getvalue()


def named(module, name):
    """Changes the class of the model itself."""
    return lambda schema: {**schema, "__module__": module, "__class__": name}


def calling(trace):
    """Lets the loss, which is made by a call, be made by another one."""

    def change(schema):
        loss = schema["content"]["content"]["_loss_function_"]
        [argument] = loss["__reduce__"]["args"]["content"]
        loss["__module__"], loss["__class__"] = "os", "mkdir"
        argument["content"] = json.dumps(str(trace))
        return schema

    return change


def touched(X, path):
    Path(path).touch()
    return X


def payloads(trace):
    honest = skops.io.dumps(begun(SGDClassifier(random_state=0)))
    trap = FunctionTransformer(touched, kw_args={"path": str(trace)})
    objects = io.BytesIO()
    np.save(objects, np.array([Trap(trace)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(io.BytesIO(honest)) as archive:
        arrays = {n: objects.getvalue() for n in archive.namelist() if n.endswith(".npy")}
    yield "a function", skops.io.dumps(trap), "skops does not trust .*touched"
    yield "a class", edited(honest, named("subprocess", "Popen")), "does not trust subprocess.Popen"
    yield "a call", edited(honest, calling(trace)), "does not trust (os|posix).mkdir"
    yield "objects", edited(honest, lambda schema: schema, **arrays), "cannot be loaded: .*pickle"
    yield "packed", edited(honest, lambda s: s, zipfile.ZIP_DEFLATED), "it is compressed"
    yield "not one", b"PK\3\4", "cannot be loaded"
    yield "nothing", b"", "cannot be loaded"
    yield "too deep", edited(honest, deep), "cannot be loaded"
    other = skops.io.dumps(begun(MODELS["naive Bayes"]()))
    yield "another", other, "is a GaussianNB and the one given is a SGDClassifier"
    yield "no model", skops.io.dumps([1]), "is a list and the one given is a SGDClassifier"


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def deep(schema):
    """As text: levels that no Python reads are too many to be written, too."""
    outer = {"__module__": "builtins", "__class__": "list", "__loader__": "ListNode",
             "content": [], "protocol": schema["protocol"]}  # fmt: skip
    before, after = json.dumps(outer).split("[]")
    return f"{before}[" * 1_000 + json.dumps(schema) + f"]{after}" * 1_000


def test_a_hostile_model_executes_nothing(tmp_path):
    file, trace = tmp_path / "checkpoint.ipdp", tmp_path / "executed"
    finished(make(begun(MODELS["SGD"]()), 40, checkpoint=tmp_path))
    honest = read(file)
    for name, payload, sentence in payloads(trace):
        model = begun(MODELS["SGD"]())
        before = vars(model).copy()
        write(file, {**honest, "skops": payload})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(CheckpointError, match=sentence):
                list(make(model, checkpoint=tmp_path, resume=True))
        assert not trace.exists(), name
        assert vars(model) == before, name  # nor is the model touched
    write(file, honest)
    finished(make(begun(MODELS["SGD"]()), checkpoint=tmp_path, resume=True))


def test_the_traps_would_spring(tmp_path):
    """The payloads above are dangerous where types are not checked."""
    for name, payload, _ in islice(payloads(tmp_path / "executed"), 3):
        trusted = skops.io.get_untrusted_types(data=payload)
        if name == "a function":
            skops.io.loads(payload, trusted=trusted).transform(X)
            (tmp_path / "executed").unlink()
        elif name == "a call":
            with suppress(Exception):
                skops.io.loads(payload, trusted=trusted)
            assert (tmp_path / "executed").is_dir()


# Models that learn in parts.


def table(n=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return X, (X["a"] - X["b"] > 0).to_numpy()


@pytest.mark.parametrize("by_name", [True, False])
def test_a_model_with_partial_fit_learns_as_by_hand(by_name):
    X, y = table()
    first = X[:20] if by_name else X[:20].to_numpy()
    model = SGDClassifier(loss="log_loss", random_state=0)
    model.partial_fit(first, y[:20], classes=[False, True])
    twin = copy.deepcopy(model)
    rows = X[20:].to_dict("records")
    # Names say what is what; without them, the first observation does.
    rows[1:] = [{name: row[name] for name in "cab"} for row in rows[1:]]
    pdp = ipdp.IncrementalPDP(model, ["a"], seed=1)
    accuracy = metrics.Accuracy()
    summary = ipdp.run(zip(rows, y[20:].tolist(), strict=True), model, pdp, metric=accuracy)
    right = 0
    for k in range(20, len(X)):
        row = X[k : k + 1] if by_name else X[k : k + 1].to_numpy()
        right += twin.predict(row)[0] == y[k]
        twin.partial_fit(row, y[k : k + 1])
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert summary.scores["Accuracy"] == right / 100


def test_a_regressor_goes_on_after_a_stop_as_if_there_had_been_none(tmp_path):
    X, _ = table()
    stream = [(x, x["a"] * 2 - x["c"]) for x in X.to_dict("records")]

    def learned():
        model = SGDRegressor(random_state=0)
        model.partial_fit(X[:5], [0.0] * 5)
        return model, ipdp.IncrementalPDP(model, ["a", "c"], seed=1)

    whole, pdp = learned()
    ipdp.run(stream, whole, pdp, metric=metrics.MAE())
    model, part = learned()
    ipdp.run(stream[:50], model, part, metric=metrics.MAE(), checkpoint=tmp_path / "c.ipdp")
    model, again = learned()
    ipdp.run(
        stream, model, again, metric=metrics.MAE(), checkpoint=tmp_path / "c.ipdp", resume=True
    )
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    endings.assert_same(again.state, pdp.state)


def test_a_model_that_cannot_learn_says_so():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    with pytest.raises(ValueError, match="give learn=False"):
        ipdp.run([({"a": 1.0}, 1.0)], pdp.model, pdp)


@pytest.mark.parametrize("said", [{"b": 0.5, "a": 0.5}, {"a": 0.5, "b": 0.5}])
def test_of_texts_that_are_as_probable_the_first_is_predicted(said):
    class Undecided(base.Classifier):
        def learn_one(self, x, y):
            pass

        def predict_proba_one(self, x):
            return dict(said)

    def predicted(metric):
        model = Undecided()
        return predictor(model, engine(model), Scores(metric), Order())({"x": 1.0})

    assert predicted(metrics.Accuracy()) == "a"
    assert list(predicted(metrics.CrossEntropy())) == ["a", "b"]
