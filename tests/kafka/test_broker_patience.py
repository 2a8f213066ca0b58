"""A broker that does not answer is given up by the limit that Kafka's client, and whoever waits for it, is given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from windrow.errors import SettingsError
from windrow.spark.sources.kafka_broker import PATIENCE_SECONDS, check_topics

OPTIONS = {"kafka.bootstrap.servers": "h:9092", "subscribe": "tx", "kafka.request.timeout.ms": "600000"}


class Asked:
    """A JVM with Kafka's client, whose answers never come: notes what it was given, and how long it was waited for."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self.waited: list[tuple[int, str]] = []
        self.closed: list[str] = []
        self._client = SimpleNamespace(
            listTopics=lambda: SimpleNamespace(names=lambda: SimpleNamespace(get=self._get)), close=self.closed.append
        )
        units = SimpleNamespace(TimeUnit=SimpleNamespace(SECONDS="seconds"))
        admin = SimpleNamespace(AdminClient=SimpleNamespace(create=lambda given: self._client))
        self.java = SimpleNamespace(
            util=SimpleNamespace(HashMap=lambda: SimpleNamespace(put=self.given.__setitem__), concurrent=units),
            time=SimpleNamespace(Duration=SimpleNamespace(ofSeconds=lambda seconds: f"{seconds} s")),
        )
        self.org = SimpleNamespace(apache=SimpleNamespace(kafka=SimpleNamespace(clients=SimpleNamespace(admin=admin))))

    def _get(self, seconds: int, unit: str) -> Any:
        self.waited.append((seconds, unit))
        raise Py4JError("no answer")


def test_a_broker_that_does_not_answer_is_given_up_by_a_limit() -> None:
    jvm = Asked()
    with pytest.raises(SettingsError, match="the broker h:9092 cannot be asked"):
        check_topics(SimpleNamespace(_jvm=jvm), OPTIONS)  # type: ignore[arg-type]
    assert jvm.waited == [(PATIENCE_SECONDS, "seconds")] and PATIENCE_SECONDS <= 10
    limits = [int(jvm.given[name]) for name in ("request.timeout.ms", "default.api.timeout.ms")]
    assert max(limits) < PATIENCE_SECONDS * 1000 and jvm.given["retries"] == "1"
    assert jvm.given["bootstrap.servers"] == "h:9092" and jvm.closed == ["1 s"]
