"""The examples of the reference; `make test` leaves them out, as they need Spark."""

from __future__ import annotations

import doctest

import pytest

import ipdp.spark


@pytest.mark.parametrize("name", ipdp.spark.__all__)
def test_the_example_runs(spark, name):
    found = getattr(ipdp.spark, name)
    globs = {"__name__": "__main__", name: found}  # workers get what is defined here by value
    [example] = doctest.DocTestFinder(recurse=False).find(found, name, globs=globs)
    assert example.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example).failed == 0
