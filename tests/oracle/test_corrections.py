"""CORRECT FOR: whatever `-` and `+` rows came, what they add up to is what DuckDB says of the events of each window."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of
from windrow.current.kept import KeptAnswer
from windrow.current.limits import Limits
from windrow.current.shape import NEWEST_WINDOW, Shape
from windrow.errors import QueryError, SettingsError
from windrow.language import parse_script, to_sql
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.answers.finish import finish_part
from windrow.runtime.shard import Shard

from .judge import TIME, plain_rows

Windows = tuple[tuple[int | None, int], ...]
"""The range, None where it has no bound, and the slide of each level; `text_of` says it in SQL."""

LAST = 120
"""No clock of a trial comes so far."""

ASKED = "COUNT(*) AS n, SUM(i) AS s, MAX(i) AS m, SUM(f) AS t, VAR_SAMP(f) AS v, COUNT(DISTINCT i) AS d"
COLUMNS = ("n", "s", "m", "t", "v", "d")
COUNTED = ("late", "late_in_part", "corrected")
SCHEMA = pa.schema({"ts": TIME, "k": pa.string(), "i": pa.int64(), "f": pa.float64()})


@dataclass(frozen=True)
class Trial:
    """Events in batches, with two queries that share panes, and for how long their answers are corrected."""

    batches: list[list[tuple[int, str, int, float]]]
    windows: tuple[Windows, Windows]
    lateness: int
    correct: int
    having: str
    every: int = 0

    def text(self, number: int) -> str:
        having = f" HAVING {self.having}" if self.having else ""
        return f"SELECT k, {ASKED} FROM ticks {text_of(self.windows[number], self.every)} GROUP BY k{having}"


def text_of(windows: Windows, every: int = 0) -> str:
    written = [["UNBOUNDED" if part is None else f"{part} MICROSECONDS" for part in parts] for parts in zip(*windows)]
    ranges, slides = (", ".join(reversed(parts)) for parts in written)
    early = f" EMIT EVERY {every} MICROSECONDS" if every else ""
    s = "S" if len(windows) > 1 else ""
    return f"[RANGE{s} {ranges} SLIDE{s} {slides}{early}]"


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    chance = random.Random(draw(st.integers(0, 2**32)))
    batches = []
    at = 0
    for _ in range(chance.randint(1, 9)):
        times = [max(-40, at + chance.choice([0, 1, 2, 5, 9, -3, -9, -20, -40])) for _ in range(chance.randint(0, 6))]
        at = max([at, *times])
        batches.append([(t, chance.choice("xyz"), chance.randint(-9, 9), chance.uniform(-9, 9)) for t in times])
    plain = [(10, 5), (7, 5), (5, 5), (3, 5), (20, 4), (1, 1), (None, 5), (None, 4), (None, 1)]
    levels = [((5, 5), (20, 10)), ((5, 5), (None, 10))]
    windows = [((chance.choice(plain),) if chance.random() < 0.8 else chance.choice(levels)) for _ in range(2)]
    having = chance.choice(["", "", "COUNT(*) > 1", "SUM(i) > 0"])
    lateness, correct, every = chance.choice([0, 0, 3]), chance.choice([1, 4, 12, 60]), chance.choice([0, 0, 3])
    return Trial(batches, (windows[0], windows[1]), lateness, correct, having, every)


def ends_over(time: int, reach: int | None, slide: int) -> list[int]:
    """The ends of all windows that hold an event; of windows without bound, those that may be told."""
    if reach is None:
        return list(range(time - time % slide + slide, LAST, slide))
    return [end for end in range(time - time % slide, time + reach + slide, slide) if end - reach <= time < end]


class Judge:
    """Which events each window has taken, by the definition, batch by batch."""

    def __init__(self, trial: Trial) -> None:
        self.trial, self.clock = trial, None
        self.taken: list[list[tuple]] = [[], []]

    def step(self, batch: list[tuple]) -> tuple[int, int, int]:
        """Take in a batch; returns how many were late, late in part, and corrected answers."""
        counts = [0, 0, 0]
        before = self.clock
        for event in batch:
            lost = took = corrected = False
            for number, windows in enumerate(self.trial.windows):
                for level, (reach, slide) in enumerate(windows):
                    for end in ends_over(event[0], reach, slide):
                        if before is not None and end <= before - self.trial.correct:
                            lost = True
                            continue
                        took = True
                        corrected |= before is not None and end <= before
                        self.taken[number].append((level, end, *event))
            counts[0] += lost and not took
            counts[1] += lost and took
            counts[2] += corrected
        if batch:
            newest = max(event[0] for event in batch) - self.trial.lateness
            self.clock = newest if before is None else max(before, newest)
        return counts[0], counts[1], counts[2]

    def answers(self, number: int) -> dict[tuple, tuple]:
        """By level, end and key, what DuckDB says of each window that has ended."""
        return self._asked([row for row in self.taken[number] if self.clock is not None and row[1] <= self.clock])

    def early(self, number: int, before: int | None) -> dict[tuple, tuple]:
        """By level, instant and key, the same of windows that still filled when the clock went on from `before`."""
        if not self.trial.every or self.clock is None:
            return {}
        rows = []
        first = -60 if before is None else before // self.trial.every * self.trial.every + self.trial.every
        for at in range(first, self.clock + 1, self.trial.every):
            for level, (_, slide) in enumerate(self.trial.windows[number]):
                filling = (level, at - at % slide + slide) if at % slide else None
                rows += [(level, at, *row[2:]) for row in self.taken[number] if row[:2] == filling and row[2] < at]
        return self._asked(rows)

    def _asked(self, rows: list[tuple]) -> dict[tuple, tuple]:
        if not rows:
            return {}
        held = pa.table(dict(zip(("level", "e", "ts", "k", "i", "f"), map(list, zip(*rows)))))
        having = f"HAVING {self.trial.having}" if self.trial.having else ""
        with duckdb.connect() as connection:
            connection.register("held", held)
            asked = f"SELECT level, e, k, {ASKED} FROM held GROUP BY level, e, k {having}"
            found = connection.execute(asked).fetchall()
        return {row[:3]: row[3:] for row in found}


def apply(told: dict[tuple, tuple], rows: list[dict], leveled: bool) -> None:
    """Add what was sent to what was told: a `-` takes back the very row that was."""
    for row in rows:
        place = (row["level"] if leveled else 0, row["window_end"], row["k"])
        values = tuple(row[name] for name in COLUMNS)
        if row["op"] == "-":
            assert told.pop(place) == values
        else:
            assert place not in told
            told[place] = values
    for left, right in pairwise(rows):  # nothing is sent where the two are equal
        assert (left["op"], right["op"]) != ("-", "+") or any(
            left[name] != right[name] for name in left if name != "op"
        )


def assert_same(found: dict[tuple, tuple], wanted: dict[tuple, tuple]) -> None:
    assert found.keys() == wanted.keys()
    for place, values in wanted.items():
        assert _numbers(found[place]) == pytest.approx(_numbers(values), rel=1e-9, abs=1e-9)


def _numbers(values: tuple) -> list[float]:
    return [float("inf") if value is None else float(value) for value in values]


@settings(max_examples=examples(150), deadline=None)
@given(trials(), st.sampled_from([1, 3]), st.sampled_from(["never", "adopt", "fresh"]))
def test_what_was_sent_adds_up_to_the_events_of_each_window_in_any_batches_and_shards_and_after_restarts(
    trial, shards, reopen
):
    plan = plan_of([trial.text(0), trial.text(1)], SCHEMA, trial.lateness, correct_us=trial.correct)
    core, judge = Core(plan, reopen=reopen, shards=shards), Judge(trial)
    told: list[dict[tuple, tuple]] = [{}, {}]
    for batch in trial.batches:
        before = judge.clock
        columns = list(zip(*batch)) if batch else [(), (), (), ()]
        times, *others = (pa.array(column, type) for column, type in zip(columns, [pa.int64(), *SCHEMA.types[1:]]))
        outcomes = core.step(pa.table([times.cast(TIME), *others], schema=SCHEMA), tasks=2)
        found = tuple(sum(getattr(outcome, name) for outcome in outcomes) for name in COUNTED)
        assert found == judge.step(batch)
        for number, query in enumerate(plan.queries):
            batches = [rows for o in outcomes for name, rows in o.results if name == query.name]
            rows = [row for part in batches for row in plain_rows(finish_part(pa.Table.from_batches([part]), query))]
            leveled, early = len(trial.windows[number]) > 1, [row for row in rows if not row.get("final", True)]
            apply(told[number], [row for row in rows if row.get("final", True)], leveled)
            assert_same(told[number], judge.answers(number))
            once: dict[tuple, tuple] = {}
            apply(once, [row | {"window_end": row["as_of"]} for row in early], leveled)
            assert not any(row["op"] == "-" for row in early)
            assert_same(once, judge.early(number, before))


def told_of(texts: str | dict[str, str], times: list[int], **settings) -> pa.Table | dict[str, pa.Table]:
    """What is told of events at `times`, in seconds, that come one by one."""
    events = pa.table({"ts": pa.array(times, pa.timestamp("s", tz="UTC")), "x": [2.0**n for n in range(len(times))]})
    return windrow.replay(texts, s=events, batch_rows=1, **settings)


def shown(rows: pa.Table) -> list[tuple]:
    return [(row["op"], row["window_end"] // 10**6, row["n"]) for row in plain_rows(rows)]


COUNTS = "SELECT COUNT(*) AS n FROM s [RANGE 10 SECONDS SLIDE 5 SECONDS]"


def test_a_window_is_final_so_long_after_its_end_and_the_others_are_answered_again():
    rows = told_of(COUNTS, [1, 16, 7, 26, 8], correct_for="10 seconds")
    first = [("+", 5, 1), ("+", 10, 1)]
    again = [("-", 10, 1), ("+", 10, 2), ("+", 15, 1)]  # until 15 there was nothing, so nothing is taken back
    then = [("+", 20, 1), ("+", 25, 1)]
    assert shown(rows) == [*first, *again, *then]  # at 26, windows until 16 are final: 8 is late


def test_windows_that_an_idle_clock_has_closed_are_answered_again():
    beats = {"arrivals": [1_000_000, 31_000_000], "heartbeats": [20_000_000], "idle_clock": True}
    rows = told_of(COUNTS, [1, 7], correct_for="1 minute", **beats)
    assert shown(rows) == [("+", 5, 1), ("+", 10, 1), ("-", 10, 1), ("+", 10, 2), ("+", 15, 1)]


def test_a_window_that_grows_in_steps_and_one_by_the_calendar_are_corrected_like_others():
    grows = "SELECT COUNT(*) AS n FROM CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL 5 SECONDS, INTERVAL 10 SECONDS)"
    rows = told_of(grows, [1, 11, 2], correct_for="9 seconds")
    assert shown(rows) == [("+", 5, 1), ("+", 10, 1), ("-", 5, 1), ("+", 5, 2), ("-", 10, 1), ("+", 10, 2)]
    days = "SELECT COUNT(*) AS n FROM s [RANGE 1 DAY SLIDE 1 DAY IN 'Europe/Berlin']"
    rows = told_of(days, [1, 90_000, 2], correct_for="2 days")
    assert shown(rows) == [("+", 82_800, 1), ("-", 82_800, 1), ("+", 82_800, 2)]


def test_a_window_without_bound_is_answered_again_from_where_the_event_lies():
    totals = "SELECT COUNT(*) AS n FROM s [RANGE UNBOUNDED SLIDE 5 SECONDS]"
    rows = told_of(totals, [1, 16, 7, 36, 8], correct_for="10 seconds")
    first = [("+", 5, 1), ("+", 10, 1), ("+", 15, 1)]
    again = [("-", 10, 1), ("+", 10, 2), ("-", 15, 1), ("+", 15, 2)]
    then = [("+", 20, 3), ("+", 25, 3), ("+", 30, 3), ("+", 35, 3)]
    last = [("-", 30, 3), ("+", 30, 4), ("-", 35, 3), ("+", 35, 4)]  # at 36, windows until 26 are final
    assert shown(rows) == [*first, *again, *then, *last]


def test_early_answers_stay_as_they_were_told_and_the_final_one_is_corrected():
    text = "SELECT COUNT(*) AS n FROM s [RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 4 SECONDS]"
    rows = told_of(text, [1, 9, 2, 16, 7], correct_for="10 seconds").to_pylist()
    told = [(row["op"], row["final"], row["as_of"].second, row["n"]) for row in rows]
    early = [("+", False, 4, 1), ("+", False, 8, 1)]  # at 12, the next window is empty; 16 is not in an answer at 16
    assert told == [*early, ("+", True, 10, 3), ("-", True, 10, 3), ("+", True, 10, 4)]


EVERY_KIND = (
    "MEDIAN(x) AS a, FIRST(x) AS b, LAST(x) AS c, SKEWNESS(x) AS d, CORR(x, i) AS e, COLLECT_LIST(i) AS f, MAX_BY(i, x) AS g,"
    " MODE(i) AS h, BOOL_AND(i > 1) AS l, APPROX_COUNT_DISTINCT(i) AS m, STDDEV(x) FILTER (WHERE i > 3) AS o"
)


@pytest.mark.parametrize("window", ["RANGE UNBOUNDED SLIDE 4 SECONDS", "RANGE 10 SECONDS SLIDE 4 SECONDS"])
def test_what_is_taken_back_is_what_was_told_whatever_is_asked(window):
    chance, at, rows = random.Random(7), 0, []
    for _ in range(60):
        at += chance.choice([0, 0, 1, 2, 3])
        late = chance.choice([0, 0, -2, -7, -15])
        rows.append((at + late, chance.choice("ab"), chance.uniform(-9, 9), chance.randint(0, 9)))
    times, keys, *values = zip(*rows)
    events = pa.table(dict(zip("kxi", map(list, (keys, *values)))))
    events = events.add_column(0, "ts", pa.array(times, pa.timestamp("s", tz="UTC")))
    text = f"SELECT k, {EVERY_KIND} FROM s [{window}] GROUP BY k"
    told: dict[tuple, dict] = {}
    taken_back = 0
    for row in windrow.replay(text, s=events, correct_for="8 seconds", batch_rows=3).to_pylist():
        op, place = row.pop("op"), (row["window_end"], row["k"])
        if op == "-":
            assert told.pop(place) == row
            taken_back += 1
        else:
            assert place not in told
            told[place] = row
    assert taken_back > 9


def test_a_query_that_came_later_is_not_told_corrections_of_what_it_was_not_told():
    texts = [COUNTS.replace("FROM s", "FROM ticks"), "SELECT SUM(i) AS n FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS]"]
    one, two = (plan_of(texts[:n], SCHEMA, correct_us=60_000_000) for n in (1, 2))
    core = Core(one)

    def step(second: int) -> dict[str, list[tuple]]:
        times = pa.array([second * 10**6]).cast(TIME)
        (outcome,) = core.step(pa.table([times, ["x"], [second], [0.5]], schema=SCHEMA))
        queries = {query.name: query for query in core.plan.queries}
        found = [(name, finish_part(pa.Table.from_batches([rows]), queries[name])) for name, rows in outcome.results]
        return {name: [row for own, rows in found if own == name for row in shown(rows)] for name in queries}

    step(1), step(12)
    core.plan = two
    core.shards = [Shard(StagePlan.of(two), core.blocks[0], core.snapshots[0])]
    assert step(2) == {"q0": [("-", 5, 1), ("+", 5, 2), ("-", 10, 1), ("+", 10, 2)], "q1": []}
    assert step(21)["q1"] == []  # it has no sums of what came before it
    assert step(26)["q1"][-1] == ("+", 25, 21)
    assert step(18) == {
        "q0": [("-", 20, 1), ("+", 20, 2), ("-", 25, 1), ("+", 25, 2)],
        "q1": [("-", 25, 21), ("+", 25, 39)],
    }


def test_the_current_answer_is_the_newest_window_as_corrected():
    names = {"op": pa.string(), "window_start": TIME, "window_end": TIME, "n": pa.int64()}
    kept = KeptAnswer("q", Shape(NEWEST_WINDOW, ("op", "window_start", "window_end")), pa.schema(names), Limits())
    batches = [[("+", 5, 1), ("+", 10, 1)], [("-", 5, 1), ("+", 5, 2)], [("-", 10, 1), ("+", 10, 7)]]
    for batch, rows in enumerate(batches):
        ops, ends, counts = zip(*rows)
        instants = pa.array(ends, pa.int64()).cast(TIME)
        kept.take(pa.table([pa.array(ops), instants, instants, pa.array(counts)], schema=pa.schema(names)), batch)
        kept.commit(batch, None)
        assert kept.answer is not None
        assert [(row["op"], row["n"]) for row in kept.answer] == [("+", 1 if batch < 2 else 7)]


REFUSED = {
    "SELECT COUNT(*) AS n FROM s [ROWS 3 SLIDE 1]": "windows of rows are not",
    "SELECT COUNT(*) AS n FROM s [FROM x > 1 UNTIL x > 3]": "from condition to condition are not",
    "SELECT COUNT(*) AS n FROM s [RANGE 9 SECONDS]": "windows without SLIDE are not",
    "SELECT a.x FROM s [RANGE 9 SECONDS] AS a JOIN s [RANGE 9 SECONDS] AS b ON a.x = b.x": "joins, set operators",
    "SELECT * FROM s [RANGE 9 SECONDS SLIDE 3 SECONDS]": "rows of windows",
    f"{COUNTS} EMIT CHANGES": "EMIT is not for them",
    "SELECT COUNT(*) AS n FROM s [SESSION 5 SECONDS EMIT EVERY 1 SECOND]": "EMIT EVERY of sessions is not",
    "SELECT COUNT(*) AS n FROM s [RANGE 9 SECONDS SLIDE 3 SECONDS] CLUSTER BY x USING C_BIRCH(1)": "clusterings are not",
    "SELECT x, COUNT(*) AS n FROM s [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY x ORDER BY n LIMIT 1": "or a limit",
    f"SELECT SUM(n) AS n FROM ({COUNTS}) [RANGE 20 SECONDS SLIDE 20 SECONDS]": "cannot be taken back",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_answered_again_is_refused_by_name(text):
    with pytest.raises(QueryError, match=REFUSED[text]):
        told_of(text, [1], correct_for="1 minute")


def test_a_declaration_says_how_long_answers_are_corrected():
    text = "CREATE STREAM s (ts TIMESTAMP) USING parquet OPTIONS (path 'p') TIMESTAMP BY ts LATENESS 2 SECONDS{} CORRECT FOR 1 MINUTE"
    for comma in ("", ","):
        (statement,) = parse_script(text.format(comma))
        assert statement.correct_us == 60_000_000
        assert "CORRECT FOR 1 MINUTE" in to_sql(statement)
    with pytest.raises(QueryError, match="CORRECT FOR needs TIMESTAMP BY"):
        parse_script("CREATE STREAM s USING parquet OPTIONS (path 'p') CORRECT FOR 1 MINUTE")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"correct_for": "0 seconds"}, "no time in which an answer could be corrected"),
        ({"correct_for": "1 minute", "time": None}, "timed by arrival"),
        ({"correct_for": "1 minute", "deduplicate": {"s": ("x", "1 hour")}}, "deduplicated"),
    ],
)
def test_corrections_that_could_not_come_are_refused(settings, reason):
    with pytest.raises(SettingsError, match=reason):
        told_of(COUNTS, [1], **settings)
