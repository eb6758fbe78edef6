"""Every link and every path that README, CONTRIBUTING and docs name leads somewhere."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import ipdp

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ipdp"
GALLERY = ROOT / "docs" / "examples"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
CODE = re.compile(r"^```.*?^```$|^    .*?$", re.MULTILINE | re.DOTALL)
# Paths of the project; those of the package are written from src/ipdp.
PATH = re.compile(
    r"`((?:docs|tests|tests_libraries|tests_spark|benchmarks|examples|src|ipdp)/[\w./-]+|[a-z_]+/[\w./]+\.py)`"
)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)}


@every_page
def test_links_lead_somewhere(page):
    text = CODE.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if there.parent == GALLERY:  # made of the examples when the site is built
            there = (
                ROOT
                / "docs"
                / "gallery"
                / ("README.rst" if path.endswith("index") else f"{there.name}.py")
            )
        assert there.exists(), target
        if heading:
            assert heading in anchors(there), target


@every_page
def test_named_paths_exist(page):
    for name in PATH.findall(CODE.sub("", page.read_text())):
        if "NAME" in name:
            continue
        places = [ROOT / name, ROOT / "src" / name, ROOT / "src" / "ipdp" / name]
        assert any(place.exists() for place in places), name


def test_paths_in_the_code_exist():
    files = [ROOT / "Makefile", *(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    for file in files:
        for name in re.findall(r"\bdocs/[\w./-]+\.\w+", file.read_text()):
            assert (ROOT / name).exists(), f"{file}: {name}"


@every_page
def test_every_page_of_docs_can_be_found(page):
    """From README, over links and the tables of contents of the site."""
    seen, waiting = set(), PAGES[:1]
    while waiting:
        current = waiting.pop()
        seen.add(current)
        text = current.read_text()
        links = re.findall(r"\]\(([^)#\s]+\.md)", text)
        for contents in re.findall(r"^```{toctree}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            entries = re.findall(r"^(?:.*<)?([\w./]+)>?$", contents, re.MULTILINE)
            links += [f"{entry}.md" for entry in entries]
            links += [page.name for page in current.parent.glob("*.md") if ":glob:" in contents]
        there = [(current.parent / link).resolve() for link in links if "://" not in link]
        waiting += [link for link in there if link not in seen and link in PAGES]
    assert page in seen


# Behind a command of their own, or behind the names that `ipdp` itself has.
WITHOUT_PUBLIC_NAMES = ("cli", "core", "demo")
PUBLIC_ROOMS = sorted(
    room.parent.name
    for room in SOURCE.glob("*/__init__.py")
    if room.parent.name not in WITHOUT_PUBLIC_NAMES
)
REFERENCE = re.findall(
    r"^   ([\w.]+)$", (ROOT / "docs" / "reference" / "api.md").read_text(), re.MULTILINE
)


def public_names():
    """Every public name, as it is written after `ipdp.`, once."""
    own = [name for name in ipdp.__all__ if name not in PUBLIC_ROOMS]
    yield from own
    theirs = [getattr(ipdp, name) for name in own]
    for room in PUBLIC_ROOMS:
        yield from (name for name, found in names_of(room) if not any(found is k for k in theirs))


def names_of(module: str):
    """The public names of a module and of those that it names, with what they are."""
    here = import_module(f"ipdp.{module}")
    for name in here.__all__:
        found = getattr(here, name)
        inside = isinstance(found, ModuleType)
        yield from names_of(f"{module}.{name}") if inside else [(f"{module}.{name}", found)]


@pytest.mark.parametrize("name", list(public_names()))
def test_every_public_name_is_in_the_reference(name):
    assert REFERENCE.count(name) == 1


def test_the_reference_has_no_other_names():
    assert set(REFERENCE) == set(public_names())


TABLES = [
    "datasets.DATASETS",
    "datasets.TARGETS",
    "paper.EXPERIMENTS",
    "runs.AnyEvent",
    "sources.SOURCES",
]


@pytest.mark.parametrize("name", [name for name in public_names() if name not in TABLES])
def test_every_public_name_has_an_example(name):
    """In a section of its own docstring, which `--doctest-modules` finds and nothing skips."""
    room, _, last = name.rpartition(".")
    found = getattr(import_module(f"ipdp.{room}".rstrip(".")), last)
    text = cleandoc(found.__doc__ or "")  # as Python has done by itself since 3.13
    _, heading, section = text.partition("Examples\n--------\n")
    assert heading
    examples = doctest.DocTestParser().get_examples(section)
    assert examples
    assert not any(doctest.SKIP in each.options for each in examples)
    assert found.__module__.startswith("ipdp.")  # where the file is collected, under src


def test_what_has_no_example_is_no_class_and_no_function():
    for name in TABLES:
        room, _, last = name.rpartition(".")
        found = getattr(import_module(f"ipdp.{room}"), last)
        assert not isinstance(found, type | FunctionType)


# What is named to say how it works, or where it is in the source; nobody imports it.
INNER = {"log.headline", "monitor.data.block_scales", "web.payload"}


# Notes and the changelog name inner things.
FOR_USERS = [page for page in PAGES if page.parent.name != "notes" and page.name != "CHANGELOG.md"]


@pytest.mark.parametrize("page", FOR_USERS, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_that_the_docs_use_are_public(page):
    """`ipdp.grid.MinMax`, and what an example imports: in the reference, or a part of what is."""
    text = page.read_text()
    used = {name.rstrip(".") for name in re.findall(r"\bipdp\.([a-z_]+\.[A-Za-z_][\w.]*)", text)}
    for module, names in re.findall(r"from ipdp\.([\w.]+) import ([\w, ]+)", text):
        used |= {f"{module}.{name}" for name in re.split(r"[, ]+", names.split(" as ")[0])}
    rooms = {name for name in used if name.partition(".")[0] in PUBLIC_ROOMS} - INNER
    known = {*public_names(), "monitor.notify"}
    for name in rooms:
        parts = name.split(".")
        assert any(".".join(parts[:k]) in known for k in (2, 3)), name


def test_docstrings_can_be_typeset():
    """A name in backticks is followed by no letter: the site could not tell where it ends."""
    for file in SOURCE.rglob("*.py"):
        assert not re.findall(r"`[A-Za-z_.]+`[a-z]", file.read_text()), file


def test_the_version_is_the_same_everywhere():
    [newest, *_] = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest.startswith(f"{ipdp.__version__} (")
    assert f"\nversion: {ipdp.__version__}\n" in (ROOT / "CITATION.cff").read_text()
