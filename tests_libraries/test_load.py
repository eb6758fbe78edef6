"""Models of the large libraries from their own files."""

from __future__ import annotations

import pickle
import zipfile

import catboost
import lightgbm
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import torch
import xgboost
from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression

import ipdp
from ipdp.models.load import LoadError, load_model

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=200), "b": RNG.normal(size=200)})
Y = (X["a"] > 0).astype(int)


def curve(model):
    pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.01)
    pdp.explain_many(X)
    return pdp.curve("a").average


def must_be_the_same(loaded, model):
    np.testing.assert_allclose(curve(loaded), curve(model), atol=1e-6)


def test_lightgbm(tmp_path):
    data = lightgbm.Dataset(X, Y)
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, data, 5)
    booster.save_model(tmp_path / "model.txt")
    must_be_the_same(load_model(tmp_path / "model.txt"), booster)


@pytest.mark.parametrize("suffix", [".json", ".ubj"])
def test_xgboost(tmp_path, suffix):
    booster = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, Y), 5)
    booster.save_model(tmp_path / f"model{suffix}")
    must_be_the_same(load_model(tmp_path / f"model{suffix}"), booster)


@pytest.mark.parametrize("kind", ["cbm", "json"])
def test_catboost(tmp_path, kind):
    settings = {"iterations": 5, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoost({"loss_function": "Logloss", **settings}).fit(X, Y)
    model.save_model(str(tmp_path / f"model.{kind}"), format=kind)
    must_be_the_same(load_model(tmp_path / f"model.{kind}"), model)


def test_onnx(tmp_path):
    rows = X.to_numpy(np.float32)
    exported = to_onnx(LogisticRegression().fit(rows, Y), rows[:1])
    (tmp_path / "model.onnx").write_bytes(exported.SerializeToString())
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    must_be_the_same(load_model(tmp_path / "model.onnx"), session)


def test_names_in_an_onnx_file_do_not_reach_a_terminal(tmp_path, capfd):
    rows = X.to_numpy(np.float32)
    exported = to_onnx(LogisticRegression().fit(rows, Y), rows[:1])
    exported.graph.initializer.add(
        name="\x1b]0;obeyed\x07", data_type=1, float_data=[1.0], dims=[1]
    )
    (tmp_path / "model.onnx").write_bytes(exported.SerializeToString())
    curve(load_model(tmp_path / "model.onnx"))
    assert capfd.readouterr() == ("", "")  # onnxruntime would warn of what it does not need


def test_names_in_a_file_of_lightgbm_do_not_reach_a_terminal(tmp_path, capfd):
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(X, Y), 2)
    text = booster.model_to_string().replace("objective=binary", "objective=\x1b]0;obeyed\x07")
    (tmp_path / "model.txt").write_text(text)
    with pytest.raises(LoadError, match="characters that a terminal obeys"):
        load_model(tmp_path / "model.txt")
    assert capfd.readouterr() == ("", "")


def test_torch(tmp_path):
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)
    ).eval()
    rows = torch.export.Dim("rows", min=1)
    program = torch.export.export(network, (torch.zeros(4, 2),), dynamic_shapes=({0: rows},))
    torch.export.save(program, tmp_path / "model.pt2")
    must_be_the_same(load_model(tmp_path / "model.pt2", allow_pickle=True), network)


@pytest.mark.parametrize("suffix", [".txt", ".json", ".ubj", ".cbm", ".onnx", ".pt2"])
@pytest.mark.parametrize("content", [b"", b"not a model", b'{"learner": 3}'])
def test_damaged_files(tmp_path, suffix, content):
    (tmp_path / f"model{suffix}").write_bytes(content)
    with pytest.raises(LoadError) as error:
        load_model(tmp_path / f"model{suffix}", allow_pickle=True)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


def test_their_scikit_learn_classes_by_import_path():
    model = load_model("lightgbm.LGBMClassifier(n_estimators=3, verbose=-1)")
    assert model.n_estimators == 3
    assert load_model("xgboost.XGBRegressor(n_estimators=3)").n_estimators == 3
    assert load_model("catboost.CatBoostClassifier(iterations=3)").get_params()["iterations"] == 3


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("suffix", [".skops", ".onnx", ".ubj", ".txt", ".cbm", ".json"])
@pytest.mark.parametrize("is_zipped", [False, True])
def test_no_format_that_is_called_safe_loads_a_pickle(suffix, is_zipped, tmp_path):
    path, trap = tmp_path / f"model{suffix}", tmp_path / "trap"
    content = pickle.dumps(Trap(trap))
    if is_zipped:
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("schema.json", "data.pkl", "model.pkl", "schema.pkl"):
                archive.writestr(name, content)
    else:
        # With the words by which the libraries that write JSON are told from each other.
        path.write_bytes((b'{"learner"' if suffix == ".json" else b"") + content)
    with pytest.raises(LoadError):
        load_model(path)
    assert not trap.exists()
