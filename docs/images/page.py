"""Pictures of the live page: `python docs/images/page.py [RUN]`.

Without a run, the demo's is made first, which takes a minute. Needs Chromium and playwright.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from ipdp.demo.show import demonstrate
from ipdp.web import background

HERE = Path(__file__).parent
# Name, width, height, dark, and what is done before the picture is taken.
PICTURES = (
    ("page", 1440, 1400, False, "follow"),
    ("page-dark", 1440, 900, True, "compare"),
    ("page-phone", 390, 844, False, "follow"),
)


def main(run: Path) -> None:
    """Take the pictures of a run."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("no chromium: apt install chromium")
    with background(run) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, width, height, dark, what in PICTURES:
            take(browser, address, name, (width, height), dark=dark, what=what)
        browser.close()


def take(
    browser: Browser, address: str, name: str, size: tuple[int, int], *, dark: bool, what: str
) -> None:
    """One picture."""
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        device_scale_factor=2 if size[0] < 500 else 1,
        has_touch=size[0] < 500,
    )
    page.goto(address)
    page.wait_for_selector("#timeline .main-svg .trace path", state="attached")
    if what == "compare":
        compare(page)
    page.wait_for_timeout(1000)
    page.screenshot(path=HERE / f"{name}.png")
    page.close()


def compare(page: Page) -> None:
    """Keep the curve before the first drift as A, and that before the second as B."""
    page.evaluate(
        """() => {
            const { page } = ipdp;
            page.goTo(page.run.until / 3);
            page.pin("a");
            page.goTo((2 * page.run.until) / 3);
            page.pin("b");
            page.show({ at: page.run.length - 1 });
        }"""
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            demonstrate(Path(made) / "loans")
            main(Path(made) / "loans")
