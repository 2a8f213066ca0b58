"""Joins, set operators, sub-queries and aggregates of aggregates within each window of every kind, beside DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples

from .at_instants import LATENESS, STREAMS, Drawn, results
from .judge import TIME, canonical, cursor, plain_rows

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3600 * 10**6
EPOCH = datetime(2026, 3, 27, tzinfo=UTC)
"""Two days before the clocks of Berlin are set forward."""

Row = tuple[int, int, str | None]
"""When an event happened, its place in the stream, and its key."""

Held = Iterator[tuple[object, tuple, list[int]]]
"""What tells a window from others, the columns that lead its answers, and the rows that it holds."""


@dataclass(frozen=True)
class Kind:
    """A kind of window by its definition: `step` is how long a unit of the drawn times is."""

    text: str
    step: int = 1
    begin: int = 0

    def held(self, rows: list[Row], until: int) -> Held:
        raise NotImplementedError


class Cumulate(Kind):
    def held(self, rows, until):
        for end in range(2, until + 8, 2):
            start = (end - 1) // 6 * 6
            yield end, (start, end), [row for time, row, _ in rows if start <= time < end]


class Levels(Kind):
    def held(self, rows, until):
        for level, (reach, slide) in enumerate(((4, 2), (8, 4))):
            for end in range(slide, until + 20, slide):
                own = [row for time, row, _ in rows if end - reach <= time < end]
                yield (level, end), (end - reach, end, level), own


class Days(Kind):
    def held(self, rows, until):
        for number in range(-3, 20):
            day = (EPOCH + timedelta(days=number)).date()
            first, last = (_midnight(day - timedelta(days=2)), _midnight(day))
            yield last, (first, last), [row for time, row, _ in rows if first <= time < last]


class Sessions(Kind):
    def held(self, rows, until):
        by_key = "PARTITION" in self.text
        for key in dict.fromkeys(key if by_key else None for _, _, key in rows):
            own = sorted((time, row) for time, row, other in rows if not by_key or other == key)
            pieces: list[list[tuple[int, int]]] = []
            for time, row in own:
                if pieces and time - pieces[-1][-1][0] <= 3:
                    pieces[-1].append((time, row))
                else:
                    pieces.append([(time, row)])
            for piece in pieces:
                end = piece[-1][0] + 3
                yield (key, end), (piece[0][0], end), [row for _, row in piece]


class Rows(Kind):
    def held(self, rows, until):
        by_key = "PARTITION" in self.text
        reach, slide = (3, 1) if by_key else (4, 2)
        for key in dict.fromkeys(key if by_key else None for _, _, key in rows):
            own = sorted((time, row) for time, row, other in rows if not by_key or other == key)
            for number in range(slide, len(own) + 1, slide):
                piece = own[max(0, number - reach) : number]
                told = (piece[0][0], piece[-1][0], number)
                yield (key, piece[-1][0], number), told, [row for _, row in piece]


class LevelsOfRows(Kind):
    def held(self, rows, until):
        own = sorted((time, row) for time, row, _ in rows)
        for level, (reach, slide) in enumerate(((2, 2), (4, 2))):
            for number in range(slide, len(own) + 1, slide):
                piece = own[max(0, number - reach) : number]
                end = piece[-1][0]
                yield (level, end, number), (piece[0][0], end, number, level), [row for _, row in piece]


class RowsInTime(Kind):
    def held(self, rows, until):
        own = sorted((time, row) for time, row, _ in rows)
        for due in range(3, (until // 3 + 1) * 3 + 1, 3):
            piece = [(time, row) for time, row in own if time < due]
            told = piece[-3:]
            if told:
                yield due, (told[0][0], told[-1][0], len(piece)), [row for _, row in told]


class FromUntil(Kind):
    def held(self, rows, until):
        by_key = "PARTITION" in self.text
        for key in dict.fromkeys(key if by_key else None for _, _, key in rows):
            own = sorted((time, row, other) for time, row, other in rows if not by_key or other == key)
            piece: list[tuple[int, int]] = []
            for number, (time, row, other) in enumerate(own):
                ends = bool(piece) and (by_key or other == "bolt")
                if piece or by_key or other == "nut":
                    piece.append((time, row))
                if ends:
                    yield (key, number), (piece[0][0], time), [row for _, row in piece]
                    piece = []


class Filling(Kind):
    def held(self, rows, until):
        for as_of in range(1, until + 12):
            end = -(-as_of // 6) * 6
            if as_of == end:
                yield as_of, (end - 6, end, True, as_of), [row for time, row, _ in rows if end - 6 <= time < end]
            elif as_of % 4 == 0 and as_of <= until - LATENESS:
                yield as_of, (end - 6, end, False, as_of), [row for time, row, _ in rows if end - 6 <= time < as_of]


def _midnight(day) -> int:
    instant = datetime(day.year, day.month, day.day, tzinfo=BERLIN).astimezone(UTC)
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


FIRST = (EPOCH - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
KINDS = {
    "cumulate": Cumulate("[RANGE 6 MICROSECONDS SLIDE 2 MICROSECONDS CUMULATE]"),
    "calendar": Days("[RANGE 2 DAYS SLIDE 1 DAY IN 'Europe/Berlin']", 7 * HOUR, FIRST),
    "levels": Levels("[RANGES 8 MICROSECONDS, 4 MICROSECONDS SLIDES 4 MICROSECONDS, 2 MICROSECONDS]"),
    "sessions": Sessions("[SESSION 3 MICROSECONDS]"),
    "sessions by key": Sessions("[PARTITION BY k SESSION 3 MICROSECONDS]"),
    "rows": Rows("[ROWS 4 SLIDE 2]"),
    "rows by key": Rows("[PARTITION BY k ROWS 3 SLIDE 1]"),
    "rows in time": RowsInTime("[ROWS 3 SLIDE 3 MICROSECONDS]"),
    "levels of rows": LevelsOfRows("[ROWS 4, 2 SLIDES 2, 2]"),
    "from until": FromUntil("[FROM k = 'nut' UNTIL k = 'bolt']"),
    "pairs by key": FromUntil("[PARTITION BY k FROM true UNTIL true]"),
    "filling": Filling("[RANGE 6 MICROSECONDS SLIDE 6 MICROSECONDS EMIT EVERY 4 MICROSECONDS]"),
}
COUNTS = "(SELECT k, COUNT(*) AS c, MAX(x) AS m FROM {a} GROUP BY k)"
QUERIES = {
    "inner": "SELECT p.n AS one, q.n AS other FROM {a} AS p JOIN {b} AS q ON p.k = q.k",
    "left": "SELECT p.n AS one, q.n AS other FROM {a} AS p LEFT JOIN {b} AS q ON p.k = q.k AND p.n < q.n",
    "right": "SELECT p.n AS one, q.n AS other FROM {a} AS p RIGHT JOIN {b} AS q ON p.n = q.n",
    "full": "SELECT p.x AS one, q.x AS other FROM {a} AS p FULL JOIN {b} AS q ON p.x = q.x",
    "using": "SELECT n, p.x AS one FROM {a} AS p FULL JOIN {b} AS q USING (n)",
    "semi": "SELECT p.k, p.x FROM {a} AS p SEMI JOIN {b} AS q ON p.n = q.n",
    "anti": "SELECT p.k, p.x FROM {a} AS p ANTI JOIN {b} AS q ON p.n = q.n",
    "cross": "SELECT p.n AS one, q.n AS other FROM {a} AS p CROSS JOIN {b} AS q WHERE p.n + q.n > 4",
    "later": "SELECT p.n, q.n AS m FROM {a} AS p JOIN {b} AS q ON p.k = q.k AND p.ts >= q.ts + INTERVAL 2 MICROSECONDS",
    "near": "SELECT p.n, q.n AS m FROM {a} AS p LEFT JOIN {b} AS q ON p.ts BETWEEN q.ts AND q.ts + INTERVAL 3 MICROSECONDS",
    "three": "SELECT p.n, r.x FROM {a} AS p JOIN {b} AS q ON p.k = q.k LEFT JOIN {a} AS r ON r.n = q.n",
    "groups of a join": "SELECT p.k, COUNT(*) AS c, SUM(q.n) AS s FROM {a} AS p JOIN {b} AS q ON p.n = q.n GROUP BY p.k",
    "all of a join": "SELECT COUNT(*) AS c FROM {a} AS p JOIN {b} AS q ON p.n = q.n HAVING COUNT(*) > 0",
    "with its groups": f"SELECT p.n, q.c FROM {{a}} AS p JOIN {COUNTS} AS q ON p.k = q.k WHERE q.c > 1",
    "two groupings": (
        f"SELECT q.k, q.c, r.c AS d FROM {COUNTS} AS q"
        " FULL JOIN (SELECT k, COUNT(*) AS c FROM {b} GROUP BY k) AS r ON q.k = r.k"
    ),
    "union": "SELECT k, n FROM {a} UNION SELECT k, n FROM {b}",
    "union all": "SELECT k, x FROM {a} WHERE n > 1 UNION ALL SELECT k, x FROM {b}",
    "except": "SELECT k FROM {a} EXCEPT SELECT k FROM {b}",
    "except all": "SELECT n FROM {a} EXCEPT ALL SELECT n FROM {b}",
    "intersect": "SELECT k, x FROM {a} INTERSECT SELECT k, x FROM {b}",
    "groups of a union": "SELECT k, COUNT(*) AS c FROM (SELECT k FROM {a} UNION ALL SELECT k FROM {b}) AS u GROUP BY k",
    "counts, without others": "SELECT k, COUNT(*) AS c FROM {a} GROUP BY k EXCEPT SELECT k, COUNT(*) AS c FROM {b} GROUP BY k",
    "most": f"SELECT MAX(c) AS c, COUNT(*) AS n FROM {COUNTS} AS q HAVING COUNT(*) > 0",
    "rows beside groups of more": (
        "SELECT q.n, q.k, c FROM (SELECT n, k, COUNT(*) AS c FROM {a} GROUP BY n, k) AS q"
        " ANTI JOIN (SELECT MIN(n) AS n FROM {b}) AS r ON q.n <= r.n"
    ),
    "how often": f"SELECT c, COUNT(*) AS n, SUM(m) AS m FROM {COUNTS} AS q GROUP BY c",
    "thrice": f"SELECT MAX(n) AS n FROM (SELECT c, COUNT(*) AS n FROM {COUNTS} AS q GROUP BY c) AS r HAVING COUNT(*) > 0",
    "in": "SELECT k, n FROM {a} WHERE n IN (SELECT n FROM {b} WHERE x > 0.5)",
    "not in": "SELECT k, n FROM {a} WHERE x NOT IN (SELECT x FROM {b})",
    "exists": "SELECT k, n FROM {a} AS p WHERE EXISTS (SELECT 1 FROM {b} AS q WHERE q.k = p.k AND q.n > p.n)",
    "not exists": "SELECT k, n FROM {a} AS p WHERE NOT EXISTS (SELECT 1 FROM {b} AS q WHERE q.n = p.n)",
    "either": "SELECT k, n FROM {a} WHERE n IN (SELECT n FROM {b}) OR x > 1",
    "above the mean": "SELECT k, n FROM {a} WHERE n > (SELECT AVG(n) FROM {b})",
    "how many others": "SELECT n, (SELECT COUNT(*) FROM {b} AS q WHERE q.k = p.k) AS c FROM {a} AS p",
    "how many at all": "SELECT n, (SELECT COUNT(*) FROM {b}) AS c FROM {a}",
    "share": "SELECT k, COUNT(*) AS c, (SELECT COUNT(*) FROM {b}) AS d FROM {a} GROUP BY k",
    "large groups": "SELECT k, SUM(n) AS s FROM {a} GROUP BY k HAVING SUM(n) > (SELECT AVG(n) FROM {b})",
    "distinct": "SELECT DISTINCT p.k, q.n FROM {a} AS p JOIN {b} AS q ON p.n = q.n",
    "first ones": (
        "SELECT p.k, p.n, q.x FROM {a} AS p JOIN {b} AS q ON p.n = q.n"
        " ORDER BY p.n, p.k NULLS FIRST, q.x NULLS FIRST LIMIT 3"
    ),
    "numbered": (
        "SELECT p.k, p.n FROM {a} AS p JOIN {b} AS q ON p.n = q.n"
        " QUALIFY RANK() OVER (PARTITION BY p.k ORDER BY p.n DESC) = 1"
    ),
    "cube": "SELECT p.k, q.n, COUNT(*) AS c FROM {a} AS p JOIN {b} AS q ON p.n = q.n GROUP BY CUBE (p.k, q.n) HAVING COUNT(*) > 0",
    "grouping sets": (
        "SELECT x, n, GROUPING_ID(x, n) AS g, COUNT(*) AS c, MAX(k) AS m FROM {a} GROUP BY GROUPING SETS ((x, n), (n), (n), ())"
    ),
    "rollup of some": "SELECT n, SUM(n) AS s, GROUPING(n) AS g FROM {a} WHERE x > 0.5 GROUP BY ROLLUP (n) HAVING COUNT(*) > 1",
    "most of a cube": "SELECT MAX(c) AS c FROM (SELECT n, x, COUNT(*) AS c FROM {a} GROUP BY CUBE (n, x)) AS q HAVING COUNT(*) > 0",
    "named": (
        "WITH c AS (SELECT k, COUNT(*) AS c FROM {a} GROUP BY k), d AS (SELECT k, n FROM {b} WHERE n > 1)"
        " SELECT c.k, c, n FROM c JOIN d ON c.k = d.k UNION ALL SELECT k, n, n + 1 FROM d WHERE k NOT IN (SELECT k FROM c)"
    ),
}  # fmt: skip
SHARED = ("cumulate", "calendar", "levels")
"""Windows that all streams have together; rows and sessions are those of one stream."""


@st.composite
def streams(draw: st.DrawFn, kind: Kind) -> Drawn:
    """Two streams with ties, duplicates, NULLs and gaps, out of order within the lateness."""
    chance, tables = random.Random(draw(st.integers(0, 2**32))), {}
    for name in STREAMS:
        units = [chance.randint(0, 30) for _ in range(chance.randint(1, 14))]
        units.sort(key=lambda unit: unit + chance.random() * (LATENESS // kind.step))
        tables[name] = pa.table(
            {
                "ts": pa.array([kind.begin + unit * kind.step for unit in units], pa.int64()).cast(TIME),
                "k": pa.array([chance.choice(["nut", "bolt", "gear", None]) for _ in units], pa.string()),
                "x": pa.array([chance.choice([0.5, 1.0, 3.0, float("nan"), None]) for _ in units], pa.float64()),
                "n": pa.array([chance.randint(1, 4) for _ in units], pa.int64()),
            }
        )
    return Drawn(tables, draw(st.sampled_from([None, 1, 4])), draw(st.booleans()))


def wanted(query: str, kind: Kind, drawn: Drawn, names: dict[str, str]) -> Counter:
    """DuckDB's answers over the rows of each window."""
    windows: dict[object, tuple[tuple, dict[str, list[int]]]] = {}
    clocks = {}
    for name in set(names.values()):
        table = drawn.tables[name]
        times = table["ts"].cast(pa.int64()).to_pylist()
        rows = [(time, place, key) for place, (time, key) in enumerate(zip(times, table["k"].to_pylist()))]
        clocks[name] = max(times)
        for apart, told, own in kind.held(rows, clocks[name]):
            if own:
                windows.setdefault((apart, told), (told, {}))[1][name] = own
    found: Counter = Counter()
    with cursor() as database:
        for told, held in windows.values():
            for asked, name in names.items():
                database.register(f"in_{asked}", drawn.tables[name].take(pa.array(held.get(name, []), pa.int64())))
            answer = database.sql(query.format(a="in_a", b="in_b")).to_arrow_table()
            found.update((*told, *map(canonical, row.values())) for row in plain_rows(answer))
    return found


def told(text: str, drawn: Drawn, lateness: int) -> Counter:
    rows = results(text, drawn)
    return Counter(tuple(map(canonical, row.values())) for row in rows)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(6), deadline=None)
@given(st.data())
def test_within_each_window_the_answer_is_what_duckdb_says(kind: str, query: str, data: st.DataObject):
    window, drawn = KINDS[kind], data.draw(streams(KINDS[kind]))
    names = {"a": "a", "b": "b" if kind in SHARED else "a"}
    text = QUERIES[query].format(**{asked: f"{name} {window.text}" for asked, name in names.items()})
    used = {asked: name for asked, name in names.items() if f"{{{asked}}}" in QUERIES[query]}
    drawn = Drawn({name: drawn.tables[name] for name in used.values()}, drawn.batch_rows, drawn.restarts)
    assert told(text, drawn, LATENESS) == wanted(QUERIES[query], window, drawn, used)


SECOND = 10**6
SOON = pa.table({"ts": pa.array([1, 2, 9], pa.timestamp("s", tz="UTC")), "k": ["a", "b", "a"]})
LATE = pa.table({"ts": pa.array([2, 3, 23], pa.timestamp("s", tz="UTC")), "k": ["a", "b", "b"]})


def test_an_early_answer_waits_for_the_stream_that_is_behind_and_the_end_tells_whole_windows_only():
    window = "[RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 4 SECONDS]"
    text = f"SELECT a.k FROM a {window} LEFT JOIN b {window} ON a.k = b.k UNION ALL SELECT b.k FROM b {window}"
    found = windrow.replay(text, a=SOON, b=LATE, flush=True)
    answers = Counter((row["as_of"].second, row["final"], row["k"]) for row in found.to_pylist())
    early = {(4, False, "a"): 2, (4, False, "b"): 2, (8, False, "a"): 2, (8, False, "b"): 2}
    assert answers == Counter(early | {(10, True, "a"): 3, (10, True, "b"): 2, (30, True, "b"): 1})


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("calendar", "from until")])
@pytest.mark.parametrize("timing", [{"time": None}, {"idle_clock": True}], ids=["arrival", "idle"])
def test_time_alone_ends_the_windows(kind: str, timing: dict):
    window = KINDS[kind].text.replace("MICROSECONDS", "SECONDS")
    text = f"SELECT p.k, q.k AS other FROM e {window} AS p JOIN e {window} AS q ON p.k <= q.k"
    events = SOON.drop_columns(["ts"]) if "time" in timing else SOON
    settings = {
        "batch_rows": 1,
        "arrivals": [1 * SECOND, 2 * SECOND, 9 * SECOND],
        "heartbeats": [60 * SECOND],
        **timing,
    }
    found = windrow.replay(text, e=events, **settings)
    whole = windrow.replay(text, e=SOON, flush=True)
    told, due = (Counter(repr(row) for row in rows.to_pylist() if row.get("final", True)) for rows in (found, whole))
    assert due and not due - told


CHOSEN = {
    "first ones": "SELECT k, n, x FROM {a} ORDER BY n DESC, k NULLS FIRST, x NULLS FIRST LIMIT 2",
    "first groups": "SELECT n, COUNT(*) AS c FROM {a} GROUP BY n ORDER BY c DESC, n LIMIT 2",
    "ranked": "SELECT k, n FROM {a} QUALIFY RANK() OVER (PARTITION BY k ORDER BY n) = 1",
    "ranks of groups": "SELECT n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, COUNT(*) AS c FROM {a} GROUP BY n",
    "distinct": "SELECT DISTINCT n, COUNT(*) AS c FROM {a} WHERE x > 0.5 GROUP BY n, k",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("query", CHOSEN)
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in ("filling", "rows in time", "from until", "pairs by key")]
)
@settings(max_examples=examples(6), deadline=None)
@given(st.data())
def test_what_is_chosen_of_each_window_is_a_stream(kind: str, query: str, data: st.DataObject):
    window, drawn = KINDS[kind], data.draw(streams(KINDS[kind]))
    drawn = Drawn({"a": drawn.tables["a"]}, drawn.batch_rows, drawn.restarts)
    text, (shown, _, _) = CHOSEN[query].format(a=f"a {window.text}"), CHOSEN[query].partition(" FROM ")
    names = [part.split()[-1] for part in shown.replace("SELECT ", "").replace("DISTINCT ", "").split(", ")]
    before = 1 if kind in SHARED else 0  # an answer of such windows happens in their last microsecond
    expected: Counter = Counter()
    for row, times in wanted(CHOSEN[query], window, drawn, {"a": "a"}).items():
        expected[(row[1] - before, *row[-len(names) :])] += times
    rows = results(f"SELECT {', '.join(names)} FROM ({text}) AS q [ROWS 1 SLIDE 1]", drawn)
    assert Counter(tuple(canonical(row[name]) for name in ("window_end", *names)) for row in rows) == expected


@pytest.mark.parametrize("place", ["WHERE", "AND"])
def test_answers_that_are_joined_with_a_table_ask_the_window_that_they_are_of(place: str):
    window = "[RANGE 10 SECONDS SLIDE 5 SECONDS CUMULATE]"
    groups = f"(SELECT k, COUNT(*) AS c FROM a {window} GROUP BY k) AS g"
    asked = f"{place} NOT EXISTS (SELECT 1 FROM b {window} AS q WHERE q.k = g.k AND g.c < 2)"
    names = pa.table({"k": ["a", "b"], "name": ["nut", "gear"]})
    text = f"SELECT name, c FROM {groups} JOIN names ON g.k = names.k {asked}"
    found = windrow.replay(text, a=SOON, b=LATE, tables={"names": names}, flush=True).to_pylist()
    assert [(row["window_end"].second, row["name"], row["c"]) for row in found] == [(10, "nut", 2)]
