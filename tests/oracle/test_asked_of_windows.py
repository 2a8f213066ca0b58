"""Clauses over windows of every kind beside DuckDB: conditions on windows, alerts, in any batches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of
from windrow.errors import QueryError

from .judge_windows import EVENTS, KINDS, Kind, events_of, judge, judged, lines, replayed

BATCHES = st.integers(1, 9)
CHOSEN = {
    "UNIX_MICROS(window_end) % 2000000 = 0": "ends % 2000000 = 0",
    "UNIX_SECONDS(e.window_end) - UNIX_SECONDS(window_start) > 4": "ends // 1000000 - begins // 1000000 > 4",
    "window_start > TIMESTAMP '2026-03-27 00:00:10' OR e.window_end < TIMESTAMP '2026-03-27 00:00:09'": (
        "begins > 1774569610000000 OR ends < 1774569609000000"
    ),
}
GROUPS = "line, place, begins, ends"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES, st.sampled_from(list(CHOSEN)), st.sampled_from(["true", "x > 1"]))
def test_a_condition_on_windows_chooses_whole_windows(kind: Kind, drawn, batch, chosen, where):
    events = events_of(kind, drawn)
    text = f"SELECT g, COUNT(*) AS n, SUM(x) AS s FROM e {kind.text} WHERE {where} AND ({chosen}) GROUP BY g"
    theirs = judged(
        judge(kind, events),
        f"SELECT begins, ends, g, count(*), sum(x)::BIGINT FROM w WHERE {where} AND ({CHOSEN[chosen]})"
        f" GROUP BY {GROUPS}, g",
    )
    assert replayed(text, events, batch) == theirs
    nested = (
        f"SELECT g, COUNT(*) AS n, SUM(x) AS s FROM (SELECT * FROM e {kind.text} WHERE {chosen}) AS q WHERE {where}"
    )
    assert replayed(f"{nested} GROUP BY g", events, batch) == theirs


@pytest.mark.parametrize(
    "condition", ["window_end > ts", "x > 1 OR window_end IS NOT NULL", "ts < window_end - INTERVAL 1 SECOND"]
)
def test_a_condition_on_rows_and_windows_at_once_says_what_to_do(condition):
    kind = KINDS["sessions"]
    text = f"SELECT COUNT(*) AS n FROM e {kind.text} WHERE {condition}"
    with pytest.raises(QueryError, match="at once") as caught:
        windrow.replay(text, e=events_of(kind, [(1, "a", "u", 1)]))
    assert text[caught.value.at : caught.value.end] in ("ts", "x") and "AND" in caught.value.hint
    rows = windrow.replay(
        f"SELECT x FROM e {kind.text} WHERE {condition}", e=events_of(kind, [(1, "a", "u", 2)]), flush=True
    )
    assert rows["x"].to_pylist() == [2], "of rows it can be asked"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES, st.integers(1, 3), st.sampled_from(["true", "x > 1"]), st.booleans())
def test_a_group_of_windows_is_told_when_its_condition_begins(kind: Kind, drawn, batch, least, where, having):
    events = events_of(kind, drawn)
    kept = "HAVING MAX(x) < 7 " if having else ""
    text = (
        f"SELECT {kind.line}g, COUNT(*) AS n, SUM(x) AS s FROM e {kind.text} WHERE {where} GROUP BY {kind.line}g {kept}"
    )
    wanted = []
    for line, windows in lines(kind, judge(kind, events), where, "count(*), sum(x)::BIGINT, max(x)").items():
        held: set = set()
        for end, groups in windows:
            rows = {g: row for g, row in groups.items() if not having or row[3] < 7}
            now = {g for g, (_, n, s, _) in rows.items() if n >= least and s > 0}
            key = (line,) if kind.by_key else ()
            wanted += [("+", end, *key, *rows[g][:3]) for g in now - held]
            held = now
    assert replayed(f"{text} EMIT WHEN n >= {least} AND SUM(x) > 0", events, batch) == sorted(wanted, key=repr)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT x FROM e {} EMIT WHEN x > 1", "asked of groups"),
        ("SELECT k, COUNT(*) AS n FROM e {} GROUP BY k EMIT WHEN n", "a condition is needed"),
        (
            "SELECT c, COUNT(*) AS n FROM e {} CLUSTER BY x AS c USING C_BIRCH(2) EMIT WHEN n > 1",
            "EMIT WHEN of clusters",
        ),
        ("SELECT k, COUNT(*) AS n FROM e {} GROUP BY k ORDER BY n LIMIT 1 EMIT WHEN n > 1", "order, or a limit"),
    ],
)
def test_alerts_that_cannot_be_told_say_why(text, message):
    for kind in KINDS.values():
        with pytest.raises(QueryError, match=message) as caught:
            windrow.replay(text.format(kind.text), e=events_of(kind, [(1, "a", "u", 1)]))
        assert caught.value.at is not None


SETS = ["ROLLUP (g, x)", "CUBE (g, x % 2)", "GROUPING SETS ((x), (g, x), ())"]


@pytest.mark.parametrize("name", ["sessions", "sessions of the stream", "rows", "calendar"])
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES, st.sampled_from(SETS), st.sampled_from(["true", "x > 1"]))
def test_several_groupings_are_those_of_each_window(name: str, drawn, batch, sets, where):
    kind = KINDS[name]
    events = events_of(kind, drawn)
    second = "x % 2" if "%" in sets else "x"
    told = f"GROUPING(g) AS a, GROUPING_ID(g, {second}) AS b, GROUPING_ID() AS c, COUNT(*) AS n, SUM(x) AS s, FIRST(x) AS f"
    text = f"SELECT {kind.line}g, {second} AS y, {told} FROM e {kind.text} WHERE {where} GROUP BY {sets}"
    shown = f"GROUPING(g)::TINYINT, GROUPING(g, {second}), GROUPING({'x, g' if sets.startswith('GROUPING') else f'g, {second}'})"
    theirs = judged(
        judge(kind, events),
        f"SELECT begins, ends, {kind.line}g, {second}, {shown}, count(*), sum(x)::BIGINT, first(x ORDER BY t, seq) FROM w"
        f" WHERE {where} GROUP BY {GROUPS}, {kind.line}{sets}",
    )
    assert replayed(text, events, batch) == theirs


def test_a_grouping_may_hold_nothing_but_zeros():
    events = events_of(KINDS["sessions"], [(1, "a", "u", 0), (1, "a", "u", 1)])
    text = f"SELECT g, x, FIRST(x) AS f FROM e {KINDS['sessions'].text} GROUP BY GROUPING SETS ((g), (g, x))"
    found = windrow.replay(text, e=events, flush=True).to_pylist()
    assert sorted((row["x"] is None, row["f"]) for row in found) == [(False, 0), (False, 1), (True, 0)]


def test_late_rows_of_several_groupings_are_counted_once():
    kind = KINDS["sessions"]
    events = events_of(kind, [(1, "a", "u", 1), (30, "a", "u", 2)])
    core = Core(plan_of([f"SELECT COUNT(*) AS n FROM ticks {kind.text} GROUP BY CUBE (g, x)"], events.schema))
    core.step(events)
    assert sum(outcome.late for outcome in core.step(events.slice(0, 1))) == 1


def test_a_grouping_without_the_key_of_a_session_is_refused():
    kind = KINDS["sessions"]
    with pytest.raises(QueryError, match="a session is of one key") as caught:
        windrow.replay(
            f"SELECT k, COUNT(*) AS n FROM e {kind.text} GROUP BY CUBE (k, g)", e=events_of(kind, [(1, "a", "u", 1)])
        )
    assert caught.value.at is not None and "leave k out" in caught.value.hint


REFUSED = {
    "SELECT k, COUNT(*) AS n FROM e {session} GROUP BY k EMIT LAST EVERY 5 SECONDS": (
        "these are told when they end",
        "SELECT n FROM (SELECT k, COUNT(*) AS n FROM e {session} GROUP BY k) AS answers [RANGE 5 SECONDS SLIDE 5 SECONDS]",
    ),
    "SELECT k, COUNT(*) AS n FROM e [ROWS 3] GROUP BY k EMIT LAST EVERY 5 SECONDS": (
        "these are told when they end",
        "SELECT k, COUNT(*) AS n FROM e [ROWS 3 SLIDE 5 SECONDS] GROUP BY k EMIT CHANGES",
    ),
    "SELECT COUNT(*) AS n FROM e [ROWS 3 EMIT EVERY 5 SECONDS]": (
        "this one has no SLIDE",
        "SELECT COUNT(*) AS n FROM e [ROWS 3 SLIDE 5 SECONDS]",
    ),
    "SELECT k FROM e {session} UNION SELECT k FROM e [ROWS 3 SLIDE 1]": (
        "a session window beside another window",
        "SELECT k FROM e {session} UNION SELECT k FROM e {session}",
    ),
    "SELECT a.k FROM e {session} AS a JOIN (SELECT k FROM e WHERE x > 1) AS b {session} ON a.k = b.k": (
        "sessions of two streams end apart",
        "SELECT a.k FROM (SELECT k, COUNT(*) AS n FROM e {session} GROUP BY k) AS a JOIN (SELECT k FROM (SELECT ts, k FROM e"
        " WHERE x > 1) AS f {session} GROUP BY k) AS b ON a.k = b.k AND b.window_end BETWEEN a.window_end - INTERVAL 5 MINUTES"
        " AND a.window_end",
    ),
    "SELECT a.k FROM e {session} AS a JOIN e {session} AS b ON a.k = b.k EMIT CHANGES": (
        "EMIT CHANGES, WHEN or LAST of a join",
        "SELECT a.k FROM e {session} AS a JOIN e {session} AS b ON a.k = b.k",
    ),
    "SELECT k, COUNT(*) AS n FROM (SELECT k, x FROM e {session} UNION ALL SELECT k, x FROM e {session}) AS u"
    " CLUSTER BY x AS c USING C_BIRCH(2)": (
        "CLUSTER BY beside a join",
        "SELECT c, COUNT(*) AS n FROM e {session} CLUSTER BY x AS c USING C_BIRCH(2)",
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_has_a_way_out_that_works(text):
    kind = KINDS["sessions"]
    message, instead = REFUSED[text]
    events = events_of(kind, [(1, "a", "u", 1), (2, "a", "v", 2), (3, "b", "u", 3), (9, "a", "u", 4)])
    with pytest.raises(QueryError, match=message) as caught:
        windrow.replay(text.format(session=kind.text), e=events)
    assert caught.value.at is not None and caught.value.hint
    assert windrow.replay(instead.format(session=kind.text), e=events, flush=True).num_rows
