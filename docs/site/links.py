"""Every link inside the built site leads to a file, and to an anchor that is there.

`python docs/site/links.py site` counts them, and ends with an error if one does not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

LINK = re.compile(r'(?:href|src)="([^"]+)"')
ELSEWHERE = re.compile(r"[a-z]+:|//")
ANCHOR = re.compile(r'\bid="([^"]+)"')


def links(site: Path) -> Iterator[tuple[Path, str, bool]]:
    """Each link of each page: the page, the link, whether it leads somewhere."""
    pages = {
        page.resolve(): page.read_text()
        for page in site.rglob("*.html")
        if "_static" not in page.parts
    }
    anchors = {page: set(ANCHOR.findall(text)) for page, text in pages.items()}
    for page, text in pages.items():
        for link in sorted(set(LINK.findall(text))):
            if ELSEWHERE.match(link):
                continue
            path, anchor = urldefrag(link)
            path = unquote(path.split("?")[0])
            there = (page.parent / path).resolve() if path else page
            found = not anchor or unquote(anchor) in anchors.get(there, {unquote(anchor)})
            yield page, link, there.exists() and found


def main(site: Path) -> None:
    """Print what leads nowhere."""
    every = list(links(site))
    wrong = [f"{page}: {link}" for page, link, leads in every if not leads]
    sys.stdout.write("\n".join([*wrong, f"{len(every)} links, {len(wrong)} lead nowhere\n"]))
    sys.exit(bool(wrong or not every))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
