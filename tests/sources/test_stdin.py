from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time

import pytest

from ipdp.sources import SourceError
from ipdp.sources.stdin import open_stdin


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
        assert process.wait(timeout=10) == 0
