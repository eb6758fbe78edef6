"""Where observations come from: files, standard input, Kafka topics, data sets."""

from ipdp.sources.base import Source, SourceError
from ipdp.sources.named import CountedSource
from ipdp.sources.open import SOURCES, formats, open_source, without_secrets

__all__ = [
    "SOURCES",
    "CountedSource",
    "Source",
    "SourceError",
    "formats",
    "open_source",
    "without_secrets",
]
