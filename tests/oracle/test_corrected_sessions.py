"""CORRECT FOR over sessions: what was sent adds up to the gaps and islands of the events, by a counting of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of
from windrow.compile.explain import explain_plans
from windrow.errors import QueryError
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.answers.finish import finish_part
from windrow.runtime.shard import Shard

from .judge import TIME, plain_rows
from .test_corrections import ASKED, COUNTED

MORE = f"{ASKED}, MEDIAN(i) AS q, COLLECT_LIST(i) AS c"
SCHEMA = pa.schema({"ts": TIME, "k": pa.string(), "g": pa.string(), "i": pa.int64(), "f": pa.float64()})
Event = tuple[int, str, str, int, float]


@dataclass(frozen=True)
class Trial:
    """Events in batches, and how the sessions of some queries of one gap are asked for and corrected."""

    batches: list[list[Event]]
    gap: int
    lateness: int
    correct: int
    by: str
    group: str
    where: str
    having: str

    def text(self) -> str:
        by = f"PARTITION BY {self.by} " if self.by else ""
        group = f" GROUP BY {self.group}" if self.group else ""
        keys = "".join(f"{key}, " for key in self.keys)
        having = f" HAVING {self.having}" if self.having else ""
        window = f"[{by}SESSION {self.gap} MICROSECONDS]"
        return f"SELECT {keys}{MORE} FROM ticks {window} WHERE {self.where}{group}{having}"

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key for key in (self.by, self.group) if key))


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    chance = random.Random(draw(st.integers(0, 2**32)))
    batches: list[list[Event]] = []
    at = 0
    for _ in range(chance.randint(1, 9)):
        steps = [0, 1, 4, 7, 15, -3, -9, -20, -40]
        times = [max(-40, at + chance.choice(steps)) for _ in range(chance.randint(0, 5))]
        at = max([at, *times])
        batches.append(
            [(t, chance.choice("xy"), chance.choice("uv"), chance.randint(-9, 9), chance.uniform(-9, 9)) for t in times]
        )
    return Trial(
        batches,
        chance.choice([1, 3, 5, 10]),
        chance.choice([0, 0, 3]),
        chance.choice([1, 4, 12, 60]),
        chance.choice(["", "k"]),
        chance.choice(["", "g", "k"]),
        chance.choice(["true", "true", "i > 0"]),
        chance.choice(["", "", "COUNT(*) > 1", "SUM(i) > 0"]),
    )


def islands(events: list[Event], gap: int, by: str) -> list[list[Event]]:
    """Events that are at most the gap apart, of each key."""
    found: list[list[Event]] = []
    for key in sorted({event[1] for event in events}) if by else [None]:
        last = None
        for event in sorted((event for event in events if key in (None, event[1])), key=lambda event: event[0]):
            if last is None or event[0] - last > gap:
                found.append([])
            found[-1].append(event)
            last = event[0]
    return found


class Judge:
    """Which events each session holds by the definition, batch by batch."""

    def __init__(self, trial: Trial) -> None:
        self.trial, self.clock = trial, None
        self.held: list[Event] = []
        self.final: list[list[Event]] = []

    def step(self, batch: list[Event]) -> tuple[int, int, int]:
        """Take in a batch; returns how many were late, late in part, and corrected answers."""
        gap, correct, by = self.trial.gap, self.trial.correct, self.trial.by
        fresh, before, counts = set(map(id, batch)), self.clock, [0, 0, 0]
        told = set()
        if before is not None:
            for island in islands(self.held, gap, by):
                told |= {id(event) for event in island if island[-1][0] + gap < before}
        taken = []
        for island in islands(self.held + batch, gap, by):
            end, come = island[-1][0] + gap, [event for event in island if id(event) in fresh]
            if before is not None and end < before - correct:
                counts[0] += len(come)
                continue
            taken += island
            if before is not None and (end < before or any(id(event) in told for event in island)):
                counts[2] += len(come)
        if batch:
            newest = max(event[0] for event in batch) - self.trial.lateness
            self.clock = newest if before is None else max(before, newest)
        self.held = []
        for island in islands(taken, gap, by):
            if self.clock is not None and island[-1][0] + gap < self.clock - correct:
                self.final.append(island)
            else:
                self.held += island
        return counts[0], counts[1], counts[2]

    def answers(self) -> dict[tuple, tuple]:
        """By its bounds and keys, what DuckDB says of each session that has ended."""
        trial = self.trial
        ended = [
            island
            for island in self.final + islands(self.held, trial.gap, trial.by)
            if self.clock is not None and island[-1][0] + trial.gap < self.clock
        ]
        rows = [(n, is_[0][0], is_[-1][0] + trial.gap, *event) for n, is_ in enumerate(ended) for event in is_]
        if not rows:
            return {}
        held = pa.table(dict(zip(("number", "b", "e", "ts", "k", "g", "i", "f"), map(list, zip(*rows)))))
        having = f"HAVING {trial.having}" if trial.having else ""
        keys = "".join(f", {key}" for key in trial.keys)
        asked = MORE.replace("COLLECT_LIST(i)", "list(i ORDER BY ts, i)")
        with duckdb.connect() as connection:
            connection.register("held", held)
            text = f"SELECT b, e{keys}, {asked} FROM held WHERE {trial.where} GROUP BY number, b, e{keys} {having}"
            found = connection.execute(text).fetchall()
        places = 2 + len(trial.keys)
        return {row[:places]: row[places:] for row in found}


def apply(told: dict[tuple, tuple], rows: list[dict], keys: tuple[str, ...]) -> None:
    """Add what was sent to what was told: a `-` takes back the very row that was."""
    for row in rows:
        place = (row["window_start"], row["window_end"], *(row[key] for key in keys))
        values = tuple(value for name, value in row.items() if name not in ("op", "window_start", "window_end", *keys))
        if row["op"] == "-":
            assert repr(told.pop(place)) == repr(values)
        else:
            assert place not in told
            told[place] = values


def _numbers(values: tuple) -> list[float]:
    plain = [sorted(value) if isinstance(value, list) else [value] for value in values]
    return [float("inf") if value is None else float(value) for part in plain for value in part]


@settings(max_examples=examples(150), deadline=None)
@given(trials(), st.sampled_from([1, 3]), st.sampled_from(["never", "adopt", "fresh"]))
def test_what_was_sent_adds_up_to_the_sessions_in_any_batches_and_shards_and_after_restarts(trial, shards, reopen):
    plan = plan_of([trial.text()], SCHEMA, trial.lateness, correct_us=trial.correct)
    core, judge = Core(plan, reopen=reopen, shards=shards), Judge(trial)
    told: dict[tuple, tuple] = {}
    (query,) = plan.queries
    for batch in trial.batches:
        columns = list(zip(*batch)) if batch else [()] * 5
        times, *others = (pa.array(column, type) for column, type in zip(columns, [pa.int64(), *SCHEMA.types[1:]]))
        outcomes = core.step(pa.table([times.cast(TIME), *others], schema=SCHEMA), tasks=2)
        found = tuple(sum(getattr(outcome, name) for outcome in outcomes) for name in COUNTED)
        assert found == judge.step(batch)
        for outcome in outcomes:
            for _, rows in outcome.results:
                apply(told, plain_rows(finish_part(pa.Table.from_batches([rows]), query)), trial.keys)
        wanted = judge.answers()
        assert told.keys() == wanted.keys()
        for place, values in wanted.items():
            assert _numbers(told[place]) == pytest.approx(_numbers(values), rel=1e-9, abs=1e-9)
    held = sum(len(state.groups) for shard in core.shards for state in shard.streams["ticks"].spaces.values())
    assert held <= 4 * len(judge.held), "only sessions that may still change are held"


SESSIONS = "SELECT k, COUNT(*) AS n FROM s [PARTITION BY k SESSION 10 SECONDS]"


def told_of(events: list[tuple[int, str]], text: str = SESSIONS, **settings) -> list[tuple]:
    """What is told of (second, key) that come one by one."""
    seconds, keys = zip(*events)
    table = pa.table({"ts": pa.array(seconds, pa.timestamp("s", tz="UTC")), "k": keys})
    rows = plain_rows(windrow.replay(text, s=table, batch_rows=1, **settings))
    return [(row["op"], row["window_start"] // 10**6, row["window_end"] // 10**6, row["k"], row["n"]) for row in rows]


def test_a_row_that_closes_the_gap_takes_two_sessions_back_and_tells_one():
    assert told_of([(0, "a"), (18, "a"), (40, "b"), (9, "a")], correct_for="1 minute") == [
        ("+", 0, 10, "a", 1),
        ("+", 18, 28, "a", 1),
        ("-", 0, 10, "a", 1),
        ("-", 18, 28, "a", 1),
        ("+", 0, 28, "a", 3),
    ]


def test_a_session_that_is_open_again_is_taken_back_at_once_and_told_when_it_ends():
    rows = [(0, "a"), (11, "b"), (9, "a"), (30, "b")]
    taken_back = [("+", 0, 10, "a", 1), ("-", 0, 10, "a", 1)]
    assert told_of(rows, correct_for="5 seconds") == [*taken_back, ("+", 0, 19, "a", 2), ("+", 11, 21, "b", 1)]


def test_a_session_is_final_so_long_after_its_end():
    rows = [(0, "a"), (15, "b"), (1, "a"), (16, "b"), (2, "a")]
    once = [("+", 0, 10, "a", 1)]
    assert told_of(rows, correct_for="5 seconds")[:3] == [*once, ("-", 0, 10, "a", 1), ("+", 0, 11, "a", 2)]
    assert told_of([(0, "a"), (16, "b"), (1, "a"), (99, "b")], correct_for="4 seconds")[:2] == [
        *once,
        ("+", 16, 26, "b", 1),
    ]


def test_a_query_that_came_later_is_not_told_corrections_of_sessions_that_it_was_not_told():
    text = "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k SESSION 10 MICROSECONDS]"
    texts = [text, f"{text} HAVING COUNT(*) > 0"]
    one, two = (plan_of(texts[:n], SCHEMA, correct_us=1_000) for n in (1, 2))
    core = Core(one)

    def step(time: int) -> dict[str, list[tuple]]:
        (outcome,) = core.step(pa.table([pa.array([time]).cast(TIME), ["x"], ["u"], [1], [0.5]], schema=SCHEMA))
        found = {query.name: [] for query in core.plan.queries}
        for name, rows in outcome.results:
            query = next(query for query in core.plan.queries if query.name == name)
            part = plain_rows(finish_part(pa.Table.from_batches([rows]), query))
            found[name] += [(row["op"], row["window_start"], row["window_end"], row["n"]) for row in part]
        return found

    step(0), step(20)
    core.plan = two
    core.shards = [Shard(StagePlan.of(two), core.blocks[0], core.snapshots[0])]
    assert step(5) == {"q0": [("-", 0, 10, 1), ("+", 0, 15, 2)], "q1": []}
    assert step(50) == {"q0": [("+", 20, 30, 1)], "q1": [("+", 20, 30, 1)]}
    joined = [("-", 20, 30, 1), ("+", 0, 30, 4)]
    assert step(12) == {"q0": [("-", 0, 15, 2), ("-", 20, 30, 1), ("+", 0, 30, 4)], "q1": joined}


def test_sessions_that_stayed_to_be_corrected_go_when_a_checkpoint_is_started_without():
    """The event at 5 reaches the session until 10, which has been told: without CORRECT FOR it is one of its own."""
    text = "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k SESSION 10 MICROSECONDS]"
    core = Core(plan_of([text], SCHEMA, correct_us=1_000))
    row = {"k": ["x"], "g": ["u"], "i": [1], "f": [0.5]}
    for time in (0, 12):
        core.step(pa.table({"ts": pa.array([time]).cast(TIME), **row}, schema=SCHEMA))
    core.plan = plan_of([text], SCHEMA)
    core.shards = [Shard(StagePlan.of(core.plan), core.blocks[0], core.snapshots[0])]
    for time in (5, 60):
        (outcome,) = core.step(pa.table({"ts": pa.array([time]).cast(TIME), **row}, schema=SCHEMA))
    rows = [row for _, batch in outcome.results for row in plain_rows(pa.Table.from_batches([batch]))]
    assert [(row["window_start"], row["window_end"], row["agg_0"]) for row in rows] == [(5, 22, 2)]


def test_sessions_that_an_idle_clock_has_closed_are_answered_again():
    beats = {"arrivals": [1_000_000, 31_000_000], "heartbeats": [20_000_000], "idle_clock": True}
    told = told_of([(1, "a"), (7, "a")], correct_for="1 minute", **beats)
    assert told == [("+", 1, 11, "a", 1), ("-", 1, 11, "a", 1), ("+", 1, 17, "a", 2)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT COUNT(*) AS n FROM s [SESSION 3 SECONDS EMIT EVERY 1 SECOND]", "EMIT EVERY of sessions is not"),
        ("SELECT k, COUNT(*) AS n FROM s [SESSION 3 SECONDS] GROUP BY k ORDER BY n LIMIT 1", "or a limit"),
        ("SELECT COUNT(*) AS n FROM s [SESSION 3 SECONDS] EMIT CHANGES", "EMIT is not for them"),
    ],
)
def test_what_cannot_be_answered_again_is_refused_by_name(text, reason):
    with pytest.raises(QueryError, match=reason):
        told_of([(1, "a")], text, correct_for="1 minute")


def test_explain_says_how_long_sessions_stay():
    plan = plan_of(["SELECT COUNT(*) AS n FROM ticks [SESSION 10 SECONDS]"], SCHEMA, correct_us=60_000_000)
    assert "answered again, as - and +, up to 1 MINUTE after their end" in explain_plans([StagePlan.of(plan)], shards=2)
