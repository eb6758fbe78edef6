"""Old names of modules still work, with a warning."""

import subprocess
import sys

import pytest

from ipdp._moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_that_an_old_name_gives_the_new_module_and_a_warning(old):
    code = (
        "import importlib, warnings\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        f"    module = importlib.import_module({old!r})\n"
        f"assert module is importlib.import_module({MOVED[old]!r})\n"
        f"[warning] = [w for w in told if 'next release' in str(w.message)]\n"
        "assert warning.category is DeprecationWarning\n"
        f"from {old} import *\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr


def test_that_other_names_are_still_unknown():
    with pytest.raises(ModuleNotFoundError):
        __import__("ipdp.reports")
