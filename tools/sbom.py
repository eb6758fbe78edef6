"""Writes what ipdp is made of as a CycloneDX file: each package that it needs, with its licence.

    python tools/sbom.py [FILE]

It reads what is installed beside ipdp, and follows what each package says that it needs.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

EXTRAS = ("plot", "sklearn", "cli", "live", "metrics", "kafka", "arrow", "all")


def needed(name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """The names of the packages that one needs in this environment, with some of its extras."""
    from packaging.requirements import Requirement

    found = set()
    for text in metadata.requires(name) or []:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras)):
            found.add(canonical(requirement.name))
    return found


def canonical(name: str) -> str:
    """The name of a package as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure() -> dict[str, set[str]]:
    """Each installed package that ipdp needs, directly or not, and what it needs itself."""
    known: dict[str, set[str]] = {}
    waiting = [("ipdp", EXTRAS)]
    while waiting:
        name, extras = waiting.pop()
        if name in known:
            continue
        try:
            known[name] = needed(name, extras) - {name}
        except metadata.PackageNotFoundError:
            continue
        waiting += [(other, ()) for other in known[name]]
    return {name: others & known.keys() for name, others in known.items()}


def licence(name: str) -> str:
    """What a package says of its licence, in few words."""
    told = metadata.metadata(name)
    classifiers = [c for c in told.get_all("Classifier") or [] if c.startswith("License ::")]
    named = [c.rpartition(" :: ")[2] for c in classifiers if not c.endswith("OSI Approved")]
    text = told.get("License-Expression") or " AND ".join(named) or told.get("License") or ""
    text = text or _licence_file(name)
    return text.strip().splitlines()[0][:80] if text.strip() else "unknown"


def _licence_file(name: str) -> str:
    """The licence that comes with a package whose metadata name none."""
    files = metadata.files(name) or []
    texts = [file.read_text() for file in files if file.name.upper().startswith("LICEN")]
    return texts[0].strip() if texts else ""


def sbom() -> dict[str, object]:
    """All of it, as CycloneDX 1.5 has it."""
    packages = closure()

    def reference(name: str) -> str:
        return f"pkg:pypi/{name}@{metadata.version(name)}"

    def component(name: str) -> dict[str, object]:
        return {
            "type": "library",
            "bom-ref": reference(name),
            "name": name,
            "version": metadata.version(name),
            "purl": reference(name),
            "licenses": [{"license": {"name": licence(name)}}],
        }

    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component("ipdp")},
        "components": [component(name) for name in sorted(packages) if name != "ipdp"],
        "dependencies": [
            {"ref": reference(name), "dependsOn": sorted(map(reference, others))}
            for name, others in sorted(packages.items())
        ],
    }


def main() -> None:
    """Write it, and list the licences."""
    made = sbom()
    text = json.dumps(made, indent=1) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text)
    for each in made["components"]:  # type: ignore[attr-defined]
        print(f"{each['name']} {each['version']}: {each['licenses'][0]['license']['name']}")


if __name__ == "__main__":
    main()
