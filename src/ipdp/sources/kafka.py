"""A Kafka topic of JSON messages."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ipdp.core.redaction import redacted_query
from ipdp.core.words import shown
from ipdp.sources.base import Interrupted, Source, SourceError
from ipdp.sources.columns import BadRecord
from ipdp.sources.jsonl import parsed
from ipdp.sources.lines import MAX_LINE

logger = logging.getLogger("ipdp.sources")

_ANSWER = 10.0
"""Seconds to wait for a broker's answer."""
_POLL = 0.5
"""Seconds to wait for a message before looking whether to stop."""

_OWN = {"group", "start", "end", "idle", "lost"}
# Errors that waiting does not mend; of the others librdkafka recovers by itself.
_HOPELESS = {
    *("TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED", "_AUTHENTICATION"),
    *("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"),
}
_GONE = {"OFFSET_OUT_OF_RANGE", "_AUTO_OFFSET_RESET"}
_CHOICE = "add lost=skip to its address to go on with what is there"


class KafkaSource(Source):
    """The messages of a topic, each a JSON object: `kafka://host:port/topic?group=name`.

    Every partition is read; their order among each other is as they arrive. The offsets are the
    position. They are committed to the group only by `commit`, which a run calls when its
    checkpoint is on disk: after a crash nothing is lost and nothing explained twice.

    Settings after the question mark: `group` (ipdp), `start` where the group has no offsets
    (earliest or latest), `end=now` to stop at what the topic holds at the start, `idle=SECONDS` to
    stop after so long without a message, `lost=skip` to go on where messages that were not read
    yet have expired, or the topic was made anew (else it fails). All others are settings of
    librdkafka, such as `security.protocol=SSL`. Several brokers are separated by commas. Tests
    give a consumer of their own.
    """

    def __init__(self, address: str, *, consumer: Any = None, **options: Any) -> None:
        brokers, self.topic, query = _parts(address)
        super().__init__(f"kafka topic {self.topic}", **options)
        try:
            import confluent_kafka
        except ImportError:
            raise ImportError("Kafka needs confluent-kafka: pip install 'ipdp[kafka]'") from None
        self._kafka = confluent_kafka
        self._start = _one_of(query, "start", ("earliest", "latest"))
        self._is_bounded = _one_of(query, "end", ("never", "now")) == "now"
        self._idle = _seconds(query)
        self._goes_on = _one_of(query, "lost", ("fail", "skip")) == "skip"
        settings = {key: value for key, value in query.items() if key not in _OWN}
        group = settings.setdefault("group.id", query.get("group", "ipdp"))
        if not group:  # confluent_kafka would end the process
            raise SourceError(f"{self.name}: group has no name; leave it out, and it is ipdp")
        own = {
            **{"enable.auto.commit": False, "enable.auto.offset.store": False, "log_level": 0},
            # Else librdkafka would pass over what has expired without a word.
            "auto.offset.reset": "earliest" if self._goes_on else "error",
        }
        try:
            self._consumer = consumer or confluent_kafka.Consumer(
                {"bootstrap.servers": brokers, **settings, **own}
            )
        except (confluent_kafka.KafkaException, ValueError, TypeError, AttributeError) as error:
            raise SourceError(f"{self.name}: {_words(error)}") from None
        # After the last message given out, and after the last one read.
        self._offsets: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._assign()

    @classmethod
    def without_secrets(cls, spec: str) -> str:
        return redacted_query(spec)

    def _assign(self, offsets: Mapping[int, int] | None = None) -> None:
        """Begin to read every partition: at given offsets, the group's, or where `start` says."""
        kafka = self._kafka
        try:
            known = self._consumer.list_topics(self.topic, timeout=_ANSWER).topics[self.topic]
            if known.error is not None or not known.partitions:
                raise SourceError(f"{self.name}: the brokers have no such topic")
            partitions = [kafka.TopicPartition(self.topic, k) for k in sorted(known.partitions)]
            begun = {p.partition: p for p in self._consumer.committed(partitions, timeout=_ANSWER)}
            for p in partitions:
                p.offset = self._first(p, begun[p.partition].offset, offsets)
            self._consumer.assign(partitions)
        except kafka.KafkaException as error:
            late = f"no answer from the brokers within {_ANSWER:.0f} s"
            raise SourceError(f"{self.name}: {late} ({_words(error)})") from None
        self._offsets = {p.partition: p.offset for p in partitions}
        self._seen = dict(self._offsets)

    def _first(self, partition: Any, committed: int, offsets: Mapping[int, int] | None) -> int:
        low, high = self._consumer.get_watermark_offsets(partition, timeout=_ANSWER)
        self._ends[partition.partition] = high
        wanted = committed if offsets is None else offsets.get(partition.partition, low)
        if wanted < 0:  # the group has read nothing yet
            return int(low if self._start == "earliest" else high)
        if low <= wanted <= high:
            return int(wanted)
        says = f"{self.name}: partition {partition.partition}"
        if wanted < low:
            says += f" begins at offset {low:,} now, and the messages from {wanted:,} on are gone"
        else:
            says += f" ends at offset {high:,} now, and {wanted:,} were read: it was made anew"
        if not self._goes_on:
            raise SourceError(f"{says}; {_CHOICE}")
        logger.warning("%s; reading goes on at offset %s", says, f"{low:,}")
        return int(low)

    @property
    def is_live(self) -> bool:  # type: ignore[override]
        return not self._is_bounded

    def _observations(self) -> Iterator[tuple[dict[str, Any], Any]]:
        while (message := self._next()) is not None:
            partition, offset = message.partition(), message.offset()
            try:
                observation = self.columns.of_values(_record(message))
            except BadRecord as error:
                self._reject(f"partition {partition}, offset {offset:,}", error)
                continue
            self._offsets = dict(self._seen)
            yield observation

    def _next(self) -> Any:
        """The next message, or None at the end."""
        waited = 0.0
        while not self._is_interrupted and not self._is_over():
            message = self._poll()
            if message is None:
                waited += _POLL
                if self._idle is not None and waited >= self._idle:
                    return None
            elif (error := message.error()) is None:
                self._seen[message.partition()] = message.offset() + 1
                return message
            elif error.name() in _GONE:
                raise SourceError(f"{self.name}: the messages that come next are gone; {_CHOICE}")
            elif error.fatal() or error.name() in _HOPELESS:
                raise SourceError(f"{self.name}: {error.str()}")
        return None

    def _poll(self) -> Any:
        try:
            self._is_waiting = True
            return self._consumer.poll(_POLL)
        except Interrupted:
            return None
        except self._kafka.KafkaException as error:
            raise SourceError(f"{self.name}: {_words(error)}") from None
        finally:
            self._is_waiting = False

    def _is_over(self) -> bool:
        return self._is_bounded and all(self._seen[p] >= end for p, end in self._ends.items())

    @property
    def _total(self) -> int | None:
        if not self._is_bounded:
            return None
        return self.n + sum(max(end - self._offsets[p], 0) for p, end in self._ends.items())

    def _where(self) -> dict[str, Any]:
        return {"offsets": {str(p): offset for p, offset in self._offsets.items()}}

    def _go(self, position: Mapping[str, Any]) -> None:
        self._assign({int(p): offset for p, offset in position["offsets"].items()})

    def commit(self, position: Mapping[str, Any]) -> None:
        """Tell the brokers that the messages up to a position have been dealt with."""
        made, given = self._kafka.TopicPartition, position["offsets"]
        offsets = [made(self.topic, int(p), offset) for p, offset in given.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except self._kafka.KafkaException as error:
            # The checkpoint has the offsets too, and the next commit covers these.
            logger.warning("%s: the offsets were not committed: %s", self.name, _words(error))

    def close(self) -> None:
        self._consumer.close()


def _record(message: Any) -> dict[str, Any]:
    content = message.value()
    if content is None:
        raise BadRecord("the message is empty")
    if len(content) > MAX_LINE:
        raise BadRecord(f"the message is longer than {MAX_LINE:,} bytes")
    try:
        return parsed(content.decode())
    except UnicodeDecodeError as error:
        raise BadRecord(f"byte {error.start + 1} of the message is not UTF-8") from None


def _parts(address: str) -> tuple[str, str, dict[str, str]]:
    """Brokers, topic and settings of an address."""
    try:
        parts = urlsplit(address)
    except ValueError:  # which quotes the password
        parts = urlsplit("")
    topic = parts.path.strip("/")
    if not parts.netloc or not topic or "/" in topic:
        raise SourceError(
            f"{KafkaSource.without_secrets(address)!r} is not a topic: write "
            "kafka://host:port/topic or .../topic?group=name"
        )
    return parts.netloc, topic, dict(parse_qsl(parts.query, keep_blank_values=True))


def _one_of(query: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    value = query.get(name, choices[0])
    if value not in choices:
        raise SourceError(
            f"{name} of a kafka address is {' or '.join(choices)}, got {shown(value)}"
        )
    return value


def _seconds(query: Mapping[str, str]) -> float | None:
    text = query.get("idle")
    if text is None:
        return None
    with suppress(ValueError):
        if (seconds := float(text)) > 0:
            return seconds
    raise SourceError(f"idle of a kafka address is a number of seconds, got {shown(text)}")


def _words(error: Exception) -> str:
    inner = error.args[0] if error.args else error
    return inner.str() if hasattr(inner, "str") else str(inner)
