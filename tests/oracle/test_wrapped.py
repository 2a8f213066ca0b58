"""A query alone and wrapped into another: both work, with the answers of DuckDB, or both are refused for one reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError

from .judge import Oracle, canonical, judge, plain_rows, shown_start
from .streams import Stream, streams

COLUMNS = {
    "k": (pa.string(), st.sampled_from(["a", "b", None])),
    "n": (pa.int32(), st.integers(-3, 3) | st.none()),
    "x": (pa.float64(), st.sampled_from([0.5, -0.0, 0.0, 2.0, float("nan"), None])),
}

# What is asked, and what DuckDB is asked over exactly the events of one window. An aggregate over nothing has no row.
SOME = "HAVING COUNT(*) > 0"
ASKED = [
    ("SELECT k, x FROM ticks {}", "SELECT k, x FROM ticks"),
    ("SELECT * FROM (SELECT n + 1 AS m FROM ticks {}) AS q WHERE m > 0", "SELECT n + 1 FROM ticks WHERE n + 1 > 0"),
    ("SELECT k, window_start AS s, window_end AS e FROM ticks {}", "SELECT k, {start}, {end} FROM ticks"),
    ("SELECT DISTINCT window_end, k FROM ticks {}", "SELECT DISTINCT k FROM ticks"),
    ("SELECT DISTINCT window_end FROM ticks {}", "SELECT DISTINCT 1 FROM ticks"),
    (
        "SELECT MAX(c) AS m FROM (SELECT k, COUNT(*) AS c FROM ticks {} GROUP BY k) AS q",
        f"SELECT MAX(c) FROM (SELECT k, COUNT(*) AS c FROM ticks GROUP BY k) {SOME}",
    ),
    (
        "WITH q AS (SELECT k, n, COUNT(*) AS c FROM ticks {} GROUP BY k, n), r AS (SELECT k, SUM(c) AS s FROM q GROUP BY k) "
        "SELECT AVG(s) AS m, window_end AS e FROM r HAVING COUNT(*) > 1",
        "WITH q AS (SELECT k, n, COUNT(*) AS c FROM ticks GROUP BY k, n), r AS (SELECT k, SUM(c) AS s FROM q GROUP BY k) "
        "SELECT AVG(s), {end} FROM r HAVING COUNT(*) > 1",
    ),
    (
        "SELECT COUNT(*) AS c, MAX(window_end) AS e FROM ticks {} WHERE unix_micros(window_end) - unix_micros(ts) > 2",
        f"SELECT COUNT(*), {{end}} FROM ticks WHERE {{us}} - t > 2 {SOME}",
    ),
    (
        "SELECT window_end, k, SUM(n) AS s FROM ticks {} GROUP BY window_end, k",
        "SELECT k, SUM(n) FROM ticks GROUP BY k",
    ),
    (
        "SELECT COUNT(*) AS c FROM (SELECT window_start AS w, k FROM ticks {}) AS q GROUP BY w, k",
        "SELECT COUNT(*) FROM ticks GROUP BY k",
    ),
    (
        "SELECT l.k, l.c, r.c AS d, r.window_end AS e FROM (SELECT k, COUNT(*) AS c FROM ticks {} GROUP BY k) AS l "
        "JOIN (SELECT COUNT(*) AS c FROM ticks {}) AS r ON l.window_end = r.window_end AND l.window_start <=> r.window_start",
        "SELECT l.k, l.c, r.c AS d, {end} FROM (SELECT k, COUNT(*) AS c FROM ticks GROUP BY k) AS l, "
        "(SELECT COUNT(*) AS c FROM ticks) AS r",
    ),
    (
        "SELECT l.k, r.k AS other FROM (SELECT k, COUNT(*) AS c FROM ticks {} GROUP BY k) AS l LEFT JOIN "
        "(SELECT k, CAST(COUNT(*) AS INT) AS c FROM ticks {} GROUP BY k) AS r ON l.c + 1 = r.c AND l.window_end = r.window_end",
        "SELECT l.k, r.k AS other FROM (SELECT k, COUNT(*) AS c FROM ticks GROUP BY k) AS l LEFT JOIN "
        "(SELECT k, COUNT(*) AS c FROM ticks GROUP BY k) AS r ON l.c + 1 = r.c",
    ),
    (
        "SELECT k, window_end AS e FROM ticks {} EXCEPT SELECT k, window_end AS e FROM ticks {} WHERE n > 0",
        "SELECT k, {end} FROM ticks EXCEPT SELECT k, {end} FROM ticks WHERE n > 0",
    ),
]


@pytest.mark.parametrize(("asked", "oracle"), ASKED, ids=range(len(ASKED)))
@given(stream=streams(COLUMNS, max_rows=12))
@settings(max_examples=examples(6), deadline=None)
def test_every_answer_is_that_of_duckdb_over_the_windows_events(asked: str, oracle: str, stream: Stream):
    window, events = stream.window, stream.events
    rows = max(1, stream.sizes[0] if stream.sizes else 1)
    cuts = [stream.times[start : start + rows] for start in range(0, len(stream.times), rows)]
    verdict = judge(window, cuts, stream.lateness_us)
    text = asked.replace("{}", str(window))
    found: dict[int, Counter] = {}
    answers = windrow.replay(text, ticks=events, lateness=stream.lateness, batch_rows=rows, flush=True)
    for row in plain_rows(answers):
        end, start = row.pop("window_end"), row.pop("window_start")
        assert start == shown_start(window.range_us, end)
        found.setdefault(end, Counter())[tuple(map(canonical, row.values()))] += 1
    judged = Oracle(events, verdict.kept)
    for end in {*found, *set().union(*verdict.ends(window, stream.times, flush=True))}:
        edges = {"start": _instant(shown_start(window.range_us, end)), "end": _instant(end), "us": end}
        wanted = [tuple(row.values())[1:] for row in judged.each(oracle.format(**edges), window, [end])]
        wanted = [() for _ in wanted] if asked.startswith("SELECT DISTINCT window_end FROM") else wanted
        assert found.get(end, Counter()) == Counter(tuple(map(canonical, row)) for row in wanted), end


def _instant(us: int | None) -> str:
    return "CAST(NULL AS TIMESTAMP)" if us is None else f"make_timestamp({us})"


SECONDS = pa.timestamp("s", tz="UTC")
EVENTS = pa.table(
    {
        "ts": pa.array([1, 2, 2, 4, 7, 8, 13, 21], SECONDS),
        "k": ["a", "b", "a", None, "a", "c", "b", "a"],
        "n": [1, 2, 2, 4, 5, 6, 7, 8],
    }
)

ROWS = [
    "SELECT k, n FROM e {}",
    "SELECT * FROM e {} WHERE n > 2",
    "SELECT n * 2 AS m, upper(k) AS name FROM e {}",
    "SELECT DISTINCT k FROM e {}",
    "SELECT k FROM e {} EXCEPT SELECT k FROM e {} WHERE n > 3",
    "SELECT a.k, b.n FROM e {} AS a JOIN e {} AS b ON a.k = b.k",
    "SELECT MAX(c) AS m FROM (SELECT k, COUNT(*) AS c FROM e {} GROUP BY k) AS q",
]
PLAIN = 4
"""The first of them ask for rows of a window, each or each once, and nothing else."""
FOLDS = [
    "SELECT k, COUNT(*) AS c FROM e {} GROUP BY k",
    "SELECT SUM(n) AS s, MAD(n) AS d FROM e {}",
    "SELECT k, AVG(n) AS a FROM e {} WHERE n <> 4 GROUP BY k HAVING COUNT(*) > 1",
    "WITH q AS (SELECT k, n, n + 1 AS m FROM e) SELECT MIN(m) AS m FROM q {}",
    "SELECT c + 1 AS d FROM (SELECT k, COUNT(*) AS c FROM e {} GROUP BY k) AS q WHERE c > 1",
]
WRONG = [
    "SELECT nothing FROM e {}",
    "SELECT other.k FROM e {}",
    "SELECT k, n AS k FROM e {}",
    "SELECT k, COUNT(*) AS k FROM e {} GROUP BY k",
    "SELECT k, mask(k) AS s FROM e {}",
    "SELECT k FROM e {} WHERE n",
    "SELECT k FROM e {} WHERE COUNT(*) > 1",
    "SELECT n FROM e {} GROUP BY k",
    "SELECT k, ROW_NUMBER() OVER (PARTITION BY k) AS c FROM e {}",
    "SELECT k FROM e {} SORT BY k",
    "SELECT map('a', n) AS m, COUNT(*) AS c FROM e {} GROUP BY map('a', n)",
]
SLIDING = [
    "[RANGE 5 SECONDS SLIDE 5 SECONDS]",
    "[RANGE 7 SECONDS SLIDE 3 SECONDS OFFSET 1 SECOND]",
    "[RANGE UNBOUNDED SLIDE 4 SECONDS]",
    "[RANGE 5 SECONDS SLIDE ABOUT 5 SECONDS]",
]
CHANGING = ["[RANGE 5 SECONDS]", "[RANGE UNBOUNDED]"]
OTHERS = [
    "[ROWS 3 SLIDE 2]",
    "[RANGE 5 SECONDS SLIDE 2 ROWS]",
    "[ROWS 3 SLIDE 5 SECONDS]",
    "[PARTITION BY k ROWS 2 SLIDE 1]",
    "[RANGE 5 SECONDS SLIDE 5 SECONDS EMIT EVERY 1 SECOND]",
    "[RANGES 10 SECONDS, 5 SECONDS SLIDES 5 SECONDS, 5 SECONDS]",
    "[FROM n > 1 UNTIL n > 4]",
    "[SESSION 3 SECONDS]",
    "[RANGE 6 SECONDS SLIDE 2 SECONDS CUMULATE]",
]

Wrap = Callable[[str], str]
SAME: dict[str, Wrap] = {
    "WITH": lambda query: f"WITH w AS ({query}) SELECT * FROM w",
    "twice": lambda query: f"SELECT v.* FROM (SELECT w.* FROM ({query}) AS w) AS v",
}
OPERATORS: dict[str, Wrap] = {
    "UNION ALL nothing": lambda query: (
        f"SELECT * FROM ({query}) AS w UNION ALL SELECT * FROM ({query}) AS v WHERE false"
    ),
}


def told(text: str, emit: str = "") -> Counter | str:
    """All results of a query, or why it is refused: the sentence without its place."""
    try:
        rows = plain_rows(windrow.replay(f"{text}{emit}", e=EVENTS, batch_rows=5, flush=True))
    except QueryError as error:
        return error.message
    return Counter(tuple(row.values()) for row in rows)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("window", "emit", "step"),
    [
        *((window, "", 1 + 2 * (window not in SLIDING[1:3])) for window in (*SLIDING, *CHANGING)),
        (SLIDING[1], " EMIT CHANGES", 2),
        (SLIDING[2], " EMIT INSERTS", 3),
        (CHANGING[0], " EMIT INSERTS", 3),
    ],
)
def test_windows_over_time_work_alone_and_wrapped_into_anything(window: str, emit: str, step: int):
    for query in (text.replace("{}", window) for text in (*ROWS, *FOLDS)[::step]):
        alone = told(query, emit)
        assert isinstance(alone, Counter) and alone, (query, alone)
        for name, wrap in (SAME | OPERATORS).items():
            assert told(wrap(query), emit) == alone, (name, query)
        if not emit and window in SLIDING:
            distinct = told(f"SELECT DISTINCT * FROM ({query}) AS w")
            assert distinct == Counter(set(alone)), query
            counted = told(f"SELECT COUNT(*) AS c FROM ({query}) AS w")
            ends = Counter(row[:2] for row in alone.elements())
            assert counted == Counter((*edges, count) for edges, count in ends.items()), query


def each_once(query: str, alone: Counter) -> None:
    """Each row of a window is told once; windows of rows that slide in time may hold the same ones again."""
    distinct = told(f"SELECT DISTINCT * FROM ({query}) AS w")
    assert isinstance(distinct, Counter) and set(distinct) == set(alone) and distinct <= alone, query


@pytest.mark.one_in(3)
@pytest.mark.parametrize("window", OTHERS)
def test_other_windows_work_alone_and_wrapped_into_anything(window: str):
    for query in (text.replace("{}", window) for text in (*FOLDS, *ROWS)):
        alone = told(query)
        assert isinstance(alone, Counter), (query, alone)
        for name, wrap in (SAME | OPERATORS).items():
            assert told(wrap(query)) == alone, (name, query)
        each_once(query, alone)
        counted = told(f"SELECT COUNT(*) AS c FROM ({query}) AS w")
        assert isinstance(counted, Counter), (query, counted)
        leading = len(next(iter(counted))) - 1 if counted else 0
        windows = Counter(row[:leading] for row in alone.elements())
        if "ROWS" not in window:  # those of several keys, or that are told again, may look alike
            assert counted == Counter((*edges, count) for edges, count in windows.items()), query
        assert sum(row[-1] * often for row, often in counted.items()) == alone.total(), query


ORDERED = [
    "SELECT k, COUNT(*) AS c FROM e {} GROUP BY k ORDER BY c DESC, k LIMIT 2",
    "SELECT k, SUM(n) AS s FROM e {} GROUP BY k ORDER BY s",
]


@pytest.mark.parametrize("window", [SLIDING[1], *list(OTHERS)[::3]])
def test_an_order_and_a_limit_are_those_of_one_aggregation(window: str):
    for query in (text.replace("{}", window) for text in ORDERED):
        alone = told(query)
        assert isinstance(alone, Counter), alone
        for name, wrap in SAME.items():
            assert told(wrap(query)) == alone, (name, query)
    rows = f"SELECT k FROM e {SLIDING[1]} ORDER BY k LIMIT 1"
    alone = told(rows)
    assert isinstance(alone, Counter), alone
    for name, wrap in SAME.items():
        assert told(wrap(rows)) == alone, name
    refused = told(f"SELECT k FROM ({ORDERED[0].replace('{}', window)}) AS w WHERE c > 1")
    assert refused == "a query that chooses among the rows of a sub-query with LIMIT is not supported yet"


@pytest.mark.parametrize("window", [SLIDING[0], CHANGING[0], "[ROWS 3 SLIDE 2]"])
@pytest.mark.parametrize("text", WRONG)
def test_what_is_refused_alone_is_refused_wrapped(text: str, window: str):
    query = text.replace("{}", window)
    alone = told(query)
    assert isinstance(alone, str)
    for name, wrap in (SAME | OPERATORS).items():
        assert isinstance(told(wrap(query)), str), (name, query)
        if window != "[ROWS 3 SLIDE 2]":  # where the window may be what is said first
            assert told(wrap(query)) == alone, (name, query)
