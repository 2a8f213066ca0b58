"""Rows into a topic of Kafka, each once for whoever reads what is committed: one transaction a batch."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame

from windrow.errors import JobError
from windrow.plan.topic_options import Topic
from windrow.spark.sinks.staged_files import Staged
from windrow.spark.sinks.topic_broker import PATIENCE, check_topic, kafka_client, make_markers, why_of
from windrow.spark.sinks.topic_keys import keys_held
from windrow.spark.sinks.topic_messages import Message, check_messages

if TYPE_CHECKING:
    from confluent_kafka import Producer

_TRANSACTION_MS = "60000"
"""A transaction that nobody ends blocks who reads what is committed; the broker ends it after so long."""

NOT_NOW = "takes no rows for now"
"""What is said where a broker may take them later: the batch runs again, and no query stops for it."""

Messages = Callable[[pa.Table], Iterator[Message]]


class TopicSink:
    """Sends the rows of a batch in one transaction, together with a note of the batch in a topic of such notes.

    Spark runs a batch again that it has not committed, though we may have sent it. So the note of the last batch is
    read back whenever a producer begins, and a batch up to that one is passed over. `mark`, of the job and the sink, is
    the producer's transactional id: who begins with it shuts out whoever had it before, and ends what that one left
    open. A reader with isolation.level read_committed sees each row once.
    """

    takes_empty = False

    def __init__(
        self, topic: Topic, mark: str, messages: Messages, *, checked: bool = True, formerly: Sequence[str] = ()
    ) -> None:
        """`messages` makes messages of rows; where `checked`, the rows must fit what the topic says of them.

        An answer that was `formerly` noted under other marks has begun anew: with its first batch, the keys that the
        topic still has are taken away.
        """
        self._formerly = [f"windrow-{each}" for each in formerly]
        self._topic, self._id, self._messages, self._checked = topic, f"windrow-{mark}", messages, checked
        self._producer: Producer | None = None
        self._done = -1
        check_topic(topic)

    def by_tasks(self, schema: pa.Schema) -> Staged | str | None:
        if self._checked:
            check_messages(self._topic, schema)
        return None

    def write(self, rows: DataFrame, batch: int) -> None:
        self.take(rows.toArrow(), batch)

    def take(self, rows: pa.Table, batch: int) -> None:
        """Send a batch, unless it was sent before."""
        kafka = kafka_client()
        try:
            producer = self._begin() if self._producer is None else self._producer
            if batch <= self._done or rows.num_rows == 0:
                return
            messages = self._messages(rows)
            if self._done < 0 and any(last_batch(self._topic, former) >= 0 for former in self._formerly):
                messages = self._instead(list(messages))
            producer.begin_transaction()
            for message in messages:
                self._send(producer, self._topic.topic, message)
            note = Message(self._id.encode(), json.dumps({"batch": batch}).encode(), [])
            self._send(producer, self._topic.markers, note)
            producer.commit_transaction(PATIENCE)
        except (kafka.KafkaException, BufferError) as error:
            # whether it is committed is found out by whoever begins next: a new producer ends what this one began
            self._producer = None
            place = f"topic {self._topic.topic!r} at {self._topic.bootstrap}"
            for_now = NOT_NOW if _passes(error) else "takes no rows"
            raise JobError(f"{place} {for_now}: {why_of(error)}") from error
        except BaseException:
            self._producer = None
            raise
        self._done = batch

    def _instead(self, messages: list[Message]) -> Iterator[Message]:
        """The messages, and a tombstone for each other key that the topic has a row for."""
        others = keys_held(self._topic, self._id) - {message.key for message in messages}
        yield from (Message(key, None, []) for key in sorted(others, key=lambda each: each or b""))
        yield from messages

    def _begin(self) -> Producer:
        kafka = kafka_client()
        make_markers(self._topic)
        given = dict(self._topic.client)
        own = {"transactional.id": self._id, "transaction.timeout.ms": _TRANSACTION_MS, "log_level": "0"}
        producer: Producer = kafka.Producer({"linger.ms": "5", **given, **own})
        producer.init_transactions(PATIENCE)
        self._done = last_batch(self._topic, self._id)
        self._producer = producer
        return producer

    def _send(self, producer: Producer, topic: str, message: Message) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                producer.produce(topic, message.value, message.key, headers=[*message.headers] or None)
                producer.poll(0)
                return
            except BufferError:  # more than the producer holds: it sends some first
                if time.monotonic() > until:
                    raise
                producer.poll(0.5)


def last_batch(topic: Topic, mark: str) -> int:
    """The last batch that is noted under `mark`; -1 if none is."""
    kafka = kafka_client()
    partition = kafka.TopicPartition(topic.markers, 0, 0)
    common = {key: value for key, value in topic.client if not key.startswith(("linger", "compression", "batch"))}
    common |= {"group.id": mark, "enable.auto.commit": "false", "log_level": "0"}
    asked = kafka.Consumer(common | {"isolation.level": "read_uncommitted"})
    try:
        _, end = asked.get_watermark_offsets(kafka.TopicPartition(topic.markers, 0), timeout=PATIENCE)
    finally:
        asked.close()
    found, until = -1, time.monotonic() + 3 * PATIENCE
    reader = kafka.Consumer(common | {"isolation.level": "read_committed", "enable.partition.eof": "true"})
    try:
        reader.assign([partition])
        while end > 0:
            if time.monotonic() > until:
                raise JobError(f"topic {topic.markers!r} at {topic.bootstrap} has a transaction that does not end")
            message = reader.poll(1.0)
            if message is None:
                continue
            problem = message.error()
            if problem is None and message.key() == mark.encode():
                found = int(json.loads(message.value())["batch"])
            elif problem is not None and problem.code() == kafka.KafkaError._PARTITION_EOF:
                if message.offset() >= end:
                    break  # others may note batches in transactions that are open: what lies behind is not seen yet
            elif problem is not None:
                raise kafka.KafkaException(problem)
    finally:
        reader.close()
    return found


def _passes(error: Exception) -> bool:
    """Whether a broker may take the same rows a little later: it is away or busy, and nobody has shut us out."""
    first: Any = error.args[0] if error.args else None
    if isinstance(error, BufferError):
        return True
    if not hasattr(first, "code"):
        return False
    codes, kinds = kafka_client().KafkaError, ("_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN", "REQUEST_TIMED_OUT")
    return bool(first.retriable()) or first.code() in [getattr(codes, kind) for kind in kinds]
