"""CSV and JSON Lines: what is read, what is refused, where it goes on."""

from __future__ import annotations

import csv
import gzip
import io
import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.sources import SourceError, open_source
from ipdp.sources.csv import CsvSource
from ipdp.sources.jsonl import JsonLinesSource
from ipdp.sources.lines import MAX_LINE

LONG = "x" * (10 << 20)


@pytest.fixture
def write(tmp_path):
    def written(content, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def read(path, **options):
    with open_source(path, **options) as source:
        return list(source)


def skipped(path, **options):
    with open_source(path, on_error="skip", **options) as source:
        return list(source), list(source.errors), source.n_skipped


# What is read.


def test_rows_are_typed(write):
    path = write("a,b,c,d,y\n1,2.5,red,true,0\n2,,blue,false,1\n")
    assert read(path, target="y") == [
        ({"a": 1, "b": 2.5, "c": "red", "d": True}, 0),
        ({"a": 2, "b": None, "c": "blue", "d": False}, 1),
    ]


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.CSV"])
def test_as_pandas_reads_it(write, name):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=50),
            "whole": rng.integers(0, 9, 50),
            "text": rng.choice(["a,b", 'say "x"', "two\nlines", "plain"], 50),
        }
    )
    content = frame.to_csv(index=False).encode()
    path = write(gzip.compress(content) if name.endswith("gz") else content, name)
    got = pd.DataFrame([x for x, _ in read(path)])
    pd.testing.assert_frame_equal(got, pd.read_csv(io.BytesIO(content)), check_dtype=True)


CELLS = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=8)


@settings(deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=8), st.sampled_from(",;\t|"))
def test_what_pythons_writer_writes_is_read(rows, delimiter):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([["a", "b"], *rows])
    source = CsvSource(io.BytesIO(file.getvalue().encode()), types={"a": "text", "b": "text"})
    assert [tuple(x.values()) for x, _ in source] == [
        tuple(cell.strip() or None for cell in row) for row in rows
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,2\n",
        b"a,b\r\n1,2\r\n",
        b"a,b\n1,2",
        b"\n\na,b\n\n1,2\n\n",
        b"a;b\n1;2\n",
        b"a\tb\n1\t2\n",
        b'"a", b\n 1 ,2 \n',
    ],
)
def test_other_ways_to_write_it(write, content):
    assert read(write(content)) == [({"a": 1, "b": 2}, None)]


def test_names(write):
    assert read(write(",b\n7,2\n")) == [({"column_1": 7, "b": 2}, None)]
    assert read(write("a\tb\n7\t2\n", "rows.tsv")) == [({"a": 7, "b": 2}, None)]
    assert read(write("a\n1,5\n"), delimiter=";") == [({"a": 1.5}, None)]
    assert read(write("a\n1,5\n"), delimiter=";", decimal=".") == [({"a": "1,5"}, None)]
    path = write("id,a,b,y\n1,2,3,4\n")
    assert read(path, target="y", drop=["id"]) == [({"a": 2, "b": 3}, 4)]
    assert read(path, target="y", features=["b", "a"]) == [({"b": 3, "a": 2}, 4)]


def test_types_can_be_declared(write):
    path = write("zip,n\n7,1\n7A,2\n")
    assert read(path, types={"zip": "text"}) == [
        ({"zip": "7", "n": 1}, None),
        ({"zip": "7A", "n": 2}, None),
    ]


def test_json_lines(write):
    path = write(
        '{"a": 1, "b": "x", "y": true}\n\n{"y": null, "b": null, "a": 2.5, "c": 1}\n', "r.jsonl"
    )
    assert read(path, target="y") == [({"a": 1, "b": "x"}, True), ({"a": 2.5, "b": None}, None)]


@settings(deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "a": st.none() | st.floats(allow_nan=False, allow_infinity=False),
                "b": st.none() | st.text(),
            }
        )
    )
)
def test_what_pythons_json_writes_is_read(rows):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    assert [x for x, _ in JsonLinesSource(io.BytesIO(content))] == rows


# What is refused.

BAD_ROWS = {
    "a string where a number was": ("red,2", "a: 'red' is not a number"),
    "too short": ("3", "too few fields: 1 for 2 columns"),
    "too long": ("3,4,5", "too many fields: 3 for 2 columns"),
    "NUL": ("3,\0", "the line has a NUL character"),
    "invalid UTF-8": (b"3,\xff", "byte 3 of the line is not UTF-8"),
    "10 MB": (f"3,{LONG}", f"the line is longer than {MAX_LINE:,} bytes"),
    "open quote": ('3,"4', "the quotes do not fit"),
    "after the quote": ('3,"4"5', "the quotes do not fit"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row(write, case):
    row, sentence = BAD_ROWS[case]
    row = row if isinstance(row, bytes) else row.encode()
    path = write(b"a,b\n1,2\n" + row + b"\n5,6\n")
    with open_source(path) as source:
        rows = iter(source)
        assert next(rows) == ({"a": 1, "b": 2}, None)
        with pytest.raises(SourceError, match=r"rows.csv, line 3: ") as error:
            next(rows)
    assert sentence in str(error.value)
    assert len(str(error.value)) < 300
    good, (said,), n = skipped(path)
    assert good == [({"a": 1, "b": 2}, None), ({"a": 5, "b": 6}, None)]
    assert said == str(error.value)
    assert n == 1


BAD_LINES = {
    "not JSON": ("a=1", "not JSON: Expecting value at character 1"),
    "cut off": ('{"a": 1', "not JSON: Expecting ',' delimiter"),
    "not an object": ("[1, 2]", "not an object with names and values: [1, 2]"),
    "missing column": ('{"a": 1}', "there is no 'b'; a missing value is null"),
    "a string where a number was": ('{"a": "x", "b": 1}', "a: 'x' is not a number"),
    "nested": ('{"a": {}, "b": 1}', "a: holds an object"),
    "deep": ("[" * 200_000, "not JSON that can be read"),
    "thousands of digits": ('{"a": ' + "9" * 5000 + ', "b": 1}', "not JSON that can be read"),
    "NUL": ("\0", "the line has a NUL character"),
    "invalid UTF-8": (b'{"a": "\xff"}', "byte 8 of the line is not UTF-8"),
    "10 MB": (LONG, "the line is longer than"),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_a_bad_line_of_json(write, case):
    line, sentence = BAD_LINES[case]
    line = line if isinstance(line, bytes) else line.encode()
    path = write(b'{"a": 1, "b": 2}\n' + line + b'\n{"a": 5, "b": 6}\n', "rows.jsonl")
    with pytest.raises(SourceError, match=r"rows.jsonl, line 2: ") as error:
        read(path)
    assert sentence in str(error.value)
    assert "\0" not in str(error.value)
    good, _, n = skipped(path)
    assert good == [({"a": 1, "b": 2}, None), ({"a": 5, "b": 6}, None)]
    assert n == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "rows.csv is empty: the first line must name the columns"),
        ("\n\n", "rows.csv is empty"),
        ("a,a\n1,2\n", "header in line 1: two columns are called 'a'"),
        ("a\0,b\n", "header in line 1: the line has a NUL character"),
        (b"a\xff,b\n", "header in line 1: byte 2 of the line is not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "the text is UTF-16; save it as UTF-8"),
        ('"a\n1\n', "header in line 1: the quotes do not fit"),
        (LONG, "header in line 1: the line is longer than"),
    ],
)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_bad_header_cannot_be_skipped(write, content, sentence, on_error):
    with pytest.raises(SourceError) as error:
        read(write(content), on_error=on_error)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target": "granded"}, "there is no column 'granded' (did you mean 'granted'?)"),
        ({"features": ["x"]}, "there is no column 'x'; there are: 'age', 'granted'"),
        ({"drop": ["x"]}, "there is no column 'x'"),
        ({"target": "granted", "drop": ["age"]}, "there is no column left for x"),
    ],
)
def test_columns_that_are_not_there(write, options, sentence):
    with pytest.raises(SourceError, match="header in line 1") as error:
        read(write("age,granted\n1,2\n"), **options)
    assert sentence in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "directory.csv").mkdir()
    for name, sentence in [
        ("absent.csv", "cannot be read: No such file"),
        ("directory.csv", "is a directory: give one of its files"),
    ]:
        with pytest.raises(SourceError, match=f"{name} {sentence}"):
            open_source(tmp_path / name)
    (tmp_path / "rows.dat").touch()
    with pytest.raises(SourceError, match="no suffix that says what it holds: give the format"):
        open_source(tmp_path / "rows.dat")
    with pytest.raises(ValueError, match="format must be one of csv, tsv, jsonl, parquet"):
        open_source(tmp_path / "rows.dat", format="xml")
    with pytest.raises(ValueError, match="on_error must be raise or skip, got 'ignore'"):
        open_source(tmp_path / "rows.csv", on_error="ignore")


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-9], lambda b: b[:40] + b"!!" + b[42:], lambda _: b"no"]
)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_damaged_archive(write, damage, on_error):
    content = "".join(f"{k},{k * k}\n" for k in range(5_000))
    path = write(damage(gzip.compress(f"a,b\n{content}".encode())), "rows.csv.gz")
    with pytest.raises(SourceError, match=r"rows.csv.gz is damaged after line"):
        read(path, on_error=on_error)


def test_a_bad_first_row_decides_no_types(write):
    good, _, n = skipped(write("a,b\nred,1,2\nblue,\n1,\n"))
    assert n == 1
    assert good[0] == ({"a": "blue", "b": None}, None)  # not the kind that "red" would have been
    good, errors, _ = skipped(write("a,b\nred,true\n3,nope\n4,false\n"))
    assert [x["a"] for x, _ in good] == ["red", "4"]
    assert "b: 'nope' is not a bool" in errors[0]


def test_a_quote_that_is_never_closed_spoils_one_line(write):
    rows = "".join(f"{k},{k}\n" for k in range(100))
    good, _, n = skipped(write(f'a,b\n1,"oh\n{rows}'), types={"b": "text"})
    assert len(good) == 100
    assert n == 1


@pytest.mark.parametrize(("size", "is_read"), [(MAX_LINE, True), (MAX_LINE + 1, False)])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_how_long_a_line_may_be(write, size, is_read, end):
    content = b'{"a": 1}'.ljust(size) + end + b'{"a": 2}' + end
    good, _, n = skipped(write(content, "rows.jsonl"))
    assert [x["a"] for x, _ in good] == ([1, 2] if is_read else [2])
    assert n == 2 - len(good)


def test_how_long_a_field_may_be(write):
    good, errors, _ = skipped(write(f'a\n"{LONG[:200_000]}"\n{LONG[:200_000]}\n{LONG[:100_000]}\n'))
    assert len(good) == 1
    assert all("a field has more than 131,072 characters" in error for error in errors)


def test_the_last_errors_are_kept(write):
    rows = "".join("red\n" for _ in range(50))
    _, errors, n = skipped(write(f"a\n1\n{rows}"))
    assert n == 50
    assert [error.split(":")[0].split(", ")[-1] for error in errors] == [
        f"line {k}" for k in range(43, 53)
    ]


# Random bytes.

PIECES = st.sampled_from(
    [
        b"1",
        b"a",
        b",",
        b'"',
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff",
        b"{",
        b"}",
        b'"a":',
        b"1.5",
        b"\xef\xbb\xbf",
    ]
)
BYTES = st.one_of(st.binary(max_size=60), st.lists(PIECES, max_size=40).map(b"".join))


@settings(deadline=None, max_examples=300)
@given(BYTES, st.sampled_from(["csv", "jsonl"]), st.sampled_from(["raise", "skip"]))
def test_random_bytes_are_read_or_refused(content, kind, on_error):
    source = {"csv": CsvSource, "jsonl": JsonLinesSource}[kind](
        io.BytesIO(content), on_error=on_error
    )
    with suppress(SourceError):
        for x, y in source:
            assert y is None
            assert x


@settings(deadline=None, max_examples=300)
@given(BYTES)
def test_random_bytes_do_not_end_it_early(content):
    # A quote in the bytes may take lines with it as far as one quoted field goes, and no further.
    good = b"\n7,8\n" * 3
    source = CsvSource(io.BytesIO(b"a,b\n7,8\n" + content + good), on_error="skip")
    rows = list(source)
    assert rows[0] == ({"a": 7, "b": 8}, None)
    if b'"' not in content:
        assert rows[-3:] == [({"a": 7, "b": 8}, None)] * 3
    start, end = b'{"a": 1}\n', b'\n{"a": 2}\n{"a": 3}\n'
    lines = [x for x, _ in JsonLinesSource(io.BytesIO(start + content + end), on_error="skip")]
    assert lines[0] == {"a": 1}
    assert lines[-2:] == [{"a": 2}, {"a": 3}]


# Where it goes on.


def rows_with_trouble():
    rng = np.random.default_rng(3)
    lines = ["a,b,y\r\n"]
    for k in range(60):
        trouble = ["", "red,1,1\n", '1,"2\n', "\n", '5,"two\nlines",1\n', "1,2,3,4\n"]
        lines.append(f"{k},text {k},{k % 2}\n")
        lines.append(trouble[rng.integers(len(trouble))])
    return "".join(lines)


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.jsonl"])
def test_a_position_goes_on_after_its_observation(write, name):
    content = rows_with_trouble().encode()
    if name.endswith("jsonl"):
        content = b"".join(b'{"a": %d}\n%s' % (k, [b"", b"\n", b"no\n"][k % 3]) for k in range(60))
    path = write(gzip.compress(content) if name.endswith("gz") else content, name)
    with open_source(path, on_error="skip") as whole:
        seen = [(row, json.dumps(whole.position)) for row in whole]
        rest = whole.n_skipped
    for k in range(0, len(seen), 7):
        with open_source(path, on_error="skip") as source:
            source.seek(json.loads(seen[k][1]))
            assert json.dumps(source.position) == seen[k][1]
            assert [(row, json.dumps(source.position)) for row in source] == seen[k + 1 :]
            assert source.n_skipped == rest
            assert source.n == len(seen)


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_a_position_may_be_the_start(write, name):
    content = "a\n1\n2\n3\n" if name == "rows.csv" else '{"a": 1}\n{"a": 2}\n{"a": 3}\n'
    path = write(content, name)
    with open_source(path) as source:
        start = source.position
        rows = list(source)
        source.seek(start)
        assert list(source) == rows
        assert source.n == 3
    with open_source(path) as source:
        source.seek(start)
        assert list(source) == rows


def test_kinds_survive(write):
    path = write("a\n1\nred\n2\n")
    with open_source(path) as source:
        next(iter(source))
        position = source.position
    with open_source(path) as source:
        source.seek(position)
        with pytest.raises(SourceError, match="line 3: a: 'red' is not a number"):
            next(iter(source))


def test_a_file_that_is_another_one(write):
    path = write("a,b\n1,2\n3,4\n")
    with open_source(path) as source:
        list(source)
        position = source.position
    for content, sentence in [
        ("a,b\n1,2\n", "it has 8 bytes and 12 were read before"),
        ("a,c\n1,2\n3,4\n", "the columns are a, c now and were a, b"),
    ]:
        with open_source(write(content)) as source, pytest.raises(SourceError) as error:
            source.seek(position)
        assert "rows.csv has changed since: " in str(error.value)
        assert sentence in str(error.value)
    with open_source(path) as source, pytest.raises(SourceError, match="not a position of it"):
        source.seek({"row": 3})


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.jsonl"])
def test_a_file_that_was_rewritten_is_not_read_on_from_the_middle_of_a_row(write, name):
    def rows(value):
        if name == "rows.jsonl":
            return "".join(f'{{"a": {value}{k}}}\n' for k in range(20))
        return "a\n" + "".join(f"{value}{k}\n" for k in range(20))

    def made(content):
        return write(gzip.compress(content.encode()) if name.endswith("gz") else content, name)

    with open_source(made(rows("1"))) as source:
        iterator = iter(source)
        for _ in range(10):
            next(iterator)
        position = json.loads(json.dumps(source.position))
    for value in ("2", "577.9", ""):
        with open_source(made(rows(value))) as source, pytest.raises(SourceError) as error:
            source.seek(position)
        assert f"{name} has changed since: line " in str(error.value)
    with open_source(made(rows("1") + rows("1")[2:])) as source:  # more at the end is no change
        source.seek(position)
        assert next(iter(source))[0] == {"a": 110}
    if not name.endswith("gz"):
        with open_source(made("".join(rows("1").splitlines(keepends=True)[:3]).rstrip())) as source:
            list(source)
            end = source.position
        with open_source(made(rows("1"))) as source:  # nor is the end of the last line
            source.seek(end)
            assert len(list(source)) == 18 if name == "rows.csv" else 17
    del position["last"]  # as earlier versions wrote it
    with open_source(made(rows("1"))) as source:
        source.seek(position)
        assert next(iter(source))[0] == {"a": 110}


def test_quotes_far_apart_are_no_field(write):
    rows = "".join(f"{k},{k}\n" for k in range(500))
    good, errors, n = skipped(write(f'a,b\n1,"oh\n{rows}2,oh"\n'), types={"b": "text"})
    assert len(good) == 501  # the second one is no quote, as it does not begin its field
    assert n == 1
    assert errors[0].endswith("line 2: the quotes do not fit: unexpected end of data")


def test_total(write):
    assert open_total(write("a\n1\n2\n3")) == 3
    assert open_total(write('{"a": 1}\n{"a": 2}\n', "r.jsonl")) == 2
    assert open_total(write(gzip.compress(b"a\n1\n"), "r.csv.gz")) is None
    assert open_total(write("")) == 0


def test_limit(write):
    path = write("a\n1\n2\n3\n")
    with open_source(path, limit=2) as source:
        assert source.total == 2
        assert len(list(source)) == 2
        position = source.position
    with open_source(path, limit=5) as source:
        assert source.total == 3
        source.seek(position)
        assert [x["a"] for x, _ in source] == [3]
    with pytest.raises(ValueError, match="limit must be a whole number of at least 1, got 0"):
        open_source(path, limit=0)


def open_total(path):
    with open_source(path) as source:
        return source.total


@pytest.mark.parametrize(
    ("text", "decimal", "values"),
    [
        ("a;b\n1,5;x\n2;y\n", "auto", [1.5, 2]),
        ("a;b\n1,5;x\n", ".", ["1,5"]),
        ('a,b\n"1,5",x\n', "auto", ["1,5"]),
        ('a,b\n"1,5",x\n', ",", [1.5]),
        ("a\tb\n1.234,5\tx\n0.5\ty\n", "auto", [1234.5, 0.5]),
        ("a;b\n1,2,3;x\n1,2;y\n", "auto", ["1,2,3", "1,2"]),  # a text stays as it is
    ],
)
def test_decimal_commas(tmp_path, text, decimal, values):
    (tmp_path / "rows.csv").write_text(text)
    with open_source(tmp_path / "rows.csv", decimal=decimal) as source:
        assert [x["a"] for x, _ in source] == values
