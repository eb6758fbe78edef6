"""`RunConfig`: the one table of a run's settings, for Python, TOML files and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ipdp.core.hosts import problem_of_url
from ipdp.core.redaction import without_secrets
from ipdp.monitor.change import Kind
from ipdp.monitor.data.move import Aspect
from ipdp.runs.fitting import Encode
from ipdp.runs.loop import Run
from ipdp.runs.toml import read, read_toml
from ipdp.sources.open import addresses, formats

if TYPE_CHECKING:
    from ipdp.comparison import Baseline

GROUPS = ("Data", "Model", "Explanation", "Monitor", "Output")
"""Headings under which settings are shown."""


def _several(value: Any) -> Any:
    """A text with commas as a list, for the command line."""
    return [item for item in value.split(",") if item.strip()] if isinstance(value, str) else value


def _pair(value: Any) -> Any:
    """`a*b` as the pair of a and b."""
    return value.split("*") if isinstance(value, str) and "*" in value else value


def _assignments(value: Any) -> Any:
    """`a=text,b=number` as a dict."""
    if not isinstance(value, str):
        return value
    items = [item.partition("=") for item in _several(value)]
    for name, equals, kind in items:
        if not (name and equals and kind):
            raise ValueError("must be written column=type, with commas in between")
    return {name.strip(): kind.strip() for name, _, kind in items}


def _or_none(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() == "none" else value


def _format(value: str) -> str:
    if value not in formats():
        raise ValueError(f"must be one of {', '.join(formats())}")
    return value


def _address(value: str) -> str:
    if (problem := problem_of_url(value)) is not None:
        raise ValueError(problem)
    return value


def _page(value: str) -> str:
    """An address that may be read by all who get the text: it is posted as it is."""
    parts = urlsplit(_address(value))
    if parts.username or parts.password or "token" in parts.query.lower():
        raise ValueError("must hold no password and no token: whoever reads the text would have it")
    return value


Names = Annotated[list[str], BeforeValidator(_several)]
Feature = Annotated[str | tuple[str, str], BeforeValidator(_pair)]
Features = Annotated[list[Feature], BeforeValidator(_several)]
Types = Annotated[dict[str, Literal["number", "bool", "text"]], BeforeValidator(_assignments)]
Delay = Annotated[int | float | str, Field(union_mode="left_to_right")]  # a text may be a number
Alpha = Annotated[float | None, BeforeValidator(_or_none)]
Recent = Annotated[int | None, BeforeValidator(_or_none)]
PageUrl = Annotated[Annotated[str, AfterValidator(_page)] | None, BeforeValidator(_or_none)]
Webhook = Annotated[Annotated[str, AfterValidator(_address)] | None, BeforeValidator(_or_none)]
Reported = Annotated[list[Literal[Kind, Aspect]], BeforeValidator(_several)]
Format = Annotated[str, AfterValidator(_format)]


def _setting(group: str, default: Any, metavar: str, text: str) -> Any:
    """One row of the table: where it is shown, its default, what it takes, what it means."""
    return Field(default, description=text, json_schema_extra={"group": group, "metavar": metavar})


_data, _model, _explanation, _monitor, _output = (partial(_setting, group) for group in GROUPS)


class RunConfig(BaseModel):
    """Every setting of a run; `ipdp run --help` says what each of them means.

    Parameters
    ----------
    data
        Where observations come from: a file, "-", an address, or a data set.
    model
        An import path with plain arguments, `module:factory`, or a file.
    **settings
        All others, by the names of the options of `ipdp run` with underscores.

    Examples
    --------
    >>> import tempfile
    >>> from ipdp.runs import RunConfig
    >>> config = RunConfig(
    ...     data="agrawal?n_samples=300",
    ...     model="river.tree.HoeffdingTreeClassifier()",
    ...     features=["age", ("age", "salary")],
    ...     out=tempfile.mkdtemp(),
    ... )
    >>> with config.assemble() as run:
    ...     for event in run:
    ...         pass
    >>> run.state, run.n
    ('ended', 300)
    """

    # Errors of pydantic quote what was given, addresses with passwords too.
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, hide_input_in_errors=True)

    data: str = _data(
        ...,
        "DATA",
        f"A file (.{', .'.join(formats())}; text files also with .gz), - for standard input, "
        f"{', '.join(addresses())}, a data set (agrawal, california, elec2, hyperplane), "
        "or the import path of one of river's: river.datasets.synth.SEA(seed=1)",
    )
    target: str | None = _data(None, "COLUMN", "The column that the model predicts")
    time: str | None = _data(
        None,
        "COLUMN",
        "The column with the time of an observation, as date and time or in seconds since 1970: it "
        "is on every axis and in every sentence, and the model does not get it",
    )
    columns: Names | None = _data(
        None, "COLUMNS", "The columns that the model gets; all but the target by default"
    )
    drop: Names = _data([], "COLUMNS", "Columns that the model does not get")
    types: Types = _data(
        {},
        "COLUMN=TYPE",
        "The type of a column whose first value is misleading, number, bool or text: zip=text",
    )
    on_error: Literal["raise", "skip"] = _data(
        "raise",
        "raise|skip",
        "An invalid record ends the run (raise), or is left out and counted (skip)",
    )
    format: Format | None = _data(
        None,
        "|".join(formats()),
        "Format of the file or of standard input; by default from its suffix or first character",
    )
    delimiter: str | None = _data(
        None, "CHARACTER", "Between the fields of a CSV file; by default from its header"
    )
    header: bool = _data(
        True, "", "The first line of a CSV file names the columns; else they are column_1 and so on"
    )
    decimal: Literal["auto", ".", ","] = _data(
        "auto",
        "auto|.|,",
        "What stands before the decimals of numbers in a CSV file; auto takes a comma for it, too, "
        "where commas do not separate the fields",
    )
    limit: int | None = _data(None, "N", "End after this many observations")

    model: str = _model(
        ...,
        "MODEL",
        "An import path with plain arguments (river.forest.ARFClassifier(n_models=10, seed=42)), "
        "module:factory from the current directory, or a file: .skops, .onnx, .pt2, .json, .ubj, "
        ".txt, .cbm, .pkl, .joblib",
    )
    challenger: str | None = _model(
        None,
        "MODEL",
        "Another model, asked about the same rows; at the end it is said how its curves differ",
    )
    encode: Encode = _model(
        "auto",
        "auto|onehot|ordinal|none",
        "How text columns are encoded in front of a model of river; auto leaves them to a model "
        "that takes text, as trees do, and else encodes them one-hot",
    )
    learn: bool | None = _model(
        None,
        "",
        "Learn each observation after it was explained; by default if the model has learn_one",
    )
    metric: str = _model(
        "auto",
        "METRIC",
        "Metrics of river, joined by +: Accuracy() + LogLoss(); auto takes Accuracy for a "
        "classifier and MAE for a regressor, of all and of the last 1000 observations; none for "
        "none",
    )
    moment: str | None = _model(
        None, "COLUMN", "The column with the time of an observation, in the unit of --delay"
    )
    delay: Delay | None = _model(
        None,
        "N|COLUMN",
        "How much later labels come: a number of observations, or of the units of --moment, or the "
        "column that holds it",
    )
    allow_pickle: bool = _model(
        False,
        "",
        "Load models from pickles and keep a learning model by pickle; a pickle can run any code "
        "when it is loaded, so allow only those that you trust",
    )
    trust: Names = _model(
        [], "TYPES", "Types that a .skops file may hold beside those that skops trusts"
    )

    explainers: Names = _explanation(
        ["pdp"],
        "EXPLAINERS",
        "What to compute, with commas: pdp (curves), regions (curves, and where effects differ), "
        "ale (accumulated local effects), pfi (permutation importance)",
    )
    loss: str = _explanation(
        "auto",
        "METRIC",
        "What a permutation makes worse, for pfi: a metric of river that is a mean over "
        "observations; auto takes Accuracy for a classifier and MAE for a regressor",
    )
    features: Features | None = _explanation(
        None,
        "FEATURES",
        "What to explain: names with commas in between, pairs as age*salary; all by default",
    )
    alpha: Alpha = _explanation(
        0.001,
        "ALPHA",
        "Weight of the newest observation in (0, 1], larger forgets faster; none never forgets",
    )
    grid: str | dict[str, str] = _explanation(
        "Auto()",
        "GRID",
        "Where curves are evaluated, a grid of ipdp.grid: MinMax(20, window=500), Quantiles(10); "
        "in TOML also a table by feature",
    )
    estimator: Literal["pointwise", "regrid"] = _explanation(
        "regrid",
        "pointwise|regrid",
        "The paper's estimator, or the one that stays right for curved effects under virtual drift",
    )
    by: str | None = _explanation(
        None,
        "COLUMN",
        "A column of groups: a curve for each of its values too, from the same predictions",
    )
    n_groups: int = _explanation(
        20, "N", "Number of groups that are followed, the most frequent ones; the rest is others"
    )
    interactions: int | None = _explanation(
        None,
        "N",
        "Observations between two searches for the pairs of features that do most together, for a "
        "heat map on page and report; a multiple of --snapshot-every if that is given",
    )
    link: Literal["logit", "log"] | None = _explanation(
        None,
        "logit|log",
        "The scale of the curves: log-odds of probabilities, on which the effect on a rare event "
        "can be seen, or logarithms",
    )
    every: int = _explanation(1, "K", "Every K-th observation is explained; this is K")
    max_features: int | None = _explanation(
        None, "N", "Features that an observation is asked about at most, drawn at random; for pdp"
    )
    budget: float | None = _explanation(
        None, "SHARE", "Share of the time that explaining may take, such as 0.2; K is then adapted"
    )
    seed: int = _explanation(42, "SEED", "Seed of the explainers' random numbers")

    monitor: bool = _monitor(True, "", "Watch the curves for changes")
    tolerance: float = _monitor(
        0.1, "SHARE", "Smallest change to report, as a share of the output's standard deviation"
    )
    delta: float = _monitor(0.001, "P", "Probability of a false suspicion at one test")
    kind: Reported | None = _monitor(
        None,
        "KINDS",
        "Only these changes: real, virtual, both, or level, width, unit, stuck, missing, shares, "
        "grows of the data; all by default",
    )
    period: float | None = _monitor(
        None, "LENGTH", "Season of the data on their clock: smaller moves are found with it"
    )
    false_alarms_per: float = _monitor(
        1e6, "N", "Observations in which one false alarm about the data is allowed"
    )
    webhook: Webhook = _monitor(
        None, "URL", "Where to post each change as JSON; the log does not keep the address"
    )
    page_url: PageUrl = _monitor(
        None,
        "URL",
        "The address of the live page, for the text that is posted; without a password or token",
    )

    out: Path = _output(Path("ipdp-run"), "DIRECTORY", "The run's directory")
    snapshot_every: int | None = _output(
        None,
        "N",
        "Observations between two snapshots of the curves in the log; by default 100, and after "
        "5,000 observations a quarter of the memory of the curves: 250 with the default --alpha",
    )
    checkpoint_every: int | None = _output(
        None, "N", "Observations between two checkpoints; by default they are written by time"
    )
    durability: Literal["normal", "full"] = _output(
        "normal",
        "normal|full",
        "full waits for the disk, so that a power failure loses no snapshot",
    )
    retention: Recent = _output(
        100_000, "N", "Thin out snapshots older than this many observations; none keeps all"
    )
    prometheus: int | None = _output(None, "PORT", "Serve metrics for Prometheus at this port")
    prometheus_host: str = _output(
        "127.0.0.1", "HOST", "Address that the metrics are served at; there is no password"
    )

    @classmethod
    def from_toml(cls, path: str | Path, **given: Any) -> Self:
        """The settings in a TOML file; a `ConfigError` names the line that is wrong.

        Parameters
        ----------
        path
            The file.
        **given
            Settings that win over those in the file.
        """
        return read(cls, given, Path(path))

    @classmethod
    def from_run(
        cls,
        run: str | Path,
        *,
        file: str | Path | None = None,
        trust_run: bool = False,
        **given: Any,
    ) -> Self:
        """The settings with which to resume a run, from its log.

        A log may come from someone else. So it does not say what may be loaded by pickle or where
        changes are posted; and what would run code that is neither ipdp's nor one of the known
        libraries' (`module:factory`, for one) must be given again, or be allowed by `trust_run`.
        So must a model in a file that a compiled library reads, which a crafted one crashes.

        Parameters
        ----------
        run
            The run's directory, or its log.
        file
            A TOML file whose settings win over those of the log.
        trust_run
            Whether code that the log names may be run, and such a file loaded.
        **given
            Settings that win over both.
        """
        from ipdp.runs.trust import kept, must_be_complete, must_be_safe

        own = {**({} if file is None else read_toml(Path(file))[1]), **given}
        out, known = kept(run, own)
        config = read(cls, {**given, "out": out}, None if file is None else Path(file), known)
        if "data" not in own:
            must_be_complete(config)
        if not trust_run:
            must_be_safe(config, known, run)
        return config

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, without_secrets(value, name or "")

    def assemble(
        self, *, resume: bool = False, overwrite: bool = False, baseline: Baseline | None = None
    ) -> AbstractContextManager[Run]:
        """The run that these settings describe, ready to start; source and log close at the end.

        Parameters
        ----------
        resume
            Whether to go on from the checkpoint in the run's directory.
        overwrite
            Whether a run that is in the directory may be lost.
        baseline
            What the run is to be compared with; one of other features is refused at once.
        """
        from ipdp.runs.assemble import assemble

        return assemble(self, resume=resume, overwrite=overwrite, baseline=baseline)
