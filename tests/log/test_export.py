"""Tables for other programs, read back by them."""

import csv
import json
import subprocess
import sys
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.log.making import make_change, make_curve, make_importance, objects

from ipdp.log import Log, LogError, LogReader

PAIR = make_curve(
    ("a", "colour"),
    grid_values=[np.array([1.0, 2.0]), objects(["red", None])],
    average=np.array([[[1.0, 2.0], [3.0, 4.0]]]),
    std_error=np.full((1, 2, 2), 0.5),
    n_effective_points=np.full((2, 2), 9.0),
    categorical=(False, True),
)
MISSING = make_curve(7, size=2, missing=np.array([0.1]), missing_std_error=np.array([np.nan]))


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    with Log(path) as log:
        for n in (100, 200):
            curves = {"a": make_curve(n_samples=n, n_outputs=2), PAIR.feature: PAIR, 7: MISSING}
            importances = {("a", 7): make_importance(("a", 7), n, std_error=float("nan"))}
            log.snapshot({"pdp": curves, "pfi": importances}, n)
            log.metric({"MAE": n / 3, "R2": float("inf")}, n)
        log.change(make_change(t=200), 200)
        log.snapshot({"pdp": curves}, 200, "change")
    with LogReader(path) as reader:
        yield reader


def read(path):
    """The table as a pandas frame, by a reader that we did not write."""
    if path.suffix == ".csv":
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    if path.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    if path.suffix == ".parquet":
        return pl.read_parquet(path).to_pandas()
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all().to_pandas()


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_importances_of_all_explainers_are_a_table(tmp_path, reader, form):
    path = tmp_path / f"out.{form}"
    reader.export(path, what="importances")
    table = read(path)
    assert table["explainer"].tolist() == 2 * ["pdp", "pdp", "pdp", "pfi"]
    last = table.iloc[-1]
    assert (last["n"], last["feature"], last["feature_2"]) == (200, "a", "7")
    assert (last["importance"], last["n_effective"]) == (0.25, 200 / 3)
    assert pd.isna(last["std_error"])
    curve = reader.at(100)["a"]
    assert table["importance"][0] == curve.overall_importance
    assert table["n_effective"][0] == curve.n_effective


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_curves_come_back_exactly(tmp_path, reader, form):
    path = tmp_path / f"out.{form}"
    reader.export(path)
    table = read(path)
    assert len(table) == 2 * (2 * 20 + 4 + 3)
    first = table[(table["n"] == 100) & (table["feature"] == "a") & table["feature_2"].isna()]
    curve = make_curve(n_samples=100, n_outputs=2)
    for k, output in enumerate(curve.outputs):
        part = first[first["output"] == output]
        assert part["point"].astype(int).tolist() == list(range(20))
        assert part["value"].tolist() == curve.grid_values[0].tolist()
        assert part["average"].tolist() == curve.average[k].tolist()
        assert part["std_error"].tolist() == curve.std_error[k].tolist()
        assert part["n_effective"].tolist() == curve.n_effective_points.tolist()
    assert table["reason"].unique().tolist() == ["every", "change"]
    when = pd.to_datetime(table["time"].iloc[0], utc=True).to_pydatetime()
    assert abs((when - datetime.now(UTC)).total_seconds()) < 600


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_pairs_categories_and_missing_values_have_their_columns(tmp_path, reader, form):
    path = tmp_path / f"out.{form}"
    reader.export(path)
    table = read(path)
    pair = table[(table["n"] == 200) & (table["feature_2"] == "colour")]
    assert pair["value"].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert pair["category_2"].tolist() == ["red", "None", "red", "None"]
    assert pair["value_2"].isna().all()
    assert pair["average"].tolist() == [1.0, 2.0, 3.0, 4.0]
    number = table[(table["n"] == 200) & (table["feature"].astype(str) == "7")]
    assert number["point"].isna().tolist() == [False, False, True]
    assert number["average"].iloc[-1] == 0.1
    assert np.isnan(number["std_error"].iloc[-1])
    assert number["value"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_changes_and_metrics(tmp_path, reader, form):
    path = tmp_path / f"out.{form}"
    reader.export(path, what="changes")
    (row,) = read(path).to_dict("records")
    change = make_change(t=200)
    assert (row["id"], row["n"], row["feature"], row["kind"]) == (1, 200, "a", "real")
    assert (row["size"], row["real"], row["summary"]) == (change.size, 1.0, change.summary())
    assert pd.isna(row["size_in_errors"])
    reader.export(path, what="metrics")
    table = read(path)
    assert table["n"].tolist() == [100, 100, 200, 200]
    assert table["metric"].tolist() == ["MAE", "R2"] * 2
    assert table["value"].tolist()[::2] == [100 / 3, 200 / 3]
    infinity = table["value"].iloc[1]
    assert infinity is None or np.isnan(infinity) if form == "jsonl" else np.isinf(infinity)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@cmd", "\tx", "'x", "=cmd|' /C calc'!A0"])
def test_text_in_csv_is_never_a_formula(tmp_path, text):
    curve = make_curve(
        text, outputs=(text,), size=1, grid_values=[objects([text])], categorical=(True,)
    )
    with Log(tmp_path) as log:
        log.snapshot({text: curve}, 1)
        log.export(tmp_path / "out.csv")
        log.export(tmp_path / "out.jsonl")
    with (tmp_path / "out.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["feature"] == row["output"] == row["category"] == f"'{text}"
    assert json.loads((tmp_path / "out.jsonl").read_text())["feature"] == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a;=1+1", "a;'=1+1"),
        ("a\n=1+1;b", "a\n'=1+1;b"),
        ("a\t@cmd", "a\t'@cmd"),
        ('a"; =1+1', "a\"; '=1+1"),
        ('a;"=1+1"', 'a;"\'=1+1"'),
        (" =1+1", "' =1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("a=1;b-2", "a=1;b-2"),
    ],
)
def test_nor_is_any_part_of_it_where_cells_end_at_semicolons(tmp_path, text, written):
    with Log(tmp_path) as log:
        log.snapshot({text: make_curve(text, size=1)}, 1)
        log.export(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["feature"] == written
    for line in (tmp_path / "out.csv").read_text().splitlines():
        assert not any(cell.strip().startswith(("=", "@")) for cell in line.split(";"))


def test_negative_numbers_are_numbers_in_csv(tmp_path):
    with Log(tmp_path) as log:
        log.snapshot({"a": make_curve(average=np.full((1, 20), -1.5))}, 1)
        log.export(tmp_path / "out.csv")
    assert (pd.read_csv(tmp_path / "out.csv")["average"] == -1.5).all()


@pytest.mark.parametrize("name", ["a\nb", 'quo"te', "comma,", "Цена", "\ud800", "a\r\nb", "nul\0"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_odd_names_do_not_break_the_table(tmp_path, name, form):
    with Log(tmp_path) as log:
        log.snapshot({name: make_curve(name, size=3)}, 1)
        log.export(tmp_path / f"out.{form}")
    table = read(tmp_path / f"out.{form}")
    assert len(table) == 3
    if "\ud800" not in name:
        assert table["feature"].unique().tolist() == [name]


@pytest.mark.parametrize("what", ["curves", "changes", "metrics"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_an_empty_log_gives_an_empty_table(tmp_path, form, what):
    with Log(tmp_path / "run.db") as log:
        log.export(tmp_path / f"out.{form}", what=what)
    assert len(read(tmp_path / f"out.{form}")) == 0


@pytest.mark.parametrize(
    ("name", "form", "expected"),
    [("x.ndjson", None, "jsonl"), ("x.feather", None, "arrow"), ("x", "csv", "csv"),
     ("x.txt", "parquet", "parquet"), ("X.CSV", None, "csv")],
)  # fmt: skip
def test_the_format_is_the_one_said_or_that_of_the_suffix(tmp_path, reader, name, form, expected):
    reader.export(tmp_path / name, form, what="metrics")
    reader.export(tmp_path / f"expected.{expected}", what="metrics")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"expected.{expected}").read_bytes()


def test_what_is_not_known_is_named(tmp_path, reader):
    with pytest.raises(ValueError, match="'xlsx' is no format for a log: give one of csv, jsonl"):
        reader.export(tmp_path / "out.xlsx")
    with pytest.raises(ValueError, match=r"what must be one of .*, got 'everything'"):
        reader.export(tmp_path / "out.csv", what="everything")
    assert list(tmp_path.iterdir()) == []


def test_the_whole_file_or_nothing(tmp_path, reader, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("what was there before")

    def broken(first, last):
        yield from list(LogReader.between(reader, first, last))[:1]
        raise LogError("the disk broke")

    monkeypatch.setattr(reader, "between", broken)
    for name in ("out.csv", "new.jsonl", "new.parquet", "new.arrow"):
        with pytest.raises(LogError, match="the disk broke"):
            reader.export(tmp_path / name)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "what was there before"


def test_a_place_that_cannot_be_written_is_said(tmp_path, reader):
    with pytest.raises(LogError, match=r"nowhere/out\.csv could not be written: No such file"):
        reader.export(tmp_path / "nowhere" / "out.csv")
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(LogError, match="could not be written: Is a directory"):
        reader.export(tmp_path / "out.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_pyarrow_is_asked_for_only_where_it_is_needed(tmp_path, reader):
    script = f"""
import sys
sys.modules["pyarrow"] = None
from ipdp.log import LogReader
with LogReader({str(reader.path)!r}) as reader:
    reader.export({str(tmp_path / "out.csv")!r})
    try:
        reader.export({str(tmp_path / "out.parquet")!r})
    except ImportError as error:
        print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "need pyarrow: pip install 'ipdp[arrow]'" in result.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
