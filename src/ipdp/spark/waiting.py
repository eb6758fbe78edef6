"""Wait for a query of Spark, whose end is reported in one sentence."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from ipdp.spark.interrupts import PATIENCE, interruptible
from ipdp.spark.sending import sentences

_STOPPED = (
    "stopped; the same program goes on from its checkpointLocation, after the last micro-batch "
    "that ended"
)


def wait(query: Any) -> None:
    """Wait until a query of Spark ends; Ctrl-C stops it.

    It is `query.awaitTermination()`, whose errors are pages long, with one sentence for Ctrl-C and
    for what failed in a worker. The micro-batch that Ctrl-C interrupts is given up, and computed
    anew when the same program goes on.

    Parameters
    ----------
    query
        What `start` of a stream's writer gives.

    Examples
    --------
    >>> import tempfile
    >>> import ipdp.spark
    >>> spark, place = ipdp.spark.session("local[2]"), tempfile.mkdtemp()
    >>> spark.range(3).write.parquet(f"{place}/rows")
    >>> stream = spark.readStream.schema("id long").parquet(f"{place}/rows")
    >>> writer = stream.writeStream.format("parquet").trigger(availableNow=True)
    >>> writer = writer.option("checkpointLocation", f"{place}/spark")
    >>> ipdp.spark.wait(writer.start(f"{place}/copy"))
    >>> spark.read.parquet(f"{place}/copy").count()
    3
    """
    from pyspark import SparkContext

    with interruptible(SparkContext.getOrCreate(), _STOPPED), sentences():
        try:
            query.awaitTermination()
        except BaseException:
            _stop(query)
            raise


def _stop(query: Any) -> None:
    """Stop a query, but do not wait for long: Spark waits for a task however long it takes."""

    def stop() -> None:
        with suppress(Exception):  # it may have ended, or its context be gone
            query.stop()

    stopping = threading.Thread(target=stop, daemon=True)
    stopping.start()
    stopping.join(PATIENCE)
