"""A part of `make chaos`: 10,000 damaged states of every kind, in both builds."""

import pytest

from .__main__ import child
from .states import CASES
from .subjects import SUBJECTS


@pytest.mark.parametrize("env", [{}, {"IPDP_PURE": "1"}], ids=["compiled", "pure"])
def test_damaged_states_are_refused_or_work(env):
    assert CASES.keys() == SUBJECTS.keys()
    words = (f"{name}={n}" for name, n in CASES.items())
    found = child("tests.chaos.states", 0, *words, seconds=900, **env)
    assert [each for each in found if each["failures"]] == []
    assert {each["name"]: each["refused"] + each["works"] for each in found} == CASES
    # Damage is noticed, as a rule, and not all of it matters.
    assert all(each["refused"] > CASES[each["name"]] // 3 for each in found)
    assert all(each["works"] > CASES[each["name"]] // 20 for each in found)
