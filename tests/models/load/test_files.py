from __future__ import annotations

import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ipdp.models.load import LoadError, load_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2))


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] > 0),
        Ridge().fit(X, X[:, 0]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_skops(model, tmp_path):
    skops.io.dump(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def shift(x):
    return x + 1


def test_types_that_skops_does_not_know_are_named(tmp_path):
    path = tmp_path / "model.skops"
    model = make_pipeline(FunctionTransformer(shift), LogisticRegression()).fit(X, X[:, 0] > 0)
    skops.io.dump(model, path)
    unknown = skops.io.get_untrusted_types(file=path)
    with pytest.raises(LoadError, match="holds types that skops does not trust: ") as error:
        load_model(path)
    assert ", ".join(unknown) in str(error.value)
    np.testing.assert_array_equal(load_model(path, trusted=unknown).predict(X), model.predict(X))


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib"])
def test_pickles_need_leave(suffix, tmp_path):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(pickle.dumps(Trap(tmp_path / "trap")))
    with pytest.raises(LoadError, match="is a pickle, which runs whatever code is in it"):
        load_model(path)
    assert not (tmp_path / "trap").exists()
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    joblib.dump(model, path) if suffix == ".joblib" else path.write_bytes(pickle.dumps(model))
    loaded = load_model(path, allow_pickle=True)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_torch_programs_need_leave(tmp_path):
    """A .pt2 file holds sample inputs, which are pickled."""
    (tmp_path / "model.pt2").write_bytes(pickle.dumps(Trap(tmp_path / "trap")))
    with pytest.raises(LoadError, match="holds a pickle, which runs whatever code is in it"):
        load_model(tmp_path / "model.pt2")
    assert not (tmp_path / "trap").exists()


@pytest.mark.parametrize("suffix", [".skops", ".pkl", ".joblib"])
@pytest.mark.parametrize("content", [b"", b"PK\3\4 not an archive", b"{}"])
def test_damaged_files(suffix, content, tmp_path):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    with pytest.raises(LoadError, match=r"cannot be loaded: .") as error:
        load_model(path, allow_pickle=True)
    assert "\n" not in str(error.value)


def test_json_of_nobody(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(LoadError, match="is neither a model of XGBoost nor of CatBoost"):
        load_model(tmp_path / "model.json")


@pytest.mark.parametrize("suffix", [".skops", ".onnx", ".pt2", ".ubj", ".txt", ".cbm", ".json"])
def test_files_that_are_not_there(suffix):
    with pytest.raises(LoadError, match=f"there is no file model{suffix}"):
        load_model(f"model{suffix}", allow_pickle=True)


def test_files_of_another_kind(tmp_path):
    (tmp_path / "model.h5").touch()
    with pytest.raises(LoadError, match=r"is a file of no kind that is known: .skops, .onnx"):
        load_model(tmp_path / "model.h5")


def test_a_file_that_holds_no_model(tmp_path):
    skops.io.dump([1, 2], tmp_path / "model.skops")
    with pytest.raises(LoadError, match="a list is not a model"):
        load_model(tmp_path / "model.skops")


@pytest.mark.parametrize(
    ("suffix", "library", "sentence"),
    [
        (".skops", "skops", "a .skops file needs skops.io: pip install 'ipdp[sklearn]'"),
        (".onnx", "onnxruntime", "an ONNX file needs onnxruntime: pip install onnxruntime"),
        (".pt2", "torch", "a .pt2 file needs torch: pip install torch"),
        (".ubj", "xgboost", "an XGBoost file needs xgboost: pip install xgboost"),
        (".txt", "lightgbm", "a LightGBM file needs lightgbm: pip install lightgbm"),
        (".cbm", "catboost", "a CatBoost file needs catboost: pip install catboost"),
    ],
)
def test_without_the_library(suffix, library, sentence, tmp_path):
    (tmp_path / f"model{suffix}").touch()
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from ipdp.models.load import load_model\n"
        f"load_model({str(tmp_path / 'model')!r} + {suffix!r}, allow_pickle=True)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert answer.stderr.splitlines()[-1].endswith(sentence)


@pytest.mark.parametrize("columns", ["0 3 1", "-1", "99999999999999999999", "0 1\nsplit_feature=7"])
def test_trees_of_lightgbm_that_split_columns_beyond_the_last(tmp_path, columns):
    # It would write beyond an array of its own when the trees are read.
    path = tmp_path / "model.txt"
    path.write_text(f"tree\nmax_feature_idx=2\n\nTree=0\nsplit_feature={columns}\n")
    with pytest.raises(LoadError, match="splits a column that it does not have: it is damaged"):
        load_model(path)


@pytest.mark.parametrize("name", ["\x1b]0;obeyed\x07", "\x9b31m", "\x7f", "\x00"])
def test_characters_that_a_terminal_obeys_in_a_file_of_lightgbm(tmp_path, name):
    # It prints the objective that it does not know as it is, whatever it is told to print.
    path = tmp_path / "model.txt"
    path.write_text(f"tree\nmax_feature_idx=2\nobjective={name}\n", encoding="utf-8")
    with pytest.raises(LoadError, match="characters that a terminal obeys: it is damaged"):
        load_model(path)
