"""Which keys a topic of upserts has a row for: an answer that begins anew takes them away."""

from __future__ import annotations

import time

from windrow.errors import JobError
from windrow.plan.topic_options import Topic
from windrow.spark.sinks.topic_broker import PATIENCE, kafka_client


def keys_held(topic: Topic, group: str) -> set[bytes | None]:
    """The keys whose last committed message is no tombstone."""
    kafka = kafka_client()
    common = {key: value for key, value in topic.client if not key.startswith(("linger", "compression", "batch"))}
    own = {"group.id": group, "enable.auto.commit": "false", "enable.partition.eof": "true", "log_level": "0"}
    reader = kafka.Consumer(common | own | {"isolation.level": "read_committed"})
    held: set[bytes | None] = set()
    try:
        left = set(reader.list_topics(topic.topic, timeout=PATIENCE).topics[topic.topic].partitions)
        reader.assign([kafka.TopicPartition(topic.topic, partition, 0) for partition in left])
        until = time.monotonic() + 3 * PATIENCE
        while left:
            message = reader.poll(1.0)
            if message is None:
                if time.monotonic() > until:
                    raise JobError(f"topic {topic.topic!r} at {topic.bootstrap} does not come to its end")
                continue
            until = time.monotonic() + 3 * PATIENCE
            problem = message.error()
            if problem is None:
                (held.add if message.value() is not None else held.discard)(message.key())
            elif problem.code() == kafka.KafkaError._PARTITION_EOF:
                left.discard(message.partition())
            else:
                raise kafka.KafkaException(problem)
    finally:
        reader.close()
    return held
