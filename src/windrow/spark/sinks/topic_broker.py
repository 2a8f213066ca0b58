"""The broker of a topic that rows go to, asked before anything starts: what is wrong is told by name."""

from __future__ import annotations

from typing import Any

from windrow.errors import SettingsError
from windrow.language.spelling import closest
from windrow.plan.topic_options import Topic
from windrow.spark.broker_patience import BrokerAwayError, answered

PATIENCE = 30.0
_REACH = 8.0
"""Seconds: for what a broker is to do, and for it to answer at all."""


def check_topic(topic: Topic) -> None:
    """Refuse a broker that does not answer, or has no such topic."""
    known = answered(lambda: _topics(topic))
    if topic.topic not in known:
        shown = sorted(name for name in known if not name.startswith("_"))
        meant = closest(topic.topic, [name.upper() for name in shown])
        like = next((name for name in shown if name.upper() == meant), None)
        way = f"did you mean {like}?" if like else f"its topics: {', '.join(shown[:10]) or 'none'}"
        told = f"the broker {topic.bootstrap} has no topic {topic.topic!r}\nhint: {way}"
        raise SettingsError(told, concerns=topic.topic)


def _topics(topic: Topic) -> Any:
    """The topics of a broker, by name, asked by a producer with all its options: one that it does not know is told of.

    What it says of its connections, why it is not let in or finds no host, comes beside the answer.
    """
    kafka, said = kafka_client(), list[Any]()
    own = {"transactional.id": "windrow-asks", "log_level": "0", "socket.connection.setup.timeout.ms": "5000"}
    try:
        producer = kafka.Producer({**dict(topic.client), **own, "error_cb": said.append})
    except kafka.KafkaException as error:
        raise SettingsError(f"no producer of Kafka has such options: {why_of(error)}") from None
    try:
        return producer.list_topics(timeout=_REACH).topics
    except kafka.KafkaException as error:
        producer.poll(0)
        raise _unanswered(topic, said, why_of(error)) from None


def _unanswered(topic: Topic, said: list[Any], why: str) -> SettingsError:
    codes = kafka_client().KafkaError
    told = [each for each in said if each.code() != codes._ALL_BROKERS_DOWN]
    refused = [each for each in told if each.code() in (codes._AUTHENTICATION, codes.SASL_AUTHENTICATION_FAILED)]
    if refused:
        told_us = f"the broker {topic.bootstrap} does not let us in: {refused[-1].str()}"
        return SettingsError(told_us, concerns=topic.bootstrap)
    return BrokerAwayError(
        f"no broker answers at {topic.bootstrap} within {_REACH:.0f} seconds: {told[-1].str() if told else why}"
        "\nhint: is it running, is its address right, and does it want another security.protocol?",
        concerns=topic.bootstrap,
    )


def make_markers(topic: Topic) -> None:
    """Make the topic of notes where there is none: compacted, so that it keeps the last note of each sink."""
    kafka, admin = kafka_client(), _admin(topic)
    if topic.markers in admin.list_topics(timeout=_REACH).topics:
        return
    new = kafka.admin.NewTopic(topic.markers, 1, -1, config={"cleanup.policy": "compact"})
    try:
        admin.create_topics([new])[topic.markers].result(PATIENCE)
    except kafka.KafkaException as error:
        if error.args[0].code() != kafka.KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def _admin(topic: Topic) -> Any:
    given = {key: value for key, value in topic.client if not key.startswith(("linger", "compression", "batch"))}
    own = {"log_level": "0", "socket.connection.setup.timeout.ms": "5000"}
    return kafka_client().admin.AdminClient({**given, **own})


def why_of(error: Exception) -> str:
    first = error.args[0] if error.args else error
    return str(first.str()) if hasattr(first, "str") else str(error)


def kafka_client() -> Any:
    try:
        import confluent_kafka
        import confluent_kafka.admin
    except ImportError:
        raise SettingsError("a sink of Kafka needs confluent-kafka\nhint: pip install 'windrow[kafka]'") from None
    return confluent_kafka
