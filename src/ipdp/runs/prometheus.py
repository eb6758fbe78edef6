"""Metrics of a run for Prometheus, over HTTP.

Curves stay in the log: a label for each grid point would be a time series for each, and the points
move. What is exported is a few numbers for each feature.
"""

from __future__ import annotations

import errno
import math
import time
from collections.abc import Iterable, Mapping
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ipdp.core.curve import Curve, feature_text
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.typing import Feature, FloatArray
from ipdp.runs import events
from ipdp.runs.metrics_server import metrics_server

if TYPE_CHECKING:
    from prometheus_client.core import Metric

LOCALHOST = "127.0.0.1"
_KINDS = ("real", "virtual", "both")


class Metrics:
    """What Prometheus is to know about a run: a listener, and a collector of prometheus_client.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics(events.Started(1_000, None))
    >>> metrics(events.Heartbeat(1_300, 150, 0.75))
    >>> [line for line in metrics.text().splitlines() if line.startswith("ipdp_events_total")]
    ['ipdp_events_total 300.0']
    """

    def __init__(self) -> None:
        client = _client()
        # Its own: what else the program exports is none of our business.
        self.registry = client.CollectorRegistry(auto_describe=False)
        gauge = partial(client.Gauge, registry=self.registry)
        counter = partial(client.Counter, registry=self.registry)
        by_feature = ["explainer", "feature"]
        self._events = counter("ipdp_events", "Observations since the start.")
        text = "How much a feature matters: the deviation of its curve, or what an explainer says."
        self._importance = gauge("ipdp_feature_importance", text, by_feature)
        text = "How much the effect of a feature differs between observations."
        self._interaction = gauge("ipdp_feature_interaction", text, by_feature)
        text = "Share of the variance of the predictions that the curves account for."
        self._explained = gauge("ipdp_explained_share", text, ["explainer"])
        text = "Effective sample size of a result."
        self._effective = gauge("ipdp_effective_samples", text, by_feature)
        text = "Changes found since the start."
        self._changes = counter("ipdp_changes", text, ["feature", "kind"])
        self._scores = gauge("ipdp_score", "Metrics of the predictions.", ["metric"])
        self._every = gauge("ipdp_explain_every", "Every k-th observation is explained; this is k.")
        self._every.set(1)
        self._skipped = counter("ipdp_skipped", "Records that were no observations.")
        self._explaining = _Explaining()
        self.registry.register(self._explaining)
        self._checkpoint: Any = None  # comes with the first one: at 0 it would look very old
        self._start(0)

    def _start(self, n: int) -> None:
        """A run begins: what it reports is counted on top of what was before."""
        self._n, self._n_skipped = n, 0
        self._explained_before = self._explaining.totals
        gauges = (self._importance, self._interaction, self._explained)
        for gauge in (*gauges, self._effective, self._scores):
            gauge.clear()

    def __call__(self, event: events.Event) -> None:
        """Take what the event says."""
        match event:
            case events.Started():
                self._start(event.n)
            case events.Heartbeat():
                self._events.inc(event.n - self._n)
                self._n = event.n
                count, seconds = self._explained_before
                totals = count + event.explained, seconds + event.explain_seconds
                self._explaining.totals = totals
            case events.Snapshotted():
                self._take(event.results)
            case events.Changed(change=change):
                self._changes.labels(_name(change.feature), change.kind).inc()
            case events.Scored():
                for name, value in event.values.items():
                    self._scores.labels(name).set(value)
            case events.PaceChanged():
                self._every.set(event.every)
            case events.Skipped():
                self._skipped.inc(event.count - self._n_skipped)
                self._n_skipped = event.count
            case events.Checkpointed():
                self._checkpoint = self._checkpoint or _client().Gauge(
                    "ipdp_last_checkpoint_timestamp_seconds",
                    "When the last checkpoint was on disk.",
                    registry=self.registry,
                )
                self._checkpoint.set(time.time())

    def collect(self) -> Iterable[Metric]:
        """The metrics as they stand, for prometheus_client."""
        return list(self.registry.collect())

    def text(self) -> str:
        """The same in Prometheus' own format."""
        text: bytes = _client().generate_latest(self.registry)
        return text.decode()

    def _take(self, results: Mapping[str, Mapping[Feature, Result]]) -> None:
        for explainer, by_feature in results.items():
            curves = [result for result in by_feature.values() if isinstance(result, Curve)]
            explained = Explained.of(curves)
            if explained is not None:
                self._explained.labels(explainer).set(explained.value)
            for curve in curves:
                name = _name(curve.feature)
                self._interaction.labels(explainer, name).set(_largest(curve.interaction))
            for feature, result in by_feature.items():
                labels = explainer, _name(feature)
                self._importance.labels(*labels).set(result.overall_importance)
                self._effective.labels(*labels).set(result.n_effective)
                # From 0 on: a counter that appears with its first change has not increased.
                if isinstance(result, Curve) and not isinstance(feature, tuple):
                    for kind in _KINDS:
                        self._changes.labels(_name(feature), kind)


def _name(feature: Feature) -> str:
    """The name of a feature, with halves of letters written out: an answer is UTF-8."""
    return feature_text(feature).encode(errors="backslashreplace").decode()


def _largest(values: FloatArray) -> float:
    """The largest that is known; NaN if none is."""
    return float(np.max(values[~np.isnan(values)])) if not np.isnan(values).all() else math.nan


class _Explaining:
    """How long explaining took; the library's own Summary takes one time after the other only."""

    totals = 0, 0.0  # observations and seconds, replaced as one: other threads read them

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import SummaryMetricFamily

        text = "Time spent on explaining an observation, the monitor included."
        return [SummaryMetricFamily("ipdp_explain_seconds", text, *self.totals)]


def Exporter(metrics: Metrics) -> Metrics:  # noqa: N802  (it was a class)
    """The listener that keeps metrics up to date: they are one themselves.

    Examples
    --------
    >>> metrics = Metrics()
    >>> Exporter(metrics) is metrics
    True
    """
    return metrics


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

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> with MetricsServer(0) as server:
    ...     server.metrics(events.Heartbeat(7, 7, 0.1))
    ...     b"ipdp_events_total 7.0" in urlopen(server.url).read()
    True
    """

    def __init__(self, port: int, *, host: str = LOCALHOST, metrics: Metrics | None = None) -> None:
        self.host = host
        self.metrics = Metrics() if metrics is None else metrics
        try:
            app = _client().make_wsgi_app(self.metrics.registry)
            self._server = metrics_server(host, port, app)
        except OverflowError:
            raise ValueError(f"a port is a number from 0 to 65535, got {port}") from None
        except OSError as error:
            reason = str(error.strerror or error)
            if error.errno == errno.EADDRINUSE:
                reason = "another program has this port; choose another one"
            raise OSError(error.errno, f"cannot serve metrics at {host}:{port}: {reason}") from None
        self.port: int = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

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


def _client() -> Any:
    try:
        import prometheus_client
    except ImportError:
        raise ImportError(
            "metrics for Prometheus need prometheus-client: pip install 'ipdp[metrics]'"
        ) from None
    return prometheus_client
