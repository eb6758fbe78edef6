"""Damaged states, with checksums made right again: refused in a sentence, or they work."""

from __future__ import annotations

import json
import logging
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from typing import Any

import numpy as np
import pandas  # noqa: F401  # once, and not in each process that shows curves as a table

from .mutations import Damage, flipped
from .subjects import SUBJECTS, Refused, Subject, quiet

MEMORY = 200 * 2**20
"""Bytes that reading and using a damaged state may take."""

_SECONDS = 5.0  # of the processor, for one


CASES = {
    **{"curve": 2_000, "change": 1_500, "pair": 1_500, "importance": 1_000, "pfi": 1_000},
    **{"baseline": 600, "ale": 400, "ranges": 300, "pointwise": 300, "pdp": 300, "link": 100},
    **{"sampled": 100},
    **{"challenger": 200, "regions": 200, "monitor": 200, "run": 150, "segments": 150},
}
"""How often each is damaged in one go: 10,000 in all, in about the same time."""


class TooSlow(BaseException):
    """A damaged state was used for too long."""


def bounded() -> None:
    """Let this process have no more than `MEMORY` from now on, and no case go on for ever."""
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))

    def ring(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGVTALRM, ring)


def attack(subject: Subject, damage: Damage, seed: int) -> str:
    """One case: "refused", "works", or what went wrong."""
    rng = random.Random(seed)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        if rng.random() < 0.25:
            subject.read(subject.repair(flipped(rng, subject.data)))
        else:
            damage.do(rng, rng.choice([1, 1, 1, 2, 3]))
            subject.use(damage.tree)
    except Refused:
        return "refused"
    except (Exception, TooSlow) as error:
        return _told(error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        damage.undo()
    return "works"


def _told(error: BaseException) -> str:
    own = [f for f in traceback.extract_tb(error.__traceback__) if "/ipdp/" in f.filename]
    where = own[-1] if own else traceback.extract_tb(error.__traceback__)[-1]
    place = f"{where.filename.rpartition('/ipdp/')[2]}:{where.lineno}"
    return f"{type(error).__name__} at {place}: {str(error)[:150]}"


def campaign(name: str, seeds: range) -> tuple[Counter[str], dict[str, int]]:
    """Cases of one subject: how many were refused or work, and for each failure a seed."""
    quiet()
    logging.disable(logging.CRITICAL)
    np.seterr(all="ignore")
    subject = SUBJECTS[name]()
    damage = Damage(subject.state)
    subject.use(damage.tree)
    subject.read(subject.repair(subject.data))
    counts: Counter[str] = Counter()
    failures: dict[str, int] = {}
    bounded()
    for seed in seeds:
        outcome = attack(subject, damage, seed)
        if outcome in ("refused", "works"):
            counts[outcome] += 1
        else:
            counts["failed"] += 1
            failures.setdefault(outcome, seed)
    return counts, failures


def apart(name: str, seeds: range) -> None:
    """A campaign in a process of its own, which is bounded and may crash; writes a line of JSON."""
    number = os.fork()
    if not number:
        started = time.process_time()
        counts, failures = campaign(name, seeds)
        seconds = round(time.process_time() - started, 2)
        _write({"name": name, **counts, "failures": failures, "seconds": seconds})
        os._exit(0)
    _, status = os.waitpid(number, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        _write({"name": name, "failed": 1, "failures": {f"{name}: exit code {code}": seeds.start}})


def _write(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def main() -> None:
    """`python -m tests.chaos.states FIRST NAME=N ...`: a campaign of so many cases for each."""
    first = int(sys.argv[1])
    for word in sys.argv[2:]:
        name, _, n = word.partition("=")
        apart(name, range(first, first + int(n)))


if __name__ == "__main__":
    main()
