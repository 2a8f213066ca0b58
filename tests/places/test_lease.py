"""A lease has one holder: whoever dies, sleeps, comes back or comes at the same instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.errors import JobError, SettingsError
from windrow.places import lease as leases
from windrow.places.lease import EXPIRES_SECONDS, RENEWED_SECONDS, Lease
from windrow.places.place import Place
from windrow.spark.job.hold import Hold, check_free

from .stores import new_folder, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    with s3_server() as known:
        yield known


@dataclass
class World:
    """A folder with a clock of its own, and processes that hold leases on it, or think so."""

    folder: Place
    now: float = 0.0
    written: dict[str, float] = field(default_factory=dict)
    alive: dict[int, Lease] = field(default_factory=dict)
    asleep: dict[int, Lease] = field(default_factory=dict)
    renewed: dict[int, float] = field(default_factory=dict)

    def sleep(self, seconds: float) -> None:
        """Time passes; who lives renews its lease when that is due."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + 1.0)
            for name, one in self.alive.items():
                if self.now - self.renewed[name] >= RENEWED_SECONDS:
                    self.renew(name, one)

    def renew(self, name: int, one: Lease) -> None:
        one.renew()
        self.renewed[name] = self.now

    def take(self, name: int) -> bool:
        one = Lease(self.folder, {"process": name}, self.sleep)
        before = [other for other, lease in self.alive.items() if lease.check() is None]
        if one.take() is not None:
            assert before, "nobody is refused for one that is dead"
            return False
        assert not before, "nobody who lives is taken over"
        self.alive[name], self.renewed[name] = one, self.now
        return True

    def holders(self) -> list[int]:
        return [name for name, one in {**self.alive, **self.asleep}.items() if one.check() is None]


@contextmanager
def world(folder: Place) -> Iterator[World]:
    """A world by whose clock files are dated."""
    there = World(folder)
    write, create = Place.write, Place.create

    def dated(place: Place, content: bytes, done: Callable[[Place, bytes], object]) -> object:
        there.written[place.path] = there.now
        return done(place, content)

    def modified(place: Place) -> datetime:
        if not place.exists():
            raise FileNotFoundError(place.path)
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=there.written[place.path])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Place, "write", lambda place, content: dated(place, content, write))
        patch.setattr(Place, "create", lambda place, content: dated(place, content, create))
        patch.setattr(Place, "modified", modified)
        yield there


PROCESSES = st.integers(0, 3)
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["take", "release", "sleep", "wake", "die"]), PROCESSES),
        st.tuples(st.just("pass"), st.integers(1, 45)),
    ),
    max_size=25,
)


@given(deeds=DEEDS)
def test_never_do_two_hold_it_and_never_is_one_who_lives_taken_over(deeds):
    with world(new_folder("memory", Path())) as there:
        for deed, who in deeds:
            done(there, deed, who)
            assert len(there.holders()) <= 1
        assert len((there.folder / leases.LEASES).names()) <= 2, "old leases are deleted"


def done(there: World, deed: str, who: int) -> None:
    match deed:
        case "take" if who not in there.alive and who not in there.asleep:
            there.take(who)
        case "release" if who in there.alive:
            there.alive.pop(who).release()
        case "sleep" if who in there.alive:
            there.asleep[who] = there.alive.pop(who)
        case "wake" if who in there.asleep:
            one = there.asleep.pop(who)
            if one.check() is None:  # nobody came meanwhile
                there.alive[who] = one
                there.renew(who, one)
        case "die":
            there.alive.pop(who, None)
        case "pass":
            there.sleep(who)


def test_one_that_has_expired_is_taken_over_and_the_sleeper_finds_out():
    with world(new_folder("memory", Path())) as there:
        assert there.take(1)
        there.asleep[1] = there.alive.pop(1)
        assert there.take(2) and there.now >= EXPIRES_SECONDS - 1, "it waits until the other has expired"
        there.asleep[1].renew()  # it wakes up, and does not know yet
        assert there.asleep[1].check().said["process"] == 2 and there.alive[2].check() is None
        assert not there.take(3)


def test_of_many_that_come_at_once_one_gets_it(s3: dict[str, str], tmp_path: Path):
    folder, ready = new_folder("s3", tmp_path, s3), Barrier(6)
    taken: list[int] = []

    def take(number: int) -> None:
        one = Lease(folder, {"process": number}, sleep=lambda seconds: None)
        ready.wait()
        if one.take() is None:
            taken.append(number)

    first = Lease(folder, {"process": "the one before"})
    assert first.take() is None
    first.release()
    threads = [Thread(target=take, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(0.1)
    for look in range(600):
        if not any(thread.is_alive() for thread in threads):
            break
        winner = folder / leases.LEASES / f"{2:012d}.json"
        winner.write(b'{"renewal": "%d"}' % look)  # whoever it is lives
        threads[0].join(0.05)
    assert len(taken) == 1 and not any(thread.is_alive() for thread in threads)


def test_a_checkpoint_elsewhere_has_one_job_and_a_job_that_lost_it_commits_nothing(
    s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = new_folder("s3", tmp_path, s3)
    first, second = Hold(place), Hold(place)
    first.take()
    first.check()
    lease = first._lease
    monkeypatch.setattr(leases, "_age", lambda folder, number: lease.renew() or 0.0)  # it lives
    for refused in (second.take, lambda: check_free(place)):
        with pytest.raises(SettingsError, match=r"a job runs on the checkpoint s3a://.* already: process \d+ on "):
            refused()
    monkeypatch.setattr(leases, "_age", lambda folder, number: EXPIRES_SECONDS)  # it has died, or so it seems
    second.take()
    second.check()
    with pytest.raises(JobError, match=r"s3a://.* was taken over by process \d+ on .*nothing of this batch"):
        first.check()
    second.release()
    check_free(place)
    first.release()
