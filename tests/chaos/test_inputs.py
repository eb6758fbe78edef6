"""A part of `make chaos`: 10,000 bad observations, lines, frames and answers."""

from .__main__ import child


def test_bad_input_is_taken_whole_or_changes_nothing():
    (found,) = child("tests.chaos.inputs", 10_000, 0, seconds=600)
    assert not found["failures"]
    assert found["refused"] > 1_000
    assert found["taken"] > 1_000
