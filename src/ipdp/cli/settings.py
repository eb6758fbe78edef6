"""The table of settings of a run: options, TOML files and documentation are made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ipdp.log import Retention

GROUPS = ("Data", "Model", "Explanation", "Monitor", "Output")
"""Headings under which settings are shown."""


def _several(value: Any) -> Any:
    """A text with commas as a list, for the command line."""
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return value


def _pairs(value: Any) -> Any:
    """The same, with `a*b` for the pair of a and b."""
    items = _several(value)
    if not isinstance(items, list):
        return items
    return [
        [part.strip() for part in item.split("*")]
        if isinstance(item, str) and "*" in item
        else item
        for item in items
    ]


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


def _number(value: Any) -> Any:
    """A number where a text is one, for the command line."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value


Names = Annotated[list[str], BeforeValidator(_several)]
Features = Annotated[list[str | tuple[str, str]], BeforeValidator(_pairs)]
Types = Annotated[dict[str, Literal["number", "bool", "text"]], BeforeValidator(_assignments)]
Delay = Annotated[int | float | str, BeforeValidator(_number)]
Alpha = Annotated[float | None, BeforeValidator(_or_none)]
Recent = Annotated[int | None, BeforeValidator(_or_none)]


def setting(group: str, default: Any, metavar: str, text: str) -> Any:
    """One row of the table: where it is shown, its default, what it takes, what it means."""
    assert group in GROUPS
    return Field(default, description=text, json_schema_extra={"group": group, "metavar": metavar})


class RunSettings(BaseModel):
    """Everything that `ipdp run` can be told."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    data: str = setting(
        "Data",
        ...,
        "DATA",
        "A .csv, .tsv, .jsonl or .parquet file (text files also with .gz), - for standard input, "
        "kafka://host:port/topic?group=name, a data set (agrawal, california, elec2, hyperplane), "
        "or the import path of one of river's: river.datasets.synth.SEA(seed=1)",
    )
    target: str | None = setting("Data", None, "COLUMN", "The column that the model predicts")
    columns: Names | None = setting(
        "Data", None, "COLUMNS", "The columns that the model gets; all but the target by default"
    )
    drop: Names = setting("Data", [], "COLUMNS", "Columns that the model does not get")
    types: Types = setting(
        "Data",
        {},
        "COLUMN=TYPE",
        "number, bool or text for columns whose first value does not tell: zip=text",
    )
    on_error: Literal["raise", "skip"] = setting(
        "Data",
        "raise",
        "raise|skip",
        "What to do about a record that is not an observation: end, or leave it out and count it",
    )
    format: Literal["csv", "tsv", "jsonl", "parquet"] | None = setting(
        "Data",
        None,
        "csv|tsv|jsonl|parquet",
        "What the file or standard input holds, if its suffix or beginning does not tell",
    )
    delimiter: str | None = setting(
        "Data", None, "CHARACTER", "Between the fields of a CSV file; its header tells by default"
    )
    limit: int | None = setting("Data", None, "N", "End after so many observations")

    model: str = setting(
        "Model",
        ...,
        "MODEL",
        "An import path with plain arguments (river.forest.ARFClassifier(n_models=10, seed=42)), "
        "module:factory from the current directory, or a file: .skops, .onnx, .pt2, .json, .ubj, "
        ".txt, .cbm, .pkl, .joblib",
    )
    learn: bool | None = setting(
        "Model",
        None,
        "",
        "Learn each observation after it was explained; by default if the model has learn_one",
    )
    metric: str = setting(
        "Model",
        "auto",
        "METRIC",
        "Metrics of river, joined by +: Accuracy() + LogLoss(); auto takes Accuracy for a "
        "classifier and MAE for a regressor; none for none",
    )
    moment: str | None = setting(
        "Model", None, "COLUMN", "When an observation was made, for --delay in the same unit"
    )
    delay: Delay | None = setting(
        "Model",
        None,
        "N|COLUMN",
        "How long labels take to come: a number of observations, or of the unit of --moment, or "
        "the column that says it",
    )
    allow_pickle: bool = setting(
        "Model",
        False,
        "",
        "Load models from pickles and keep a learning model by pickle; a pickle can run any code "
        "when it is loaded, so allow only those that you trust",
    )
    trust: Names = setting(
        "Model", [], "TYPES", "Types that a .skops file may hold beside those that skops trusts"
    )

    features: Features | None = setting(
        "Explanation",
        None,
        "FEATURES",
        "What to explain: names with commas in between, pairs as age*salary; all by default",
    )
    alpha: Alpha = setting(
        "Explanation",
        0.001,
        "ALPHA",
        "Weight of the newest observation in (0, 1], larger forgets faster; none never forgets",
    )
    grid: str | dict[str, str] = setting(
        "Explanation",
        "Auto()",
        "GRID",
        "Where curves are evaluated, a grid of ipdp.grid: MinMax(20, window=500), Quantiles(10); "
        "in TOML also a table by feature",
    )
    estimator: Literal["pointwise", "regrid"] = setting(
        "Explanation",
        "pointwise",
        "pointwise|regrid",
        "The paper's, or the one that stays right for curved effects under virtual drift",
    )
    every: int = setting("Explanation", 1, "K", "Explain each K-th observation only")
    budget: float | None = setting(
        "Explanation",
        None,
        "SHARE",
        "Share of the time that explaining may take, such as 0.2; K then follows by itself",
    )
    seed: int = setting("Explanation", 42, "SEED", "Start of the explainer's random numbers")

    monitor: bool = setting("Monitor", True, "", "Watch the curves for changes")
    tolerance: float = setting(
        "Monitor",
        0.1,
        "SHARE",
        "Smallest change worth an alarm, as a share of the output's standard deviation",
    )
    delta: float = setting("Monitor", 0.001, "P", "Chance of a false suspicion at one look")
    webhook: str | None = setting("Monitor", None, "URL", "Where to post each change as JSON")

    out: Path = setting("Output", Path("ipdp-run"), "DIRECTORY", "The run's directory")
    snapshot_every: int = setting(
        "Output", 100, "N", "Observations between two snapshots of the curves in the log"
    )
    checkpoint_every: int | None = setting(
        "Output", None, "N", "Observations between two checkpoints; by time if not given"
    )
    durability: Literal["normal", "full"] = setting(
        "Output",
        "normal",
        "normal|full",
        "full: a power failure costs no snapshot, at the price of waiting for the disk",
    )
    retention: Recent = setting(
        "Output",
        Retention.recent,
        "N",
        "Thin out snapshots that are older than so many observations; none keeps all",
    )
    prometheus: int | None = setting(
        "Output", None, "PORT", "Serve metrics for Prometheus at this port"
    )
    prometheus_host: str = setting(
        "Output", "127.0.0.1", "HOST", "Where the metrics can be reached from; no password"
    )
