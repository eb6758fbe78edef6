"""Where observations come from: files, standard input, Kafka topics, data sets."""

from ipdp.sources.base import Source, SourceError
from ipdp.sources.door import open_source
from ipdp.sources.named import CountedSource

__all__ = ["CountedSource", "Source", "SourceError", "open_source"]
