"""What `ipdp demo` does from start to end."""

from __future__ import annotations

import contextlib
import threading
import webbrowser
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ipdp.demo.picture import picture, save
from ipdp.demo.record import FEATURES, Record, run
from ipdp.log import Log, LogReader

if TYPE_CHECKING:
    from rich.console import Console

N, N_QUICK, N_LEAST = 15_000, 3_000, 300
"""Observations by default, of a quick one, and at least."""


def demonstrate(out: Path, n: int = N, *, watch: bool = False, quiet: bool = False) -> Record:
    """Run the demo, and leave log, report and picture in a directory.

    Parameters
    ----------
    out
        The directory; made if it is not there. The files of an earlier demo are replaced.
    n
        Number of observations.
    watch
        Whether to open the live page, which stays until Ctrl-C.
    quiet
        Whether to print nothing.
    """
    if n < N_LEAST:
        raise ValueError(f"the demo needs at least {N_LEAST} observations, got {n}")
    _must_be_there("matplotlib", "plotly")  # should one be missing: now, not after the run
    from ipdp.web import write_report

    say = _printer(quiet)
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(_log(out))
        real, virtual = Record(n).drifts
        drifts = f"the rule changes after {real:,}, salaries rise after {virtual:,}"
        say(f"{n:,} loan decisions: {drifts}.")
        if watch:
            say(f"Watch it at {stack.enter_context(_page(out))}")
        record = _run(n, log, quiet)
        save(picture(record), out / "demo.png")
        write_report(log, out / "report.html")
        _report(record, out, say)
        if watch:
            say("The page stays until Ctrl-C.")
            _wait()
    return record


@contextlib.contextmanager
def _log(out: Path) -> Iterator[Log]:
    """The log of the demo, empty again if it is that of an earlier one."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "log.db"
    is_there = path.exists()
    if is_there:
        with LogReader(path) as reader:
            if reader.status.state != "empty" and not reader.settings.get("demo"):
                raise ValueError(f"{out} holds another run: choose another directory (--out)")
    with Log(path) as log:
        if is_there:
            log.rewind(0)
        yield log


@contextlib.contextmanager
def _page(out: Path) -> Iterator[str]:
    from ipdp.web import background

    with background(out) as address:
        webbrowser.open(address)
        yield address


def _wait() -> None:
    threading.Event().wait()  # until Ctrl-C


def _run(n: int, log: Log, quiet: bool) -> Record:
    if quiet:
        return run(n, log=log)
    from ipdp.runs import ProgressBar

    with ProgressBar(_console()) as bar:
        return run(n, log=log, listeners=[bar])


def _report(record: Record, out: Path, say: Callable[[str], None]) -> None:
    """Print in a few lines what happened."""
    points = sum(len(record.curves[-1][name].grid_values[0]) for name in FEATURES)
    before, _, learnt, last = (record.salary(t).importance[0] for t in record.moments)
    say(
        f"Explained {len(FEATURES)} features at {points} points for every second observation: "
        f"{record.seconds:.0f} s with learning, {record.n / record.seconds:,.0f} observations/s."
    )
    say(
        f"Importance of salary: {before:.2f} before the rule changed, {learnt:.2f} before "
        f"salaries rose, {last:.2f} at the end."
    )
    for change in record.changes:
        say(f"At {change.t:,.0f}: {change.summary()}")
    say(f"The picture is {out / 'demo.png'}, the report {out / 'report.html'}")
    say(f"The live page: ipdp watch {out}")


def _must_be_there(*names: str) -> None:
    for name in names:
        try:
            import_module(name)
        except ImportError:
            raise ImportError(f"the demo needs {name}: pip install 'ipdp[all]'") from None


def _printer(quiet: bool) -> Callable[[str], None]:
    if quiet:
        return lambda _line: None
    console = _console()
    return lambda line: console.print(line, soft_wrap=True, markup=False, highlight=False)


def _console() -> Console:
    from rich.console import Console

    return Console()
