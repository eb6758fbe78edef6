"""Faults around a run: each ends in a sentence, and the run goes on from where it was."""

import pytest

from .faults import FAULTS, again, stopped


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    return stopped(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_nothing_is_lost(half, tmp_path, fault):
    fault(again(half[0], tmp_path / "run"), half[1])
