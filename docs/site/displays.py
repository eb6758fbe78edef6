"""Pictures of the gallery: the display or figure that is the last expression of a block."""

from __future__ import annotations

import ast
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save what a block ends with, if it is a picture.

    Figures of ipdp are not registered with pyplot, where the gallery's own scraper looks.
    """
    statements = ast.parse(block[1]).body
    if not statements or not isinstance(statements[-1], ast.Expr):
        return ""
    last = block_vars["example_globals"].get("___")
    figure = last if isinstance(last, Figure) else getattr(last, "figure_", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=120)
    return str(figure_rst([path], gallery_conf["src_dir"]))
