"""`ipdp run --watch`: the live page beside the run."""

import re
import urllib.request

from .conftest import MODEL


def test_the_page_is_there_while_it_runs_and_ends_with_it(tmp_path, start, monkeypatch):
    monkeypatch.setenv("BROWSER", "true")  # a program that opens nothing
    given = ["--model", MODEL, "--features", "age", "--out", tmp_path / "run", "--limit", 10**7]
    process = start("run", "--data", "agrawal?n_samples=10000000", *given, "--watch")
    address = None
    for line in process.stderr:
        found = re.search(r"The live page: (http://127\.0\.0\.1:\d+\S*)", line)
        if found:
            address = found[1]
            break
    assert address is not None
    with urllib.request.urlopen(address, timeout=20) as page:
        assert page.status == 200
        assert b"ipdp" in page.read()
    process.terminate()
    process.stderr.read()
    assert process.wait(timeout=60) == 143
    try:
        urllib.request.urlopen(address, timeout=5)
    except OSError:
        pass
    else:
        raise AssertionError("the page outlived the run")
