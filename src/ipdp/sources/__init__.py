"""Where observations come from: files, standard input, Kafka topics, data sets."""

from ipdp.sources.base import Source, SourceError
from ipdp.sources.named import CountedSource
from ipdp.sources.open import open_source

__all__ = ["CountedSource", "Source", "SourceError", "open_source"]
