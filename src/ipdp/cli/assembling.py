"""From settings to a run: source, model, explainer, monitor, metrics, log."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import ipdp
from ipdp.cli.settings import RunSettings
from ipdp.log.files import NAME as LOG
from ipdp.models.load import LoadError, load_model, load_object
from ipdp.runs import Run
from ipdp.runs.checkpoint_schedule import NAME as CHECKPOINT
from ipdp.sources import CountedSource, Source, open_source


@contextmanager
def assembled(settings: RunSettings, *, resume: bool) -> Iterator[tuple[Run, Source]]:
    """A run as the settings say, and its source, ready to go; closed at the end.

    Parameters
    ----------
    settings
        All of them.
    resume
        Whether to go on from the checkpoint in the run's directory.
    """
    from ipdp.log import Log, Retention

    is_again = not resume and _was_tried(settings.out)
    model = load_model(settings.model, allow_pickle=settings.allow_pickle, trusted=settings.trust)
    learns = _learns(model, settings)
    pdp = explainer(model, settings)
    metric = metrics(model, settings)
    with source(settings) as stream:
        retention = None if settings.retention is None else Retention(recent=settings.retention)
        with Log(settings.out / LOG, durability=settings.durability) as log:
            log.retention = retention
            if is_again:
                log.rewind(0)
            run = Run(
                stream,
                model,
                pdp,
                metric=metric,
                monitor=watcher(pdp, settings),
                log=log,
                learn=learns,
                moment=settings.moment,
                delay=settings.delay,
                budget=settings.budget,
                snapshot_every=settings.snapshot_every,
                checkpoint=settings.out / CHECKPOINT,
                checkpoint_every=settings.checkpoint_every,
                resume=resume,
                allow_pickle=settings.allow_pickle,
                settings={"model": settings.model, "command": kept(settings)},
            )
            yield run, stream


def _was_tried(out: Path) -> bool:
    """Whether a run failed here before it came to anything; an error if there is more to lose."""
    from ipdp.log import LogReader

    is_there = (out / LOG).exists()
    n_snapshots = 0
    if is_there:
        with LogReader(out / LOG) as reader:
            n_snapshots = len(reader.snapshots())
    if n_snapshots or (out / CHECKPOINT).exists():
        raise FileExistsError(
            f"{out} holds a run: go on with it (ipdp resume {out}), or choose another directory "
            "(--out)"
        )
    return is_there


def kept(settings: RunSettings) -> dict[str, Any]:
    """The settings as the log keeps them, for `ipdp resume`: files by their whole path."""
    plain: dict[str, Any] = settings.model_dump(mode="json", exclude={"out"})
    for name in ("data", "model"):
        if os.path.exists(plain[name]):  # which takes any text, unlike Path.exists
            plain[name] = str(Path(plain[name]).resolve())
    return plain


def source(settings: RunSettings) -> Source:
    """Where the observations come from."""
    options: dict[str, Any] = {
        "target": settings.target,
        "features": settings.columns,
        "drop": settings.drop,
        "types": settings.types,
        "on_error": settings.on_error,
        "limit": settings.limit,
    }
    if settings.data.endswith(")") and not os.path.exists(settings.data):
        stream = load_object(settings.data, within=["river.datasets.synth", "river.datasets"])
        if not hasattr(stream, "__iter__"):
            raise LoadError(f"{settings.data} is not a data set: it cannot be iterated over")
        return CountedSource(stream, settings.data, **options)
    return open_source(
        settings.data, format=settings.format, delimiter=settings.delimiter, **options
    )


def explainer(model: Any, settings: RunSettings) -> ipdp.IncrementalPDP:
    """The explainer of the model."""
    grids: Any = (
        _grid(settings.grid)
        if isinstance(settings.grid, str)
        else {name: _grid(spec) for name, spec in settings.grid.items()}
    )
    return ipdp.IncrementalPDP(
        model,
        settings.features,
        alpha=settings.alpha,
        grid=grids,
        estimator=settings.estimator,
        every=settings.every,
        seed=settings.seed,
    )


def _grid(spec: str) -> Any:
    grid = load_object(spec, within=["ipdp.grid"])
    if not isinstance(grid, ipdp.grid.Grid):
        raise LoadError(f"{spec} is not a grid of ipdp.grid")
    return grid


def watcher(pdp: ipdp.IncrementalPDP, settings: RunSettings) -> ipdp.Monitor | None:
    """What looks for changes."""
    if not settings.monitor:
        return None
    handlers: list[Any] = []
    if settings.webhook is not None:
        from ipdp.monitor.notify import Webhook

        handlers.append(Webhook(settings.webhook))
    return ipdp.Monitor(pdp, tolerance=settings.tolerance, delta=settings.delta, handlers=handlers)


def metrics(model: Any, settings: RunSettings) -> Any:
    """The metrics by which predictions are scored."""
    if settings.metric.lower() == "none":
        return None
    if settings.metric == "auto" and _has_no_target(settings):
        return None
    if settings.metric != "auto":
        metric = load_object(settings.metric, within=["river.metrics"])
        if not (hasattr(metric, "update") and hasattr(metric, "get")):
            raise LoadError(f"{settings.metric} is not a metric of river")
        return metric
    rivers: Any = import_module("river.metrics")
    for kind, metric in (("classifier", rivers.Accuracy()), ("regressor", rivers.MAE())):
        if _suits(metric, kind, model):
            return metric
    return None


def _suits(metric: Any, kind: str, model: Any) -> bool:
    """Whether a metric is one for such a model, as river and scikit-learn know them."""
    from river import base

    if isinstance(model, base.Base):
        return bool(metric.works_with(model))
    sklearn = sys.modules.get("sklearn.base")
    return sklearn is not None and hasattr(model, "fit") and getattr(sklearn, f"is_{kind}")(model)


def _learns(model: Any, settings: RunSettings) -> bool:
    """Whether the model learns; it needs labels for it, unless it is of the kind that does not."""
    if settings.learn is not None:
        return settings.learn
    if not hasattr(model, "learn_one"):
        return False
    needs_labels = getattr(model, "_supervised", True)
    if needs_labels and _has_no_target(settings):
        raise ValueError(
            "the model learns from labels: name their column with --target, or explain the model "
            "as it is with --no-learn"
        )
    return True


def _has_no_target(settings: RunSettings) -> bool:
    """Whether there are no labels: none were named, and the data are no data set with its own."""
    data = settings.data
    is_open = data == "-" or data.startswith("kafka://") or os.path.exists(data)
    return settings.target is None and is_open
