"""What was tried against it has a test each, as docs/notes/attacks.md says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ipdp
from ipdp.log import LogError
from ipdp.runs import RunFailed

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "notes" / "attacks.md").read_text()
NAMED = re.findall(r"`(tests\w*/\S+\.py)::(test_\w+)`", TABLE)


def test_every_row_names_a_test():
    rows = [line for line in TABLE.splitlines() if re.match(r"\| (?!what was tried)\w|\| `", line)]
    assert len(rows) == len(NAMED) > 60


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_the_test_of_an_attack_is_there(file, name):
    assert f"\ndef {name}(" in (ROOT / file).read_text()


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
