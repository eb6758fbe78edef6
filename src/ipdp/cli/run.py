"""`ipdp run` and `ipdp resume`."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipdp.cli.errors import INTERRUPTED, say, sentences, warned
from ipdp.cli.options import Config, Debug, Json, Quiet, RunPath, examples, flag, with_settings
from ipdp.cli.printing import as_json, console, line
from ipdp.cli.reporter import Reporter
from ipdp.cli.trust import trust_again
from ipdp.core.words import percent

if TYPE_CHECKING:
    from rich.console import Console

    from ipdp.runs import RunConfig

Resume = Annotated[bool, flag("--resume", help="Go on from the checkpoint in the run's directory.")]
Report = Annotated[
    bool, flag("--report", help="Write a report at the end: report.html in the directory.")
]
Watch = Annotated[
    bool,
    flag("--watch", help="Open the live page while it runs; it stays until Ctrl-C."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run", cls=with_settings(), epilog=_EXAMPLES)(run)
    own = with_settings("model", "data", "webhook", "page_url", "allow_pickle", "trust")
    used = examples("ipdp resume runs/loans", "ipdp resume runs/loans --model models:make")
    app.command("resume", cls=own, epilog=used)(resume)


def run(
    context: typer.Context,
    *,
    config: Config = None,
    resume: Resume = False,
    overwrite: Annotated[
        bool,
        flag("--overwrite", help="Begin anew in a directory that holds a run, which is lost."),
    ] = False,
    dry_run: Annotated[
        bool,
        flag("--dry-run", help="Say what is understood of data and model; nothing is written."),
    ] = False,
    report: Report = False,
    watch: Watch = False,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Say how the run differs from a file of 'ipdp baseline'."
        ),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict, score, explain, learn, from a file, a pipe, a topic or a data set.

    The run's directory gets a log, which 'ipdp show' and others read, and a checkpoint.

    Ctrl-C ends the run after the current observation; a second one at once.
    """
    from ipdp.runs.config import RunConfig
    from ipdp.runs.toml import read

    with sentences(debug=debug):
        settings = read(RunConfig, context.obj, config)
        if dry_run:
            _look(settings, json_=json_)
            return
        if resume and overwrite:
            raise ValueError("give --resume or --overwrite, not both")
        against = None if baseline is None else _against(baseline, quiet=quiet or json_)
        how = {"resume": resume, "overwrite": overwrite}
        more: dict[str, Any] = {"watch": watch, "json_": json_, "quiet": quiet, "report": report}
        with trust_again():
            _go(settings, config, how, against=against, **more)


def _against(path: Path, *, quiet: bool) -> Any:
    """What compares the run with a baseline, and says so above the progress bar."""
    from ipdp.comparison import Against, Baseline

    errors = console(stderr=True)
    return Against(Baseline.load(path), None if quiet else lambda text: line(errors, text))


def resume(
    context: typer.Context,
    run: RunPath,
    *,
    config: Config = None,
    trust_run: Annotated[
        bool,
        flag("--trust-run", help="Run code, load files and connect to topics that the log names."),
    ] = False,
    report: Report = False,
    watch: Watch = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Go on with a run from its last checkpoint, with the settings that it began with.

    Code that the log names is run only if it is ipdp's or that of a known library.

    So name a model of your own again, with --model or in a file, or give --trust-run.

    So with a file of XGBoost, LightGBM, CatBoost or ONNX, which can be made to crash.

    So with the address of a topic: --data, or --trust-run.
    """
    from ipdp.runs import RunConfig

    with sentences(debug=debug):
        settings = RunConfig.from_run(run, file=config, trust_run=trust_run, **context.obj)
        with trust_again():
            more: dict[str, Any] = {"watch": watch, "json_": json_, "quiet": quiet}
            _go(settings, config, {"resume": True}, report=report, **more)


def _look(settings: RunConfig, *, json_: bool) -> None:
    """Print what is understood of data and model."""
    from ipdp.runs.assemble import look

    said = look(settings)
    if json_:
        as_json({"understood": said})
    else:
        for text in said or ["There is no row yet, so nothing is known of the data."]:
            line(console(), text)
        line(console(), "Nothing was written: without --dry-run the run begins.")


def _go(
    settings: RunConfig,
    file: Path | None,
    how: dict[str, bool],
    *,
    watch: bool,
    json_: bool,
    quiet: bool,
    report: bool = False,
    against: Any = None,
) -> None:
    """Run, print what happens, and exit with the code that belongs to it."""
    from ipdp.runs.trust import needed
    from ipdp.sources import without_secrets

    own = [f"--config {file}"] if file is not None else needed(settings)
    again = " ".join(["ipdp resume", str(settings.out), *own])
    reporter = Reporter(None if quiet or json_ else console(stderr=True), against)
    with ExitStack() as pages:
        with _at_once(settings, again, quiet), warned(reporter.not_said_yet, quiet=quiet):
            came, received = _through(settings, how, reporter, pages if watch else None, quiet)
        if came.state == "ended" and not came.n:
            data = without_secrets(settings.data)
            raise ValueError(f"{data} holds no observations{reporter.skipped}")
        compared = getattr(against, "comparison", None)
        _print_outcome(settings, came, compared, json_=json_, quiet=quiet)
        reporter.end(came)
        if report:
            _write_report(settings, quiet=quiet or json_)
        if came.state == "stopped":
            if not quiet:
                say(f"Stopped with a checkpoint. To go on: {again}")
            raise typer.Exit(received[0] + 128 if received else INTERRUPTED)
        if watch:
            _stay(quiet)


def _through(
    settings: RunConfig,
    how: dict[str, bool],
    reporter: Reporter,
    pages: ExitStack | None,
    quiet: bool,
) -> tuple[Any, list[int]]:
    """Go through the run; what came of it, and the signals that were received.

    The live page is entered into `pages`, which may last longer.
    """
    from ipdp.runs import stop_on_signals
    from ipdp.runs.summary import summary

    started = perf_counter()
    with ExitStack() as stack:
        baseline = getattr(reporter.against, "baseline", None)
        loop = stack.enter_context(settings.assemble(**how, baseline=baseline))
        reporter.loop = loop
        listeners = [reporter, *_listeners(settings, reporter.errors, stack, quiet=quiet)]
        listeners += [] if reporter.against is None else [reporter.against]
        if pages is not None:
            pages.enter_context(_page(settings, quiet))
        received = stack.enter_context(stop_on_signals(loop))
        for event in stack.enter_context(closing(loop.events())):
            for listener in listeners:
                listener(event)
        return summary(loop, perf_counter() - started), received


def _print_outcome(
    settings: RunConfig, came: Any, compared: Any, *, json_: bool, quiet: bool
) -> None:
    """Print what came of a run, and of comparing it."""
    if json_:
        more = {} if compared is None else {"baseline": compared.to_dict()}
        as_json({**came.to_dict(), "out": str(settings.out), **more})
        sys.stdout.flush()
    elif not quiet:
        _report(settings, came)
        found = [] if compared is None else [compared]
        for comparison in [*found, *came.challengers.values()]:
            for text in comparison.summary().splitlines():
                line(console(), text)


def _write_report(settings: RunConfig, *, quiet: bool) -> None:
    from ipdp.log import LogReader
    from ipdp.web import write_report

    path = settings.out / "report.html"
    with LogReader(settings.out) as reader:
        write_report(reader, path)
    if not quiet:
        line(console(), f"The report: {path}")


def _stay(quiet: bool) -> None:
    """Leave the page open after the run."""
    from ipdp.runs.terminal import wait_for_signal

    def ready() -> None:
        if not quiet:
            say("The run is over; the page stays until Ctrl-C.")

    wait_for_signal(ready)


def _listeners(
    settings: RunConfig, errors: Console | None, stack: ExitStack, *, quiet: bool
) -> Iterator[Any]:
    """The metrics of Prometheus and the progress bar, if they are wanted."""
    from ipdp.runs import ProgressBar
    from ipdp.runs.prometheus import MetricsServer

    if settings.prometheus is not None:
        server = MetricsServer(settings.prometheus, host=settings.prometheus_host)
        stack.enter_context(server)
        if not quiet:
            say(f"Metrics for Prometheus: {server.url}")
        yield server.metrics
    if errors is not None:
        yield stack.enter_context(ProgressBar(errors))


@contextmanager
def _at_once(settings: RunConfig, again: str, quiet: bool) -> Iterator[None]:
    """At a second Ctrl-C say how the run can be resumed."""
    from ipdp.runs.checkpointing import NAME as CHECKPOINT

    try:
        yield
    except KeyboardInterrupt:
        if not quiet and (settings.out / CHECKPOINT).exists():
            say(f"Stopped at once. To go on from the last checkpoint: {again}")
            raise typer.Exit(INTERRUPTED) from None
        raise


@contextmanager
def _page(settings: RunConfig, quiet: bool) -> Iterator[None]:
    """The live page, beside the run."""
    from ipdp.web import background

    with background(settings.out) as address:
        if not quiet:
            say(f"The live page: {address}")
        webbrowser.open(address)
        yield


def _report(settings: RunConfig, came: Any) -> None:
    """Print the outcome in a few lines."""
    from ipdp.log import LogReader
    from ipdp.log.files import NAME as LOG
    from ipdp.runs.metrics import scores_text

    out = console()
    with LogReader(settings.out / LOG) as reader:
        n_changes = len(reader.changes())  # those before a resume included
    scores = "".join(f", {text}" for text in scores_text(came.scores))
    share = came.explain_seconds / came.seconds if came.seconds else 0.0
    took = f"{came.n:,} observations in {came.seconds:.1f} s, {percent(share)} of it explaining"
    line(out, f"{took}{scores}, {n_changes} change{'s' * (n_changes != 1)}.")
    if came.n_skipped:
        line(out, f"{came.n_skipped:,} record{'s were' if came.n_skipped > 1 else ' was'} skipped.")
    if came.state == "ended":
        where = shlex.quote(str(settings.out))
        line(out, f"Look at it: ipdp show {where}, ipdp watch {where}, ipdp report {where}")


_EXAMPLES = examples(
    'ipdp run --data elec2 --model "river.forest.ARFClassifier(n_models=10, seed=42)"',
    "ipdp run --data loans.csv --target granted --model models:make --features age,age*salary",
    "ipdp run --data 'kafka://localhost:9092/loans?group=ipdp' --model m.skops --prometheus 9105",
    "ipdp run --config loans.toml --budget 0.2",
)
