"""A broker that does not answer is given up by the limit that Kafka's client, and whoever waits for it, is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from windrow.application.script_text import ScriptText
from windrow.errors import QueryError, SettingsError
from windrow.language import CreateStream, parse_script
from windrow.spark.broker_patience import WAITED_SECONDS, BrokerAwayError, answered, going_on_from
from windrow.spark.sources.kafka_broker import PATIENCE_SECONDS, check_topics

OPTIONS = {"kafka.bootstrap.servers": "h:9092", "subscribe": "tx", "kafka.request.timeout.ms": "600000"}


class Asked:
    """A JVM with Kafka's client, whose answers never come: notes what it was given, and how long it was waited for."""

    def __init__(self, says: str = "no answer") -> None:
        self._says = says
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
        raise Py4JError(self._says)


def test_a_broker_that_does_not_answer_is_given_up_by_a_limit() -> None:
    jvm = Asked()
    with pytest.raises(SettingsError, match="the broker h:9092 cannot be asked"):
        check_topics(SimpleNamespace(_jvm=jvm), OPTIONS)  # type: ignore[arg-type]
    assert jvm.waited == [(PATIENCE_SECONDS, "seconds")] and PATIENCE_SECONDS <= 10
    limits = [int(jvm.given[name]) for name in ("request.timeout.ms", "default.api.timeout.ms")]
    assert max(limits) < PATIENCE_SECONDS * 1000 and jvm.given["retries"] == "1"
    assert jvm.given["bootstrap.servers"] == "h:9092" and jvm.closed == ["1 s"]


class Clock:
    """A clock that goes on only where somebody sleeps."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds


def broker_back_after(silent: int) -> Callable[[], str]:
    """Something to ask that fails so many times."""
    tries = iter([*[BrokerAwayError("no broker answers at h:9092\nhint: is it running?")] * silent, None])

    def ask() -> str:
        problem = next(tries)
        if problem is not None:
            raise problem
        return "topics"

    return ask


def checkpoint_in(folder: Path, *, has_run: bool) -> Path:
    (folder / "tx" / "spark" / ("commits" if has_run else "offsets")).mkdir(parents=True)
    return folder


def test_a_job_that_goes_on_waits_for_its_broker_and_says_so(tmp_path: Path) -> None:
    said, clock = list[str](), Clock()
    with going_on_from(checkpoint_in(tmp_path, has_run=True), said.append, now=clock.now, sleep=clock.sleep):
        assert answered(broker_back_after(3)) == "topics"
    assert len(said) == 3 and clock.at > 0
    assert said[0].startswith("no broker answers at h:9092: the job has run before") and "hint" not in said[0]


def test_who_waits_gives_up_after_a_while_or_when_stopped(tmp_path: Path) -> None:
    place, clock, stopped = checkpoint_in(tmp_path, has_run=True), Clock(), [False]
    given = {"now": clock.now, "sleep": clock.sleep}
    with going_on_from(place, lambda told: None, **given), pytest.raises(BrokerAwayError):
        answered(broker_back_after(10_000))
    assert WAITED_SECONDS <= clock.at < WAITED_SECONDS + 10
    begun = clock.at

    def stop_now(told: str) -> None:
        stopped[0] = True

    with going_on_from(place, stop_now, lambda: stopped[0], **given), pytest.raises(BrokerAwayError):
        answered(broker_back_after(5))
    assert clock.at - begun < 10


def test_a_first_start_and_what_does_not_pass_are_told_at_once(tmp_path: Path) -> None:
    said, clock = list[str](), Clock()
    for place in (checkpoint_in(tmp_path / "new", has_run=False), tmp_path / "missing"):
        with (
            going_on_from(place, said.append, now=clock.now, sleep=clock.sleep),
            pytest.raises(BrokerAwayError, match="no broker answers"),
        ):
            answered(broker_back_after(1))

    def refused() -> None:
        raise SettingsError("the broker h:9092 has no topic 'tx'")

    place = checkpoint_in(tmp_path / "old", has_run=True)
    with going_on_from(place, said.append, sleep=clock.sleep), pytest.raises(SettingsError, match="has no topic"):
        answered(refused)
    with pytest.raises(BrokerAwayError):  # nobody waits after the block
        answered(broker_back_after(1))
    assert said == [] and clock.at == 0


def test_a_broker_whose_name_nobody_knows_is_away() -> None:
    jvm = Asked("No resolvable bootstrap urls given in bootstrap.servers")
    with pytest.raises(BrokerAwayError, match="no broker answers at h:9092 since no host has that name"):
        check_topics(SimpleNamespace(_jvm=jvm), OPTIONS)  # type: ignore[arg-type]


@pytest.mark.parametrize(("concerns", "underlined"), [("h:9092", "'h:9092'"), ("tx", "'tx'"), ("other", "json")])
def test_what_a_broker_says_is_underlined_where_the_script_names_it(concerns: str, underlined: str) -> None:
    text = "CREATE STREAM tx (tx STRING) USING kafka OPTIONS (bootstrap 'h:9092', topic 'tx') FORMAT json"
    (stream,) = parse_script(text)
    assert isinstance(stream, CreateStream)
    script = ScriptText(text)
    with pytest.raises(QueryError) as told, script.placed(script.written("json", stream), stream):
        raise SettingsError("the broker says no\nhint: ask another", concerns=concerns)
    assert text[told.value.at : told.value.end] == underlined and told.value.hint == "ask another"
