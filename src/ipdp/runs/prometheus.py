"""Metrics of a run for Prometheus, over HTTP.

Curves stay in the log: a label for each grid point would be a time series for each, and the points
move. What is exported is a few numbers for each feature.
"""

from __future__ import annotations

import errno
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from ipdp.core.curve import Curve
from ipdp.core.typing import Feature
from ipdp.monitor import Change

if TYPE_CHECKING:
    from prometheus_client.core import Metric

LOCALHOST = "127.0.0.1"
_KINDS = ("real", "virtual", "both")


class Metrics:
    r"""What Prometheus is to know about a run; a collector of prometheus_client.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.progress(n=200, explained=100, explain_seconds=0.5)
    >>> metrics.progress(n=300, explained=150, explain_seconds=0.75)
    >>> print("\n".join(line for line in metrics.text().splitlines() if line[0] != "#"))
    ipdp_events_total 300.0
    ipdp_explain_seconds_count 150.0
    ipdp_explain_seconds_sum 0.75
    ipdp_explain_every 1.0
    ipdp_skipped_total 0.0
    """

    def __init__(self) -> None:
        # Told by the run, read by the threads of the server.
        self._lock = threading.Lock()
        self._n = self._explained = self._skipped = 0
        self._explain_seconds = 0.0
        self._every = 1
        self._importance: dict[str, float] = {}
        self._effective: dict[str, float] = {}
        self._changes: Counter[tuple[str, str]] = Counter()
        self._scores: dict[str, float] = {}
        self._checkpoint: float | None = None

    # Told.

    def progress(self, *, n: int, explained: int, explain_seconds: float) -> None:
        """So many observations since the start, so many of them explained, in so many seconds."""
        with self._lock:
            self._n, self._explained, self._explain_seconds = n, explained, explain_seconds

    def curves(self, curves: Mapping[Feature, Curve]) -> None:
        """Take importance and effective sample size of the curves."""
        importance = {name(f): max(curve.importance.tolist()) for f, curve in curves.items()}
        effective = {name(f): curve.n_effective for f, curve in curves.items()}
        with self._lock:
            self._importance, self._effective = importance, effective
            # From 0 on: a counter that appears with its first change has not increased.
            for feature in curves:
                for kind in () if isinstance(feature, tuple) else _KINDS:
                    self._changes[name(feature), kind] += 0

    def change(self, change: Change) -> None:
        """Count a change."""
        with self._lock:
            self._changes[name(change.feature), change.kind] += 1

    def scores(self, values: Mapping[str, float]) -> None:
        """Take the metrics of the predictions."""
        with self._lock:
            self._scores = dict(values)

    def pace(self, every: int) -> None:
        """Each so many-th observation is explained."""
        with self._lock:
            self._every = every

    def skipped(self, count: int) -> None:
        """So many records were no observations."""
        with self._lock:
            self._skipped = count

    def checkpoint(self, time: float) -> None:
        """A checkpoint was on disk at this time, in seconds since 1970."""
        with self._lock:
            self._checkpoint = time

    # Read.

    def collect(self) -> Iterator[Metric]:
        """The metrics as they stand, for prometheus_client."""
        with self._lock:
            yield from list(self._families())

    def text(self) -> str:
        """The same in Prometheus' own format."""
        from prometheus_client import generate_latest

        return generate_latest(_registry(self)).decode()

    def _families(self) -> Iterator[Metric]:
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            SummaryMetricFamily,
        )

        yield CounterMetricFamily("ipdp_events", "Observations since the start.", self._n)
        yield SummaryMetricFamily(
            "ipdp_explain_seconds",
            "Time spent on explaining an observation, the monitor included.",
            self._explained,
            self._explain_seconds,
        )
        for title, text, values in (
            (
                "ipdp_feature_importance",
                "Deviation of the curve.",
                self._importance,
            ),
            ("ipdp_effective_samples", "Effective sample size of the curve.", self._effective),
        ):
            gauge = GaugeMetricFamily(title, text, labels=["feature"])
            _fill(gauge, (([feature], value) for feature, value in values.items()))
            yield gauge
        changes = CounterMetricFamily(
            "ipdp_changes", "Changes found since the start.", labels=["feature", "kind"]
        )
        _fill(changes, ((list(key), count) for key, count in self._changes.items()))
        yield changes
        scores = GaugeMetricFamily("ipdp_score", "Metrics of the predictions.", labels=["metric"])
        _fill(scores, (([metric], value) for metric, value in self._scores.items()))
        yield scores
        yield GaugeMetricFamily(
            "ipdp_explain_every", "Each so many-th observation is explained.", self._every
        )
        yield CounterMetricFamily(
            "ipdp_skipped", "Records that were no observations.", self._skipped
        )
        if self._checkpoint is not None:
            yield GaugeMetricFamily(
                "ipdp_last_checkpoint_timestamp_seconds",
                "When the last checkpoint was on disk.",
                self._checkpoint,
            )


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


def name(feature: Feature) -> str:
    """A feature, or a pair of them, as a label.

    Examples
    --------
    >>> name(("age", "salary"))
    'age x salary'
    """
    return " x ".join(map(str, feature)) if isinstance(feature, tuple) else str(feature)


def _serve(port: int, host: str, metrics: Metrics) -> tuple[Any, threading.Thread]:
    try:
        from prometheus_client import start_http_server
    except ImportError:
        raise ImportError(
            "metrics for Prometheus need prometheus-client: pip install 'ipdp[metrics]'"
        ) from None
    try:
        return start_http_server(port, addr=host, registry=_registry(metrics))
    except OverflowError:
        raise ValueError(f"a port is a number from 0 to 65535, got {port}") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            reason = "another program has this port; choose another one"
        else:
            reason = str(error.strerror or error)
        raise OSError(error.errno, f"cannot serve metrics at {host}:{port}: {reason}") from None


def _registry(metrics: Metrics) -> Any:
    from prometheus_client import CollectorRegistry

    # Its own: what else the program exports is none of our business.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(metrics)
    return registry


def _fill(family: Any, items: Iterable[tuple[list[str], float]]) -> None:
    for labels, value in items:
        family.add_metric(labels, value)
