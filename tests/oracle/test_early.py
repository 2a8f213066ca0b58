"""Windows that answer while they fill: early answers against recomputation, finals against the same query without."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.local.replay import Replay
from windrow.runtime.payload import FLUSH, Payload

from .compare import rows_of
from .judge import Window, shown_start
from .streams import Stream, streams

COLUMNS = {
    "k": (pa.string(), st.sampled_from([None, "x", "y"])),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
}
SELECT = "SELECT k, COUNT(*) AS n, SUM(i) AS total, MAX(i) AS high"
FIELDS = ("window_start", "window_end", "k", "n", "total", "high")


def early_instants(window: Window, every: int, low: int, high: int) -> Iterator[int]:
    """The multiples of EVERY after `low` and up to `high` at which no window ends."""
    instant = (low // every + 1) * every
    while instant <= high:
        if (instant - window.offset_us) % window.slide_us:
            yield instant
        instant += every


def recomputed(window: Window, until: int, events: list[tuple]) -> list[tuple]:
    """What has come by `until` of the window that closes next."""
    end = window.next_end(until)
    start = None if window.range_us is None else end - window.range_us
    groups: dict[str | None, list[int | None]] = {}
    for time, key, value in events:
        if time < until and (start is None or time >= start):
            groups.setdefault(key, []).append(value)
    rows = []
    for key, values in groups.items():
        known = [value for value in values if value is not None]
        answer = (len(values), sum(known) if known else None, max(known, default=None))
        rows.append((shown_start(window.range_us, end), end, key, *answer))
    return rows


def shown(rows: list[dict]) -> list[tuple]:
    return sorted((tuple(row[name] for name in FIELDS) for row in rows), key=str)


@settings(max_examples=examples(40), deadline=None)
@given(streams(COLUMNS, max_rows=30), st.integers(1, 7), st.booleans(), st.data())
def test_early_answers_tell_what_has_come_and_change_no_final(stream: Stream, times: int, odd: bool, data):
    window, events = stream.window, stream.events
    every = max(1, window.slide_us * times // data.draw(st.sampled_from([3, 4, 5, 8])) + (1 if odd else 0))
    written = f"{window}"[:-1] + f" EMIT EVERY {every} MICROSECONDS]"
    replay = Replay(f"{SELECT} FROM ticks {written} GROUP BY k", lateness=stream.lateness, ticks=events)
    plain = Replay(f"{SELECT} FROM ticks {window} GROUP BY k", lateness=stream.lateness, ticks=events)
    verdict, before = stream.judged(), None
    keys, values = (events[name].to_pylist() for name in "ki")
    for (start, size), clock in zip(stream.bounds, verdict.clocks):
        mine = rows_of(replay.step(events.slice(start, size)))
        assert shown([row for row in mine if row["final"]]) == shown(rows_of(plain.step(events.slice(start, size))))
        held = [(stream.times[row], keys[row], values[row]) for row in verdict.kept if row < start + size]
        expected = []
        if clock is not None:
            for time in sorted({time for time, _, _ in held}):
                low = time if before is None else max(time, before)
                last = clock if window.range_us is None else min(clock, time + window.range_us)
                expected += list(early_instants(window, every, low, last))
        rows = [row for instant in sorted(set(expected)) for row in recomputed(window, instant, held)]
        assert shown([row for row in mine if not row["final"]]) == sorted(rows, key=str)
        before = clock
    assert shown(rows_of(flushed(replay))) == shown(rows_of(flushed(plain)))


def flushed(replay: Replay) -> list[pa.Table]:
    return replay._finished(replay.shard.process([Payload(0, 0, 0, None, FLUSH, b"")]))


def test_early_answers_are_ranked_by_themselves_and_can_be_left_out():
    times = pa.array([1, 2, 3, 6, 7, 11], pa.timestamp("s", tz="UTC"))
    ticks = pa.table({"ts": times, "k": ["a", "b", "b", "a", "a", "c"]})
    counted = "SELECT k, COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 5 SECONDS] GROUP BY k"
    top = Replay(f"{counted} ORDER BY n DESC LIMIT 1", ticks=ticks).run()
    assert [(row["final"], row["k"], row["n"]) for row in rows_of([top])] == [(False, "b", 2), (True, "a", 3)]
    finals = Replay(f"SELECT k, n FROM ({counted}) AS counts WHERE final", ticks=ticks).run()
    assert finals.column_names == ["window_start", "window_end", "final", "as_of", "k", "n"]
    assert sorted((row["k"], row["n"]) for row in rows_of([finals])) == [("a", 3), ("b", 2)]
