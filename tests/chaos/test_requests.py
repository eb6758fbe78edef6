"""A part of `make chaos`: 200 pollers at once, beside a hundred silent connections."""

from .__main__ import child


def test_two_hundred_pollers_are_answered():
    (found,) = child("tests.chaos.requests", 400, seconds=300)
    assert not found["failures"]
    assert found["answered"] == 400
