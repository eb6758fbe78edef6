"""A part of `make chaos`: 100,000 bad observations, lines, frames and answers."""

from .__main__ import child


def test_bad_input_is_taken_whole_or_changes_nothing():
    (found,) = child("tests.chaos.inputs", 100_000, 0, seconds=1800)
    assert not found["failures"]
    assert found["refused"] > 10_000
    assert found["taken"] > 10_000
