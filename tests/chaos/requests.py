"""Many pollers of the live page beside slow and silent clients: all are answered, or refused."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from ipdp.web import background

from ..web.logs import write_run

POLLERS, SILENT = 200, 100
TOKEN = "a-token-to-test-with"

# Host, header of authorisation, and the status that is right.
ASKED = [
    (None, f"Bearer {TOKEN}", 200),
    (None, "Bearer another-token", 401),
    (None, "", 401),
    ("evil.example", f"Bearer {TOKEN}", 421),
]


def poll(place: tuple[str, int], n: int, counts: Counter[str], lock: threading.Lock) -> None:
    """Ask so many times, and count the right and the wrong answers."""
    for k in range(n):
        name, token, wanted = ASKED[0] if k % 4 else ASKED[k // 4 % len(ASKED)]
        try:
            connection = http.client.HTTPConnection(*place, timeout=120)
            headers = {"Authorization": token} | ({"Host": name} if name else {})
            connection.request("GET", "/runs/loans.json", headers=headers)
            answer = connection.getresponse()
            answer.read()
            connection.close()
            outcome = "answered" if answer.status == wanted else f"failed with {answer.status}"
        except OSError as error:
            outcome = f"failed: {type(error).__name__}"
        with lock:
            counts[outcome] += 1


def campaign(n: int) -> Counter[str]:
    """So many requests by 200 pollers at once, with a hundred silent connections beside them."""
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as name:
        run = write_run(Path(name) / "loans", 300, changes=())
        with background(run, token=TOKEN) as address:
            parts = urlsplit(address)
            place = (str(parts.hostname), int(parts.port or 80))
            silent = [socket.create_connection(place) for _ in range(SILENT)]
            for k, connection in enumerate(silent):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x"[: k % 24])
            threads = [
                threading.Thread(target=poll, args=(place, max(1, n // POLLERS), counts, lock))
                for _ in range(POLLERS)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for connection in silent:
                connection.close()
    return counts


def main() -> None:
    """`python -m tests.chaos.requests N`: counts as JSON."""
    counts = campaign(int(sys.argv[1]))
    failures = {what: str(number) for what, number in counts.items() if what != "answered"}
    json.dump({"answered": counts["answered"], "failures": failures}, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
