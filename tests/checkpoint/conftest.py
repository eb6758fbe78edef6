"""Places that cannot be written to."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

_NOBODY = 65534


@pytest.fixture
def read_only():
    """A directory that the user of the test may read and not write."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o555)
    is_root = os.geteuid() == 0  # who may write anywhere
    if is_root:
        os.seteuid(_NOBODY)
    try:
        yield directory
    finally:
        if is_root:
            os.seteuid(0)
        directory.chmod(0o700)
        shutil.rmtree(directory)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 kB."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)
