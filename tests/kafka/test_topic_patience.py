"""A broker that is away for a while: the batch runs again, and no query stops for it. No broker is needed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from windrow.errors import JobError
from windrow.plan.topic_options import topic_of
from windrow.spark.job.causes import Cause, cause_of
from windrow.spark.sinks import topic as topics
from windrow.spark.sinks.blame import NotTakenError, blamed_on
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
