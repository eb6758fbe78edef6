"""What users are promised has a test each, as docs/notes/users.md says."""

from __future__ import annotations

import re

import pytest
from tests.named_tests import ROOT, is_there, named, rows

PROMISES = rows("users.md")
README = (ROOT / "README.md").read_text()


def test_every_row_names_a_test():
    assert len(PROMISES) > 80
    assert [row for row in PROMISES if not named(row)] == []


@pytest.mark.parametrize(("file", "name"), sorted({t for row in PROMISES for t in named(row)}))
def test_the_test_of_a_promise_is_there(file, name):
    assert is_there(file, name)


def test_the_first_paragraph_says_that_no_labels_are_needed():
    title, slogan, first, *_ = re.split(r"\n\n+", README)
    assert title == "# ipdp"
    assert slogan.startswith("**")
    assert "**No labels needed**" in first


def test_the_first_lines_are_few_and_about_a_stream_that_drifts():
    code = re.search(r"```python\n(.*?)```", README.split("## In a notebook")[1], flags=re.DOTALL)
    lines = [line for line in code[1].splitlines() if line]
    assert len(lines) <= 6
    assert "Drift(" in code[1]
    assert "(model)" in code[1]  # all features, and no pair
    assert lines[-1] == "pdp.plot()"


def test_the_readme_says_what_to_read_next():
    places = re.findall(r"\]\((docs/[^)#]+)\)", README.split("## Where to go next")[1])
    assert len(places) > 5
    assert all((ROOT / place).exists() for place in places)
