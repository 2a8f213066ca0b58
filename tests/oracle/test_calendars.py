"""Windows by the calendar of a place, and windows that grow step by step: ends and starts by pandas, values by hand."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError
from windrow.local.replay import Replay
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Shard

from .judge import TIME, plain_rows

ZONES = ("Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "Atlantic/Azores")
SPANS = {"DAYS": "days", "WEEKS": "weeks", "MONTHS": "months", "YEARS": "years"}
HOUR = 3_600_000_000


def microseconds(instant: pd.Timestamp) -> int:
    return int(instant.tz_convert("UTC").timestamp()) * 1_000_000


def local_ends(zone: str, count: int, unit: str, offset_hours: int, first: int, last: int) -> list[pd.Timestamp]:
    """The local times, without a zone, at which windows end from some instants to some others, and a few around."""
    low = pd.Timestamp(first - 400 * 24 * HOUR, unit="us", tz="UTC").tz_convert(zone).tz_localize(None).normalize()
    high = pd.Timestamp(last + 1500 * 24 * HOUR, unit="us", tz="UTC").tz_convert(zone).tz_localize(None).normalize()
    days = pd.date_range(low, high)
    if unit == "DAYS" and count % 7:
        days = days[(days - pd.Timestamp("1970-01-01")).days % count == 0]
    elif unit in ("DAYS", "WEEKS"):
        weeks = count if unit == "WEEKS" else count // 7
        days = days[(days - pd.Timestamp("1970-01-05")).days % (7 * weeks) == 0]
    else:
        months = count * (12 if unit == "YEARS" else 1)
        days = days[(days.day == 1) & (((days.year - 1970) * 12 + days.month - 1) % months == 0)]
    return [day + pd.Timedelta(hours=offset_hours) for day in days]


def instant(local: pd.Timestamp, zone: str) -> int:
    """When clocks show this: the first time they do, or the instant at which they are set forward over it."""
    return microseconds(local.tz_localize(zone, ambiguous=True, nonexistent="shift_forward"))


@st.composite
def cases(draw: st.DrawFn):
    chance = random.Random(draw(st.integers(0, 2**32)))
    zone = chance.choice(ZONES)
    slide = (chance.choice([1, 1, 1, 2, 3]), chance.choice(["DAYS", "DAYS", "WEEKS", "MONTHS", "YEARS"]))
    reach = (chance.choice([1, 1, 2, 3]), chance.choice(list(SPANS)))
    first = datetime(chance.choice([1975, 1999, 2017, 2024]), chance.randint(1, 12), 28, tzinfo=UTC)
    base = int(first.timestamp()) * 1_000_000
    width = 24 * HOUR * {"DAYS": 9, "WEEKS": 40, "MONTHS": 150, "YEARS": 1200}[slide[1]]
    times = [base + chance.randrange(0, width) // (HOUR // 2) * (HOUR // 2) for _ in range(chance.randint(1, 40))]
    lateness = chance.choice([0, 36 * HOUR])
    times.sort(key=lambda time: time + (chance.random() * lateness if lateness else 0))
    return chance, zone, slide, reach, times, lateness, chance.choice([0, 0, 6]), chance.choice([None, 1, 5])


@given(cases())
@settings(max_examples=examples(60), deadline=None)
def test_windows_end_and_begin_where_the_calendar_of_a_place_says(case):
    chance, zone, slide, reach, times, lateness, offset, batch_rows = case
    events = pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), "x": [chance.randint(0, 9) for _ in times]})
    shift = f" OFFSET {offset} HOURS" if offset else ""
    window = f"[RANGE {reach[0]} {reach[1]} SLIDE {slide[0]} {slide[1]}{shift} IN '{zone}']"
    text = f"SELECT COUNT(*) AS n, SUM(x) AS s, MAX(x) AS m FROM events {window}"
    replay = Replay(text, lateness=f"{lateness} microseconds", events=events)
    rows = []
    for batch in [*replay.batches(batch_rows), None]:
        payloads = [Payload(0, 0, 0, None, FLUSH, b"")]
        found = replay._finished(replay._outcome(payloads)) if batch is None else replay.step(batch)
        rows += [row for table in found for row in plain_rows(table)]
        if chance.random() < 0.2:
            replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    wanted = []
    values = events["x"].to_pylist()
    for end in local_ends(zone, *slide, offset, min(times), max(times)):
        start = end - pd.DateOffset(**{SPANS[reach[1]]: reach[0]})
        low, high = instant(start, zone), instant(end, zone)
        held = [value for time, value in zip(times, values) if low <= time < high]
        if held:
            wanted.append((low, high, len(held), sum(held), max(held)))
    assert [tuple(row.values()) for row in rows] == wanted


@given(st.integers(0, 2**32))
@settings(max_examples=examples(30), deadline=None)
def test_a_window_that_cumulates_begins_with_its_range_and_ends_at_each_step(seed):
    chance = random.Random(seed)
    step = chance.randint(1, 4)
    size, offset = step * chance.randint(1, 5), chance.choice([0, 0, 3])
    times = sorted(
        (chance.randint(-20, 60) for _ in range(chance.randint(1, 30))), key=lambda time: time + 3 * chance.random()
    )
    events = pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), "k": [chance.choice("ab") for _ in times]})
    shift = f" OFFSET {offset} MICROSECONDS" if offset else ""
    text = f"""SELECT k, COUNT(*) AS n, MAX(ts) AS last
               FROM events [RANGE {size} MICROSECONDS SLIDE {step} MICROSECONDS{shift} CUMULATE] GROUP BY k"""
    rows = plain_rows(
        windrow.replay(
            text, events=events, lateness="3 microseconds", batch_rows=chance.choice([None, 1, 4]), flush=True
        )
    )
    wanted = Counter()
    for begin in range((-30 - size) // size * size + offset, 70, size):
        for end in range(begin + step, begin + size + 1, step):
            for key in "ab":
                held = [time for time, own in zip(times, events["k"].to_pylist()) if own == key and begin <= time < end]
                wanted.update([(begin, end, key, len(held), max(held))] if held else [])
    assert Counter(tuple(row.values()) for row in rows) == wanted


WRONG = {
    "[RANGE 1 MONTH SLIDE 1 DAY]": "a MONTH has no fixed length",
    "[RANGE 1 DAY SLIDE 1 HOUR IN 'UTC']": "a calendar counts DAYS",
    "[RANGE 1 DAY IN 'UTC']": "has no SLIDE",
    "[RANGE 1 DAY SLIDE 1 DAY IN 'Mars/Olympus']": "no time zone 'Mars/Olympus'",
    "[RANGE 1 DAY SLIDE 1 DAY OFFSET 2 DAYS IN 'UTC']": "OFFSET is a time of the day",
    "[RANGE 1 DAY SLIDE ABOUT 1 DAY IN 'UTC']": "not with ABOUT",
    "[RANGES 1 YEAR, 1 DAY SLIDES 1 DAY, 1 DAY IN 'UTC']": "not with levels",
    "[RANGE 0 MONTHS SLIDE 1 DAY IN 'UTC']": "a whole number from 1",
    "[RANGE 1 DAY SLIDE 7 HOURS CUMULATE]": "a multiple of its slide",
    "[ROWS 10 SLIDE 5 CUMULATE]": "CUMULATE is for one RANGE",
}


@pytest.mark.parametrize("window", WRONG)
def test_a_calendar_that_makes_no_sense_is_told_where(window):
    empty = pa.table({"ts": pa.array([], TIME)})
    with pytest.raises(QueryError) as caught:
        windrow.replay(f"SELECT COUNT(*) AS n FROM s {window}", s=empty)
    assert WRONG[window] in caught.value.message and caught.value.at is not None
