"""The HTML document of live page and report, and the files that it is made of."""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

DIRECTORY = Path(__file__).parent / "page"
"""Where our own files are."""

FIRST = "base.js"
"""The script that runs before anything is drawn."""

SCRIPTS = (
    *("run.js", "plot.js", "curve.js", "time.js", "lists.js", "compare.js", "page.js"),
    "controls.js",
)
"""Scripts that run when the page is there, in this order."""

PLOTLY = "plotly.min.js"
"""The script of plotly.js, in the installed plotly."""


@cache
def read(name: str) -> str:
    """One of our own files."""
    return (DIRECTORY / name).read_text(encoding="utf-8")


@cache
def page() -> str:
    """The page of a run, with how to read it."""
    return read("page.html").replace("<!-- reading -->", read("reading.html"))


@cache
def plotly_js() -> str:
    """The script of plotly.js."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("the page needs plotly: pip install 'ipdp[live]'") from None
    script: str = get_plotlyjs()
    return script


def document(title: str, head: str, body: str, mode: str) -> str:
    """The document; the mode is "live" or "report"."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)} · ipdp</title>\n"
        f'{head}{_style_placeholders()}\n</head>\n<body data-mode="{mode}">\n'
        f"{body}</body>\n</html>\n"
    )


@cache
def _style_placeholders() -> str:
    """Elements that keep plotly.js from adding the style sheet of its maps.

    It looks for them by their id first. The content security policy would refuse the style sheet,
    with an error in the browser's console.
    """
    names = re.findall(r'getElementById\("([0-9a-f]{64})"\)', plotly_js())
    return "".join(f'<meta id="{name}">' for name in dict.fromkeys(names))
