"""The page in a process of its own: `python -m ipdp.web RUN`."""

from __future__ import annotations

import argparse
import os
import sys
import threading

from ipdp.web.server import PORT, serve


def main() -> int:
    """Serve until interrupted, or until the program that started it is gone."""
    parser = argparse.ArgumentParser(
        prog="python -m ipdp.web",
        description="Serve the live page of a run; a token is taken from IPDP_TOKEN.",
    )
    parser.add_argument("run", help="a run's directory, its log, or a directory of runs")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--with-parent", action="store_true", help="end when stdin is closed")
    given = parser.parse_args()
    if given.with_parent:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    token = os.environ.get("IPDP_TOKEN") or None
    try:
        serve(given.run, given.host, given.port, token, ready=_say)
    except (ImportError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _say(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    sys.stdin.read()  # ends when the parent, however it ends, lets go of the pipe
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
