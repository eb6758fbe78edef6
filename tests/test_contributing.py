"""The map of the rooms in CONTRIBUTING is that of the import contract."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "ipdp"


def contract() -> list[tuple[int, str]]:
    """Layer and name of every room, from the top down."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [
        (len(layers) - k, room.strip(" ()"))
        for k, layer in enumerate(layers)
        for room in re.split("[|:]", layer)
    ]


def rows() -> list[tuple[int, str]]:
    """Layer and file or folder of every row of the map."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.findall(r"^\| (\d+) \| `([\w./]+)` \| .+ \|$", text, re.MULTILINE)
    return [(int(layer), name) for layer, name in found]


def test_the_map_is_that_of_the_contract():
    assert [(layer, Path(name).stem) for layer, name in rows()] == contract()


def test_there_are_at_most_ten_layers():
    assert max(layer for layer, _ in contract()) <= 10


def test_every_room_of_the_map_is_there():
    for _, name in rows():
        assert (PACKAGE / name).is_dir() == name.endswith("/")
        assert (PACKAGE / name).exists()


def test_every_room_is_on_the_map():
    rooms = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert rooms - {"__init__"} == {Path(name).stem for _, name in rows()}


def test_every_way_to_add_something_is_short():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipes = re.findall(r"^## (Add an? .+)\n\n((?:.+\n)+)", text, re.MULTILINE)
    wanted = {"grid", "engine", "explainer", "source", "figure", "command"}
    lengths = {title.split()[2]: len(steps.splitlines()) for title, steps in recipes}
    assert wanted <= lengths.keys()
    assert max(lengths.values()) <= 10


def test_what_the_map_and_the_recipes_name_is_there():
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), ROOT / "pyproject.toml"]
    known = set(re.findall(r"\w+", " ".join(file.read_text() for file in files)))
    known |= {word for file in files for word in re.findall(r"\w+", str(file.relative_to(ROOT)))}
    text = (ROOT / "CONTRIBUTING.md").read_text().replace("NAME", "").replace("Name", "")
    named = {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", code)}
    made_up = {"Display", "Shown", "design", "docs", "help", "make", "md", "test_", "venv"}
    assert named - made_up <= known
