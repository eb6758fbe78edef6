"""A file is written as a whole, or stays as it was."""

import os
from pathlib import Path

import pytest

from ipdp.comparison import Baseline
from ipdp.core import packing
from ipdp.core.files import must_be_another, read_plain, write_whole, written_whole
from ipdp.runs import RunConfig, checkpoint


@pytest.mark.parametrize("sync", [False, True])
def test_the_draft_takes_the_place_of_the_file(tmp_path, sync):
    file = tmp_path / "a.txt"
    with written_whole(file, sync=sync) as draft:
        draft.write_text("new")
        assert draft.suffix == ".txt"
        assert not file.exists()
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_after_an_error_the_file_is_what_it_was(tmp_path):
    file = tmp_path / "a.txt"
    write_whole(file, "old")

    def interrupted():
        with written_whole(file) as draft:
            draft.write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_errors_name_the_file_and_not_its_draft(tmp_path):
    for path in (tmp_path / "absent" / "a.txt", tmp_path):
        with pytest.raises(OSError, match=r"absent|directory") as found:
            write_whole(path, b"")
        assert found.value.filename == str(path)
        assert "part" not in str(found.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "file"])
def test_whatever_has_the_name_of_a_draft_is_not_written_to(tmp_path, kind):
    # A directory from somebody else may hold such names for all numbers that a process can have.
    other, file = tmp_path / "other", tmp_path / "a.txt"
    other.write_text("precious")
    draft = tmp_path / f".a.{os.getpid()}.part.txt"
    if kind == "pipe":
        os.mkfifo(draft)
    elif kind == "file":
        draft.hardlink_to(other)
    else:
        draft.symlink_to(other if kind == "link" else tmp_path / "nowhere")
    write_whole(file, "new")
    assert file.read_text() == "new"
    assert not file.is_symlink()
    assert other.read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == [file, other]


def test_a_file_that_is_read_is_not_written_over(tmp_path):
    file, link = tmp_path / "a", tmp_path / "b"
    must_be_another(file, file, tmp_path)  # there is none yet
    file.write_text("read")
    link.symlink_to(file)
    for path in (file, link, tmp_path / "." / "a"):
        with pytest.raises(ValueError, match="is read here, and would be lost"):
            must_be_another(path, tmp_path / "c", file)
    must_be_another(tmp_path / "c", file)


@pytest.mark.parametrize("data", ["grün", "grün".encode()])
def test_text_is_written_as_utf_8(tmp_path, data):
    write_whole(tmp_path / "a", data)
    assert (tmp_path / "a").read_bytes() == "grün".encode()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read in (read_plain, checkpoint.read, Baseline.load, RunConfig.from_run):
        with pytest.raises(
            (OSError, ValueError, checkpoint.CheckpointError), match="no plain file"
        ):
            read(tmp_path / "pipe")
    assert not packing.is_packed(tmp_path / "pipe")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no such device here")
def test_a_device_is_not_read(tmp_path):
    with pytest.raises(OSError, match="no plain file"):
        read_plain(Path("/dev/zero"))


@pytest.mark.skipif(os.name != "posix", reason="there are no such permissions here")
@pytest.mark.parametrize(("mode", "after"), [(0o600, 0o600), (0o640, 0o640), (0o400, 0o600)])
def test_a_file_that_is_closed_to_others_stays_so(tmp_path, mode, after):
    path = tmp_path / "checkpoint.ipdp"
    path.write_text("old")
    path.chmod(mode)
    with written_whole(path) as draft:
        assert draft.stat().st_mode & 0o777 == after
        draft.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == after
