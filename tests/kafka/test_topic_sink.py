"""A topic as a sink, without Spark: batches that come again, transactions that were left open, and zombies."""

from __future__ import annotations

import json
from functools import partial

import pyarrow as pa
import pytest
from lab.broker import PASSWORD, USER

from windrow.errors import JobError, SettingsError
from windrow.plan.topic_options import Topic, topic_of
from windrow.spark.sinks.topic import TopicSink, last_batch
from windrow.spark.sinks.topic_keys import keys_held
from windrow.spark.sinks.topic_messages import Message, answer_messages, messages_of

from .broker import Broker


def rows(*numbers: int) -> pa.Table:
    return pa.table({"n": list(numbers)})


def sink_of(topic: Topic, mark: str) -> TopicSink:
    return TopicSink(topic, mark, partial(messages_of, topic=topic))


def seen(broker: Broker, topic: Topic) -> list[int]:
    return sorted(json.loads(message.value())["n"] for message in broker.committed(topic.topic))


@pytest.mark.slow
def test_a_batch_is_sent_once_whoever_sends_it(broker: Broker) -> None:
    topic = topic_of({"bootstrap": broker.address, "topic": broker.topic(), "markers": "notes-of-tests"})
    first = sink_of(topic, "job-a")
    first.take(rows(1, 2), 0)
    first.take(rows(1, 2), 0)
    second = sink_of(topic, "job-a")
    second.take(rows(1, 2), 0)
    second.take(rows(3), 1)
    assert seen(broker, topic) == [1, 2, 3]
    with pytest.raises(JobError, match="takes no rows"):  # the first lives on though another has taken its place
        first.take(rows(9), 2)
    assert seen(broker, topic) == [1, 2, 3]

    def dies(table: pa.Table) -> object:
        yield Message(None, b'{"n": 66}', [])
        raise RuntimeError("killed in the middle of a transaction")

    third = TopicSink(topic, "job-a", dies)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError):
        third.take(rows(4), 2)
    sink_of(topic, "job-a").take(rows(4), 2)
    sink_of(topic, "job-b").take(rows(5), 0)  # another job has batches of its own
    assert seen(broker, topic) == [1, 2, 3, 4, 5]
    assert last_batch(topic, "windrow-job-a") == 2 and last_batch(topic, "windrow-job-c") == -1


@pytest.mark.slow
def test_an_answer_that_begins_anew_takes_away_what_the_topic_still_has(broker: Broker) -> None:
    given = {"bootstrap": broker.address, "topic": broker.topic(2, cleanup_policy="compact"), "key": "k"}
    topic = topic_of({**given, "holds": "answer", "markers": "notes-of-tests"})

    def answer(mark: str, *formerly: str) -> TopicSink:
        return TopicSink(topic, mark, partial(answer_messages, topic=topic, leading=1), formerly=formerly)

    def changes(**came: int) -> pa.Table:
        return pa.table({"op": ["+"] * len(came), "k": list(came), "n": list(came.values())})

    answer("anew").take(changes(a=1, b=1), 0)
    assert keys_held(topic, "asks") == {b"a", b"b"}
    answer("of-another", "never-there").take(changes(c=1), 0)  # what others have written is not ours to take away
    assert keys_held(topic, "asks") == {b"a", b"b", b"c"}
    again = answer("anew-1", "anew")
    again.take(changes(b=2, d=2), 5)
    again.take(changes(e=3), 6)
    answer("anew-1", "anew").take(changes(e=3), 6)
    assert keys_held(topic, "asks") == {b"b", b"d", b"e"}


@pytest.mark.slow
def test_a_topic_that_is_not_there_is_refused_by_name(broker: Broker) -> None:
    name = broker.topic()
    with pytest.raises(SettingsError, match=f"has no topic '{name}s'\nhint: did you mean {name}"):
        sink_of(topic_of({"bootstrap": broker.address, "topic": f"{name}s"}), "m")
    with pytest.raises(SettingsError, match=r"no broker answers at 127\.0\.0\.1:1 "):
        sink_of(topic_of({"bootstrap": "127.0.0.1:1", "topic": name}), "m")


@pytest.mark.slow
def test_credentials_that_fail_are_told_as_such(broker: Broker) -> None:
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": USER}
    given = {"bootstrap": broker.guarded, "topic": broker.topic(), **login}
    with pytest.raises(SettingsError, match=r"does not let us in: .*Authentication failed"):
        sink_of(topic_of({**given, "sasl.password": "wrong"}), "job-a")
    topic = topic_of({**given, "sasl.password": PASSWORD, "markers": "notes-of-tests"})
    sink_of(topic, "job-let-in").take(rows(1), 0)
    assert seen(broker, topic) == [1]
