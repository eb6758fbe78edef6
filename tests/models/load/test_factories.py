from __future__ import annotations

import sys

import pytest

from ipdp.models.load import LoadError, load_model

MODULE = """
from river import tree

def make():
    return tree.HoeffdingTreeClassifier(grace_period=7)

def score(x):
    return 2 * x["a"]

def broken():
    raise RuntimeError("no weights here\\nsecond line")

def nothing():
    return None

class Maker:
    @staticmethod
    def make(size=3):
        return tree.HoeffdingTreeClassifier(grace_period=size)

ready = tree.HoeffdingTreeClassifier(grace_period=9)
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "models_of_mine.py").write_text(MODULE)
    (tmp_path / "wrong_module.py").write_text("1 / 0\n")
    (tmp_path / "needy_module.py").write_text("import no_such_library\n")
    yield
    for name in ("models_of_mine", "wrong_module", "needy_module"):
        sys.modules.pop(name, None)


def test_a_function_is_called():
    assert load_model("models_of_mine:make").grace_period == 7
    assert load_model("models_of_mine:Maker.make").grace_period == 3


def test_a_function_of_an_observation_is_the_model():
    assert load_model("models_of_mine:score")({"a": 2}) == 4


def test_a_model_is_taken_as_it_is():
    assert load_model("models_of_mine:ready").grace_period == 9


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("models_of_mine:mak", "models_of_mine has no 'mak'; did you mean 'make'?"),
        ("no_module_of_mine:make", "there is no module 'no_module_of_mine', neither in "),
        ("wrong_module:make", "cannot be imported: ZeroDivisionError: division by zero"),
        ("needy_module:make", "needy_module needs no_such_library, which is not installed"),
        ("models_of_mine:broken", "models_of_mine:broken failed: RuntimeError: no weights here"),
        ("models_of_mine:nothing", "a NoneType is not a model"),
    ],
)
def test_what_is_refused(spec, sentence):
    with pytest.raises(LoadError) as error:
        load_model(spec)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
