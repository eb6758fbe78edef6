"""The lowest version that pyproject.toml declares of each library, as pins for pip.

`python tests_minimum/requirements.py` prints them, one a line. pyproject.toml is the one place
where they are written.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

_REQUIREMENT = re.compile(r"(?P<name>[\w-]+)>=(?P<lowest>[\d.]+)")


def minimums() -> dict[str, str]:
    """The lowest version of each library that ipdp or an extra of it needs, by name.

    Not those of Spark, which is no part of `ipdp[all]` and has an environment of its own.
    """
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    found: dict[str, str] = {}
    extras = [given for name, given in project["optional-dependencies"].items() if name != "spark"]
    for requirement in sum(extras, project["dependencies"]):
        if requirement.startswith("ipdp["):
            continue
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise ValueError(f"{requirement!r} in pyproject.toml declares no lowest version")
        name, lowest = match["name"], match["lowest"]
        if found.setdefault(name, lowest) != lowest:
            raise ValueError(f"pyproject.toml declares two lowest versions of {name}")
    return found


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={lowest}\n" for name, lowest in minimums().items())
