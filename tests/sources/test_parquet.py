from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from ipdp.sources import SourceError, open_source


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "a": rng.normal(size=3_000),
            "b": rng.integers(0, 9, 3_000),
            "c": pa.array(rng.choice(["x", "y"], 3_000)).dictionary_encode(),
            "y": rng.random(3_000) < 0.5,
        }
    )


def test_rows_are_those_of_the_table(table, tmp_path):
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=700)
    with open_source(tmp_path / "rows.parquet", target="y") as source:
        assert source.total == 3_000
        assert [{**x, "y": y} for x, y in source] == table.to_pylist()


@pytest.mark.parametrize("k", [0, 699, 700, 1_500, 2_999])
def test_a_position_goes_on_after_its_observation(table, tmp_path, k):
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=700)
    with open_source(tmp_path / "rows.parquet", features=["b", "c"]) as source:
        rows = iter(source)
        for _ in range(k + 1):
            next(rows)
        position = json.loads(json.dumps(source.position))
    with open_source(tmp_path / "rows.parquet", features=["b", "c"]) as source:
        source.seek(position)
        assert [x for x, _ in source] == table.select(["b", "c"]).to_pylist()[k + 1 :]
        assert source.n == 3_000
    parquet.write_table(table[:10], tmp_path / "rows.parquet")
    if k > 10:
        sentence = f"it has 10 rows and {k + 1:,} were read"
        with (
            open_source(tmp_path / "rows.parquet", features=["b", "c"]) as source,
            pytest.raises(SourceError, match=sentence),
        ):
            source.seek(position)


def test_a_file_that_was_rewritten_is_refused(table, tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(table, path, row_group_size=700)
    with open_source(path) as source:
        rows = iter(source)
        for _ in range(800):
            next(rows)
        position = json.loads(json.dumps(source.position))
    parquet.write_table(table[::-1], path)
    with open_source(path) as source, pytest.raises(SourceError, match="row 800 is not the one"):
        source.seek(position)
    parquet.write_table(pa.concat_tables([table, table]), path)  # more at the end is no change
    with open_source(path) as source:
        source.seek(position)
        assert next(iter(source))[0]["a"] == table["a"][800].as_py()


def test_values_of_other_types(tmp_path):
    table = pa.table(
        {
            "day": [date(2024, 5, 1), None],
            "price": [Decimal("1.50"), None],
            "share": [float("nan"), 2.0],
        }
    )
    parquet.write_table(table, tmp_path / "rows.parquet")
    with open_source(tmp_path / "rows.parquet") as source:
        assert [x for x, _ in source] == [
            {"day": "2024-05-01", "price": 1.5, "share": None},
            {"day": None, "price": None, "share": 2.0},
        ]


def test_what_is_no_value_is_skipped_or_refused(tmp_path):
    parquet.write_table(pa.table({"a": [{"k": 1}, None]}), tmp_path / "rows.parquet")
    with (
        open_source(tmp_path / "rows.parquet") as source,
        pytest.raises(SourceError, match="row 1: a: holds an object"),
    ):
        list(source)
    with open_source(tmp_path / "rows.parquet", on_error="skip") as source:
        assert list(source) == [({"a": None}, None)]
        assert source.n_skipped == 1


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"a,b\n1,2\n"])
def test_files_that_are_not_parquet(content, tmp_path):
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(SourceError, match=r"rows.parquet cannot be read: \w") as error:
        open_source(tmp_path / "rows.parquet")
    assert "\n" not in str(error.value)


def test_a_damaged_file(table, tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(table, path, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[100:3000] = bytes(2900)
    path.write_bytes(content)
    with open_source(path) as source, pytest.raises(SourceError, match=r"rows.parquet is damaged"):
        list(source)


def test_absent_columns_and_files(table, tmp_path):
    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(SourceError, match=r"rows.parquet: there is no column 'z'"):
        open_source(tmp_path / "rows.parquet", target="z")
    with pytest.raises(SourceError, match=r"none.parquet cannot be read"):
        open_source(tmp_path / "none.parquet")


def test_without_pyarrow(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from ipdp.sources import open_source\nopen_source('rows.parquet')"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert answer.stderr.splitlines()[-1] == (
        "ImportError: Parquet files need pyarrow: pip install 'ipdp[arrow]'"
    )


@pytest.mark.parametrize("kind", ["text", "categories", "bytes", "parts"])
def test_a_value_that_is_too_long_is_refused_before_it_is_made(tmp_path, kind):
    # Some kilobytes that hold a text of 200 MB: it was copied wherever the value went.
    path = tmp_path / "rows.parquet"
    texts = pa.array([None, "b" * (200 << 20), None])
    column = {
        "text": texts,
        "categories": texts.dictionary_encode(),
        "bytes": texts.cast(pa.binary()),
        "parts": pa.array([None, {"k": "b" * (2 << 20)}, None]),
    }[kind]
    parquet.write_table(pa.table({"a": column, "b": [1, 2, 3]}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    with (
        open_source(path) as source,
        pytest.raises(SourceError, match="row 2: a value is longer than 1,048,576 bytes"),
    ):
        list(source)
    with open_source(path, on_error="skip") as source:
        assert [x["b"] for x, _ in source] == [1, 3]
        assert source.n_skipped == 1


LISTS = {
    "lists": pa.ListArray.from_arrays([0, 1, 30_000_001], pa.nulls(30_000_001, pa.bool_())),
    "texts": pa.array([["b" * 1_000_000] * 300, None]),
    "maps": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
    "parts of lists": pa.array([{"k": [1]}, None]),
}


@pytest.mark.parametrize("kind", LISTS)
def test_columns_of_lists_are_refused_before_they_are_read(tmp_path, kind):
    # Some kilobytes, of which Arrow would make gigabytes, to be refused as no value anyway.
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"a": LISTS[kind], "b": [1, 2]}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    for on_error in ("raise", "skip"):
        with pytest.raises(SourceError, match=r"the column 'a' holds lists, .*: drop it"):
            open_source(path, on_error=on_error)
    with open_source(path, drop=["a"]) as source:
        assert [x for x, _ in source] == [{"b": 1}, {"b": 2}]
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_many_long_values_are_not_made_at_once(tmp_path):
    # Some kilobytes again: 200 texts, none of which is too long.
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"a": ["b" * 1_000_000] * 200}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    with open_source(path) as source:
        rows = iter(source)
        assert len(next(rows)[0]["a"]) == 1_000_000
        assert pa.total_allocated_bytes() - before < 100_000_000


@pytest.mark.parametrize("dictionary", [False, True])
def test_many_categories_are_read(tmp_path, dictionary):
    names = pa.array([f"{k:0>1000}" for k in range(3_000)])  # 3 MB of them
    column = names.dictionary_encode() if dictionary else names
    parquet.write_table(pa.table({"a": column}), tmp_path / "rows.parquet")
    with open_source(tmp_path / "rows.parquet") as source:
        assert [x["a"] for x, _ in source] == names.to_pylist()


@pytest.mark.parametrize("path", ["s3:/bucket/rows.parquet", "gs:/b/r.parquet", "hdfs:/r.parquet"])
def test_a_path_is_no_address(path):
    # Arrow would take it for one, and connect.
    with pytest.raises(SourceError, match=r"cannot be read: .*No such file or directory"):
        open_source(path)


def test_a_name_with_a_colon(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parquet.write_table(table, tmp_path / "rows:1.parquet")
    with open_source("rows:1.parquet") as source:
        assert source.total == 3_000
