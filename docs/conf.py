"""How the site is built: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

import ipdp
from ipdp.datasets.real import find

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "site"))  # commands, displays, tutorial

import tutorial  # noqa: E402

nbformat.write(tutorial.notebook(), HERE / "tutorial.ipynb")

project = "ipdp"
author = "The ipdp developers"
default_role = "code"  # docstrings write names in single backticks
version = release = ipdp.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "commands",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "site"]

# Pages link to headings as they do on a code host, and to files of the project outside of the site.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say it in words
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the template of classes lists them
numpydoc_xref_param_type = False

# An example that needs data which cannot be had offline runs where they are.
needs_data = "" if find(None, ("electricity.zip", "electricity.csv")) else "(?!elec2)"
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": rf"/{needs_data}\w+\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("displays.scraper",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"Figure|Display",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 3600,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "ipdp"
html_static_path = ["site/static"]
templates_path = ["site/templates"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader has it
html_theme_options = {
    "logo": {"text": "ipdp"},
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
# Pages with no page beside them have nothing to navigate to.
html_sidebars = {"index": [], "caution": [], "faq": []}
