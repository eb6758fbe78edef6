"""The pages of `docs/start` as one notebook, so that there is one text of the tutorial.

`python docs/site/tutorial.py FILE` writes it and runs it in a kernel; the site offers it for
download.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

START = Path(__file__).parents[1] / "start"
PAGES = ("first", "drift", "monitor", "production")  # the page before them has no code
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def notebook() -> nbformat.NotebookNode:
    """Text as text, examples as code, without the prompts and the answers."""
    cells = []
    for page in PAGES:
        parts = FENCE.split((START / f"{page}.md").read_text())
        for k, part in enumerate(parts):
            code = k % 2 == 1
            source = _code(part) if code else _text(part)
            if source:
                cells.append((new_code_cell if code else new_markdown_cell)(source))
    found = new_notebook(cells=cells)
    found.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    for k, cell in enumerate(found.cells):
        cell["id"] = f"cell-{k}"  # the same file every time
    return found


def _code(example: str) -> str:
    """The statements of a doctest; a picture is the last thing of its cell, so that it is shown."""
    lines = [line[4:] for line in example.splitlines() if line.startswith((">>> ", "... ", "..."))]
    source = "\n".join(line.split("  # doctest:")[0] for line in lines)
    return re.sub(r"^display = ", "", source, flags=re.MULTILINE)


def _text(page: str) -> str:
    """A page's text; links to other pages are their words."""
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", page).strip()


def main(path: Path) -> None:
    """Write the notebook and run it: an error in a cell ends it."""
    from nbclient import NotebookClient
    from traitlets.config import Config

    made = notebook()
    nbformat.write(made, path)
    # Over files, which only this user can read, and not over ports.
    ipc = Config(KernelManager={"transport": "ipc"})
    NotebookClient(made, timeout=300, config=ipc).execute()
    drawing = [cell for cell in made.cells if cell.cell_type == "code" and ".plot()" in cell.source]
    for cell in drawing:
        if "image/png" not in str(cell.outputs):
            raise SystemExit(f"{path}: a cell that draws shows no picture:\n{cell.source}")
    sys.stdout.write(f"{path}: {len(made.cells)} cells, {len(drawing)} of them show a picture\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
