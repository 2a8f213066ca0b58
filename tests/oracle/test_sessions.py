"""Sessions: gaps and islands in DuckDB, in any batches, out of order, from any number of tasks, with restarts."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of, rows_of
from windrow.compile.explain import explain_plans
from windrow.errors import QueryError
from windrow.plan.nodes.stage import StagePlan
from windrow.storage import chunks

from .compare import Case, like
from .judge_sessions import SessionsOracle
from .streams import Stream, streams
from .test_rows import CASES, COLUMNS, assert_same, ways

ORDER = "ORDER BY t, seq"
MORE = [
    like("MEDIAN(i)", 1e-12),
    like("COUNT(DISTINCT k)"),
    Case("COLLECT_LIST(i)", f"coalesce(list(i {ORDER}) FILTER (WHERE i IS NOT NULL), [])"),
]
FOLDED = [case for case in CASES if not case.asked.startswith("trail")] + MORE
"""A user's aggregate is merged piece by piece, as with panes, so it does not see the rows in their order."""


def check(stream: Stream, gap_us: int, partition, group, cases, where: str, counted: str, how: dict) -> None:
    keys = tuple(dict.fromkeys((*group, *partition)))
    by = f"PARTITION BY {', '.join(partition)} " if partition else ""
    source = "ticks" if counted == "true" else f"(SELECT * FROM ticks WHERE {counted})"
    asked = ", ".join(f"{case.asked} AS a{i}" for i, case in enumerate(cases))
    text = f"SELECT {asked} FROM {source} [{by}SESSION {gap_us} MICROSECONDS] WHERE {where}"
    text += f" GROUP BY {', '.join(group)}" if group else ""
    events = stream.events
    core = Core(plan_of([text], events.schema, stream.lateness_us), reopen=how["reopen"], shards=how["shards"])
    oracle = SessionsOracle(stream, gap_us, partition, counted)
    select = ", ".join(
        [f"{key} AS key_{i}" for i, key in enumerate(keys)]
        + [f"{case.oracle} AS agg_{i}" for i, case in enumerate(cases)]
    )
    steps, late = [*stream.bounds, None], []
    for step, theirs in zip(steps, oracle.answers(select, keys, where), strict=True):
        outcomes = core.flush() if step is None else core.step(events.slice(*step), how["tasks"])
        late.append(sum(outcome.late for outcome in outcomes))
        for row in theirs:
            row |= {f"agg_{i}": case.read(row[f"agg_{i}"]) for i, case in enumerate(cases)}
        assert_same(rows_of(outcomes), theirs, [0.0] * (2 + len(keys)) + [case.relative for case in cases])
    if counted == "true":
        assert late == [*oracle.late, 0]
    held = [len(state.groups) for shard in core.shards for state in shard.streams["ticks"].spaces.values()]
    assert sum(held) == 0, "only groups of open sessions are held"


@pytest.mark.parametrize("partition", [(), ("k",), ("k", "g")], ids=["the stream", "by key", "by two keys"])
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_every_session_equals_the_oracle(partition, data):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    gap = data.draw(st.integers(1, 12)) * stream.window.slide_us
    group = data.draw(st.sampled_from([(), ("k",), ("g", "k")]))
    where = data.draw(st.sampled_from(["true", "true", "i > 0", "k = 'x' OR d < 0", "i > 99"]))
    counted = data.draw(st.sampled_from(["true", "true", "i > -5"]))
    cases = data.draw(st.lists(st.sampled_from(FOLDED), min_size=1, max_size=5, unique=True))
    how = data.draw(ways)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", how["size"])
        check(stream, gap, partition, group, cases, where, counted, how)


def told(rows: list[tuple[int, str]], text: str, **settings) -> list[tuple]:
    """Answers as (start, end, ...) in seconds, of rows of (second, key)."""
    seconds, keys = zip(*rows)
    ticks = pa.table({"ts": pa.array(seconds, pa.timestamp("s", tz="UTC")), "k": keys})
    found = windrow.replay(text, ticks=ticks, **settings)
    spans = [[int(time.timestamp()) for time in found[name].to_pylist()] for name in ("window_start", "window_end")]
    return list(zip(*spans, *(found[name].to_pylist() for name in found.column_names[2:])))


COUNTED = "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k SESSION 10 SECONDS]"


def test_rows_exactly_the_gap_apart_are_of_one_session_in_any_batches():
    rows = [(0, "a"), (10, "b"), (10, "a"), (31, "a"), (99, "b")]
    for batch in (None, 1, 2):
        assert told(rows, COUNTED, batch_rows=batch) == [(0, 20, "a", 2), (10, 20, "b", 1), (31, 41, "a", 1)]


def test_a_row_that_closes_the_gap_makes_one_session_of_two():
    rows = [(0, "a"), (18, "a"), (9, "a"), (40, "b")]
    assert told(rows, COUNTED, batch_rows=1, lateness="10 seconds") == [(0, 28, "a", 3)]


def test_a_late_row_is_taken_by_the_session_that_it_reaches_and_by_no_other():
    rows = [(0, "a"), (15, "a"), (24, "b"), (6, "a"), (2, "b"), (40, "c")]
    answers = told(rows, COUNTED, batch_rows=1)
    assert answers == [(0, 10, "a", 1), (6, 25, "a", 2), (24, 34, "b", 1)]


def test_without_keys_the_stream_has_sessions_and_groups_divide_them():
    rows = [(0, "a"), (4, "b"), (5, "a"), (30, "b")]
    text = "SELECT k, COUNT(*) AS n FROM ticks [SESSION 10 SECONDS] GROUP BY k"
    assert told(rows, text) == [(0, 15, "a", 2), (0, 15, "b", 1)]
    best = f"{text} ORDER BY n DESC LIMIT 1"
    assert told(rows, best, flush=True) == [(0, 15, "a", 2), (30, 40, "b", 1)]


def test_answers_of_sessions_are_events_of_a_stream():
    rows = [(0, "a"), (4, "b"), (5, "a"), (18, "a"), (50, "b")]
    inner = "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k SESSION 10 SECONDS]"
    text = f"SELECT COUNT(*) AS sessions, SUM(n) AS n FROM ({inner}) AS s [RANGE 20 SECONDS SLIDE 20 SECONDS]"
    assert told(rows, text) == [(0, 20, 2, 3), (20, 40, 1, 1)]
    above = f"SELECT COUNT(*) AS n FROM ({inner}) AS s [SESSION 5 SECONDS]"
    assert told(rows, above) == [(14, 20, 2), (28, 33, 1)]


def test_a_query_that_comes_later_tells_the_sessions_that_it_has_seen_from_their_beginning():
    times = pa.array([0, 4, 12, 30, 60], pa.timestamp("s", tz="UTC")).cast(pa.timestamp("us", tz="UTC"))
    ticks = pa.table({"ts": times})
    first = "SELECT COUNT(*) AS n FROM ticks [RANGE 1 SECOND SLIDE 1 SECOND]"
    texts = [first, "SELECT COUNT(*) AS n FROM ticks [SESSION 10 SECONDS]"]
    core = Core(plan_of(texts[:1], ticks.schema))
    core.step(ticks.slice(0, 2))
    later = Core(plan_of(texts, ticks.schema), blocks=core.blocks)
    later.shards = [type(core.shards[0])(StagePlan.of(later.plan), core.blocks[0], core.snapshots[0])]
    found = [batch for outcome in later.step(ticks.slice(2)) for name, batch in outcome.results if name == "q1"]
    assert [row["window_end"].second for batch in found for row in batch.to_pylist()] == [40]


@pytest.mark.parametrize(
    ("window", "underlined", "message"),
    [
        ("SESSION", "]", "expected the length of a gap of SESSION"),
        ("SESSION 0 SECONDS", "0 SECONDS", "a gap of SESSION must be positive"),
        ("SESSION 5 ROWS", "ROWS", "'ROWS'"),
        ("SESSION 5 SECONDS SLIDE 1 SECOND", "SLIDE", "expected ]"),
        ("PARTITION BY q SESSION 5 SECONDS", "q", "unknown column 'q'"),
        ("PARTITION BY MAX(k) SESSION 5 SECONDS", "MAX(k)", "an aggregate in PARTITION BY"),
    ],
)
def test_a_mistake_is_told_with_its_place(window, underlined, message):
    text = f"SELECT COUNT(*) AS n FROM ticks [{window}]"
    with pytest.raises(QueryError, match=message) as caught:
        told([(1, "a")], text)
    assert text[caught.value.at : caught.value.end] == underlined


def test_explain_says_where_sessions_are_folded_and_what_is_kept():
    schema = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string())])
    text = explain_plans([StagePlan.of(plan_of([COUNTED], schema))], shards=2)
    assert "[PARTITION BY `k` SESSION 10 SECONDS]" in text
    assert "in the key's shard" in text and "one partial a group of each open session" in text
