"""Heartbeats in every kind of query: with any of them, whatever lies before the clock has been told, and nothing else."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile.compile import Wishes, compile_queries
from windrow.compile.read_choose import read_choose
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.runtime.shard import Shard

from .judge import TIME

SLIDING, JOINED = "[RANGE 7 MICROSECONDS SLIDE 3 MICROSECONDS]", "a {6} AS a @JOIN b {4} AS b ON a.k = b.k"
ONE = [
    "SELECT DISTINCT k FROM a {7}",
    "SELECT k, COUNT(*) AS n FROM a {7} GROUP BY k",
    "SELECT k, COUNT(*) AS n FROM a {7} GROUP BY k EMIT WHEN n > 1",
    "SELECT k, COUNT(*) AS n FROM a {7} GROUP BY k EMIT LAST EVERY 4 MICROSECONDS",
    "SELECT SUM(x) AS n FROM a {7} EMIT CHANGES WITH EMPTY",
    f"SELECT k, COUNT(*) AS n FROM a {SLIDING} GROUP BY k EMIT CHANGES",
    f"SELECT k, COUNT(*) AS n FROM a {SLIDING} GROUP BY k EMIT WHEN n > 1",
    f"SELECT * FROM a {SLIDING}",
    "SELECT COUNT(*) AS n FROM a [RANGE 8 MICROSECONDS SLIDE 4 MICROSECONDS EMIT EVERY 2 MICROSECONDS]",
    "SELECT COUNT(*) AS n FROM a [RANGE 8 MICROSECONDS SLIDE 4 MICROSECONDS CUMULATE]",
    "SELECT COUNT(*) AS n FROM a [RANGES 8 MICROSECONDS, 4 MICROSECONDS SLIDES 4 MICROSECONDS, 2 MICROSECONDS]",
    "SELECT k, COUNT(*) AS n FROM a [PARTITION BY k SESSION 4 MICROSECONDS]",
    "SELECT COUNT(*) AS n FROM a [SESSION 4 MICROSECONDS EMIT EVERY 3 MICROSECONDS]",
    "SELECT k, COUNT(*) AS n FROM a [PARTITION BY k SESSION 4 MICROSECONDS] EMIT WHEN n > 1",
    "SELECT COUNT(*) AS n FROM a [FROM x > 5 UNTIL x > 7]",
    "SELECT COUNT(*) AS n FROM a [PARTITION BY k FROM x > 2 UNTIL x > 7 EMIT EVERY 3 MICROSECONDS]",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM a [ROWS 3 SLIDE 2]",
    "SELECT k, SUM(x) AS n FROM a [PARTITION BY k ROWS 2]",
    "SELECT k, x FROM (SELECT k, x, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) AS r FROM a {6}) WHERE r <= 2",
    "SELECT k, LAG(x) OVER (PARTITION BY k ORDER BY ts) AS last FROM a",
    "SELECT k, SUM(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 5 MICROSECONDS PRECEDING) AS s FROM a",
    "SELECT COUNT(*) AS n FROM (SELECT k, COUNT(*) AS n FROM a [PARTITION BY k SESSION 3 MICROSECONDS]) AS q "
    "[RANGE 8 MICROSECONDS SLIDE 4 MICROSECONDS]",
]
TWO = [
    f"SELECT a.k, a.x, b.x AS y FROM {JOINED.replace('@', '')}",
    f"SELECT a.k, a.x, b.x AS y FROM {JOINED.replace('@', 'LEFT ')}",
    f"SELECT a.k, a.x, b.x AS y FROM {JOINED.replace('@', 'LEFT ')} EMIT FINAL",
    f"SELECT a.k, a.x, b.x AS y FROM {JOINED.replace('@', 'FULL ')}",
    "SELECT x FROM a {6} WHERE k NOT IN (SELECT k FROM b {4})",
    "SELECT k FROM a {6} UNION ALL SELECT k FROM b {4}",
    "SELECT k FROM a {6} UNION SELECT k FROM b {4}",
    "SELECT k FROM a {6} MINUS SELECT k FROM b {4}",
    "SELECT k FROM a {6} INTERSECT SELECT k FROM b {4} EMIT LAST EVERY 4 MICROSECONDS",
    f"SELECT COUNT(*) AS n FROM {JOINED.replace('@', '')}",
    f"SELECT a.x, COUNT(*) AS n FROM {JOINED.replace('@', '')} GROUP BY a.x EMIT WHEN n > 1",
    f"SELECT a.x, b.x AS y, c.x AS z FROM {JOINED.replace('@', '')} JOIN a {{5}} AS c ON b.x = c.x",
    f"SELECT a.x, COUNT(*) AS n FROM a {SLIDING} AS a LEFT JOIN b {SLIDING} AS b ON a.k = b.k GROUP BY a.x",
    "SELECT a.x, b.x AS y FROM a LEFT JOIN b ON a.k = b.k"
    " AND b.ts BETWEEN a.ts - INTERVAL 5 MICROSECONDS AND a.ts + INTERVAL 2 MICROSECONDS EMIT FINAL",
]
CORRECTED = [
    f"SELECT k, COUNT(*) AS n, SUM(x) AS s FROM a {SLIDING} GROUP BY k",
    "SELECT k, COUNT(*) AS n, MAX(x) AS s FROM a [RANGE UNBOUNDED SLIDE 3 MICROSECONDS] GROUP BY k",
    "SELECT COUNT(*) AS n FROM a [RANGE 8 MICROSECONDS SLIDE 4 MICROSECONDS CUMULATE]",
    "SELECT COUNT(*) AS n FROM a [RANGES UNBOUNDED, 4 MICROSECONDS SLIDES 4 MICROSECONDS, 2 MICROSECONDS]",
    "SELECT k, COUNT(*) AS n FROM a [PARTITION BY k SESSION 4 MICROSECONDS]",
]
Rows = Counter[tuple]


def text_of(query: str) -> str:
    for reach in range(4, 8):
        query = query.replace(f"{{{reach}}}", f"[RANGE {reach} MICROSECONDS]")
    return query


@dataclass(frozen=True)
class Trial:
    """A query, the batches by when they arrive, and how their streams are timed: by arrival, or by an idle clock.

    For `correct` after their end answers are corrected, and for `unique` like events are one; 0 is not at all.
    """

    text: str
    batches: list[tuple[int, dict[str, pa.Table]]]
    delay: int | None
    lateness: int
    beats: list[int]
    expiry: str | None
    correct: int = 0
    unique: int = 0

    @property
    def clock(self) -> int:
        """How far all streams have come with the last heartbeat."""
        return self.beats[-1] - (self.delay or 0) - self.lateness

    def told(self, beats: list[int], restarts: random.Random | None = None) -> Rows:
        """What comes and goes, or is answered, at each instant."""
        empty = {name: table.slice(0, 0) for name, table in self.batches[0][1].items()}
        by_arrival = self.delay is None
        plain = {"aggregates": {}, "clusterings": {}, "lateness": f"{self.lateness} microseconds"}
        if self.correct:
            plain["correct_for"] = f"{self.correct} microseconds"
        if self.unique:
            plain["deduplicate"] = dict.fromkeys("ab", ("k, x", f"{self.unique} microseconds"))
        catalog = local_catalog(empty, {}, time=None if by_arrival else "ts", idle_clock=not by_arrival, **plain)
        wishes = Wishes(wanted=read_choose({"expiry": self.expiry} if self.expiry else None))
        (plan,) = compile_queries({"q": self.text}, catalog, {}.__getitem__, wishes, {}).values()
        replayed, rows = StageReplay(plan, catalog.streams, empty), []
        steps = [(at, 0, batch) for at, batch in self.batches] + [(at, 1, None) for at in beats]
        for at, _, batch in sorted(steps, key=lambda step: step[:2]):
            if restarts is not None and restarts.random() < 0.25:
                replayed.shard = Shard(plan, replayed.blocks, replayed.shard.save())
            reads = [stream.stream for stream in plan.read]
            found = replayed.beat(at) if batch is None else replayed.step({name: batch[name] for name in reads}, at)
            rows += [row for table in found for row in _plain(table)]
        return _net(rows)


def _plain(table: pa.Table) -> list[dict]:
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(pa.int64()))
    return table.to_pylist()


def _net(rows: list[dict]) -> Rows:
    """What came less what went, by when and by row."""
    found: Rows = Counter()
    for row in rows:
        sign = -1 if row.pop("op", "+") == "-" else 1
        at = next(row[name] for name in ("as_of", "time", "window_end") if name in row)
        found[at, repr(row)] += sign
    return Counter({key: count for key, count in found.items() if count})


@st.composite
def trials(draw: st.DrawFn, queries: list[str], correct: int = 0, unique: bool = False) -> Trial:
    """Events within the lateness; where answers are corrected, far beyond it."""
    query = draw(st.sampled_from(queries))
    chance = random.Random(draw(st.integers(0, 2**32)))
    by_arrival = "ts" not in query and not correct and not unique and chance.random() < 0.5
    delay, lateness = (None, 0) if by_arrival else (chance.randint(0, 6), chance.randint(0, 3))
    batches, at = [], chance.randint(1, 5)
    for number in range(chance.randint(1, 9)):
        who = "ab" if number == 0 else chance.choice(["a", "b", "ab"])
        batch = {}
        for name in "ab":
            rows = [(chance.choice("uv"), float(chance.randint(0, 9))) for _ in range(chance.randint(1, 3))]
            keys, values = zip(*rows)
            late = lateness + (20 if correct else 0)
            times = [at - (delay or 0) - (chance.randint(0, late) if place else 0) for place in range(len(rows))]
            table = pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), "k": list(keys), "x": list(values)})
            table = table.drop_columns(["ts"]) if by_arrival else table
            batch[name] = table if name in who else table.slice(0, 0)
        batches.append((at, batch))
        at += chance.choice([1, 1, 2, 5, 12])
    last = batches[-1][0] + chance.choice([0, 1, 3, 6, 20]) + lateness
    beats = sorted(chance.randint(batches[0][0], last) for _ in range(chance.randint(0, 5)))
    expiry = chance.choice([None, None, "time probing", "negative tuples", "hybrid"])
    within = chance.randint(1, 9) if unique else 0
    return Trial(text_of(query), batches, delay, lateness, [*beats, last], expiry, correct, within)


@settings(max_examples=examples(400), deadline=None)
@given(trials(ONE + TWO), st.randoms(use_true_random=False))
def test_whatever_lies_before_the_clock_has_been_told_whoever_is_silent(trial: Trial, restarts: random.Random):
    """Beside the same events with one heartbeat long after them, which tells all that there ever is to tell."""
    assert_told_in_time(trial, restarts)


@settings(max_examples=examples(200), deadline=None)
@given(trials(ONE + TWO, unique=True), st.randoms(use_true_random=False))
def test_so_it_is_where_like_events_are_one(trial: Trial, restarts: random.Random):
    assert_told_in_time(trial, restarts)


@settings(max_examples=examples(200), deadline=None)
@given(trials(CORRECTED, correct=1_000_000), st.randoms(use_true_random=False))
def test_what_comes_after_a_heartbeat_has_closed_its_windows_corrects_them(trial: Trial, restarts: random.Random):
    """What was told less what was taken back is what all events in one batch would have told: none of them is late."""
    whole = {name: pa.concat_tables([batch[name] for _, batch in trial.batches]) for name in "ab"}
    told, ever = trial.told(trial.beats, restarts), replace(trial, batches=[(trial.batches[-1][0], whole)])
    assert_in_time(trial, told, ever.told([trial.beats[-1] + 1_000]))


def assert_told_in_time(trial: Trial, restarts: random.Random) -> None:
    assert_in_time(trial, trial.told(trial.beats, restarts), trial.told([trial.beats[-1] + 1_000]))


def assert_in_time(trial: Trial, told: Rows, ever: Rows) -> None:
    assert {key: count for key, count in ever.items() if key[0] < trial.clock}.items() <= told.items()
    assert told.items() <= {key: count for key, count in ever.items() if key[0] <= trial.clock}.items()
