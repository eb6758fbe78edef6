"""Metrics of a run for Prometheus, over HTTP.

Curves stay in the log: a label for each grid point would be a time series for each, and the points
move. What is exported is a few numbers for each feature.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from ipdp.core.curve import Curve, feature_text
from ipdp.core.importance import Result
from ipdp.core.typing import Feature
from ipdp.monitor import Change
from ipdp.runs.events import (
    Changed,
    Checkpointed,
    Event,
    Heartbeat,
    PaceChanged,
    Scored,
    Skipped,
    Snapshotted,
    Started,
)

if TYPE_CHECKING:
    from prometheus_client.core import Metric

LOCALHOST = "127.0.0.1"
_KINDS = ("real", "virtual", "both")


class Metrics:
    r"""What Prometheus is to know about a run; a collector of prometheus_client.

    Attributes
    ----------
    registry
        Its own, of prometheus_client: what else the program exports is none of our business.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.progress(n=200, explained=100, explain_seconds=0.5)
    >>> metrics.progress(n=300, explained=150, explain_seconds=0.75)
    >>> print("\n".join(line for line in metrics.text().splitlines() if line[0] != "#"))
    ... # doctest: +ELLIPSIS
    ipdp_events_total 300.0
    ipdp_events_created ...
    ipdp_explain_every 1.0
    ipdp_skipped_total 0.0
    ipdp_skipped_created ...
    ipdp_explain_seconds_count 150.0
    ipdp_explain_seconds_sum 0.75
    """

    def __init__(self) -> None:
        client = _client()
        self.registry = of = client.CollectorRegistry(auto_describe=False)
        by_feature = ["explainer", "feature"]
        self._events = client.Counter("ipdp_events", "Observations since the start.", registry=of)
        self._importance = client.Gauge(
            "ipdp_feature_importance",
            "How much a feature matters: the deviation of its curve, or what an explainer says.",
            by_feature,
            registry=of,
        )
        self._effective = client.Gauge(
            "ipdp_effective_samples", "Effective sample size of a result.", by_feature, registry=of
        )
        self._changes = client.Counter(
            "ipdp_changes", "Changes found since the start.", ["feature", "kind"], registry=of
        )
        self._scores = client.Gauge(
            "ipdp_score", "Metrics of the predictions.", ["metric"], registry=of
        )
        self._every = client.Gauge(
            "ipdp_explain_every", "Every k-th observation is explained; this is k.", registry=of
        )
        self._every.set(1)
        self._skipped = client.Counter(
            "ipdp_skipped", "Records that were no observations.", registry=of
        )
        self._explaining = _Explaining()
        of.register(self._explaining)
        self._checkpoint: Any = None  # comes with the first one: at 0 it would look very old
        self.start()

    # Reported.

    def start(self) -> None:
        """A run begins: what it reports is counted on top of what was before."""
        self._n = self._n_skipped = 0
        self._explaining.start()
        for gauge in (self._importance, self._effective, self._scores):
            gauge.clear()

    def progress(self, *, n: int, explained: int, explain_seconds: float) -> None:
        """So many observations since the start, so many of them explained, in so many seconds."""
        self._events.inc(n - self._n)
        self._n = n
        self._explaining.update(explained, explain_seconds)

    def results(self, results: Mapping[str, Mapping[Feature, Result]]) -> None:
        """Take importance and effective sample size of all results, by explainer and feature."""
        for explainer, by_feature in results.items():
            for feature, result in by_feature.items():
                labels = explainer, feature_text(feature)
                self._importance.labels(*labels).set(result.overall_importance)
                self._effective.labels(*labels).set(result.n_effective)
                # From 0 on: a counter that appears with its first change has not increased.
                if isinstance(result, Curve) and not isinstance(feature, tuple):
                    for kind in _KINDS:
                        self._changes.labels(feature_text(feature), kind)

    def change(self, change: Change) -> None:
        """Count a change."""
        self._changes.labels(feature_text(change.feature), change.kind).inc()

    def scores(self, values: Mapping[str, float]) -> None:
        """Take the metrics of the predictions."""
        for name, value in values.items():
            self._scores.labels(name).set(value)

    def pace(self, every: int) -> None:
        """Every k-th observation is explained; this is k."""
        self._every.set(every)

    def skipped(self, count: int) -> None:
        """So many records were no observations."""
        self._skipped.inc(count - self._n_skipped)
        self._n_skipped = count

    def checkpoint(self, when: float) -> None:
        """A checkpoint was on disk at this time, in seconds since 1970."""
        if self._checkpoint is None:
            self._checkpoint = _client().Gauge(
                "ipdp_last_checkpoint_timestamp_seconds",
                "When the last checkpoint was on disk.",
                registry=self.registry,
            )
        self._checkpoint.set(when)

    # Read.

    def collect(self) -> Iterable[Metric]:
        """The metrics as they stand, for prometheus_client."""
        return list(self.registry.collect())

    def text(self) -> str:
        """The same in Prometheus' own format."""
        text: bytes = _client().generate_latest(self.registry)
        return text.decode()


class _Explaining:
    """How long explaining took; the library's own Summary takes one time after the other only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before, self._since = (0, 0.0), (0, 0.0)

    def start(self) -> None:
        with self._lock:
            self._before, self._since = self._totals(), (0, 0.0)

    def update(self, count: int, seconds: float) -> None:
        with self._lock:
            self._since = count, seconds

    def _totals(self) -> tuple[int, float]:
        return self._before[0] + self._since[0], self._before[1] + self._since[1]

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import SummaryMetricFamily

        with self._lock:
            count, seconds = self._totals()
        text = "Time spent on explaining an observation, the monitor included."
        return [SummaryMetricFamily("ipdp_explain_seconds", text, count, seconds)]


class Exporter:
    """A listener that keeps the metrics of Prometheus up to date.

    Parameters
    ----------
    metrics
        To be updated.

    Examples
    --------
    >>> metrics = Metrics()
    >>> export = Exporter(metrics)
    >>> export(Started(1_000, None))
    >>> export(Heartbeat(1_500, 500, 2.0))
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
                metrics.start()
            case Heartbeat():
                metrics.progress(
                    n=event.n - self._from,
                    explained=event.explained,
                    explain_seconds=event.explain_seconds,
                )
            case Snapshotted():
                metrics.results(event.results)
            case Changed():
                metrics.change(event.change)
            case Scored():
                metrics.scores(event.values)
            case PaceChanged():
                metrics.pace(event.every)
            case Skipped():
                metrics.skipped(event.count)
            case Checkpointed():
                metrics.checkpoint(time.time())


class MetricsServer:
    """Serves the metrics of a run at http://host:port/metrics, in threads of its own.

    Parameters
    ----------
    port
        The port; 0 takes one that is free.
    host
        Where to listen. By default only this machine can reach it: there is no password.
    metrics
        What to serve.

    Attributes
    ----------
    url
        The address.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> with MetricsServer(0) as server:
    ...     server.metrics.progress(n=7, explained=7, explain_seconds=0.1)
    ...     b"ipdp_events_total 7.0" in urlopen(server.url).read()
    True
    """

    def __init__(self, port: int, *, host: str = LOCALHOST, metrics: Metrics | None = None) -> None:
        self.host = host
        self.metrics = Metrics() if metrics is None else metrics
        self._server, self._thread = _serve(port, host, self.metrics)
        self.port: int = self._server.server_port

    @property
    def url(self) -> str:
        """Where the metrics are."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/metrics"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(port: int, host: str, metrics: Metrics) -> tuple[Any, threading.Thread]:
    try:
        server, thread = _client().start_http_server(port, addr=host, registry=metrics.registry)
    except OverflowError:
        raise ValueError(f"a port is a number from 0 to 65535, got {port}") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            reason = "another program has this port; choose another one"
        else:
            reason = str(error.strerror or error)
        raise OSError(error.errno, f"cannot serve metrics at {host}:{port}: {reason}") from None
    return server, thread


def _client() -> Any:
    try:
        import prometheus_client
    except ImportError:
        raise ImportError(
            "metrics for Prometheus need prometheus-client: pip install 'ipdp[metrics]'"
        ) from None
    return prometheus_client
