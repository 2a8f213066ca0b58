"""Queries over changes that read the same rows and want them by different columns, over several shards."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile.compile import plan_query
from windrow.compile.plan_stages import StageNeeds, plan_stages
from windrow.errors import JobError
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.plan.bind.changes import bind_changes
from windrow.plan.nodes.regrouped import LeafKey
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.changes.coming import refuse_shared_keys

from .test_regroup import Stages, _evaluated

SECOND = 1_000_000
ROWS = "a.k, a.m, b.k AS k2, b.m AS m2"
FROM = "a [RANGE 5 SECONDS]{} JOIN b [RANGE 5 SECONDS] ON"
QUERIES = {
    "by k": f"SELECT {ROWS} FROM {FROM.format('')} a.k = b.k",
    "by m": f"SELECT {ROWS} FROM {FROM.format('')} a.m = b.m",
    "by both": f"SELECT {ROWS} FROM {FROM.format(' LEFT')} a.k = b.k AND a.m = b.m",
    "sums": f"SELECT a.m, SUM(b.m) AS s, COUNT(b.k) AS n FROM {FROM.format('')} a.k = b.k GROUP BY a.m",
    "counted": f"SELECT COUNT(a.k) AS n, MAX(b.m) AS most FROM {FROM.format('')} a.k = b.k AND a.m = b.m",
    "slides": f"SELECT {ROWS} FROM {FROM.format('').replace('SECONDS]', 'SECONDS SLIDE 1 SECOND]')} a.m = b.m",
}
ONE_STAGE, TWO_STAGES = ["by k", "by m", "by both", "slides"], ["sums", "counted"]
DRAWN = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=16)


def table(drawn: list[tuple[int, int]]) -> pa.Table:
    times = pa.array([place * SECOND for place in range(len(drawn))], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": [k for k, _ in drawn], "m": [m for _, m in drawn]})


def planned(tables: dict[str, pa.Table], names: list[str]) -> StagePlan:
    catalog = local_catalog(
        tables, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates={}, clusterings={}
    )
    queries = [plan_query(name, bind_changes(parse_query(QUERIES[name]), catalog)) for name in names]
    return plan_stages(queries, StageNeeds(catalog.streams, {}, {}, spread=True))


def told(tables: dict[str, pa.Table], asked: list[list[str]], name: str) -> Counter:
    """What one query is told; `asked` are the queries of each batch."""
    plan = planned(tables, asked[0])
    running = Stages(plan, restarts=True)
    for number, names in enumerate(asked):
        if number and names != asked[number - 1]:
            plan = planned(tables, names)
            running.go_on_with(plan)
        parts = {stream: rows.slice(number * 4, 4).combine_chunks() for stream, rows in tables.items()}
        running.batch({stream: _evaluated(plan, stream, part) for stream, part in parts.items()})
    running.batch({}, flush=True)
    return Counter(str(row) for batch in running.sent.get(name, ()) for row in batch.to_pylist())


@settings(max_examples=examples(150), deadline=None)
@given(DRAWN, DRAWN, st.permutations(ONE_STAGE) | st.permutations(TWO_STAGES), st.integers(1, 3), st.integers(1, 3))
def test_who_comes_or_goes_changes_nothing_for_who_stays(a, b, order, first, others):
    tables = {"a": table(a), "b": table(b)}
    name, more = order[0], order[1 : 1 + others]
    batches = -(-max(len(a), len(b)) // 4)
    alone = [[name]] * batches
    come = [[name]] * first + [[*more, name]] * batches
    go = [[name, *more]] * first + [[name]] * batches
    wanted = told(tables, alone, name)
    assert told(tables, come[:batches], name) == wanted
    assert told(tables, go[:batches], name) == wanted


@settings(max_examples=examples(100), deadline=None)
@given(DRAWN, DRAWN, st.sampled_from([*ONE_STAGE, *TWO_STAGES]), st.integers(1, 2), st.integers(0, 2))
def test_who_asks_the_same_later_begins_with_empty_windows_and_changes_nothing_for_the_first(
    a, b, text, first, between
):
    tables = {"a": table(a), "b": table(b)}
    again = f"{text} again"
    batches = -(-max(len(a), len(b)) // 4)
    other = next(name for name in (ONE_STAGE if text in ONE_STAGE else TWO_STAGES) if name != text)
    QUERIES[again], QUERIES["another"] = QUERIES[text], QUERIES[other]
    alone, later = [[text]] * batches, [["another"]] * first + [["another", again]] * batches
    come = [[text]] * first + [[text, again]] * batches
    assert told(tables, come[:batches], text) == told(tables, alone, text)
    assert told(tables, come[:batches], again) == (told(tables, later[:batches], again) if first < batches else {})
    gone = [[text, again]] * first + [[again]] * between + [[text, again]] * batches
    assert told(tables, gone[:batches], again) == told(tables, [[again]] * batches, again)


def test_a_stage_is_spread_by_all_columns_that_do():
    tables = {"a": table([(0, 0)]), "b": table([(0, 0)])}
    (first, _) = planned(tables, ["counted"]).stages
    assert [len(key.columns) for key in first.keys] == [2, 2]


def test_a_checkpoint_from_before_that_had_both_in_one_shard_is_refused():
    tables = {"a": table([(0, 0)]), "b": table([(0, 0)])}
    plan = planned(tables, ["by k", "by m"])
    assert len({key.columns for key in plan.keys}) == 4 and all(isinstance(key, LeafKey) for key in plan.keys)
    queries = {query.asked: query for query in plan.changing}
    old = {"roots": list(queries)}
    with pytest.raises(JobError, match="'by k' and 'by m' read the same rows"):
        refuse_shared_keys([old], queries)
    refuse_shared_keys([old | {"own_keys": True}], queries)
    refuse_shared_keys([{"roots": list(queries)[:1]}], queries)
