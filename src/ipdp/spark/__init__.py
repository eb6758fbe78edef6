"""The same answers on Apache Spark: tables, histories and streams that do not fit one machine.

Nothing of Spark is imported before a function of this room is called.
"""

from ipdp.spark.backfill import History, explain
from ipdp.spark.fleet import fleet
from ipdp.spark.keys import Key, keys
from ipdp.spark.sending import session
from ipdp.spark.sink import Sink
from ipdp.spark.table import partial_dependence
from ipdp.spark.waiting import wait

__all__ = [
    "History",
    "Key",
    "Sink",
    "explain",
    "fleet",
    "keys",
    "partial_dependence",
    "session",
    "wait",
]
