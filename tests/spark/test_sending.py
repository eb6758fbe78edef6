"""What is missing is reported in one sentence before Spark starts."""

from __future__ import annotations

import importlib.metadata
import shutil
from types import SimpleNamespace

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


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is Java 11, too old for Spark: install Java 17"),
        ('java version "1.8.0_392"', "is Java 8, too old"),
        ("Error: could not find libjava.so; exit 2", "does not run .*: install Java 17"),
    ],
)
def test_a_java_that_is_too_old_or_broken(tmp_path, monkeypatch, installed, says, message):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    text, _, code = says.partition("; exit ")
    java.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit {code or 0}\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(RuntimeError, match=message) as caught:
        ipdp.spark.session()
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("says", ['openjdk version "17.0.15" 2025-04-15', "openjdk 21-ea", ""])
def test_a_java_that_will_do(tmp_path, monkeypatch, says):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    sending._check_java()


def test_frames_of_one_machine_are_refused():
    with pytest.raises(TypeError, match=r"a frame of Spark, got list.*ipdp\.partial_dependence"):
        ipdp.spark.partial_dependence(lambda x: 1.0, [{"a": 1.0}])


def test_what_a_worker_raised():
    text = "[PYTHON_EXCEPTION] An exception\nTraceback\nrounded.OwnError: a: b\n SQLSTATE: 38000\n"
    assert sending.raised(text) == (RuntimeError, "rounded.OwnError: a: b")
    assert sending.raised("") == (RuntimeError, "a worker failed")
    assert sending.raised("lost\nan executor") == (RuntimeError, "an executor")
    text = "[STREAM_FAILED] Query [id = 1] terminated with exception: no space\n=== Query ===\nPlan"
    assert sending.raised(text) == (RuntimeError, "no space")


@pytest.mark.parametrize("names", [["a", "a.b"], ["A", "a.b"], ["x", "a.b.c", "a"]])
def test_a_column_that_spark_takes_for_a_part_of_another_one(names):
    with pytest.raises(ValueError, match=r"takes the column 'a\.b.*' for a part of '[aA]'"):
        sending.must_be_sendable(names)


@pytest.mark.parametrize("names", [["a", "b.a"], ["a.b", "a.c"], [".a", "a."], [""]])
def test_other_names_with_dots_are_sent(names):
    sending.must_be_sendable(names)


@pytest.mark.parametrize("names", [3, 1.5, object()])
def test_columns_that_are_no_names(names):
    with pytest.raises(TypeError, match="time must be a list"):
        sending.need_columns(SimpleNamespace(columns=["a"]), time=names)
