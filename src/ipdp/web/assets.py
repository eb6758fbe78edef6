"""The files of the page: ours from this package, plotly.js from the installed plotly."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

HEAD = ("base.js", "theme.js")
"""Scripts that run before anything is drawn."""

SCRIPTS = (
    "frames.js",
    "plot.js",
    "curve.js",
    "time.js",
    "lists.js",
    "words.js",
    "run.js",
    "page.js",
    "controls.js",
    "start.js",
)
"""Scripts that run when the page is there, in this order."""


@cache
def read(name: str) -> str:
    """One of our own files."""
    return files("ipdp.web").joinpath("page", name).read_text(encoding="utf-8")


@cache
def plotly_js() -> str:
    """The script of plotly.js, as the installed plotly has it."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("the page needs plotly: pip install 'ipdp[live]'") from None
    script: str = get_plotlyjs()
    return script


@cache
def stand_ins() -> str:
    """Elements that keep plotly.js from putting the style sheet of its maps into the page.

    It looks for them by their id first. Our policy would refuse the style sheet, with a complaint
    in the browser's console.
    """
    names = re.findall(r'getElementById\("([0-9a-f]{64})"\)', plotly_js())
    return "".join(f'<meta id="{name}">' for name in dict.fromkeys(names))
