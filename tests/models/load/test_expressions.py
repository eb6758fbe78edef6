"""Import paths with literal arguments: what is understood, what is refused, and nothing is run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from river import compose, forest, linear_model, metrics, preprocessing, tree
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline

import ipdp
from ipdp.models.load import LoadError, load_model, load_object


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            "river.forest.ARFClassifier(n_models=10, seed=42)",
            lambda: forest.ARFClassifier(n_models=10, seed=42),
        ),
        ("river.tree.HoeffdingTreeClassifier", tree.HoeffdingTreeClassifier),
        ("river.tree.HoeffdingTreeClassifier(50)", lambda: tree.HoeffdingTreeClassifier(50)),
        (
            "river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression(l2=-0.0)",
            lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(l2=-0.0),
        ),
        (
            "(river.compose.Select('a') + river.compose.Select('b')) "
            "| river.linear_model.PARegressor",
            lambda: (compose.Select("a") + compose.Select("b")) | linear_model.PARegressor(),
        ),
        (
            "river.ensemble.BaggingClassifier(river.tree.HoeffdingTreeClassifier(max_depth=3), 5)",
            None,
        ),
        ("river.tree.HoeffdingTreeClassifier(nominal_attributes=['a', 'b'])", None),
    ],
)
def test_models_of_river(spec, expected):
    model = load_model(spec)
    if expected is not None:
        assert repr(model) == repr(expected())
    ipdp.models.engine(model)


def test_models_of_scikit_learn():
    model = load_model("sklearn.ensemble.RandomForestClassifier(n_estimators=3, max_depth=None)")
    assert repr(model) == repr(RandomForestClassifier(n_estimators=3))
    made = load_model(
        "sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), "
        "sklearn.linear_model.SGDClassifier(loss='log_loss'))"
    )
    assert isinstance(made, Pipeline)
    steps = "[('scale', sklearn.preprocessing.StandardScaler()), ('svm', sklearn.svm.SVC())]"
    assert list(load_model(f"sklearn.pipeline.Pipeline({steps})").named_steps) == ["scale", "svm"]


def test_short_names():
    grid = load_object("MinMax(20, window=500)", within=["ipdp.grid"])
    assert (grid.size, grid.window) == (20, 500)
    assert isinstance(load_object("Accuracy", within=["river.metrics"]), metrics.Accuracy)
    several = load_object("Accuracy() + F1", within=["river.metrics"])
    assert [type(metric) for metric in several] == [metrics.Accuracy, metrics.F1]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", "the model is empty: give an import path, module:factory or a file"),
        ("forest.ARFClassifier()", "there is no module 'forest'; write river.forest"),
        ("rivr.tree.HoeffdingTreeClassifier()", "there is no module 'rivr'; did you mean 'river'?"),
        ("river.forst.ARFClassifier()", "river has no 'forst'; did you mean 'forest'?"),
        ("river.forest.ARFClassifer()", "river.forest has no 'ARFClassifer'; did you mean 'ARF"),
        (
            "river.forest.ARFClassifier(n_model=3)",
            "river.forest.ARFClassifier has no argument 'n_model'; did you mean 'n_models'?",
        ),
        ("river.forest.ARFClassifier(n_models=x)", "there is no 'x'"),
        ("river.forest.ARFClassifier(n_models=1 + 1)", "'1 + 1': only | and + of models are"),
        ("river.forest.ARFClassifier(n_models=2 ** 9)", "'2 ** 9' is not a plain value"),
        ("river.forest.ARFClassifier(seed=[k for k in (1,)])", "is not a plain value: arguments"),
        ("river.forest.ARFClassifier(**{})", "arguments with * or ** are not understood"),
        ("river.forest.ARFClassifier(*[1])", "arguments with * or ** are not understood"),
        ("river.forest.ARFClassifier(lambda: 1)", "'lambda: 1' is not a plain value"),
        ("river.forest.ARFClassifier(", "is not an import path with arguments: '(' was never"),
        ("ARFClassifier()", "there is no 'ARFClassifier'; write its whole path, such as river"),
        ("river.forest", "river.forest is a module, not a class"),
        ("river.forest()", "river.forest is a module, not a class"),
        ("sklearn.svm.SVC() | sklearn.svm.SVC()", "cannot be joined: unsupported operand"),
        ("[]", "a list is not a model"),
        ("river.preprocessing.StandardScaler()", "a StandardScaler is not a model"),
        ("sklearn.linear_model.Ridge().fit", "is not an import path"),
        ("river.linear_model.PARegressor(mode=7)", "river.linear_model.PARegressor: "),
        ("river.tree._attribute_test.x()", "begins with an underscore, which is private"),
        ("numpy.polynomial.Polynomial([1])", "numpy.polynomial.Polynomial is not a model"),
    ],
)
def test_what_is_refused(spec, sentence):
    with pytest.raises(LoadError) as error:
        load_model(spec)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "spec",
    [
        "os.system('touch {trap}')",
        "subprocess.Popen(['touch', '{trap}'])",
        "pathlib.Path('{trap}').touch()",
        "builtins.open('{trap}', 'w')",
        'builtins.eval(\'__import__("os").system("touch {trap}")\')',
        "river.compose.FuncTransformer(os.system) | river.linear_model.PARegressor()",
        "sklearn.preprocessing.FunctionTransformer(os.system)",
        "(lambda: open('{trap}', 'w'))()",
        "__import__('os').system('touch {trap}')",
        "river.tree.HoeffdingTreeClassifier.__init__.__globals__['os'].system('touch {trap}')",
        "io.FileIO('{trap}', 'w')",
        "logging.FileHandler('{trap}')",
        "shelve.DbfilenameShelf('{trap}')",
        "joblib.load('{trap}')",
        "ipdp.Log('{trap}.db')",
    ],
)
def test_a_word_can_do_nothing_but_make_models(spec, tmp_path):
    trap = tmp_path / "trap"
    with pytest.raises(LoadError):
        load_model(spec.format(trap=trap))
    assert list(tmp_path.iterdir()) == []


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=40))
@example("(" * 5_000)
@example("-" * 100_000 + "1")
@example("a." * 3_000 + "b()")
@example("\0")
@example("river.forest.ARFClassifier(\ud800)")
def test_any_text_is_a_model_or_one_sentence(text):
    with pytest.raises(LoadError, match=r"\A.+\Z"):
        load_model(text)


def test_the_model_works():
    model = load_model(
        "river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression()"
    )
    pdp = ipdp.IncrementalPDP(model, ["a"])
    rng = np.random.default_rng(0)
    for _ in range(100):
        x = {"a": rng.normal(), "b": rng.normal()}
        pdp.explain_one(x)
        model.learn_one(x, x["a"] > 0)
    assert pdp.curve("a").n_samples == 80
