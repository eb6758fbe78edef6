"""What is declared is used, and what is used is declared; the list of it can be made."""

import ast
import functools
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
IMPORTED_AS = {"scikit-learn": "sklearn", "prometheus-client": "prometheus_client"}
IMPORTED_AS |= {"confluent-kafka": "confluent_kafka", "protobuf": "google"}


def declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"]]
    for group, needs in project["optional-dependencies"].items():
        texts += needs if group != "spark" else []
    names = {re.match(r"[A-Za-z0-9_.-]+", text)[0].lower() for text in texts}
    return names - {"ipdp"}


@functools.cache
def imported():
    """The packages that the sources import by name, or ask for by name."""
    found = set()
    for path in (ROOT / "src/ipdp").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value.partition(".")[0])
    return found


@pytest.mark.parametrize("name", sorted(declared()))
def test_what_is_declared_is_used(name):
    assert IMPORTED_AS.get(name, name).replace("-", "_") in imported()


def test_the_list_of_what_is_installed():
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "tools/sbom.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.sbom()
    names = {each["name"] for each in made["components"]}
    assert {"numpy", "river", "narwhals", "scipy"} <= names
    licences = {each["licenses"][0]["license"]["name"] for each in made["components"]}
    assert not licences & {"", "unknown"}
    known = {each["bom-ref"] for each in made["components"]}
    assert {ref for each in made["dependencies"] for ref in each["dependsOn"]} <= known


def test_the_addresses_of_the_project_lead_to_a_page():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["urls"]
    for url in project["urls"].values():
        assert re.fullmatch(r"https://[\w.-]+/\S+", url), url  # not to the host of many
