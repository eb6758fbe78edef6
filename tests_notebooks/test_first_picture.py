"""The first lines of the README, as a new user runs them: in a kernel of Jupyter."""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

README = Path(__file__).parents[1] / "README.md"
# Seconds of the processor, whatever else the machine does.
CLOCK = "import time\nprint(time.process_time())"


def first_lines() -> str:
    """The first example of the section on notebooks."""
    section = README.read_text().split("## In a notebook")[1]
    found = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert found is not None
    return found[1].strip()


def run(*cells: str) -> list:
    """The outputs of each cell."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.fixture(scope="module")
def outputs():
    more = ["pdp", 'pdp.curve("salary")', "ipdp.IncrementalPDP(model)", "pdp.plot(target='loan')"]
    return run(first_lines(), CLOCK, *more)


def test_six_lines_give_a_picture_in_seconds(outputs):
    assert len([line for line in first_lines().splitlines() if line]) <= 6
    [shown] = outputs[0]  # and nothing else: no warnings, no progress
    width, height = struct.unpack(">II", base64.b64decode(shown.data["image/png"])[16:24])
    assert width > height > 400
    [clock] = outputs[1]
    assert float(clock.text) < 30


def test_what_a_cell_ends_with_shows_itself(outputs):
    explainer, curve, new, again = (cell[0].data for cell in outputs[2:])
    assert "river HoeffdingAdaptiveTreeClassifier" in explainer["text/html"]
    assert "9 features, 5,000 observations" in explainer["text/html"]
    assert explainer["text/html"].count("<svg") == 9
    assert "salary" in curve["text/html"]
    assert "no observation yet" in new["text/html"]
    assert "image/png" in again
