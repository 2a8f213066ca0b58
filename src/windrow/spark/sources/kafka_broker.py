"""Whether a broker answers and has the topics that are asked for: found out before anything starts, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from windrow.errors import SettingsError
from windrow.language.spelling import closest
from windrow.plan.kafka_options import BOOTSTRAP, client_options, topics_of
from windrow.spark.broker_patience import BrokerAwayError, answered
from windrow.spark.sources.source import Topics

Offsets = Mapping[str, Mapping[str, int]]
"""By topic and partition the message that is read next."""

PATIENCE_SECONDS = 10
"""A broker that is not there, or does not answer, is told of within so many seconds, whatever its consumer is given."""

_PATIENCE = {"request.timeout.ms": 4000, "default.api.timeout.ms": 7000}
_RETRIES = {"retries": "1"}
"""What the client itself waits for, in milliseconds, at most, and how often it tries: it says more than we could."""

_NO_HOST = "No resolvable bootstrap urls"
"""What Kafka's client says where no name of a broker is known, which may pass, too."""

_REFUSALS = ("AuthenticationException", "AuthorizationException")


def check_topics(spark: SparkSession, options: Mapping[str, str]) -> None:
    """Ask the broker for the topics, by Kafka's own client with the options of the consumer."""
    known = answered(lambda: _topics(spark, options))
    for name in topics_of(options):
        if name not in known:
            shown = sorted(each for each in known if not each.startswith("_"))
            meant = closest(name, {each.upper(): each for each in shown})
            like = next((each for each in shown if each.upper() == meant), None)
            listed = f"its topics: {', '.join(shown[:10]) or 'none'}{', ...' if len(shown) > 10 else ''}"
            raise SettingsError(
                f"the broker {options[BOOTSTRAP]} has no topic {name!r}"
                f"\nhint: {f'did you mean {like}?' if like else listed}",
                concerns=name,
            )


def _topics(spark: SparkSession, options: Mapping[str, str]) -> set[str]:
    with _Admin(spark, options) as admin:
        return admin.topics()


def commit_offsets(spark: SparkSession, topics: Topics, offsets: Offsets) -> None:
    """Tell the consumer group of a stream how far it has been read."""
    if topics.group is not None and offsets:
        with _Admin(spark, topics.options) as admin:
            admin.commit(topics.group, offsets)


def lost_messages(spark: SparkSession, topics: Topics, offsets: Offsets) -> int:
    """How many messages are gone that were to be read next, where a stream was read up to `offsets`."""
    with _Admin(spark, topics.options) as admin:
        first = admin.earliest(offsets)
    at = {(topic, each): int(offset) for topic, partitions in offsets.items() for each, offset in partitions.items()}
    gone = ((offset, at[topic, each]) for topic, each_of in first.items() for each, offset in each_of.items())
    return sum(max(0, begins - read) for begins, read in gone)


class _Admin:
    """Kafka's client for administration, in Spark's JVM."""

    def __init__(self, spark: SparkSession, options: Mapping[str, str]) -> None:
        self._jvm: Any = spark._jvm
        self._broker = options[BOOTSTRAP]
        self._given = client_options(options)

    def __enter__(self) -> _Admin:
        given = self._jvm.java.util.HashMap()
        for name, value in (self._given | _RETRIES | _patience(self._given)).items():
            given.put(name, value)
        try:
            self._client = self._jvm.org.apache.kafka.clients.admin.AdminClient.create(given)
        except Py4JError as error:
            raise self._refused(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close(self._jvm.java.time.Duration.ofSeconds(1))

    def topics(self) -> set[str]:
        """The names of all topics that we may see."""
        try:
            return set(self._waited(self._client.listTopics().names()))
        except Py4JError as error:
            raise self._refused(error) from None

    def commit(self, group: str, offsets: Offsets) -> None:
        """Tell a consumer group how far partitions have been read."""
        kafka, told = self._jvm.org.apache.kafka, self._jvm.java.util.HashMap()
        for topic, partitions in offsets.items():
            for partition, offset in partitions.items():
                place = kafka.common.TopicPartition(topic, int(partition))
                told.put(place, kafka.clients.consumer.OffsetAndMetadata(self._jvm.java.lang.Long.valueOf(int(offset))))
        try:
            self._waited(self._client.alterConsumerGroupOffsets(group, told).all())
        except Py4JError as error:
            raise self._refused(error) from None

    def earliest(self, offsets: Offsets) -> Offsets:
        """The first message that partitions still have; of those that there are no more, none is told."""
        kafka, asked = self._jvm.org.apache.kafka, self._jvm.java.util.HashMap()
        for topic, partitions in offsets.items():
            for partition in partitions:
                spec = kafka.clients.admin.OffsetSpec.earliest()
                asked.put(kafka.common.TopicPartition(topic, int(partition)), spec)
        try:
            found = self._waited(self._client.listOffsets(asked).all())
        except Py4JError:  # a topic is gone: Spark says so
            return {}
        first: dict[str, dict[str, int]] = {}
        for place in found.keySet():
            first.setdefault(place.topic(), {})[str(place.partition())] = found.get(place).offset()
        return first

    def _waited(self, answer: Any) -> Any:
        return answer.get(PATIENCE_SECONDS, self._jvm.java.util.concurrent.TimeUnit.SECONDS)

    def _refused(self, error: Py4JError) -> SettingsError:
        causes = _causes(error.java_exception) if isinstance(error, Py4JJavaError) else []
        kinds = [cause.getClass().getSimpleName() for cause in causes]
        said = (causes[-1].getMessage() if causes else None) or str(error)
        if any(kind in ("TimeoutException", "DisconnectException") for kind in kinds):
            return self._away(f"within {PATIENCE_SECONDS} seconds")
        if _NO_HOST in said:
            return self._away("since no host has that name")
        if any("Sasl" in kind or kind.endswith(_REFUSALS) for kind in kinds):
            return SettingsError(f"the broker {self._broker} does not let us in: {said}", concerns=self._broker)
        return SettingsError(f"the broker {self._broker} cannot be asked: {said}", concerns=self._broker)

    def _away(self, why: str) -> BrokerAwayError:
        return BrokerAwayError(
            f"no broker answers at {self._broker} {why}"
            "\nhint: is it running, is its address right, and does it want another security.protocol?",
            concerns=self._broker,
        )


def _patience(given: Mapping[str, str]) -> dict[str, str]:
    """How long the client waits: a consumer may be given more patience than whoever starts a job has.

    >>> _patience({"request.timeout.ms": "60000", "default.api.timeout.ms": "500"})
    {'request.timeout.ms': '4000', 'default.api.timeout.ms': '500'}
    """
    asked = {name: int(given[name]) for name in _PATIENCE if given.get(name, "").isdigit()}
    return {name: str(min(asked.get(name, most), most)) for name, most in _PATIENCE.items()}


def _causes(error: JavaObject) -> list[Any]:
    """An error of the JVM and what caused it, the innermost last."""
    found: list[Any] = []
    while error is not None and len(found) < 10:
        found.append(error)
        error = error.getCause()
    return found
