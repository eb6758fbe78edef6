"""What was tried against it has a test each, as docs/notes/attacks.md says."""

from __future__ import annotations

import pickle
import zipfile
from contextlib import suppress

import pytest
from tests.named_tests import is_there, named, rows

import ipdp
from ipdp.comparison import Baseline
from ipdp.core import packing
from ipdp.log import LogError, LogReader
from ipdp.runs import RunConfig, RunFailed, checkpoint
from ipdp.sources import SourceError, open_source
from ipdp.spark.keys import keys

ATTACKS = rows("attacks.md")


def test_every_row_names_a_test():
    assert len(ATTACKS) > 60
    assert [row for row in ATTACKS if not named(row)] == []


@pytest.mark.parametrize(("file", "name"), sorted({test for row in ATTACKS for test in named(row)}))
def test_the_test_of_an_attack_is_there(file, name):
    assert is_there(file, name)


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def _observations(path):
    with open_source(path) as source:
        return list(source)


PDP = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
READERS = {
    "log.db": LogReader,
    "run.ipdp": checkpoint.read,
    "base.ipdp": Baseline.load,
    "state": lambda path: PDP.from_bytes(path.read_bytes()),
    "keys.parquet": keys,
    "rows.parquet": _observations,
    "rows.csv": _observations,
    "rows.csv.gz": _observations,
    "rows.jsonl": _observations,
    "run.toml": RunConfig.from_toml,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["alone", "zipped", "with a right checksum"])
def test_a_pickle_in_the_place_of_what_is_read_is_not_loaded(name, kind, tmp_path):
    path, trap = tmp_path / name, tmp_path / "trap"
    content = pickle.dumps(Trap(trap))
    if kind == "zipped":
        with zipfile.ZipFile(path, "w") as archive:
            for entry in ("pdp.packed", "run.json", "data.pkl", "numbers.npy"):
                archive.writestr(entry, content)
    elif kind == "with a right checksum":
        is_checkpoint = name == "run.ipdp"
        text = content.decode("latin-1")
        path.write_bytes(checkpoint.pack({"pdp": content}) if is_checkpoint else packing.pack(text))
    else:
        path.write_bytes(content)
    with suppress(ValueError, LogError, SourceError, checkpoint.CheckpointError):
        READERS[name](path)
    assert not trap.exists()
    pickle.loads(content).close()  # it would have been there
    assert trap.exists()


def test_a_run_whose_log_is_deleted_ends_with_a_sentence(tmp_path):
    def model(x):
        return x["a"]

    def rows():
        for k in range(2_000):
            if k == 1_000:
                (tmp_path / "log.db").unlink()
            yield {"a": k % 7 / 7}

    pdp = ipdp.IncrementalPDP(model, ["a"], seed=1)
    with pytest.raises((LogError, RunFailed), match="was deleted or replaced"):
        ipdp.run(rows(), model, pdp, learn=False, log=tmp_path, snapshot_every=100)
