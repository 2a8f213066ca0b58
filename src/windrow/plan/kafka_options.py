"""What is said of a topic that is read: a few names of ours, the connector's and the client's own, in Spark's words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from windrow.errors import SettingsError
from windrow.language.spelling import closest

KAFKA = "kafka"
MESSAGES = ("json", "csv", "avro", "text", "raw")
"""What messages can be."""

BATCH_MESSAGES = 1_000_000
"""A batch reads so many messages, where a stream does not say how many: the first of a long topic would else be all."""

GROUP = "group"
"""The consumer group that offsets are committed to, so that the tools which people have show the lag."""

BOOTSTRAP = "kafka.bootstrap.servers"
_NAMES = {"bootstrap": BOOTSTRAP, "topic": "subscribe", "pattern": "subscribePattern"}
_SPARKS = (
    *("subscribe", "subscribePattern", "assign", "startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp"),
    *("startingOffsetsByTimestampStrategy", "failOnDataLoss", "maxOffsetsPerTrigger", "minOffsetsPerTrigger"),
    *("maxTriggerDelay", "minPartitions", "maxRecordsPerPartition", "groupIdPrefix"),
)
_LIMITS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger")
_READ_FROM = ("subscribe", "subscribePattern", "assign")
_BEGIN = ("startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp")
_SPARK_PREFIXES = ("kafka.", "kafkaConsumer.", "fetchOffset.", "kafka.producer.")
_TAKEN = {
    "auto.offset.reset": "starting 'earliest', 'latest' or an instant",
    "enable.auto.commit": "leave it out: offsets are kept in the checkpoint",
    "key.deserializer": "key BINARY METADATA, or key STRING METADATA",
    "value.deserializer": "FORMAT json, csv, avro, text or raw",
    "interceptor.classes": "leave it out: an interceptor may change what is read again",
}
"""Options of a consumer that are decided otherwise, and how."""


def source_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a stream from Kafka as Spark's connector takes them; what cannot be right is refused.

    >>> source_options({"bootstrap": "h:9092", "topic": "tx", "starting": "latest", "max.poll.records": "9"}) == {
    ...     "kafka.bootstrap.servers": "h:9092", "subscribe": "tx", "startingOffsets": "latest",
    ...     "kafka.max.poll.records": "9", "maxOffsetsPerTrigger": "1000000", "includeHeaders": "true"}
    True
    """
    spelt = {name.lower(): name for name in _SPARKS}
    given: dict[str, str] = {"includeHeaders": "true"}
    for key, value in options.items():
        bare = key.removeprefix("kafka.")
        if bare.lower() in _TAKEN:
            raise SettingsError(f"a stream from Kafka does not take {key!r}\nhint: {_TAKEN[bare.lower()]}")
        if key.lower() == GROUP:
            continue
        if key.lower() == "starting":
            given |= _starting(value)
        elif key.lower() in _NAMES:
            given[_NAMES[key.lower()]] = value
        elif key.lower() in spelt:
            given[spelt[key.lower()]] = value
        elif "." in key:
            given[key if key.startswith(_SPARK_PREFIXES) else f"kafka.{key}"] = value
        else:
            raise SettingsError(f"kafka has no option {key!r}\nhint: {_meant(key, spelt)}")
    if BOOTSTRAP not in given:
        raise SettingsError("a stream from Kafka needs a broker\nhint: OPTIONS (bootstrap 'host:9092', topic 'name')")
    named = [name for name in _READ_FROM if name in given]
    if len(named) != 1:
        wrong = "needs a topic" if not named else "is read by topic, by pattern or by assign, and not by two of them"
        raise SettingsError(f"a stream from Kafka {wrong}\nhint: OPTIONS (bootstrap 'host:9092', topic 'name')")
    if not any(name in given for name in _BEGIN):
        given["startingOffsets"] = "earliest"
    if not any(name in given for name in _LIMITS):
        given["maxOffsetsPerTrigger"] = str(BATCH_MESSAGES)
    return given


def group_of(options: Mapping[str, str]) -> str | None:
    """The consumer group that offsets are committed to, where there is one.

    >>> group_of({"topic": "tx", "group": "windrow-tx"})
    'windrow-tx'
    """
    return next((value for key, value in options.items() if key.lower() == GROUP), None)


def client_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of Kafka's own client among those for Spark: by their own names.

    >>> client_options({"kafka.bootstrap.servers": "h:9092", "subscribe": "tx"})
    {'bootstrap.servers': 'h:9092'}
    """
    return {key.removeprefix("kafka."): value for key, value in options.items() if key.startswith("kafka.")}


def topics_of(options: Mapping[str, str]) -> list[str]:
    """The topics that are read by name."""
    return [name.strip() for name in options.get("subscribe", "").split(",") if name.strip()]


def _starting(value: str) -> dict[str, str]:
    """Where a new job begins: an end of the topic, an instant, or offsets as Spark writes them.

    >>> _starting("2026-11-16 00:00")["startingTimestamp"]
    '1794787200000'
    """
    word = value.strip()
    if word.lower() in ("earliest", "latest"):
        return {"startingOffsets": word.lower()}
    if word.startswith("{"):
        return {"startingOffsets": word}
    try:
        instant = datetime.fromisoformat(word)
    except ValueError:
        raise SettingsError(
            f"starting {value!r} is no place in a topic"
            "\nhint: 'earliest', 'latest', an instant such as '2026-11-16 00:00', or offsets as JSON"
        ) from None
    moment = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    # a partition in which nothing is so late begins with what comes
    return {
        "startingTimestamp": str(int(moment.timestamp() * 1000)),
        "startingOffsetsByTimestampStrategy": "latest",
    }


def _meant(key: str, spelt: Mapping[str, str]) -> str:
    known = {name.upper(): name for name in (*_NAMES, GROUP, "starting", *spelt.values())}
    meant = closest(key, known)
    return f"did you mean {known[meant]}?" if meant else "an option of Kafka's consumer has dots, as security.protocol"
