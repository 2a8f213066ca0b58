"""A Kafka of one node on this machine: from Maven's jars, in a JVM of its own, gone with its block."""

from __future__ import annotations

import base64
import importlib.util
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

JARS = Path(sys.prefix) / "jars"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
USER, PASSWORD = "somebody", "a-secret"
_SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},GUARDED://127.0.0.1:{guarded},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},GUARDED://127.0.0.1:{guarded}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,GUARDED:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
listener.name.guarded.sasl.enabled.mechanisms=PLAIN
listener.name.guarded.plain.sasl.jaas.config={login} required user_{user}="{password}";
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={logs}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""
_JAVA = ("-Xmx320m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def missing(*kinds: str) -> str | None:
    """What is not here of that which a broker, or a job that reads it, needs; None where all of it is."""
    if importlib.util.find_spec("confluent_kafka") is None:
        return "there is no confluent-kafka: pip install 'windrow[kafka]'"
    for kind in kinds:
        if not list((JARS / kind).glob("*.jar")):
            return f"there are no jars in {JARS / kind}: scripts/fetch_jars.py fetches them where there is Maven"
    return None


class Broker:
    """A running broker: topics are made, written and read by Kafka's own client, never by Windrow.

    At its `guarded` address it lets USER in, by PASSWORD. `process` is the number of its process.
    """

    def __init__(self, address: str, guarded: str, process: int) -> None:
        self.address, self.guarded, self.process = address, guarded, process

    def topic(self, partitions: int = 2, name: str | None = None, **config: str) -> str:
        """A new topic, by a name of its own where none is given."""
        import confluent_kafka.admin

        kafka: Any = confluent_kafka.admin

        name = name or f"topic-{uuid.uuid4().hex[:8]}"
        settings = {key.replace("_", "."): value for key, value in config.items()}
        admin = kafka.AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        admin.create_topics([kafka.NewTopic(name, partitions, 1, config=settings)])[name].result(20)
        return name

    def send(self, topic: str, messages: Iterable[bytes | Mapping[str, Any] | None]) -> None:
        """Write messages: bytes, or what `produce` takes."""
        from confluent_kafka import Producer

        producer = Producer(
            {"bootstrap.servers": self.address, "message.max.bytes": 20_000_000, "linger.ms": 5, "log_level": 0}
        )
        for message in messages:
            given = message if isinstance(message, Mapping) else {"value": message}
            producer.produce(topic, **given)
            producer.poll(0)
        assert producer.flush(30) == 0

    def cut(self, topic: str, before: int) -> None:
        """Delete the messages of each partition before an offset."""
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        partitions = admin.list_topics(topic, timeout=20).topics[topic].partitions
        for told in admin.delete_records([TopicPartition(topic, each, before) for each in partitions]).values():
            told.result(30)

    def group_offsets(self, group: str, topic: str) -> dict[int, int]:
        """What a consumer group says of a topic, by partition."""
        from confluent_kafka import Consumer, TopicPartition

        asked = Consumer({"bootstrap.servers": self.address, "group.id": group, "log_level": 0})
        try:
            partitions = asked.list_topics(topic, timeout=20).topics[topic].partitions
            told = asked.committed([TopicPartition(topic, each) for each in partitions], timeout=20)
            return {each.partition: each.offset for each in told}
        finally:
            asked.close()

    def committed(self, topic: str, isolation: str = "read_committed") -> list[Any]:
        """All messages that a reader of what is committed sees, by partition in their order."""
        from confluent_kafka import Consumer, KafkaError, TopicPartition

        reader = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": uuid.uuid4().hex,
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        try:
            partitions = list(reader.list_topics(topic, timeout=20).topics[topic].partitions)
            reader.assign([TopicPartition(topic, partition, 0) for partition in partitions])
            found: list[Any] = []
            ended: set[int] = set()
            until = time.monotonic() + 60
            while len(ended) < len(partitions):
                assert time.monotonic() < until, "the topic has no end"
                message = reader.poll(1)
                if message is None:
                    continue
                problem: Any = message.error()
                if problem is None:
                    found.append(message)
                elif problem.code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition() or 0)
            return found
        finally:
            reader.close()


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    """A broker with its files in `folder`, until the block ends."""
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else Path("java")
    port, controller, guarded = _free_ports()
    settings, jars = folder / "server.properties", f"{JARS / 'broker'}/*"
    settings.write_text(
        _SETTINGS.format(
            port=port,
            controller=controller,
            guarded=guarded,
            logs=folder / "logs",
            login=_LOGIN,
            user=USER,
            password=PASSWORD,
        )
    )
    drawn = b"W" + uuid.uuid4().bytes[1:]  # in base64 it begins with a letter: with a - it would be read as an option
    cluster = base64.urlsafe_b64encode(drawn).decode()[:22]
    command = [str(java), *_JAVA, "-cp", jars]
    subprocess.run(
        [*command, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(settings)],
        check=True,
        capture_output=True,
    )
    with open(folder / "broker.log", "wb") as log:
        process = subprocess.Popen([*command, "kafka.Kafka", str(settings)], stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait_for(f"127.0.0.1:{port}", process)
        yield Broker(f"127.0.0.1:{port}", f"127.0.0.1:{guarded}", process.pid)
    finally:
        process.kill()
        process.wait()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    admin, until = AdminClient({"bootstrap.servers": address, "log_level": 0}), time.monotonic() + 180
    while time.monotonic() < until and process.poll() is None:
        try:
            admin.list_topics(timeout=1)
            return
        except KafkaException:
            time.sleep(0.1)
    raise AssertionError("the broker has not started")


def _free_ports() -> list[int]:
    """Three ports that nobody has: held at once, or two might be the same."""
    with socket.socket() as first, socket.socket() as second, socket.socket() as third:
        for each in (first, second, third):
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in (first, second, third)]
