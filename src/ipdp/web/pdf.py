"""A page as PDF, by whatever browser of the Chromium family is on this machine.

Such a browser draws the report on the screen, too, and knows the style sheet's rules for paper. A
library would have to be installed as well, and would draw something else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "msedge", "brave-browser"),
)
_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
_SECONDS = 180

NEEDED = (
    "a PDF is printed by a browser, and there is none here: install Chromium (apt install "
    "chromium, brew install --cask chromium) or Chrome, or let the environment variable "
    "IPDP_BROWSER name one; or write the report as HTML and print that"
)
"""What is said where there is no browser."""


def browser() -> str:
    """The browser that prints; a RuntimeError says what to install where there is none."""
    given = os.environ.get("IPDP_BROWSER")
    if given:
        found = shutil.which(given)
        if found is None:
            raise RuntimeError(f"IPDP_BROWSER names {given}, which is no program here")
        return found
    for name in (*_NAMES, *_PLACES):
        found = shutil.which(name)
        if found is not None:
            return found
    raise RuntimeError(NEEDED)


def printed(page: str) -> bytes:
    """A page as PDF. It must need no network and no script."""
    program = browser()
    with tempfile.TemporaryDirectory(prefix="ipdp-") as place:
        source, target = Path(place) / "page.html", Path(place) / "page.pdf"
        source.write_text(page, encoding="utf-8", errors="replace")
        command = [
            program,
            *("--headless", "--disable-gpu", "--no-first-run", "--disable-extensions"),
            *("--disable-background-networking", "--no-pdf-header-footer"),
            f"--user-data-dir={place}/profile",
            f"--print-to-pdf={target}",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium has none for root; the page runs no script
        try:
            done = subprocess.run(
                [*command, source.as_uri()], capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RuntimeError(f"{program} did not print the report: {error}") from None
        if not target.exists():
            said = done.stderr.decode(errors="replace").strip().splitlines()
            why = said[-1] if said else f"exit code {done.returncode}"
            raise RuntimeError(f"{program} did not print the report: {why}")
        return target.read_bytes()
