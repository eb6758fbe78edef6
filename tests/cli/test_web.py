"""`ipdp report`, `ipdp watch`."""

from __future__ import annotations

import signal
import urllib.request


def test_report(run, ipdp, tmp_path):
    answer = ipdp("report", run)
    assert (answer.code, answer.out) == (0, f"Written: {run / 'report.html'}\n")
    assert (run / "report.html").read_text().lower().startswith("<!doctype html>")
    assert ipdp("report", run, "--out", tmp_path / "mine.html", "--quiet").out == ""
    answer = ipdp("report", run, "--format", "png", "-o", tmp_path / "figures")
    assert (answer.code, answer.out) == (0, f"Written: {tmp_path / 'figures'}\n")
    assert {file.suffix for file in (tmp_path / "figures").iterdir()} == {".png"}
    assert ipdp("report", run, "--format", "gif").code == 2
    assert (tmp_path / "mine.html").exists()


def test_a_pdf_without_a_browser_says_what_to_install(run, ipdp, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("IPDP_BROWSER", raising=False)
    answer = ipdp("report", run, "--format", "pdf")
    assert answer.code == 2
    assert "install Chromium" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not (run / "report.pdf").exists()
    monkeypatch.setenv("IPDP_BROWSER", "netscape")
    answer = ipdp("report", run, "--out", tmp_path / "report.pdf")
    assert "IPDP_BROWSER names netscape, which is no program here" in answer.err
    assert "must end in .pdf" in ipdp("report", run, "--format", "pdf", "-o", tmp_path / "x").err


def test_watch_serves_until_ctrl_c(start, finished):
    process = start("watch", finished, "--port", "0", "--no-browser")
    said = process.stdout.readline()
    address = said.split()[3]
    assert said.startswith(f"Watching {finished} at http://127.0.0.1:")
    with urllib.request.urlopen(address, timeout=300) as page:
        assert page.status == 200
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0
    assert errors == ""


def test_watch_from_elsewhere_needs_a_token(finished, ipdp):
    answer = ipdp("watch", finished, "--host", "0.0.0.0", "--port", "0", "--no-browser")
    assert answer.code == 2
    assert "token" in answer.err
    assert len(answer.err.splitlines()) == 1


def test_watch_of_nothing(tmp_path, ipdp):
    answer = ipdp("watch", tmp_path / "nowhere", "--no-browser")
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
