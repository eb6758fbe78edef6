"""From the events of a run to the metrics of Prometheus."""

from __future__ import annotations

import time

from ipdp.runs.events import (
    Beat,
    Changed,
    Checkpointed,
    Event,
    Paced,
    Scored,
    Skipped,
    Snapshotted,
    Started,
)
from ipdp.runs.prometheus import Metrics


class Exporter:
    """A listener that keeps the metrics of Prometheus up to date.

    Parameters
    ----------
    metrics
        To be updated.

    Examples
    --------
    >>> from ipdp.runs.prometheus import Metrics
    >>> metrics = Metrics()
    >>> export = Exporter(metrics)
    >>> export(Started(1_000, None))
    >>> export(Beat(1_500, 500, 2.0))
    >>> "ipdp_events_total 500.0" in metrics.text()
    True
    """

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self._from = 0

    def __call__(self, event: Event) -> None:
        """Take what the event says."""
        metrics = self.metrics
        match event:
            case Started():
                self._from = event.n
            case Beat():
                metrics.progress(
                    n=event.n - self._from,
                    explained=event.explained,
                    explain_seconds=event.explain_seconds,
                )
            case Snapshotted():
                metrics.curves(event.curves)
            case Changed():
                metrics.change(event.change)
            case Scored():
                metrics.scores(event.values)
            case Paced():
                metrics.pace(event.every)
            case Skipped():
                metrics.skipped(event.count)
            case Checkpointed():
                metrics.checkpoint(time.time())
