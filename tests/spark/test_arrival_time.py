"""Streams timed by arrival, and quiet ones with an idle clock, on a real Spark and by the real wall clock."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import windrow
from windrow.application import Application
from windrow.errors import SettingsError
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.timing import Timing
from windrow.schedule.heartbeat import Heartbeat
from windrow.session import Session
from windrow.spark.job.job import Job
from windrow.spark.sources import heartbeat
from windrow.spark.sources.heartbeat import HeartbeatReader, keep_timing

from .streams import PATIENCE, SECOND, assert_same, finish, instants, put, rows_of, stream_of

TEXT = "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM ticks [RANGE 3 SECONDS SLIDE 1 SECOND] GROUP BY k"
RANGE, SLIDE = 3 * SECOND, SECOND


def some(*rows: tuple[str, int]) -> pa.Table:
    return pa.table({"k": [k for k, _ in rows], "x": pa.array([x for _, x in rows], pa.int32())})


def ends_over(time_us: int) -> list[int]:
    """The ends of the windows that hold an event at `time_us`."""
    first = time_us // SLIDE * SLIDE + SLIDE
    return list(range(first, first + RANGE, SLIDE))


def arrivals(checkpoint: Path) -> list[int]:
    """When the batch of each file began, in microseconds, as Spark's offset log has it."""
    found: list[int] = []
    for file in sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda file: int(file.name)):
        _, batch, source, *_ = file.read_text().splitlines()
        files = json.loads(source)["logOffset"] + 1 if source.startswith("{") else 0
        found += [json.loads(batch)["batchTimestampMs"] * 1000] * (files - len(found))
    return found


def wait_until(job: Job, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE
    while not reached(figures := job.progress()["ticks"]):
        assert not job.wait(0.1), "the job has ended"
        assert time.monotonic() < deadline, f"the job is stuck at {figures}"
    return figures


def seen_in(folder: Path) -> list[dict[str, Any]]:
    return rows_of(folder) if list(folder.glob("*.parquet")) else []


@pytest.mark.slow
def test_a_stream_timed_by_arrival_that_goes_quiet_closes_its_windows(spark: SparkSession, tmp_path: Path):
    """Two files arrive, then nothing: all their windows are answered, by the times of their batches, some of them after a
    restart. An event-timed stream runs beside it, and has no part in it."""
    (tmp_path / "in").mkdir()
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, tmp_path / "in", "k STRING, x INT"))
    session.query("q", TEXT)
    (tmp_path / "other").mkdir()
    session.stream("other", stream_of(spark, tmp_path / "other", "ts TIMESTAMP, k STRING, x INT"), time="ts")
    session.query("o", TEXT.replace("ticks", "other"))
    checkpoint = tmp_path / "checkpoint"
    sinks = {"q": windrow.sink("parquet", path=tmp_path / "out"), "o": windrow.sink("noop")}
    job = session.start(str(checkpoint), sinks)
    files = [some(("a", 1), ("b", 2), ("a", 3)), some(("a", 5))]
    put(tmp_path / "in", files[0])
    wait_until(job, lambda figures: figures["events"] == 3)
    put(tmp_path / "in", files[1])
    wait_until(job, lambda figures: figures["events"] == 4)
    job.stop()
    job = session.start(str(checkpoint), sinks)
    figures = wait_until(job, lambda figures: figures["batches"] and figures["groups"] == 0)
    assert (figures["events"], figures["rejected"]["late"]) == (0, 0), "a heartbeat is no event"
    assert job.progress()["other"]["batches"] == 0
    job.stop()
    first, second = arrivals(checkpoint / "ticks" / "spark")
    counts, totals = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for arrived, k, x in ((first, "a", 1), (first, "b", 2), (first, "a", 3), (second, "a", 5)):
        for end in ends_over(arrived):
            counts[end, k] += 1
            totals[end, k] += x
    found = {(row["window_end"], row["k"]): (row["n"], row["total"]) for row in rows_of(tmp_path / "out")}
    assert found == {place: (counts[place], totals[place]) for place in counts}
    both, times = pa.concat_tables(files), [first, second]
    replayed = windrow.replay(TEXT, ticks=both, time=None, batch_rows=3, arrivals=times, flush=True)
    assert_same(rows_of(tmp_path / "out"), rows_of(replayed), ["k"])


@pytest.mark.slow
def test_a_batch_that_runs_again_after_a_restart_has_its_arrival_time_again(spark: SparkSession, tmp_path: Path):
    """Its first run dies in the sink. Seconds later it runs again: the event is where it was, not where it would be now."""
    put(tmp_path / "in", some(("a", 1)))
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, tmp_path / "in", "k STRING, x INT"))
    found: list[dict[str, Any]] = []
    dies = True

    def keep(batch: DataFrame, number: int) -> None:
        rows = rows_of(batch)
        if dies:
            raise RuntimeError("the sink is broken")
        found.extend(rows)

    writing = session.sql(TEXT).writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path / "cp"))
    with pytest.raises(StreamingQueryException):
        writing.start().awaitTermination(PATIENCE)
    (began,) = arrivals(tmp_path / "cp")
    time.sleep((RANGE + SLIDE) / SECOND)
    dies = False
    query = writing.start()
    deadline = time.monotonic() + PATIENCE
    while len(found) < len(ends_over(began)):
        assert query.isActive and time.monotonic() < deadline
        time.sleep(0.1)
    query.stop()
    assert arrivals(tmp_path / "cp") == [began]
    assert sorted(row["window_end"] for row in found) == ends_over(began)


def test_a_batch_that_runs_again_rejects_the_events_that_were_too_far_ahead_of_it_at_first(
    spark: SparkSession, tmp_path: Path
):
    """Its first run dies in the sink. When it runs again it has the instant that Spark's log has, not that of the clock."""
    now = time.time_ns() // 1_000_000_000 * SECOND
    times = [now - 20 * SECOND, now - 10 * SECOND, now + 30 * SECOND]
    put(tmp_path / "in", pa.table({"ts": instants(times), "k": ["a"] * 3, "x": pa.array([1, 2, 4], pa.int32())}))
    session = windrow.Session(spark, shards=1)
    frame = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, x INT")
    session.stream("ticks", frame, time="ts", ahead="2 seconds")
    found: list[dict[str, Any]] = []

    def keep(batch: DataFrame, number: int) -> None:
        found.extend(rows_of(batch))
        if not dead:
            dead.append(number)
            raise RuntimeError("the sink is broken")

    dead: list[int] = []
    text = "SELECT SUM(x) AS total FROM ticks [RANGE 1 SECOND SLIDE 1 SECOND]"
    writing = session.sql(text).writeStream.foreachBatch(keep).trigger(availableNow=True)
    writing = writing.option("checkpointLocation", str(tmp_path / "cp"))
    with pytest.raises(StreamingQueryException):
        writing.start().awaitTermination(PATIENCE)
    offsets = tmp_path / "cp" / "offsets" / "0"
    log = offsets.read_text().splitlines()
    began = json.loads(log[1])["batchTimestampMs"]
    # as if the first run had been a minute ago: of that instant, all three are ahead
    log[1] = log[1].replace(str(began), str(began - 60_000))
    offsets.write_text("\n".join(log))
    (tmp_path / "cp" / "offsets" / ".0.crc").unlink(missing_ok=True)
    assert writing.start().awaitTermination(PATIENCE)
    assert [(row["window_end"], row["total"]) for row in found] == [(now - 19 * SECOND, 1)], "of the first run only"


@pytest.mark.slow
def test_an_idle_clock_closes_the_windows_of_a_stream_that_goes_quiet(spark: SparkSession, tmp_path: Path):
    """The events bear times of ten seconds ago; windows close about ten seconds after their ends, by the wall clock.

    One is two days ahead, and a live job passes over it: neither the clock nor what is learnt of delays is moved.
    """
    delay = 10 * SECOND
    newest = time.time_ns() // 1000 - delay
    times = [newest - 2 * SECOND, newest - SECOND, newest, newest + 2 * 86_400 * SECOND]
    put(tmp_path / "in", pa.table({"ts": instants(times), "k": ["a"] * 4, "x": pa.array([1, 2, 4, 9], pa.int32())}))
    session = windrow.Session(spark, shards=2)
    app = Application(
        session,
        f"""CREATE STREAM ticks (ts TIMESTAMP, k STRING, x INT) USING parquet OPTIONS (path '{tmp_path}/in')
              TIMESTAMP BY ts LATENESS 1 SECOND IDLE CLOCK;
            CREATE SINK out USING parquet OPTIONS (path '{tmp_path}/out');
            INSERT INTO out {TEXT}""",
    )
    job = session.start(str(tmp_path / "checkpoint"), app.sinks)
    counts, totals = Counter[int](), Counter[int]()
    for at, x in zip(times, (1, 2, 4)):
        for end in ends_over(at):
            counts[end] += 1
            totals[end] += x
    wait_until(job, lambda figures: len(seen_in(tmp_path / "out")) == len(counts))
    found = {row["window_end"]: (row["n"], row["total"]) for row in rows_of(tmp_path / "out")}
    assert found == {end: (counts[end], totals[end]) for end in counts}
    late = pa.table({"ts": instants([newest]), "k": ["a"], "x": pa.array([8], pa.int32())})
    put(tmp_path / "in", late)
    figures = wait_until(job, lambda figures: figures["events"] == 5)
    job.stop()
    assert figures["rejected"] == {"late": 1, "no time": 0, "unreadable": 0, "ahead": 1}, "the clock has passed one"
    assert len(rows_of(tmp_path / "out")) == len(counts)


def over(spark: SparkSession, folder: Path, **timing: Any) -> Session:
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, folder / "in", "ts TIMESTAMP, k STRING, x INT"), **timing)
    session.query("q", TEXT)
    return session


@pytest.mark.slow
def test_a_job_that_works_off_what_is_there_ends_and_keeps_its_timing(spark: SparkSession, tmp_path: Path):
    """It beats once and ends; flush closes the rest. Declared otherwise, the stream is refused before anything starts."""
    put(tmp_path / "in", pa.table({"ts": instants([0]), "k": ["a"], "x": pa.array([7], pa.int32())}))
    checkpoint, sinks = str(tmp_path / "checkpoint"), {"q": windrow.sink("parquet", path=tmp_path / "out")}
    job = over(spark, tmp_path).start(checkpoint, sinks, trigger="available now")
    finish(job)
    (began,) = arrivals(tmp_path / "checkpoint" / "ticks" / "spark")
    assert sorted((row["window_end"], row["total"]) for row in rows_of(tmp_path / "out")) == [
        (end, 7) for end in ends_over(began)
    ]
    assert job.progress()["ticks"]["events"] == 1
    with pytest.raises(SettingsError, match="'ticks' timed by arrival, and now it is timed by its events:"):
        over(spark, tmp_path, time="ts").start(checkpoint, sinks)
    with pytest.raises(SettingsError, match="by arrival, and now it is timed by its events, with an idle clock:"):
        over(spark, tmp_path, time="ts", idle_clock=True).start(checkpoint, sinks)


def test_a_checkpoint_from_before_there_were_heartbeats_is_timed_by_events(tmp_path: Path):
    """It has no word about its timing, but it has been started."""
    plan = StreamPlan("ticks", 0, (), ())
    keep_timing(str(tmp_path), replace(plan, timing=Timing.EVENT))
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "metadata").write_text("{}")
    keep_timing(str(tmp_path), replace(plan, timing=Timing.EVENT))
    with pytest.raises(SettingsError, match="'ticks' timed by its events, and now it is timed by arrival:"):
        keep_timing(str(tmp_path), replace(plan, timing=Timing.ARRIVAL))


@pytest.mark.parametrize("wrong", [{"lateness": "1 second"}, {"idle_clock": True}], ids=str)
def test_a_stream_timed_by_arrival_has_neither_lateness_nor_an_idle_clock(spark: SparkSession, tmp_path: Path, wrong):
    (tmp_path / "in").mkdir()
    with pytest.raises(
        SettingsError, match=r"'ticks' is timed by arrival and has no (lateness|idle clock): say with time="
    ):
        over(spark, tmp_path, **wrong)


def test_the_offsets_of_a_heartbeat_never_go_back(monkeypatch: pytest.MonkeyPatch):
    clock = [0]
    monkeypatch.setattr(heartbeat.time, "time_ns", lambda: clock[-1])
    reader = HeartbeatReader(Heartbeat.of(Timing.ARRIVAL, [(2 * SECOND, 0)]))
    offset = reader.initialOffset()
    seen = []
    for now in (1_999_999_999, 2_000_000_000, 3_000_000_000, 9_000_000_000, 5_000_000_000, 10_000_000_000):
        clock.append(now)
        latest = reader.latestOffset(offset, None)
        assert len(reader.partitions(offset, latest)) == (latest != offset)
        offset = latest
        seen.append(offset["beat"] // SECOND)
    assert seen == [0, 2, 2, 8, 8, 10]
    reader.prepareForTriggerAvailableNow()
    clock.append(20_000_000_000)
    assert reader.latestOffset(offset, None) == offset, "what comes later is for another run"


def test_rows_without_a_slide_expire_and_joins_go_on_though_nothing_comes(spark: SparkSession, tmp_path: Path):
    """By arrival rows go when their time is over; a stream with an idle clock lets MINUS go on beside a silent one."""
    texts = {
        "seen": "SELECT DISTINCT k FROM ticks [RANGE 2 SECONDS]",
        "alone": "SELECT k FROM ticks [RANGE 2 SECONDS] MINUS SELECT k FROM quiet [RANGE 2 SECONDS]",
        "either": "SELECT k FROM ticks [RANGE 2 SECONDS] UNION ALL SELECT k FROM never [RANGE 2 SECONDS]",
    }
    session = windrow.Session(spark, shards=2)
    for name in ("in", "quiet", "never"):
        (tmp_path / name).mkdir()
    session.stream("ticks", stream_of(spark, tmp_path / "in", "k STRING, x INT"))
    timed = "ts TIMESTAMP, k STRING, x INT"
    session.stream("quiet", stream_of(spark, tmp_path / "quiet", timed), time="ts", idle_clock=True)
    session.stream("never", stream_of(spark, tmp_path / "never", timed), time="ts")
    for name, text in texts.items():
        session.query(name, text)
    now = time.time_ns() // 1000
    put(tmp_path / "quiet", pa.table({"ts": instants([now]), "k": ["b"], "x": pa.array([0], pa.int32())}))
    put(tmp_path / "in", some(("a", 1), ("b", 2), ("a", 3)))
    sinks = {name: windrow.sink("parquet", path=tmp_path / f"out-{name}") for name in texts}
    job = session.start(str(tmp_path / "checkpoint"), sinks)
    wanted = {"seen": "++--", "alone": "+-", "either": "+++---"}
    deadline = time.monotonic() + PATIENCE
    while True:
        found = {name: seen_in(tmp_path / f"out-{name}") for name in texts}
        told = {name: "".join(sorted(row["op"] for row in rows)) for name, rows in found.items()}
        if all(len(told[name]) >= len(wanted[name]) for name in texts):
            break
        assert not job.wait(0.1), "the job has ended"
        assert time.monotonic() < deadline, f"the job is stuck at {told}"
    job.stop()
    assert {row["k"] for row in found["alone"]} <= {"a", "b"}
    assert (told["seen"], told["either"]) == (wanted["seen"], wanted["either"])
    for name in ("seen", "either"):
        came, went = ({row["time"] for row in found[name] if row["op"] == op} for op in "+-")
        assert len(came) == 1 and went == {at + 2 * SECOND for at in came}
