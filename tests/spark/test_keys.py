"""The table of a fleet, key by key; written here as Spark writes it, without Spark."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from ipdp.cli.app import app
from ipdp.spark.keys import COLUMNS, is_table, keys

SCHEMA = pa.schema(
    [
        ("device", pa.string()),
        ("n", pa.int64()),
        *((name, pa.string()) for name in ("feature", "output")),
        ("importance", pa.float64()),
        ("grid", pa.list_(pa.float64())),
        ("categories", pa.list_(pa.string())),
        *((name, pa.list_(pa.float64())) for name in ("average", "std_error")),
        ("changes", pa.list_(pa.string())),
    ]
)


def row(key, n, *, slope=1.0, grid=(0.0, 1.0, 2.0), changes=(), feature="a", output="prediction"):
    average = [slope * x for x in grid]
    errors = [0.1] * len(grid)
    return (key, n, feature, output, 1.0, list(grid), [], average, errors, list(changes))


def category(key, n, values):
    names, numbers = list(values), list(values.values())
    return (key, n, "c", "prediction", 1.0, [], names, numbers, [None] * len(numbers), [])


def write(path, *batches):
    path.mkdir(exist_ok=True)
    names = ["device", *COLUMNS]
    for number, rows in enumerate(batches):
        made = [dict(zip(names, values, strict=True)) for values in rows]
        table = pa.Table.from_pylist(made, schema=SCHEMA)
        parquet.write_table(table, path / f"part-{number}.parquet")
    return path


@pytest.fixture
def table(tmp_path):
    return write(
        tmp_path / "curves",
        [row("still", 100), row("turned", 100), row("<b>late", 10)],
        [row("still", 200), row("turned", 200)],
        [row("still", 400, changes=["a: data moved"]), row("turned", 400, slope=-1.0)],
    )


def test_the_key_whose_curve_moved_most_is_the_first(table):
    found = keys(table)
    assert [(key.name, key.n, key.since) for key in found] == [
        ("turned", 400, 200),
        ("still", 400, 200),
        ("<b>late", 10, 10),
    ]
    # 2x at 0, 1, 2.
    assert found[0].moves == {"a": pytest.approx(math.sqrt((0 + 4 + 16) / 3))}
    assert found[1].moved == found[2].moved == 0.0
    assert [change.sentence for change in found[1].changes] == ["a: data moved"]
    assert found[0].now["a"].average.tolist() == [[0.0, -1.0, -2.0]]
    assert found[0].then["a"].average.tolist() == [[0.0, 1.0, 2.0]]


def test_curves_are_compared_where_both_are(tmp_path):
    moved = [row("k", 10, grid=(0.0, 1.0)), category("k", 10, {"x": 1.0, "y": 2.0})]
    later = [row("k", 20, grid=(0.5, 9.0)), category("k", 20, {"y": 5.0, "z": 9.0})]
    (key,) = keys(write(tmp_path / "t", moved, later))
    assert key.moves == {"c": 3.0, "a": pytest.approx(0.0, abs=1e-12)}
    assert np.isnan(key.now["c"].std_error).all()


def test_a_batch_that_was_written_twice_counts_once(tmp_path):
    batch = [row("k", 20, changes=["a: model changed"])]
    (key,) = keys(write(tmp_path / "t", [row("k", 10)], batch, batch))
    assert len(key.changes) == 1


@pytest.mark.parametrize("asked", ["keys", "show"])
def test_keys_in_a_terminal(table, asked):
    out = CliRunner().invoke(app, [asked, str(table)])
    assert out.exit_code == 0, out.output
    lines = out.output.splitlines()
    assert lines[0] == "3 keys, those whose curves moved most first:"
    places = [out.output.index(name) for name in ("turned", "still", "<b>late")]
    assert places == sorted(places)
    assert "a: data moved" in out.output


def test_one_key_in_a_terminal_and_as_json(table):
    out = CliRunner().invoke(app, ["keys", str(table), "--key", "still"])
    assert "still: 400 rows; moved since row 200:" in out.output
    assert "400  a: data moved" in out.output
    (found,) = json.loads(
        CliRunner().invoke(app, ["keys", str(table), "--top", "1", "--json"]).output
    )
    assert (found["key"], found["n"]) == ("turned", 400)
    assert found["curves"]["a"]["outputs"] == ["prediction"]


def test_keys_as_a_page(table, tmp_path):
    page = tmp_path / "keys.html"
    assert CliRunner().invoke(app, ["keys", str(table), "--out", str(page)]).exit_code == 0
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;b&gt;late" in text
    assert "<b>late" not in text
    assert text.count("<figure>") == 3
    assert text.index('id="key-0"><h2>turned') < text.index('id="key-1"><h2>still')


def test_what_is_wrong_is_one_sentence(table, tmp_path):
    other = tmp_path / "other.parquet"
    parquet.write_table(pa.table({"a": [1]}), other)
    damaged = write(tmp_path / "damaged", [row("k", 1)])
    (damaged / "part-1.parquet").write_bytes(b"PAR1 no")
    for given, message in (
        ([str(tmp_path / "none")], "no table of a fleet at"),
        ([str(other)], "is not the table of a fleet: it has the columns a"),
        ([str(damaged)], "cannot be read"),
        ([str(table), "--key", "stil"], "did you mean 'still'?"),
        ([str(table), "--out", str(tmp_path)], "is a directory"),
        ([str(table), "--out", str(next(table.rglob("*.parquet")))], "is read here, and would be"),
    ):
        out = CliRunner().invoke(app, ["keys", *given])
        assert out.exit_code == 2
        assert message in out.output
        assert out.output.count("\n") == 1


def test_a_run_with_an_export_in_it_is_a_run(tmp_path):
    (tmp_path / "log.db").touch()
    write(tmp_path, [row("k", 1)])
    assert not is_table(tmp_path)


def test_a_table_of_other_values_is_refused(tmp_path):
    names = ["device", *COLUMNS]
    made = dict(zip(names, row("k", 1), strict=True))
    for changed in ({"n": None}, {"n": "many"}, {"average": None}, {"average": [1.0]}):
        path = tmp_path / "damaged.parquet"
        parquet.write_table(pa.Table.from_pylist([{**made, **changed}]), path)
        out = CliRunner().invoke(app, ["keys", str(path), "--key", "k"])
        assert out.exit_code == 2, (changed, out.output)
        assert out.output.count("\n") == 1
        assert "is damaged" in out.output
    out = CliRunner().invoke(app, ["show", str(path), "--at", "3"])
    assert (out.exit_code, "--at is for runs" in out.output) == (2, True)


def test_what_is_long_is_cut_off_in_a_terminal(tmp_path):
    long = "y" * 100_000
    one = write(tmp_path / "one", [row(long, 10, feature=long, changes=[long])])
    two = write(tmp_path / "two", [row(long, 10, feature=long, changes=[long]), row("b", 10)])
    for table in (one, two):
        out = CliRunner().invoke(app, ["keys", str(table)])
        assert (out.exit_code, len(out.output) < 3_000) == (0, True)
    other = tmp_path / "other.parquet"
    parquet.write_table(pa.table({f"{k}{long}": [1] for k in range(30)}), other)
    out = CliRunner().invoke(app, ["keys", str(other)])
    assert (out.exit_code, len(out.output) < 3_000) == (2, True)


def test_many_changes_and_outputs_are_read_once(tmp_path):
    """20,000 of each; every one compared with all the others took minutes."""
    rows = [row("k", 10, changes=[f"change {k}, {j}" for j in range(100)]) for k in range(200)]
    rows += [row("k", 20, output=f"class {k}") for k in range(20_000)]
    table = write(tmp_path / "t", rows)
    started = time.thread_time()
    (key,) = keys(table)
    assert (len(key.changes), len(key.now["a"].outputs)) == (20_000, 20_000)
    assert key.moved == 0.0
    assert time.thread_time() - started < 4


def test_curves_that_are_too_long_are_refused(tmp_path):
    """Of a file of some bytes: the points of two curves, each with each, would be gigabytes."""
    table = write(tmp_path / "t", [row("k", 10, grid=[float(k) for k in range(40_000)])])
    with pytest.raises(ValueError, match="curves of 40,000 points are too long to be compared"):
        keys(table)


@pytest.mark.parametrize(
    "more",
    [
        {"feature": pa.array(["z" * 1_000_000] * 200)},
        {"grid": pa.array([[]] * 199 + [np.zeros(10_000_000)])},
        {"changes": pa.array([[]] * 199 + [["moved"] * 5_000_000])},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_small_file_that_takes_far_more_memory_is_refused(tmp_path, more):
    """What is alike takes no room in a Parquet file, and all of its own in memory."""
    rows = [dict(zip(["device", *COLUMNS], row("k", n), strict=True)) for n in range(1, 201)]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    for name, values in more.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, SCHEMA.field(name), values)
    parquet.write_table(table, tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    with pytest.raises(ValueError, match="MB, far more than its files have"):
        keys(tmp_path / "t.parquet")
