"""When a checkpoint is written, where, and by whom."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ipdp.log import LogReader
from ipdp.runs import Checkpointed, Started
from ipdp.runs.checkpoint import CheckpointError

from .conftest import rows
from .test_checkpoint_content import final, finished, stopped


def test_to_resume_what_never_had_a_checkpoint_is_to_start(make, tmp_path):
    run = make(log=tmp_path, checkpoint=tmp_path, resume=True)
    assert next(event for event in run if isinstance(event, Started)).n == 0


def test_checkpoints_by_number_and_by_time(make, tmp_path, monkeypatch):
    events = list(make(checkpoint=tmp_path / "a", checkpoint_every=150))
    assert [e.n for e in events if isinstance(e, Checkpointed)] == [150, 300, 400]
    events = list(make(checkpoint=tmp_path / "b.ipdp"))
    assert [e.n for e in events if isinstance(e, Checkpointed)] == [400]
    assert (tmp_path / "b.ipdp").is_file()
    monkeypatch.setattr("ipdp.runs.checkpoint_schedule._SECONDS", 0.0)
    monkeypatch.setattr("ipdp.runs.checkpoint_schedule._TIMES", 1.0)
    monkeypatch.setattr("ipdp.runs.loop._BEAT", 0.0)
    events = list(make(checkpoint=tmp_path / "c"))
    assert len([e for e in events if isinstance(e, Checkpointed)]) > 3


# What cannot be gone on from.


def test_a_checkpoint_is_not_overwritten_by_accident(make, tmp_path):
    stopped(make(checkpoint=tmp_path), 100)
    before = (tmp_path / "checkpoint.ipdp").read_bytes()
    with pytest.raises(FileExistsError, match="resume it, or choose another place"):
        list(make(checkpoint=tmp_path))
    assert (tmp_path / "checkpoint.ipdp").read_bytes() == before


def test_a_run_that_is_killed_early_has_a_checkpoint(make, tmp_path):
    options = {"log": tmp_path, "checkpoint": tmp_path}
    run = make(**options, snapshot_every=20)
    events = run.events()
    next(events)
    copied = (tmp_path / "checkpoint.ipdp").read_bytes()  # as it is until the next one
    list(events)
    (tmp_path / "checkpoint.ipdp").write_bytes(copied)
    again = finished(make(**options, snapshot_every=20, resume=True))
    assert final(again) == final(finished(make(snapshot_every=20)))
    with LogReader(tmp_path) as log:
        assert [s.n for s in log.snapshots()][-1] == 400
        assert log.verify() == []


def test_a_run_that_fails_at_once_leaves_no_checkpoint(make, tmp_path):
    with pytest.raises(TypeError, match="observation 2 of the stream is a str"):
        list(make([next(rows()), "no observation"], checkpoint=tmp_path))
    assert not (tmp_path / "checkpoint.ipdp").exists()


def test_two_runs_do_not_share_a_checkpoint(make, tmp_path):
    first = make(checkpoint=tmp_path)
    events = first.events()
    next(events)
    for resume in (True, False):
        with pytest.raises(CheckpointError, match="is being written by another run: wait until"):
            list(make(checkpoint=tmp_path, resume=resume))
    list(events)
    assert first.state == "ended"
    assert finished(make(checkpoint=tmp_path, resume=True)).n == 400


def test_what_a_kill_left_half_written_is_cleared_away(make, tmp_path):
    left = tmp_path / ".checkpoint.123.part.ipdp"
    left.write_bytes(b"half")
    finished(make(checkpoint=tmp_path))
    assert not left.exists()


def test_a_full_disk_ends_the_run_and_loses_nothing(make, tmp_path, monkeypatch):
    options = {"log": tmp_path, "checkpoint": tmp_path, "allow_pickle": True}
    run = make(checkpoint_every=100, **options)
    events = run.events()
    for event in events:
        if isinstance(event, Checkpointed) and event.n == 200:
            break

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(CheckpointError, match="No space left on device; the one before it is"):
            list(events)
    with LogReader(tmp_path) as log:
        assert log.status.state == "failed"
        assert "No space left" in log.status.message
    one = finished(make(resume=True, **options))
    assert final(one) == final(finished(make()))
    with LogReader(tmp_path) as log:
        assert log.status.state == "ended"
        assert [s.n for s in log.snapshots()] == list(range(50, 401, 50))


def test_a_read_only_directory(make, read_only):
    with pytest.raises(CheckpointError, match=r"cannot write the checkpoint: .* read-only"):
        list(make(checkpoint=read_only))
