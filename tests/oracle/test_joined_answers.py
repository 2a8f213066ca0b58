"""Answers of sessions, rows and calendars joined with others, as events at the ends of their windows: beside DuckDB."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from fuzz.jobs import Job, Setting
from windrow.errors import QueryError

from .judge import plain_rows
from .judge_windows import EVENTS, KINDS, SECOND, SLIDING, Kind, events_of, judge, judged, replayed

PAIRS = {
    "sessions with sessions": (KINDS["sessions"], KINDS["sessions of the stream"]),
    "sessions with sliding windows": (KINDS["sessions"], SLIDING),
    "sliding windows with rows": (SLIDING, KINDS["rows by key"]),
    "rows with sessions": (KINDS["rows"], KINDS["sessions of the stream"]),
    "days with days": (KINDS["calendar"], KINDS["calendar"]),
}


def answers(kind: Kind, name: str) -> str:
    return f"(SELECT g, COUNT(*) AS n, SUM(x) AS s FROM e {kind.text} GROUP BY g) AS {name}"


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, st.integers(1, 9), st.integers(0, 5), st.integers(0, 5), st.sampled_from(["JOIN", "LEFT JOIN"]))
def test_answers_are_joined_by_the_ends_of_their_windows(pair: tuple[Kind, Kind], drawn, batch, before, after, kind):
    left, right = pair
    events = events_of(left, drawn)
    near = f"b.window_end BETWEEN a.window_end - INTERVAL {before} SECONDS AND a.window_end + INTERVAL {after} SECONDS"
    text = f"SELECT a.g, a.n, a.window_start AS begins, a.window_end AS ends, b.n AS m, b.s FROM {answers(left, 'a')}"
    db = judge(left, events)
    for name, own in zip("ab", pair):
        db.execute(f"CREATE OR REPLACE TEMP TABLE w AS {own.rows}")
        db.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT g, count(*) AS n, sum(x)::BIGINT AS s, begins, ends"
            " FROM w GROUP BY line, place, begins, ends, g"
        )
    asked = f"SELECT a.g, a.n, a.begins, a.ends, b.n, b.s FROM a {kind} b ON a.g = b.g AND"
    theirs = judged(db, f"{asked} b.ends BETWEEN a.ends - {before * SECOND} AND a.ends + {after * SECOND}")
    text = f"{text} {kind} {answers(right, 'b')} ON a.g = b.g AND"
    assert replayed(f"{text} {near} EMIT FINAL", events, batch, ("op", "time")) == theirs
    at_once = replayed(f"{text} a.window_end = b.window_end EMIT FINAL", events, batch, ("op", "time"))
    assert at_once == judged(db, f"{asked} a.ends = b.ends")


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
@pytest.mark.parametrize("shown", ["a.g AS g, b.n AS m", "a.n, b.n AS m"], ids=["the key", "no key"])
def test_pairs_whose_key_is_not_shown_are_brought_together_by_one_more_stage(kind: str, shown: str):
    sessions = KINDS["sessions"]
    events = events_of(sessions, [(0, "a", "u", 1), (1, "b", "u", 2), (2, "a", "v", 3), (30, "a", "u", 4)])
    near = "b.window_end BETWEEN a.window_end - INTERVAL 5 SECONDS AND a.window_end + INTERVAL 5 SECONDS"
    sides = f"{answers(sessions, 'a')} {kind} {answers(KINDS['sessions of the stream'], 'b')}"
    text = f"SELECT {shown} FROM {sides} ON a.g = b.g AND {near}"
    job = Job({"q": text}, {"e": events}, Setting(shards=3), Random(1))
    job.step({"e": events})
    job.flush()
    alone = plain_rows(windrow.replay(text, e=events, flush=True))
    assert Counter(map(repr, job.rows["q"])) == Counter(map(repr, alone)) != Counter()


def test_the_last_answer_without_a_partner_is_told_when_the_input_has_ended():
    """It happens just before its window ends, from where it has waited for as long as the join says."""
    events = events_of(SLIDING, [(0, "a", "u", 1), (7, "a", "v", 2)])
    near = "b.window_end BETWEEN a.window_end AND a.window_end + INTERVAL 3 SECONDS"
    sides = f"{answers(SLIDING, 'a')} LEFT JOIN {answers(KINDS['rows by key'], 'b')}"
    found = windrow.replay(
        f"SELECT a.n, b.n AS m FROM {sides} ON a.g = b.g AND a.n < b.n AND {near} EMIT FINAL", e=events, flush=True
    )
    alone = windrow.replay(f"SELECT g, COUNT(*) AS n FROM e {SLIDING.text} GROUP BY g", e=events, flush=True)
    assert found["m"].to_pylist() == [None] * alone.num_rows


def test_names_of_with_and_tables_are_joined_with_answers_too():
    kind = KINDS["sessions"]
    events = events_of(kind, [(0, "a", "u", 1), (1, "b", "u", 2), (2, "a", "v", 3)])
    counted = f"SELECT k, COUNT(*) AS n FROM e {kind.text} GROUP BY k"
    text = f"WITH c (key, many) AS ({counted}) SELECT l.key, r.many FROM c AS l JOIN c AS r USING (window_end)"
    assert replayed(text, events, 2, ("op", "time")) == [("a", 2), ("b", 1)]
    names = pa.table({"k": ["a"], "name": ["ann"]})
    named = windrow.replay(
        f"SELECT q.n, t.name FROM ({counted}) AS q JOIN t ON q.k = t.k", e=events, tables={"t": names}, flush=True
    )
    assert named.select(["op", "n", "name"]).to_pylist() == [{"op": "+", "n": 2, "name": "ann"}]
    rows = f"(SELECT k, x FROM e {kind.text}) AS q JOIN t ON q.k = t.k"
    for text in (
        f"SELECT name, SUM(x) AS s FROM {rows} GROUP BY name",
        f"SELECT name, SUM(x) AS s FROM (SELECT name, x FROM {rows}) AS r GROUP BY name",
    ):
        folded = windrow.replay(text, e=events, tables={"t": names}, flush=True)
        assert folded.column_names[:2] == ["window_start", "window_end"], (
            "what is folded above a table is of one window"
        )
        assert folded.select(["name", "s"]).to_pylist() == [{"name": "ann", "s": 4}]
    each = windrow.replay(f"SELECT name, x FROM {rows}", e=events, tables={"t": names}, flush=True)
    assert sorted(each["x"].to_pylist()) == [1, 3]


@pytest.mark.parametrize(
    ("joined", "message", "hint"),
    [
        ("({0}) AS a JOIN (SELECT k, COUNT(*) AS n FROM e [ROWS 3 SLIDE 1] GROUP BY k) AS b ON a.k = b.k", "stream of answers 'a' needs a window", "a.window_end BETWEEN"),
        ("({0}) AS a JOIN e [RANGE 9 SECONDS] AS b ON a.n = b.x AND a.window_end = b.ts", "with one that is made of", "events as answers"),
    ],
)  # fmt: skip
def test_joins_that_have_no_end_or_no_common_stage_say_what_to_do(joined, message, hint):
    kind = KINDS["sessions"]
    counted = f"SELECT k, COUNT(*) AS n FROM e {kind.text} GROUP BY k"
    with pytest.raises(QueryError, match=message) as caught:
        windrow.replay(f"SELECT a.n FROM {joined.format(counted)}", e=events_of(kind, [(1, "a", "u", 1)]))
    assert hint in caught.value.hint and caught.value.at is not None
