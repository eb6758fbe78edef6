"""What is missing is said in one sentence before Spark starts."""

from __future__ import annotations

import importlib.metadata
import shutil

import pytest

import ipdp.spark
from ipdp.spark import sending

GOOD = {"pyspark": "4.3.0", "pandas": "2.3.1"}


@pytest.fixture
def installed(monkeypatch):
    versions = dict(GOOD)

    def version(name):
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return versions


def test_what_is_needed(installed):
    sending.check_installed()


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"pyspark": None}, r"pip install 'ipdp\[spark\]'"),
        ({"pyspark": "3.5.1"}, "needs pyspark 4.x, and this is pyspark 3.5.1"),
        ({"pandas": "3.0.0"}, "needs pandas 2.x, and this is pandas 3.0.0"),
    ],
)
def test_wrong_versions(installed, versions, message):
    installed.update(versions)
    for name, version in versions.items():
        if version is None:
            del installed[name]
    with pytest.raises(ImportError, match=message):
        ipdp.spark.session()


def test_no_java(installed, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match=r"there is no Java on the PATH.*default-jre-headless"):
        ipdp.spark.session()
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(RuntimeError, match="no Java at JAVA_HOME=/nowhere"):
        ipdp.spark.session()


def test_frames_of_one_machine_are_refused():
    with pytest.raises(TypeError, match=r"a frame of Spark, got list.*ipdp\.partial_dependence"):
        ipdp.spark.partial_dependence(lambda x: 1.0, [{"a": 1.0}])


def test_the_last_words_of_a_worker():
    text = "[PYTHON_EXCEPTION] An exception\nTraceback\nrounded.OwnError: a: b\n SQLSTATE: 38000\n"
    assert sending._last_words(text) == (RuntimeError, "rounded.OwnError: a: b")
    assert sending._last_words("") == (RuntimeError, "a worker failed")
    assert sending._last_words("lost\nan executor") == (RuntimeError, "an executor")
