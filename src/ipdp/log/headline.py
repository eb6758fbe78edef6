"""What a run has come to, in a few sentences: is it good, what changed, what does it believe.

The page, the report, the list of runs and `ipdp show` say the same, because they say this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ipdp.core.curve import Curve, feature_text
from ipdp.core.importance import Result
from ipdp.core.parts import parts_among
from ipdp.core.redaction import short_paths
from ipdp.core.times import moment
from ipdp.core.typing import Array, FloatArray
from ipdp.core.words import counted, day_text, few_digits, listed, percent, times
from ipdp.log.beliefs import belief

if TYPE_CHECKING:
    from ipdp.log.reader import LogReader
    from ipdp.log.records import LoggedChange, Status

    Metrics: TypeAlias = Mapping[str, tuple[Array, FloatArray]]

AnyResult = TypeVar("AnyResult", bound=Result)

# Metrics that are shares, in per cent, and what others are called by people who do not use them.
_SHARES = {"accuracy", "balancedaccuracy", "precision", "recall", "f1"}
_CALLED = {
    "MAE": "Average error (MAE)",
    "RMSE": "Typical error (RMSE)",
    "MSE": "Mean squared error (MSE)",
    "ROCAUC": "Ranking quality (ROC AUC)",
    "LogLoss": "Log loss",
    "BalancedAccuracy": "Balanced accuracy",
}
_LESS_IS_BETTER = {"mae", "rmse", "mse", "mape", "smape", "logloss", "crossentropy"}
# Errors that differ by less than this factor are about the same.
_ALIKE = 1.2
# A metric of the last so many observations has their number behind its name.
_ROLLING = re.compile(r"(.+?)_(\d+)")
# What is noted beside the metrics, and is none.
_NO_METRIC = {"every"}

_WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Headline:
    """What a run has come to; each part is a sentence, empty where there is nothing to say.

    Attributes
    ----------
    state
        What keeps the rest from being complete: it has not begun, is warming up, failed.
    quality
        How right the model is.
    changes
        How often the model changed its mind, last about what, and whether the data moved.
    belief
        The feature that it relies on most, and what it makes of it.
    """

    state: str = ""
    quality: str = ""
    changes: str = ""
    belief: str = ""

    @property
    def sentences(self) -> list[str]:
        """Those that there are, the most important first."""
        return [text for text in (self.state, self.quality, self.changes, self.belief) if text]

    def __str__(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True)
class Facts:
    """What is known of a run.

    Attributes
    ----------
    status, settings, metrics, changes
        As `LogReader` gives them.
    curves
        The newest curves, the most important feature first.
    has_results
        Whether there is a snapshot.
    scores
        The mean prediction over time, as `LogReader.scores` gives it.
    """

    status: Status
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)
    changes: Sequence[LoggedChange] = ()
    curves: Sequence[Curve] = ()
    has_results: bool = True
    scores: Metrics = field(default_factory=dict)


def headline_of(reader: LogReader) -> Headline:
    """The headline of a log.

    Examples
    --------
    >>> import tempfile
    >>> from ipdp.log import Log
    >>> with Log(tempfile.mkdtemp()) as log:
    ...     log.begin({}, ["age"])
    ...     print(headline_of(log))
    Waiting for the first observation.
    """
    facts = _facts(reader)
    results = reader.at(np.inf).values() if facts.has_results else []
    curves = [result for result in results if isinstance(result, Curve)]
    return headline(replace(facts, curves=by_importance(curves)))


def brief(reader: LogReader) -> str:
    """What a list of runs says of one: its state, how right it is, what changed; no curve is read.

    Examples
    --------
    >>> import tempfile
    >>> from ipdp.log import Log
    >>> with Log(tempfile.mkdtemp()) as log:
    ...     log.begin({}, ["age"])
    ...     print(brief(log))
    Waiting for the first observation.
    """
    return str(headline(_facts(reader)))


def _facts(reader: LogReader) -> Facts:
    """All but the curves, which take time to read."""
    return Facts(
        status=reader.status,
        settings=reader.settings,
        metrics=reader.metrics(),
        changes=reader.changes(),
        has_results=bool(reader.snapshots()),
    )


def by_importance(results: Sequence[AnyResult]) -> list[AnyResult]:
    """Results with those of single features first, the most important before the others.

    Curves of a part of the observations come last where there is one of all of them.
    """
    of_parts = parts_among(result.feature for result in results)

    def place(result: AnyResult) -> tuple[bool, bool, float]:
        is_pair = isinstance(result, Curve) and len(result.grid_values) > 1
        return result.feature in of_parts, is_pair, -result.overall_importance

    return sorted(results, key=place)


def headline(facts: Facts) -> Headline:
    """The sentences of what is known of a run."""
    state = _state(facts)
    if not facts.has_results:
        return Headline(state)
    return Headline(state, quality(facts), _changes(facts), _belief(facts))


def target_of(settings: Mapping[str, Any]) -> str | None:
    """The name of what the model predicts, where the run was told; else None."""
    command = settings.get("command")
    given = command.get("target") if isinstance(command, Mapping) else None
    given = given or settings.get("target")  # a data set calls its label by itself
    return given if isinstance(given, str) and given else None


# How the run is doing.


def _state(facts: Facts) -> str:
    status = facts.status
    after = f"after {counted(status.n, 'observation')}"
    if status.state == "failed":
        why = f": {short_paths(status.message).rstrip('.')}" if status.message else ""
        rest = " What it had found until then is here." if facts.has_results else ""
        return f"The run failed {after}{why}.{rest}"
    if status.state == "died":
        return f"The run broke off {after}, without saying why. What it had logged is here."
    if facts.has_results:
        return ""
    if status.state in ("ended", "stopped"):
        return f"The run {status.state} {after}, too few for a curve."
    if not status.n:
        return "Waiting for the first observation."
    return f"Still warming up: {counted(status.n, 'observation')} so far, no curve yet."


# Whether the model is right.


def quality(facts: Facts) -> str:
    """How right the model is, by its metric: the newest value, and that of the whole run."""
    name = called_of(facts.metrics)
    latest = _latest(facts.metrics)
    if name is None:
        return _without_metric(facts)
    found = _ROLLING.fullmatch(name)
    if found is None:
        return f"{_called(name)} {_value(name, latest[name])} {_over_all(facts)}."
    base, window = found[1], int(found[2])
    said = f"{_called(base)} {_value(base, latest[name])}"
    if facts.status.n <= window:
        return f"{said} {_over_all(facts)}."
    said = f"{said} over the last {window:,}"
    if base not in latest:
        return f"{said}."
    whole = _value(base, latest[base])
    compared = _compared(base, latest[name], latest[base])
    if not compared:
        return f"{said} ({whole} over the whole run)."
    return f"{said}, {compared} over the whole run ({whole})."


def called_of(metrics: Metrics) -> str | None:
    """The name of the metric to show where there is room for one: one of the last ones, if any."""
    names = list(_latest(metrics))
    rolling = [name for name in names if _ROLLING.fullmatch(name)]
    return next(iter(rolling + names), None)


def most_moved(series: Metrics) -> str:
    """The name of that of some series whose values lie furthest apart."""
    return max(series, key=lambda name: float(np.ptp(series[name][1])))


def _latest(metrics: Metrics) -> dict[str, float]:
    """The newest value of each metric, where it is known."""
    return {
        name: float(values[-1])
        for name, (_, values) in metrics.items()
        if name not in _NO_METRIC and len(values) and np.isfinite(values[-1])
    }


def _over_all(facts: Facts) -> str:
    return f"after {counted(facts.status.n, 'observation')}"


def _without_metric(facts: Facts) -> str:
    if facts.metrics.keys() - _NO_METRIC:
        return "Whether it is right is not known yet."
    if isinstance(facts.settings.get("command"), Mapping) and not target_of(facts.settings):
        return "Whether it is right is not known: the data have no labels."
    return "Whether it is right is not known: no metric was asked for."


def _called(name: str) -> str:
    return _CALLED.get(name, f"{name[:1].upper()}{name[1:]}")


def _value(name: str, value: float) -> str:
    is_share = name.lower() in _SHARES and 0 <= value <= 1
    return percent(value) if is_share else few_digits(value)


def _compared(name: str, now: float, whole: float) -> str:
    """The last ones against the whole run: "about as"; empty where nobody knows what is better."""
    if name.lower() in _SHARES:
        now, whole = 1 - now, 1 - whole
    elif name.lower() not in _LESS_IS_BETTER:
        return ""
    if now > _ALIKE * whole:
        return "worse than"
    return "better than" if whole > _ALIKE * now else "about as"


# What changed.


def _changes(facts: Facts) -> str:
    model = [logged for logged in facts.changes if logged.change.kind != "virtual"]
    data = [logged for logged in facts.changes if has_moved(logged)]
    if not facts.changes and facts.settings.get("monitor") is False:
        return "Nobody watched for changes (the run has no monitor)."
    now = _now(facts)
    if now is None:
        said, moved = _in_all(model, facts), data
    else:
        said, moved = _this_week(model, now), [d for d in data if _is_recent(d, now)]
    return f"{said}; {_moved(moved)}."


def _in_all(model: Sequence[LoggedChange], facts: Facts) -> str:
    if not model:
        is_fixed = facts.settings.get("learn") is False
        return "The model does not learn, and kept its mind" if is_fixed else _KEPT
    last = model[-1]
    about = f"about {feature_text(last.change.feature)} at {last.n:,} of {facts.status.n:,}"
    return f"The model changed its mind {times(len(model))}, {'last ' * (len(model) > 1)}{about}"


_KEPT = "The model has not changed its mind"


def _this_week(model: Sequence[LoggedChange], now: datetime) -> str:
    """The same with a wall clock, of the last seven days."""
    recent = [logged for logged in model if _is_recent(logged, now)]
    if not model:
        return _KEPT
    last = model[-1].change
    when = moment(last.t)
    about = f"about {feature_text(last.feature)} {day_text(when, now) if when else ''}".strip()
    if not recent:
        return f"The model has not changed its mind this week, last {about}"
    many = "last " * (len(recent) > 1)
    return f"The model changed its mind {times(len(recent))} this week, {many}{about}"


def has_moved(logged: LoggedChange) -> bool:
    """Whether the data moved; a clock that was recognised as one has not."""
    move = logged.change.move
    is_clock = move is not None and move.aspect == "grows"
    return logged.change.kind in ("virtual", "both") and not is_clock


def _moved(data: Sequence[LoggedChange]) -> str:
    names = list(dict.fromkeys(feature_text(logged.change.feature) for logged in data))
    if not names:
        return "the data have not moved"
    if len(names) == 1:
        return f"the data moved in {names[0]}"
    return f"the data moved in {counted(len(names), 'feature')} ({listed(names)})"


def _now(facts: Facts) -> datetime | None:
    """The moment of the newest curve, where times are moments."""
    found = [moment(curve.t) for curve in facts.curves[:1]]
    return found[0] if found else None


def _is_recent(logged: LoggedChange, now: datetime) -> bool:
    when = moment(logged.change.t)
    return when is not None and now - when < _WEEK


# What it believes.


def _belief(facts: Facts) -> str:
    if not facts.curves:
        return ""
    first, *others = facts.curves
    said = belief(first, target_of(facts.settings))
    clear = said.removeprefix("no clear difference: ")
    how = ": " if clear == said else ", without a clear difference so far: "
    of_parts = parts_among(curve.feature for curve in facts.curves)
    single = [c for c in others if len(c.grid_values) == 1 and c.feature not in of_parts]
    names = [feature_text(c.feature) for c in single][:2]
    then = f" Next come {listed(names)}." if len(names) > 1 else ""
    return f"It relies most on {feature_text(first.feature)}{how}{clear}.{then}"
