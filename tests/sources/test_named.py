from __future__ import annotations

import json

import pytest
from river.datasets import synth

from ipdp.datasets import load
from ipdp.sources import CountedSource, SourceError, open_source


def test_a_data_set_by_its_name():
    source = open_source("hyperplane?n_samples=50&seed=7")
    assert source.total == 50
    assert list(source) == list(load("hyperplane", n_samples=50, seed=7))


def test_it_is_the_same_every_time():
    assert list(open_source("agrawal?n_samples=20")) == list(open_source("agrawal?n_samples=20"))


def test_settings_are_literals():
    source = open_source("agrawal?n_samples=5&functions=(3, 3)&seed=1")
    expected = list(synth.Agrawal(classification_function=3, seed=1).take(5))
    assert list(source) == expected


def test_columns_can_be_chosen():
    source = open_source("agrawal?n_samples=3", features=["salary", "age"])
    assert [list(x) for x, _ in source] == [["salary", "age"]] * 3


def test_a_position_goes_on_after_its_observation():
    whole = list(open_source("hyperplane?n_samples=50"))
    source = open_source("hyperplane?n_samples=50")
    rows = iter(source)
    assert [next(rows) for _ in range(20)] == whole[:20]
    later = open_source("hyperplane?n_samples=50")
    later.seek(json.loads(json.dumps(source.position)))
    assert list(later) == whole[20:]
    assert later.n == 50


def test_a_stream_of_ones_own_with_a_limit():
    source = CountedSource(synth.Agrawal(seed=3), "mine", limit=7, drop=["car"])
    assert source.total == 7
    rows = list(source)
    assert [y for _, y in rows] == [y for _, y in synth.Agrawal(seed=3).take(7)]
    assert "car" not in rows[0][0]
    assert list(source) == []  # the limit counts what was given out before


def test_names_are_texts():
    source = CountedSource(synth.SEA(seed=1), "mine", limit=1, features=["2", "0"])
    [(x, _)] = source
    [(row, _)] = synth.SEA(seed=1).take(1)
    assert x == {"2": row[2], "0": row[0]}


def test_a_stream_that_fails():
    with pytest.raises(SourceError, match="mine: 'int' object is not subscriptable"):
        list(CountedSource((x[0] for x in [3]), "mine"))


def test_interrupt_ends_it():
    source = open_source("agrawal")
    rows = iter(source)
    next(rows)
    source.interrupt()
    assert list(rows) == []


@pytest.mark.parametrize(
    ("spec", "options", "sentence"),
    [
        ("elec3", {}, "elec3 is neither a file that is there nor a data set; did you mean 'elec2'"),
        ("zzz", {}, "nor a data set: there are 'agrawal', 'california', 'elec2', 'hyperplane'"),
        ("agrawal?colour=1", {}, "agrawal: there is no setting 'colour'"),
        ("agrawal?stretch=0", {}, "stretch must be at least 1, got 0"),
        ("agrawal", {"target": "y"}, "the data set agrawal has a target of its own"),
    ],
)
def test_what_is_refused(spec, options, sentence):
    with pytest.raises(SourceError) as error:
        open_source(spec, **options)
    assert sentence in str(error.value)


def test_a_data_set_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("IPDP_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SourceError, match="IPDP_DATA is no directory"):
        open_source("elec2")


def test_columns_that_are_not_there():
    with pytest.raises(SourceError, match="observation 1: there is no column 'colour'"):
        next(iter(open_source("agrawal", drop=["colour"])))


def test_a_data_set_says_what_its_label_is_called():
    assert open_source("agrawal?n_samples=5").target == "granted"
    assert open_source("hyperplane?n_samples=5").target is None


@pytest.mark.parametrize("value", ["-" * 50_000 + "1", "[" * 50_000, "{[]: 1}", "9" * 5_000])
def test_settings_that_are_no_values_are_texts(value):
    try:
        with open_source(f"agrawal?n_samples=1&seed={value}") as source:
            assert len(list(source)) == 1
    except SourceError as error:
        assert "agrawal" in str(error)  # noqa: PT017
