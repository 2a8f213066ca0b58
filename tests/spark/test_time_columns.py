"""The time of an event: columns of any type of time, and expressions, in a time zone with summer time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError
from windrow.spark.job.job import Job

from .streams import SECOND, finish, put, rows_of, stream_of

HOUR, DAY = 3_600 * SECOND, 86_400 * SECOND
# New York leaves out the hour from 2 to 3, which is from 7 to 8 in UTC.
CLOCKS = ((1, 59, 59), (2, 0), (2, 59, 59, 999_999), (3, 0), (7, 30))
TIMES = [datetime(2024, 3, 10, *clock, tzinfo=UTC) for clock in CLOCKS]
MIDNIGHT = int(datetime(2024, 3, 10, tzinfo=UTC).timestamp()) * SECOND
TOO_FAR = [2**62, -(2**62), 10**15]
IMPOSSIBLE = [6_249_200_000_000, -4_611_686_018_427]
"""The years 200000 and -144169, in seconds."""

EVENTS = pa.table(
    {
        "local": pa.array(
            [*(int(time.timestamp()) * SECOND + time.microsecond for time in TIMES), None, None, None]
            + [second * SECOND for second in IMPOSSIBLE],
            pa.int64(),
        ).cast(pa.timestamp("us")),
        "day": pa.array(
            [(date(2024, 3, day) - date(1970, 1, 1)).days for day in (9, 10, 10, 11, 11, 11, 11, 11)]
            + [10**8, -(10**8)],
            pa.int32(),
        ).cast(pa.date32()),
        "t": pa.array([*(int(time.timestamp()) for time in TIMES), *TOO_FAR, *IMPOSSIBLE], pa.int64()),
    }
)
LATER = pa.table(
    {
        "local": pa.array([datetime(2024, 3, 25)], pa.timestamp("us")),
        "day": [date(2024, 3, 25)],
        "t": [int(datetime(2024, 3, 25, tzinfo=UTC).timestamp())],
    }
)
SCHEMA = "local TIMESTAMP_NTZ, day DATE, t BIGINT"
STREAMS = {"by_local": "local", "by_day": "day", "by_second": "timestamp_seconds(t)"}
HOURS = {2: 1, 3: 2, 4: 1, 8: 1}
"""How many events lie in the hour that ends at each hour of the day."""


@pytest.fixture(scope="module")
def zone(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.fixture(scope="module")
def ran(spark: SparkSession, zone: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Job]:
    folder = tmp_path_factory.mktemp("times")
    put(folder / "in", EVENTS)
    session = windrow.Session(spark, shards=1)
    for name, time in STREAMS.items():
        session.stream(name, stream_of(spark, folder / "in", SCHEMA), time=time, lateness="10 days")
        slide = "1 DAY" if name == "by_day" else "1 HOUR"
        session.query(f"from_{name}", f"SELECT COUNT(*) AS n FROM {name} [RANGE {slide} SLIDE {slide}]")
    sinks = {f"from_{name}": windrow.sink("parquet", path=folder / name) for name in STREAMS}
    kept = windrow.sink("parquet", path=folder / "bad")
    job = session.start(str(folder / "checkpoint"), sinks, trigger="available now", rejected=kept)
    finish(job)
    put(folder / "in", LATER)
    again = session.start(str(folder / "checkpoint"), sinks, trigger="available now", rejected=kept)
    finish(again, flush=False)
    assert all(figures["events"] == 1 for figures in again.progress().values())
    return folder, job


@pytest.mark.parametrize("name", ["by_local", "by_second"])
def test_an_event_counts_in_the_hour_that_its_column_says(ran: tuple[Path, Job], name: str):
    found = {(row["window_end"] - MIDNIGHT) / HOUR: row["n"] for row in rows_of(ran[0] / name)}
    assert found == HOURS


def test_a_date_is_the_first_instant_of_its_day(ran: tuple[Path, Job]):
    found = {(row["window_start"] - MIDNIGHT) / DAY: row["n"] for row in rows_of(ran[0] / "by_day")}
    assert found == {-1: 1, 0: 2, 1: 5}


def test_a_time_of_an_impossible_year_is_rejected_as_that_and_stops_nothing(ran: tuple[Path, Job]):
    """Also not the restart after it: the answers of the other tests come from there."""
    counts = {name: figures["rejected"]["impossible time"] for name, figures in ran[1].progress().items()}
    assert counts == dict.fromkeys(STREAMS, len(IMPOSSIBLE))
    rows = [row for row in rows_of(ran[0] / "bad") if row["cause"] == "impossible time"]
    assert Counter(row["stream"] for row in rows) == counts
    assert {row["time"] for row in rows} == {None}
    assert {json.loads(row["row"])["t"] for row in rows} == set(IMPOSSIBLE)


def test_a_time_too_far_away_is_no_time_and_each_stream_counts_its_own(ran: tuple[Path, Job]):
    figures = ran[1].progress()
    assert {name: figures[name]["events"] for name in figures} == dict.fromkeys(STREAMS, EVENTS.num_rows)
    assert {name: figures[name]["rejected"]["no time"] for name in figures} == {
        "by_local": 3,
        "by_day": 0,
        "by_second": len(TOO_FAR),
    }


@pytest.mark.parametrize(
    ("time", "told"),
    [
        ("t", "is BIGINT, and a time is needed: for seconds since 1970 write timestamp_seconds"),
        ("when", "has no column 'when' to take the time from; columns: local, day, t"),
    ],
)
def test_what_is_no_time_is_refused_with_the_way_out(spark: SparkSession, tmp_path: Path, time: str, told: str):
    (tmp_path / "in").mkdir()
    with pytest.raises(SettingsError, match=told):
        windrow.Session(spark, shards=1).stream("s", stream_of(spark, tmp_path / "in", SCHEMA), time=time)
