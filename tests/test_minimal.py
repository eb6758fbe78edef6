"""Without the optional libraries: clear sentences instead of tracebacks from elsewhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

SETUP = """
import sys
for name in {absent!r}:
    sys.modules[name] = None  # as if it were not installed
import ipdp
[curve] = ipdp.partial_dependence(lambda x: x["a"], [{{"a": 0.0}}, {{"a": 1.0}}])
"""


@pytest.mark.parametrize(
    ("absent", "call", "sentence"),
    [
        (["matplotlib"], "curve.plot()", "drawing needs matplotlib: pip install 'ipdp[plot]'"),
        (["pandas"], "curve.to_frame()", "a frame of pandas needs it: pip install pandas"),
        (["polars"], "curve.to_frame('polars')", "a frame of polars needs it"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(absent, call, sentence):
    answer = subprocess.run(
        [sys.executable, "-c", SETUP.format(absent=absent) + call],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1
    assert answer.stderr.splitlines()[-1].startswith(f"ImportError: {sentence}")
