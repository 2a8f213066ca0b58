"""A broker that is away for a while: the batch runs again, and no query stops for it. No broker is needed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from windrow.errors import JobError, SettingsError
from windrow.plan.topic_options import topic_of
from windrow.spark.broker_patience import BrokerAwayError
from windrow.spark.job.causes import Cause, cause_of
from windrow.spark.sinks import topic as topics
from windrow.spark.sinks.blame import NotTakenError, blamed_on
from windrow.spark.sinks.topic_broker import check_topic
from windrow.spark.sinks.topic_messages import messages_of

kafka: Any = pytest.importorskip("confluent_kafka")


class Away:
    """A producer whose broker does not answer in time, or has given its place to another one."""

    def __init__(self, code: int) -> None:
        self._code = code

    def begin_transaction(self) -> None:
        raise kafka.KafkaException(kafka.KafkaError(self._code, "as the broker says"))


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (kafka.KafkaError._TIMED_OUT, Cause.PASSING),
        (kafka.KafkaError._TRANSPORT, Cause.PASSING),
        (kafka.KafkaError._FENCED, Cause.QUERY),
        (kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED, Cause.QUERY),
    ],
)
def test_what_passes_is_tried_again_and_what_does_not_stops_the_query(
    monkeypatch: pytest.MonkeyPatch, code: int, cause: Cause
) -> None:
    monkeypatch.setattr(topics, "check_topic", lambda topic: None)
    topic = topic_of({"bootstrap": "h:9092", "topic": "alerts"})
    sink = topics.TopicSink(topic, "job", partial(messages_of, topic=topic))
    sink._producer = Away(code)  # type: ignore[assignment]
    with pytest.raises(NotTakenError) as told, blamed_on(["alerts"]):
        sink.take(pa.table({"n": [1]}), 0)
    assert isinstance(told.value.__cause__, JobError)
    assert cause_of(f"windrow.spark.sinks.blame.NotTakenError: {told.value}") is cause
    assert sink._producer is None  # the next one begins anew, and finds out what was committed


@pytest.mark.parametrize(
    ("code", "told", "kind"),
    [
        (kafka.KafkaError._AUTHENTICATION, "the broker h:9092 does not let us in: as it says", SettingsError),
        (kafka.KafkaError._RESOLVE, "no broker answers at h:9092 within 8 seconds: as it says", BrokerAwayError),
    ],
)
def test_why_a_broker_does_not_answer_is_told(
    monkeypatch: pytest.MonkeyPatch, code: int, told: str, kind: type[SettingsError]
) -> None:
    class Unanswered:
        def __init__(self, options: dict[str, Any]) -> None:
            self._say = options["error_cb"]

        def list_topics(self, timeout: float) -> None:
            self._say(kafka.KafkaError(code, "as it says"))
            self._say(kafka.KafkaError(kafka.KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
            raise kafka.KafkaException(kafka.KafkaError(kafka.KafkaError._TRANSPORT, "no metadata"))

        def poll(self, timeout: float) -> None: ...

    monkeypatch.setattr(kafka, "Producer", Unanswered)
    with pytest.raises(SettingsError, match=told) as raised:
        check_topic(topic_of({"bootstrap": "h:9092", "topic": "alerts"}))
    assert type(raised.value) is kind  # of the two, a job that goes on waits only for one that is away


def test_an_option_that_no_producer_has_is_refused_before_anything_starts() -> None:
    with pytest.raises(SettingsError, match=r'no producer of Kafka has such options: .*"linger\.mss"'):
        check_topic(topic_of({"bootstrap": "127.0.0.1:1", "topic": "alerts", "linger.mss": "5"}))
