"""What `import ipdp` brings along, and what is public."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ipdp

HEAVY = [
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "torch",
    "sklearn",
    "scipy",
    "river",
    "rich",
]


def loaded_by(code: str) -> set[str]:
    """Which of the heavy libraries are loaded after some code has run in a new interpreter."""
    program = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(answer.stdout.split())


def test_importing_ipdp_loads_nothing_heavy():
    assert loaded_by("import ipdp") == set()


def test_explaining_a_function_loads_nothing_heavy():
    code = """
import ipdp
pdp = ipdp.IncrementalPDP(lambda x: x["a"], grid=ipdp.grid.MinMax(warm_up=1))
for a in (1.0, 2.0, 3.0):
    pdp.explain_one({"a": a})
pdp.explain_many([{"a": 4.0}])
assert pdp.curve("a").average.shape[1] >= 10
"""
    assert loaded_by(code) == {"numpy"}


@pytest.mark.parametrize("words", ["--help", "run --help"])
def test_help_loads_none_of_the_libraries_of_models(words):
    code = f"""
import contextlib, io, sys
from ipdp.cli import main
sys.argv[1:] = {words.split()!r}
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main()
"""
    assert loaded_by(code) <= {"numpy", "rich"}


@pytest.mark.parametrize("name", ipdp.__all__)
def test_public_names_are_there_and_documented(name):
    assert getattr(ipdp, name).__doc__
