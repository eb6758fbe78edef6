"""A mock cluster of Kafka: for each line of its input a topic with rows; it prints the address.

librdkafka's own, which speaks the protocol on a real port. It is not in the process that forks
runs, since its threads would not be there in them.
"""

from __future__ import annotations

import json
import sys

import confluent_kafka


def main() -> None:
    settings = {"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0}
    producer = confluent_kafka.Producer(settings)
    [broker] = producer.list_topics(timeout=120).brokers.values()
    for line in sys.stdin:
        name, *rows = json.loads(line)
        for row in rows:
            producer.produce(name, json.dumps(row), partition=0)
        assert producer.flush(60) == 0
        sys.stdout.write(f"kafka://{broker.host}:{broker.port}/{name}?start=earliest&end=now\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
