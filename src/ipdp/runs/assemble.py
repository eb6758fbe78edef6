"""From settings to a run: source, model, explainer, monitor, metrics, log."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipdp
from ipdp import explainers
from ipdp.core.notices import notice
from ipdp.core.validation import unknown
from ipdp.core.words import listed
from ipdp.explainers import Explainer
from ipdp.explainers.state.targets import followed
from ipdp.models.load import LoadError, load_model, load_object
from ipdp.models.load.files import is_file
from ipdp.monitor.notify import Webhook
from ipdp.runs.challengers import with_challengers
from ipdp.runs.checkpointing import NAME as CHECKPOINT
from ipdp.runs.fitting import Fitting, fitting, is_river
from ipdp.runs.loop import Run
from ipdp.runs.models import learns_without_labels
from ipdp.runs.trust import to_log
from ipdp.runs.understood import understood
from ipdp.sources import Source, open_source

if TYPE_CHECKING:
    from ipdp.comparison import Baseline
    from ipdp.runs.config import RunConfig


# Metrics are also those of so many last observations.
_ROLLING = 1000

# Settings that a run takes as they are.
_PASSED = (
    "time",
    "moment",
    "delay",
    "budget",
    "snapshot_every",
    "interactions",
    "checkpoint_every",
    "allow_pickle",
)


@contextmanager
def assemble(
    config: RunConfig,
    *,
    resume: bool,
    overwrite: bool = False,
    baseline: Baseline | None = None,
) -> Iterator[Run]:
    """The run that settings describe, ready to start; source and log are closed at the end.

    A `baseline` that cannot be one of this run is refused before anything is written.
    """
    from ipdp.log import Log, Retention
    from ipdp.log.files import NAME as LOG

    starts_anew = not resume and _was_tried(config.out, overwrite=overwrite)
    model = load_model(config.model, allow_pickle=config.allow_pickle, trusted=config.trust)
    with _source(config) as stream:
        made = _fitting(model, stream, config, resume=resume)
        model = made.around(model)
        named = _all_explainers(model, stream, config)
        if baseline is not None:
            _must_fit(baseline, named, stream, config)
        parts = {
            "learn": _learns(model, stream, config),
            "metric": _metrics(model, stream, config, resume=resume),
            "monitor": _monitor(named, config, stream.target),
            "settings": {
                "model": config.model,
                "target": stream.target,
                "command": to_log(config),
                "fitting": made.to_dict(),
            },
        }
        with (
            _removed_unless_used(config.out, LOG) as used,
            Log(config.out / LOG, durability=config.durability) as log,
        ):
            passed = {name: getattr(config, name) for name in _PASSED}
            place = config.out / CHECKPOINT
            run = Run(
                stream, model, named, log=log, checkpoint=place, resume=resume, **passed, **parts
            )
            used()
            log.retention = None if config.retention is None else Retention(config.retention)
            if starts_anew:  # only now: whatever could be wrong before has lost nothing
                place.unlink(missing_ok=True)
                log.rewind(0)
            yield run


def _all_explainers(model: Any, stream: Source, config: RunConfig) -> dict[str, Explainer]:
    """The explainers of the model and of its challenger; an error if one lacks labels."""
    named = _explainers(model, config)
    if config.challenger is not None:
        named = with_challengers(named, {"challenger": _challenger(config, config.challenger)})
    for name, explainer in named.items():
        if explainer.needs_label and not stream.is_labelled:
            raise ValueError(f"{name} needs labels: name their column with --target")
    return named


def _must_fit(
    baseline: Baseline, named: Mapping[str, Explainer], stream: Source, config: RunConfig
) -> None:
    """Refuse a baseline of other features, outputs or scale, as far as the first row tells."""
    pdp = next((each for each in named.values() if isinstance(each, ipdp.IncrementalPDP)), None)
    looked = [] if stream.is_live else stream.peek()
    if pdp is None or not looked:
        return
    x = {name: value for name, value in looked[0][0].items() if name != config.time}
    outputs: Sequence[Any] = ()
    if not hasattr(pdp.engine.model, "learn_one"):  # one that learns may meet its classes later
        # What is wrong with an observation is said by the run itself, with its place.
        with suppress(Exception):
            outputs = pdp.engine.predict([x]).labels or ()
    baseline.must_have(followed(x, pdp.features, pdp.engine), outputs, config.link)


@contextmanager
def _removed_unless_used(out: Path, log: str) -> Iterator[Callable[[], None]]:
    """Leave no new log behind of a run that is refused; the run is in order when it is called."""
    is_new = not (out / log).exists(), not out.exists()
    is_used: list[bool] = []
    try:
        yield lambda: is_used.append(True)
    finally:
        if is_new[0] and not is_used:
            for file in out.glob(f"{log}*"):
                file.unlink()
        if is_new[1] and not is_used and out.exists() and not any(out.iterdir()):
            out.rmdir()


def _challenger(config: RunConfig, named: str) -> Any:
    """The challenger; one that has learnt nothing, and will not, is no match for the model."""
    other = load_model(named, allow_pickle=config.allow_pickle, trusted=config.trust)
    if is_river(other) and not is_file(named) and ":" not in named:
        notice(
            f"the challenger {named} has learnt nothing, and a challenger does not learn in a run: "
            "it is compared as it is; give the file of one that has learnt"
        )
    return other


def look(config: RunConfig) -> list[str]:
    """What is understood of data and model, in sentences; nothing is written."""
    model = load_model(config.model, allow_pickle=config.allow_pickle, trusted=config.trust)
    with _source(config) as stream:
        made = _fitting(model, stream, config, resume=False)
        return understood(stream, made.around(model), made, config.time)


def _fitting(model: Any, stream: Source, config: RunConfig, *, resume: bool) -> Fitting:
    """What is put around the model; on resume what was put around it at the start."""
    logged = _logged(config.out) if resume else None
    if logged is not None:
        return Fitting.from_dict(logged.get("fitting"))
    # Who only asks a model is not kept waiting for the first observation of a pipe or a topic.
    looked = stream.peek() if is_river(model) or not stream.is_live else []
    if looked and config.time is not None and config.time not in looked[0][0]:
        raise ValueError(f"--time: {unknown('column', config.time, list(looked[0][0]))}")
    rows = [({n: v for n, v in x.items() if n != config.time}, y) for x, y in looked]
    return fitting(
        model, rows, config.encode, is_fresh=not is_file(config.model), wanted=_wanted(config)
    )


def _wanted(config: RunConfig) -> list[str]:
    """The columns that were asked for by name, for the model or to be explained."""
    explained = [[f] if isinstance(f, str) else f for f in config.features or ()]
    return [*(config.columns or ()), *(name for names in explained for name in names)]


def _was_tried(out: Path, *, overwrite: bool) -> bool:
    """Whether a run failed here before it came to anything; an error if there is more to lose.

    To `overwrite` is to want to lose it.
    """
    from ipdp.log import LogReader
    from ipdp.log.files import NAME as LOG

    is_there, has_more = (out / LOG).exists(), (out / CHECKPOINT).exists()
    if is_there and not has_more:
        with LogReader(out / LOG) as reader:
            has_more = bool(reader.snapshots())
    if has_more and not overwrite:
        raise FileExistsError(
            f"{out} holds a run: go on with it (ipdp resume {out}), choose another directory "
            "(--out), or begin anew in it (--overwrite)"
        )
    return is_there


def _source(config: RunConfig) -> Source:
    names = ["target", "drop", "types", "on_error", "limit"]
    names += ["format", "delimiter", "header", "decimal"]
    options = {name: getattr(config, name) for name in names}
    columns, time = config.columns, config.time
    if columns is not None and time is not None and time not in columns:
        columns = [*columns, time]
    return open_source(config.data, features=columns, **options)


def _explainers(model: Any, config: RunConfig) -> dict[str, Explainer]:
    """The explainers of the model by name; each takes the settings that it has parameters for."""
    # Those that are words for something else, which is made where it is wanted.
    made = {"grid": lambda: _grid(config.grid), "loss": lambda: _loss(model, config.loss)}
    names = ("features", "alpha", "estimator", "every", "seed", "by", "n_groups", "link", *made)
    names += ("max_features",)
    public = (getattr(explainers, name) for name in explainers.__all__)
    known = {kind.name: kind for kind in public if hasattr(kind, "name")}
    named: dict[str, Explainer] = {}
    for name in config.explainers:
        if name not in known:
            raise ValueError(unknown("explainer", name, list(known)))
        taken = [k for k in names if k in inspect.signature(known[name]).parameters]
        settings = {k: made[k]() if k in made else getattr(config, k) for k in taken}
        named[name] = known[name](model, **settings)
    if config.by is not None and not any(getattr(each, "by", None) for each in named.values()):
        raise ValueError("--by is for the curves of pdp: add it to --explainers")
    if config.link is not None and not any(getattr(each, "link", None) for each in named.values()):
        raise ValueError("--link is for curves: add pdp, regions or ale to --explainers")
    return named


def _grid(spec: str | Mapping[str, str]) -> Any:
    if not isinstance(spec, str):
        return {name: _grid(each) for name, each in spec.items()}
    grid = load_object(spec, within=["ipdp.grid"])
    if not isinstance(grid, ipdp.grid.Grid):
        raise LoadError(f"{spec} is not a grid of ipdp.grid")
    return grid


def _monitor(
    named: Mapping[str, Explainer], config: RunConfig, target: str | None
) -> ipdp.Monitor | None:
    """What looks for changes in the first explainer that has curves."""
    pdp = next((each for each in named.values() if isinstance(each, ipdp.IncrementalPDP)), None)
    if not config.monitor or pdp is None:
        return None
    handlers = []
    if config.webhook is not None:
        page = config.page_url or ""
        handlers.append(Webhook(config.webhook, run=config.out.name, page=page))
    return ipdp.Monitor(
        pdp,
        tolerance=config.tolerance,
        delta=config.delta,
        report=config.kind,
        period=config.period,
        false_alarms_per=config.false_alarms_per,
        target=target,
        handlers=handlers,
    )


def _metrics(model: Any, stream: Source, config: RunConfig, *, resume: bool) -> Any:
    """The metrics by which predictions are scored."""
    if config.metric.lower() == "none" or (config.metric == "auto" and not stream.is_labelled):
        return None
    metric = _metric(model, config.metric)
    if config.metric != "auto" or metric is None or (resume and not _has_rolling(config.out)):
        return metric
    from river import utils

    # What has come of an effect that vanished is not seen in a mean over everything.
    with warnings.catch_warnings():
        # Newer rivers want the class, older ones know instances only.
        warnings.simplefilter("ignore", DeprecationWarning)
        return [metric, utils.Rolling(metric.clone(), window_size=_ROLLING)]


def _has_rolling(out: Path) -> bool:
    """Whether a run that is gone on with has metrics of the last observations, as none once had."""
    settings = _logged(out)
    return settings is None or len(settings.get("metric") or []) != 1


def _logged(out: Path) -> dict[str, Any] | None:
    """The settings in the log of a run that can be gone on with; None if there is none."""
    from ipdp.log import LogReader
    from ipdp.log.files import NAME as LOG

    if not ((out / LOG).exists() and (out / CHECKPOINT).exists()):
        return None
    with LogReader(out / LOG) as reader:
        return reader.settings


def _loss(model: Any, spec: str) -> Any:
    # The same as the metric: a cross-entropy is ruled by the few probabilities that are almost 0.
    metric = _metric(model, spec)
    if metric is None:
        raise ValueError("the loss of this model is not known: name a metric with --loss")
    return metric


def _metric(model: Any, spec: str) -> Any:
    if spec == "auto":
        return _metric_for(model)
    metric = load_object(spec, within=["river.metrics"])
    if not (hasattr(metric, "update") and hasattr(metric, "get")):
        raise LoadError(f"{spec} is not a metric of river")
    return metric


def _metric_for(model: Any) -> Any:
    """Accuracy for a classifier, MAE for a regressor, as river and scikit-learn know them."""
    from river import base

    accuracy, mae = _metric(model, "Accuracy()"), _metric(model, "MAE()")
    if isinstance(model, base.Base):
        return next((m for m in (accuracy, mae) if m.works_with(model)), None)
    sklearn = sys.modules.get("sklearn.base")
    if sklearn is None or not hasattr(model, "fit"):
        return None
    if sklearn.is_classifier(model):
        return accuracy
    return mae if sklearn.is_regressor(model) else None


def _learns(model: Any, stream: Source, config: RunConfig) -> bool:
    """Whether the model learns; it needs labels for it, unless it is of the kind that does not."""
    if config.learn is not None:
        return config.learn
    if not hasattr(model, "learn_one"):
        return False
    if not (stream.is_labelled or learns_without_labels(model)):
        names = stream.columns.names
        there = f" (the columns are {listed(names)})" if names else ""
        raise ValueError(
            f"the model learns from labels: name their column with --target{there}, or explain the "
            "model as it is with --no-learn"
        )
    return True
