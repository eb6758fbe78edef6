"""What was tried against it has a test each, as docs/notes/attacks.md says."""

from __future__ import annotations

import pytest
from tests.named_tests import is_there, named, rows

import ipdp
from ipdp.log import LogError
from ipdp.runs import RunFailed

ATTACKS = rows("attacks.md")


def test_every_row_names_a_test():
    assert len(ATTACKS) > 60
    assert [row for row in ATTACKS if not named(row)] == []


@pytest.mark.parametrize(("file", "name"), sorted({test for row in ATTACKS for test in named(row)}))
def test_the_test_of_an_attack_is_there(file, name):
    assert is_there(file, name)


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
