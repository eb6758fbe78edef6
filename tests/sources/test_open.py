from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time

import pytest

from ipdp.sources import SOURCES, Source, SourceError, open_source, without_secrets
from ipdp.sources.open import open_stdin


class Numbers(Source):
    """A source of somebody else: numbers://3 gives 0, 1, 2."""

    def __init__(self, address, **options):
        super().__init__(address, **options)
        self._n = int(address.removeprefix("numbers://"))

    def _observations(self):
        for k in range(self.n, self._n):
            yield self.columns.of_values({"a": k, "b": -k})

    def _where(self):
        return {}

    def _go(self, position):
        pass


def test_a_source_of_ones_own_is_one_line(monkeypatch):
    monkeypatch.setitem(SOURCES, f"{__name__}:Numbers", ("numbers://n",))
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Numbers.__module__])
    source = open_source("numbers://3", target="b", limit=2)
    assert list(source) == [({"a": 0}, 0), ({"a": 1}, -1)]
    assert source.is_labelled


def test_whether_there_are_labels_is_the_sources_answer(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    for spec, target, is_labelled in [
        (tmp_path / "rows.csv", None, False),
        (tmp_path / "rows.csv", "b", True),
        ("agrawal", None, True),
        ("river.datasets.synth.SEA(seed=1)", None, True),
    ]:
        with open_source(spec, target=target) as source:
            assert source.is_labelled is is_labelled


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("kafka://h:1/t?group=a b&start=latest", "kafka://h:1/t?group=a b&start=latest"),
        ("kafka://h:1/t?security.protocol=SSL", "kafka://h:1/t?security.protocol=SSL"),
        ("kafka://me:word@h:1/t", "kafka://redacted-8ac7fb@h:1/t"),
        ("kafka://h:1/t?a=word&group=b#word", "kafka://h:1/t?a=redacted-98c1eb&group=b"),
        ("kafka://[word/t?a=word", "kafka://redacted-0a6c65"),
        ("agrawal?seed=7", "agrawal?seed=7"),
    ],
)
def test_passwords_are_left_out(spec, shown):
    assert without_secrets(spec) == shown


def test_an_address_that_is_wrong_is_shown_without_its_password():
    with pytest.raises(SourceError, match="is not a topic") as error:
        open_source("kafka://h:1/?sasl.password=hunter2")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"a,b\n1,2\n", None),
        (b'{"a": 1, "b": 2}\n', None),
        (b'\xef\xbb\xbf {"a": 1, "b": 2}\n', None),
        (b"a;b\n1;2\n", "csv"),
        (b"a\tb\n1\t2\n", "tsv"),
    ],
)
def test_it_is_told_by_its_beginning(content, kind):
    source = open_stdin(kind, file=io.BytesIO(content))
    assert list(source) == [({"a": 1, "b": 2}, None)]
    assert source.total is None


@pytest.mark.parametrize("content", [b"", b"\n"])
def test_nothing(content):
    with pytest.raises(SourceError, match="standard input is empty"):
        list(open_stdin(None, file=io.BytesIO(content)))


def test_parquet_is_refused():
    with pytest.raises(SourceError, match="Parquet cannot be read from a pipe"):
        open_stdin("parquet")


class Pipe(io.BytesIO):
    def seekable(self):
        return False


def test_what_was_read_before_is_passed_over():
    content = b"a\n" + b"".join(b"%d\n" % k for k in range(100))
    source = open_stdin("csv", file=Pipe(content))
    rows = iter(source)
    for _ in range(40):
        next(rows)
    later = open_stdin("csv", file=Pipe(content))
    later.seek(source.position)
    assert [x["a"] for x, _ in later] == list(range(40, 100))
    shorter = open_stdin("csv", file=Pipe(content[:50]))
    with pytest.raises(SourceError, match="the input is shorter than what was read before"):
        shorter.seek(source.position)


PROGRAM = """
import signal
from ipdp.sources import open_source
source = open_source("-", format="csv")
signal.signal(signal.SIGINT, lambda *_: source.interrupt())
for x, _ in source:
    print(x["a"], flush=True)
print("ended", source.position["n"], flush=True)
"""


def test_it_can_be_interrupted_while_it_waits():
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write("a\n1\n")
        process.stdin.flush()
        assert process.stdout.readline() == "1\n"
        time.sleep(0.2)  # it waits for the next line by then, or will be told before it does
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "ended 1\n"
        process.stdin.close()
        assert process.wait(timeout=300) == 0


def test_looking_ahead_changes_nothing(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(300)))
    with open_source(path, target="y") as plain, open_source(path, target="y") as looked:
        assert looked.position == plain.position
        assert len(looked.peek()) == 100
        assert looked.n == 0
        for one, other in zip(plain, looked, strict=False):
            assert one == other
            assert looked.position == plain.position
        assert plain.n == looked.n == 300
        assert looked.first == plain.first


def test_an_error_that_was_seen_ahead_is_raised_at_its_place(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,0\n2,1\nthree,1\n4,0\n")
    with open_source(path, target="y") as source:
        assert len(source.peek()) == 2
        rows = iter(source)
        assert [next(rows)[0]["a"], next(rows)[0]["a"]] == [1, 2]
        with pytest.raises(SourceError, match="line 4"):
            next(rows)


def test_a_place_within_what_was_looked_at(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(300)))
    with open_source(path, target="y") as source, open_source(path, target="y") as later:
        source.peek()
        rows = iter(source)
        for _ in range(30):
            next(rows)
        later.seek(source.position)
        assert next(iter(later))[0] == {"a": 30}
        assert next(rows)[0] == {"a": 30}


def test_a_file_without_a_header(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('1,"a\nb",0\n2,c,1\n')
    with open_source(path, target="column_3", header=False) as source:
        assert source.total == 3  # lines
        assert list(source) == [
            ({"column_1": 1, "column_2": "a\nb"}, 0),
            ({"column_1": 2, "column_2": "c"}, 1),
        ]
    path.write_text("1,5\n2,6\n3,7\n")
    with open_source(path, header=False) as source:
        rows = iter(source)
        next(rows)
        place = source.position
    with open_source(path, header=False) as source:
        source.seek(place)
        assert [x["column_1"] for x, _ in source] == [2, 3]
    hint = pytest.raises(SourceError, match="if the first line is data, give --no-header")
    with open_source(path, target="y") as source, hint:
        list(source)


@pytest.mark.parametrize("form", [None, "csv", "parquet"])
@pytest.mark.parametrize(
    "address",
    [
        "https://me:hunter2@example.com/rows.csv?sig=hunter2",
        "s3://me:hunter2@bucket/rows.parquet",
        "KAFKA://me:hunter2@127.0.0.1:9/t?sasl.password=hunter2",
        " kafka://me:hunter2@127.0.0.1:9/t",
        "kafka:/me:hunter2@127.0.0.1:9/t",
        "kafka:me:hunter2@127.0.0.1:9/t",
        "Kafka:/127.0.0.1:9/t?sasl.password=hunter2",
        "s3:/me:hunter2@bucket/rows.parquet",
    ],
)
def test_an_address_of_another_kind_is_refused_without_its_password(address, form):
    with pytest.raises(
        SourceError, match=r"is (an|no) address (of no kind )?that is read"
    ) as error:
        open_source(address, format=form)
    assert "hunter2" not in str(error.value)
