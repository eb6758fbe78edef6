"""A small stream, a small run, and places that cannot be written to."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from river import metrics, tree

import ipdp
from ipdp.runs import Run

_NOBODY = 65534


def rows(n: int = 400, seed: int = 1):
    """Two features; which side of 0.5 the first is on decides, and that turns around."""
    rng = random.Random(seed)
    for k in range(n):
        x = {"a": rng.random(), "b": rng.gauss(0, 1)}
        yield x, (x["a"] > 0.5) ^ (k > n // 2)


@pytest.fixture
def make():
    """Makes runs of a Hoeffding tree; what is given replaces what is usual."""

    def make(stream=None, **options):
        model = options.pop("model", None) or tree.HoeffdingTreeClassifier(grace_period=20)
        pdp = options.pop("pdp", None) or ipdp.IncrementalPDP(model, ["a", "b"], alpha=0.05, seed=1)
        if options.get("monitor") is True:
            options["monitor"] = ipdp.Monitor(pdp, warm_up=50, cool_down=50, clock=8)
        settings = {"metric": metrics.Accuracy(), "snapshot_every": 50, **options}
        return Run(rows() if stream is None else stream, model, pdp, **settings)

    return make


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
    """A file system of 512 kB."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", tmp_path],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)
