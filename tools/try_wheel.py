"""Install a wheel into an empty environment, away from the checkout, and try it.

python tools/try_wheel.py dist/ipdp-0.1.0-py3-none-any.whl pure          # import, explain, draw
python tools/try_wheel.py dist/ipdp-0.1.0-py3-none-any.whl pure --tests  # the test suite too
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Make the environment, install, try; an error ends it with its code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("build", choices=["pure", "compiled"])
    parser.add_argument("--tests", action="store_true")
    given = parser.parse_args()
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        python = Path(place, "bin" if os.name != "nt" else "Scripts", "python")

        def call(*arguments: str, where: str = place) -> None:
            subprocess.run([str(python), *arguments], check=True, cwd=where, env=outside)

        # No compiler is to be needed: what the wheel depends on comes as wheels too.
        wheel = str(given.wheel.resolve())
        call("-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel)
        size = sum(file.stat().st_size for file in Path(place).rglob("ipdp/**/*") if file.is_file())
        sys.stdout.write(f"{given.wheel.name}: {size / 1e6:.1f} MB installed\n")
        call(str(ROOT / "tools" / "try_installed.py"), given.build)
        if given.tests:
            call("-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
            call("-m", "pip", "install", "--quiet", f"{wheel}[all]", "-r", _tools(place))
            call("-m", "pytest", "-n", "auto", "--dist", "loadfile", "tests", where=str(ROOT))


def _tools(place: str) -> str:
    """What the tests need beside ipdp, as a file for pip."""
    import tomllib

    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    needed = [line for line in groups["dev"] if not line.startswith("ipdp")]
    path = Path(place, "needed.txt")
    path.write_text("\n".join(needed))
    return str(path)


if __name__ == "__main__":
    main()
