"""`ipdp run` and `ipdp resume`."""

from __future__ import annotations

import signal
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from ipdp.cli.assembling import assembled
from ipdp.cli.errors import INTERRUPTED, say, sentence, sentences
from ipdp.cli.options import Debug, Json, Quiet, RunPath, examples
from ipdp.cli.printing import as_json as print_json
from ipdp.cli.printing import console, line
from ipdp.cli.settings import RunSettings
from ipdp.cli.signature import with_settings
from ipdp.cli.toml import SettingsError, settings_of
from ipdp.log.files import NAME as LOG
from ipdp.runs.checkpoint_schedule import NAME as CHECKPOINT
from ipdp.sources import Source

Resume = Annotated[
    bool, typer.Option("--resume", help="Go on from the checkpoint in the run's directory.")
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Open the live page while it runs; it ends with the run.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run", epilog=_EXAMPLES)(with_settings(run))
    app.command("resume", epilog=examples("ipdp resume runs/loans"))(resume)


def run(
    options: dict[str, Any],
    *,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", help="Take settings from a TOML file."),
    ] = None,
    resume: Resume = False,
    watch: Watch = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict, score, explain, learn, from a file, a pipe, a topic or a data set.

    The run's directory gets a log, which `ipdp show`, `watch` and `report` read, and a checkpoint.
    Ctrl-C ends the run after the observation in hand; a second one at once.
    """
    with sentences(debug=debug):
        settings = settings_of(options, config)
        go(settings, resume=resume, watch=watch, as_json=json_, quiet=quiet)


def resume(
    run: RunPath,
    *,
    allow_pickle: Annotated[
        bool,
        typer.Option(
            "--allow-pickle",
            help="Load the pickled model from the checkpoint; a pickle can run any code.",
        ),
    ] = False,
    trust: Annotated[
        str,
        typer.Option(
            metavar="TYPES", help="Types of the .skops file that you trust.", show_default=False
        ),
    ] = "",
    watch: Watch = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Go on with a run from its last checkpoint, with the settings that it began with."""
    with sentences(debug=debug):
        settings = settings_in(run, allow_pickle=allow_pickle, trust=trust)
        go(settings, resume=True, watch=watch, as_json=json_, quiet=quiet)


def settings_in(run: Path, *, allow_pickle: bool = False, trust: str = "") -> RunSettings:
    """The settings that a run began with, from its log.

    What lets code run is not taken from there: a log may come from someone else.
    """
    from ipdp.log import LogReader

    with LogReader(run) as reader:
        kept, directory = reader.settings.get("command"), reader.path.parent
    if not isinstance(kept, dict):
        raise SettingsError(f"{run} was not made by `ipdp run`: it cannot be resumed from here")
    if kept.get("allow_pickle") and not allow_pickle:
        raise SettingsError(
            f"{run} was made with --allow-pickle, and a pickle can run any code when it is loaded; "
            f"if you trust it: ipdp resume {run} --allow-pickle"
        )
    own = {"out": str(directory), "allow_pickle": allow_pickle, "trust": trust}
    return settings_of({**kept, **own})


def go(
    settings: RunSettings, *, resume: bool, watch: bool = False, as_json: bool, quiet: bool
) -> None:
    """Run, tell what happens, and leave with the exit code that belongs to it."""
    from ipdp.runs import Exporter, ProgressBar, stop_on_signals
    from ipdp.runs.summary import summary

    started = perf_counter()
    errors = console(stderr=True)
    with _at_once(settings, quiet), _warnings(quiet), ExitStack() as stack:
        loop, source = stack.enter_context(assembled(settings, resume=resume))
        listeners: list[Any] = []
        if settings.prometheus is not None:
            listeners.append(Exporter(stack.enter_context(_metrics(settings, quiet))))
        if not (quiet or as_json):
            listeners += [stack.enter_context(ProgressBar(errors)), _Teller(errors)]
        if watch:
            stack.enter_context(_page(settings, quiet))
        stack.enter_context(stop_on_signals(loop))
        received = stack.enter_context(_noted())
        for event in stack.enter_context(closing(loop.events())):
            for listener in listeners:
                listener(event)
    came = summary(loop, perf_counter() - started)
    if came.state == "ended" and not came.n:
        raise ValueError(_nothing(source))
    if as_json:
        print_json({**came.to_dict(), "out": str(settings.out)})
    elif not quiet:
        _report(settings, came)
    if came.state == "stopped":
        if not quiet:
            say(f"Stopped with a checkpoint. To go on: ipdp resume {settings.out}")
        raise typer.Exit(received[0] + 128 if received else INTERRUPTED)


@contextmanager
def _at_once(settings: RunSettings, quiet: bool) -> Iterator[None]:
    """At a second Ctrl-C say where the run can be taken up again."""
    try:
        yield
    except KeyboardInterrupt:
        if not quiet and (settings.out / CHECKPOINT).exists():
            say(f"Stopped at once. To go on from the last checkpoint: ipdp resume {settings.out}")
            raise typer.Exit(INTERRUPTED) from None
        raise


@contextmanager
def _warnings(quiet: bool) -> Iterator[None]:
    """Say what is warned of in one line each, without the place in the code."""

    def told(message: Warning | str, *_: Any, **__: Any) -> None:
        if not quiet:
            say(f"ipdp: {sentence(Warning(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = told
        yield


def _nothing(source: Source) -> str:
    if not source.n_skipped:
        return f"{source.name} holds no observations"
    last = source.errors[-1]
    return f"{source.name} holds no observations: {source.n_skipped:,} skipped, the last: {last}"


@contextmanager
def _noted() -> Iterator[list[int]]:
    """Note the signals that come, for the exit code; whoever handles them still does."""
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def noting(number: int, frame: Any) -> None:
        received.append(number)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in before:
        signal.signal(number, noting)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _metrics(settings: RunSettings, quiet: bool) -> Iterator[Any]:
    from ipdp.runs.prometheus import MetricsServer

    assert settings.prometheus is not None
    with MetricsServer(settings.prometheus, host=settings.prometheus_host) as server:
        if not quiet:
            say(f"Metrics for Prometheus: {server.url}")
        yield server.metrics


@contextmanager
def _page(settings: RunSettings, quiet: bool) -> Iterator[None]:
    """The live page, beside the run."""
    from ipdp.web import background

    with background(settings.out) as address:
        if not quiet:
            say(f"The live page: {address}")
        webbrowser.open(address)
        yield


class _Teller:
    """Prints changes and skipped records as they come, above the progress bar."""

    def __init__(self, errors: Any) -> None:
        self._errors = errors

    def __call__(self, event: Any) -> None:
        from ipdp.runs import Changed, Skipped

        if isinstance(event, Changed):
            line(self._errors, f"{event.n:>9,}  {event.change.summary()}")
        elif isinstance(event, Skipped) and event.count == 1:
            line(self._errors, f"Skipped: {event.last} (further ones are counted)")


def _report(settings: RunSettings, came: Any) -> None:
    """Say in a few lines what came of it."""
    from ipdp.log import LogReader

    out = console()
    with LogReader(settings.out / LOG) as reader:
        n_changes = len(reader.changes())  # those before a resume included
    scores = "".join(f", {name} {value:.4g}" for name, value in came.scores.items())
    share = came.explain_seconds / came.seconds if came.seconds else 0.0
    line(
        out,
        f"{came.n:,} observations in {came.seconds:.1f} s, {share:.0%} of it explaining"
        f"{scores}, {n_changes} change{'s' * (n_changes != 1)}.",
    )
    if came.n_skipped:
        line(out, f"{came.n_skipped:,} record{'s were' if came.n_skipped > 1 else ' was'} skipped.")
    if came.state == "ended":
        line(out, f"Look at it: ipdp show {settings.out}, ipdp watch {settings.out}")


_EXAMPLES = examples(
    'ipdp run --data elec2 --model "river.forest.ARFClassifier(n_models=10, seed=42)"',
    "ipdp run --data loans.csv --target granted --model models:make --features age,age*salary",
    "ipdp run --data 'kafka://localhost:9092/loans?group=ipdp' --model m.skops --prometheus 9105",
    "ipdp run --config loans.toml --budget 0.2",
)
