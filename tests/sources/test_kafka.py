"""The Kafka source against librdkafka's mock cluster, which speaks the protocol on a real port."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time

import confluent_kafka
import pytest

from ipdp.sources import SourceError, open_source
from ipdp.sources.kafka import KafkaSource


@pytest.fixture(scope="module")
def cluster():
    producer = confluent_kafka.Producer(
        {"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0}
    )
    [broker] = producer.list_topics(timeout=120).brokers.values()
    return producer, f"{broker.host}:{broker.port}"


@pytest.fixture
def topic(cluster, request):
    """A topic of its own for each test: fills it and gives its address."""
    producer, broker = cluster
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)

    def filled(messages, query="end=now", partitions=4):
        for k, message in enumerate(messages):
            value = message if isinstance(message, (bytes, type(None))) else json.dumps(message)
            producer.produce(name, value, partition=k % partitions)
        assert producer.flush(10) == 0
        return f"kafka://{broker}/{name}?{query}"

    return filled


def test_every_message_once(topic):
    address = topic([{"a": k, "y": k % 2} for k in range(200)])
    with open_source(address, target="y") as source:
        assert source.total == 200
        rows = list(source)
    assert sorted(x["a"] for x, _ in rows) == list(range(200))
    assert all(y == x["a"] % 2 for x, y in rows)


def test_offsets_are_the_position(topic):
    address = topic([{"a": k} for k in range(100)])
    with open_source(address) as source:
        rows = iter(source)
        first = [next(rows)[0]["a"] for _ in range(37)]
        position = json.loads(json.dumps(source.position))
    assert sum(position["offsets"].values()) == 37
    with open_source(address) as source:
        source.seek(position)
        assert source.total == 100
        assert sorted(first + [x["a"] for x, _ in source]) == list(range(100))


def test_only_commit_moves_the_group(topic):
    address = topic([{"a": k} for k in range(40)])
    with open_source(address) as source:
        rows = iter(source)
        first = [next(rows)[0]["a"] for _ in range(10)]
        position = source.position
        for _ in range(10):
            next(rows)  # read, but never committed
        source.commit(position)
    with open_source(address) as source:
        assert sorted(first + [x["a"] for x, _ in source]) == list(range(40))
    with open_source(f"{address}&group=another") as source:
        assert len(list(source)) == 40


def test_where_a_new_group_starts(topic):
    address = topic([{"a": k} for k in range(8)], "start=latest&idle=0.5&group=late")
    with open_source(address) as source:
        assert list(source) == []


def test_bad_messages(topic):
    messages = [{"a": 1}, b"no", None, b"\xff", b"[]", {"b": 1}, {"a": "x"}, {"a": 2}]
    with open_source(topic(messages, partitions=1), on_error="skip") as source:
        assert [x["a"] for x, _ in source] == [1, 2]
        assert source.n_skipped == 6
        errors = list(source.errors)
        position = source.position
    assert "partition 0, offset 1: not JSON: Expecting value" in errors[0]
    assert "offset 2: the message is empty" in errors[1]
    assert "offset 3: byte 1 of the message is not UTF-8" in errors[2]
    assert position["n_skipped"] == 6
    with (
        open_source(topic([], partitions=1)) as source,
        pytest.raises(SourceError, match="partition 0, offset 1: not JSON"),
    ):
        list(source)


def test_interrupt_ends_the_wait(topic):
    source = open_source(topic([{"a": 1}], ""))
    rows = iter(source)
    next(rows)
    source.interrupt()
    assert list(rows) == []
    source.close()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("kafka://", "is not a topic: write kafka://host:port/topic"),
        ("kafka://host:1", "is not a topic"),
        ("kafka:///topic", "is not a topic"),
        ("kafka://host:1/a/b", "is not a topic"),
        ("kafka://h:1/t?start=middle", "start of a kafka address is earliest or latest"),
        ("kafka://h:1/t?idle=soon", "idle of a kafka address is a number of seconds, got 'soon'"),
        ("kafka://h:1/t?colour=red", 'No such configuration property: "colour"'),
    ],
)
def test_addresses_that_are_wrong(address, sentence):
    with pytest.raises(SourceError) as error:
        open_source(address)
    assert sentence in str(error.value)


@pytest.mark.parametrize("host", ["h\u2100", "[h", "h]"])
def test_an_address_that_cannot_be_split_is_refused_without_its_password(host):
    # Of letters that are signs by another name Python says so, and quotes all before the path.
    with pytest.raises(SourceError, match="is not a topic") as error:
        open_source(f"kafka://user:hunter2@{host}/topic")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("group=", "group has no name"),
        ("group.id=", "group has no name"),
        ("default.topic.config=x", "no attribute 'keys'"),
    ],
)
def test_settings_that_confluent_kafka_does_not_check(query, sentence):
    # In a process of its own, which an empty group ended.
    code = f"""if True:
        from ipdp.sources import SourceError, open_source
        try:
            open_source("kafka://127.0.0.1:1/t?{query}")
        except SourceError as error:
            print(error)
        """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("kafka topic t: ")
    assert sentence in run.stdout


def test_no_broker_and_no_topic(cluster, monkeypatch):
    monkeypatch.setattr("ipdp.sources.kafka._ANSWER", 0.5)
    with pytest.raises(SourceError, match="kafka topic t: no answer from the brokers within"):
        open_source("kafka://127.0.0.1:1/t")
    with pytest.raises(SourceError, match="kafka topic absent: the brokers have no such topic"):
        open_source(f"kafka://{cluster[1]}/absent")


def test_messages_that_are_gone(topic):
    address = topic([{"a": 1}], partitions=1)
    with open_source(address) as source:
        list(source)
        position = source.position
        source._consumer = Older(source._consumer)
        with pytest.raises(SourceError, match="partition 0 begins at offset 5 now, and the messag"):
            source.seek(position)


def test_a_topic_that_was_made_anew(topic, caplog):
    address = topic([{"a": k} for k in range(3)], partitions=1)
    with open_source(address) as source:
        list(source)
        position = {**source.position, "offsets": {"0": 50}}
    with open_source(address) as source:
        with pytest.raises(SourceError, match=r"partition 0 ends at offset 3 now, .*lost=skip"):
            source.seek(position)
        assert [x["a"] for x, _ in source] == [0, 1, 2]  # nothing has changed
    with open_source(f"{address}&lost=skip") as source:
        with caplog.at_level(logging.WARNING, "ipdp.sources"):
            source.seek(position)
        assert [x["a"] for x, _ in source] == [0, 1, 2]
    assert "reading goes on at offset 0" in caplog.text


def test_messages_that_expire_while_they_are_read_are_not_passed_over(topic):
    # As when the broker's retention overtakes the reader: where it wants to go on is gone.
    address = topic([{"a": k} for k in range(3)], query="idle=5", partitions=1)
    with open_source(address) as source:
        source._consumer.assign([confluent_kafka.TopicPartition(source.topic, 0, 1_000)])
        with pytest.raises(SourceError, match="the messages that come next are gone"):
            list(source)


class Older:
    """A consumer of a topic whose first messages have expired."""

    def __init__(self, consumer):
        self._consumer = consumer

    def get_watermark_offsets(self, *_, **__):
        return 5, 9

    def __getattr__(self, name):
        return getattr(self._consumer, name)


def test_a_commit_that_fails_is_told_and_loses_nothing(topic, caplog):
    address = topic([{"a": 1}])
    with open_source(address) as source:
        list(source)
        source._consumer.close()
        source._consumer, consumer = Refusing(), source._consumer
        with caplog.at_level(logging.WARNING, "ipdp.sources"):
            source.commit(source.position)
        source._consumer = consumer
    assert "the offsets were not committed: no" in caplog.text


class Refusing:
    def commit(self, **_):
        raise confluent_kafka.KafkaException("no")


# A reader that writes what it has seen together with its position, whole or not at all, then
# commits: what a run does with its checkpoint.
READER = """
import json, os, sys
from pathlib import Path
from ipdp.sources import open_source

address, path = sys.argv[1], Path(sys.argv[2])
source = open_source(address)
seen = []
if path.exists():
    saved = json.loads(path.read_text())
    seen = saved["seen"]
    source.seek(saved["position"])
for x, _ in source:
    seen.append(x["a"])
    if len(seen) % 20 == 0:
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"seen": seen, "position": source.position}))
        part.replace(path)
        source.commit(source.position)
        print(len(seen), flush=True)
part = path.with_suffix(".part")
part.write_text(json.dumps({"seen": seen, "position": source.position}))
part.replace(path)
print("done", flush=True)
source.close()
"""


def test_after_a_kill_nothing_is_lost_or_met_twice(topic, tmp_path):
    address = topic([{"a": k} for k in range(2_000)])
    path = tmp_path / "saved.json"
    n_killed = 0
    for attempt in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", READER, address, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            lines = 3 + 11 * attempt
            said = [process.stdout.readline().strip() for _ in range(lines)]
            if "done" not in said and attempt < 4:
                time.sleep(0.002 * attempt)
                process.kill()
                n_killed += 1
            else:
                process.communicate(timeout=300)
                break
    assert n_killed >= 2
    seen = json.loads(path.read_text())["seen"]
    assert len(seen) == 2_000
    assert sorted(seen) == list(range(2_000))


def test_a_consumer_of_ones_own(cluster, topic):
    address = topic([{"a": 1}])
    consumer = confluent_kafka.Consumer({"bootstrap.servers": cluster[1], "group.id": "own"})
    with KafkaSource(address, consumer=consumer) as source:
        assert list(source) == [({"a": 1}, None)]


def test_without_confluent_kafka():
    code = (
        "import sys; sys.modules['confluent_kafka'] = None\n"
        "from ipdp.sources import open_source\nopen_source('kafka://h:1/t')"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert answer.stderr.splitlines()[-1] == (
        "ImportError: Kafka needs confluent-kafka: pip install 'ipdp[kafka]'"
    )
