"""The examples of docs/models.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "models.md"
# Those with prompts need no library, and are run with all others of the docs.
EXAMPLES = [
    (name, code)
    for name, code in re.findall(
        r"^## (.+?)\n.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    if not code.startswith(">>>")
]


@pytest.mark.parametrize("code", [code for _, code in EXAMPLES], ids=[name for name, _ in EXAMPLES])
def test_the_example_runs(code):
    exec(compile(code, str(PAGE), "exec"), {})


def test_there_are_examples():
    assert len(EXAMPLES) == 4
