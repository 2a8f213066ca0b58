"""A shard that is split: the groups that each part keeps, and answers as if there had been as many shards all along."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.judge import TIME, Window, plain_rows
from oracle.streams import Stream, streams
from windrow.errors import StateError
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Outcome, Shard
from windrow.runtime.share import Share

from .core import Core, events_of, plan_of

COLUMNS = {
    "k": (pa.int64(), st.none() | st.integers(0, 9)),
    "s": (pa.string(), st.none() | st.sampled_from(["", "a", "é"])),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "d": (pa.float64(), st.none() | st.floats(-1e6, 1e6)),
}
AGGREGATES = (
    "COUNT(*) AS a, SUM(i) AS b, FIRST(i) AS c, MAX(s) AS e, trail(i) AS f, STDDEV_SAMP(d) AS g, MEDIAN(i) AS h"
)
EVERY_KIND = (
    f"SELECT k, {AGGREGATES} FROM ticks @ GROUP BY k",
    f"SELECT k, s, {AGGREGATES} FROM ticks [RANGE UNBOUNDED SLIDE # MICROSECONDS] GROUP BY k, s",
    "SELECT k, SUM(i) AS b FROM ticks @ GROUP BY k EMIT CHANGES",
    "SELECT SUM(i) AS b FROM ticks @ EMIT CHANGES",
    "SELECT k, SUM(i) AS b, trail(i) AS f FROM ticks [ROWS 5 SLIDE 2] GROUP BY k",
    "SELECT COUNT(*) AS n, SUM(i) AS b FROM ticks [ROWS 4 SLIDE 1]",
    "SELECT k, SUM(i) AS b FROM ticks [ROWS UNBOUNDED SLIDE 3] GROUP BY k",
    "SELECT k, s, SUM(i) AS b, MAX(s) AS e, trail(i) AS f FROM ticks [PARTITION BY k ROWS 3 SLIDE 1] GROUP BY k, s",
    "SELECT k, SUM(i) AS b FROM ticks [PARTITION BY k ROWS UNBOUNDED SLIDE 2] GROUP BY k",
    "SELECT k, COUNT(*) AS n, SUM(i) AS b FROM ticks [PARTITION BY k SESSION # MICROSECONDS] GROUP BY k",
    "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k FROM i > 3 UNTIL i < -3] GROUP BY k",
)


def plan(stream: Stream, texts: Sequence[str] = EVERY_KIND):
    window, slide = str(stream.window), str(stream.window.slide_us)
    texts = [text.replace("@", window).replace("#", slide) for text in texts]
    return plan_of(texts, stream.events.schema, stream.lateness_us)


def split(core: Core, shards: int) -> None:
    """Go on with another number of shards: each takes what its parent has, and keeps its share."""
    stores = [copy.deepcopy(core.blocks[number % len(core.blocks)]) for number in range(shards)]
    snapshots = [core.snapshots[number % len(core.snapshots)] for number in range(shards)]
    core.blocks = stores
    core.shards = [Shard(StagePlan.of(core.plan), store, kept) for store, kept in zip(stores, snapshots)]
    for number, shard in enumerate(core.shards):
        shard.keep(Share(number, shards))


def told(outcomes: list[Outcome]) -> list[dict]:
    """The rows of all queries, in an order that does not depend on shards; each of these numbers its open windows."""
    rows = [
        {"query": name} | {column: value for column, value in row.items() if column != "window_number"}
        for outcome in outcomes
        for name, batch in outcome.results
        for row in plain_rows(pa.Table.from_batches([batch]))
    ]
    return sorted(rows, key=lambda row: [str(value) for value in row.values() if not isinstance(value, float)])


def worked_off(stream: Stream, shards: list[int], texts: Sequence[str] = EVERY_KIND) -> list[list[dict]]:
    """The rows of each batch; after each, the number of shards may be another."""
    core, found = Core(plan(stream, texts), shards=shards[0], reopen="fresh"), []
    for number, (start, size) in enumerate(stream.bounds):
        found.append(told(core.step(stream.events.slice(start, size), tasks=2)))
        wanted = shards[min(number + 1, len(shards) - 1)]
        if wanted != len(core.shards):
            split(core, wanted)
    return [*found, told(core.flush())]


@settings(max_examples=examples(30), deadline=None)
@given(streams(COLUMNS, max_rows=40), st.sampled_from([[1, 3], [2, 4], [2, 2, 6], [1, 2, 4, 8]]))
def test_split_shards_answer_as_if_they_had_been_there_all_along(stream, shards):
    wanted = worked_off(stream, [1])
    for mine, theirs in zip(worked_off(stream, shards), wanted, strict=True):
        for row, other in zip(mine, theirs, strict=True):
            assert row.keys() == other.keys()
            for name, value in row.items():
                if isinstance(value, float):
                    assert math.isclose(value, other[name], rel_tol=1e-9, abs_tol=1e-6)
                else:
                    assert value == other[name], (row, other)


CLUSTERED = """SELECT k, cid, COUNT(*) AS n FROM ticks [RANGE 6 SECONDS SLIDE 2 SECONDS]
    GROUP BY k CLUSTER BY d, i AS cid USING DBSCAN(1.5, 2)"""


def test_clusters_keep_their_numbers_when_their_groups_go_to_other_shards():
    rows = 120
    stream = Stream(
        {
            "k": (pa.int64(), [number % 7 for number in range(rows)]),
            "s": (pa.string(), ["a"] * rows),
            "i": (pa.int64(), [number % 5 for number in range(rows)]),
            "d": (pa.float64(), [float(number % 11) for number in range(rows)]),
        },
        [number * 200_000 for number in range(rows)],
        [30] * 4,
        Window(6_000_000, 2_000_000),
        0,
    )
    texts = [CLUSTERED, CLUSTERED + " EMIT CHANGES"]
    wanted = worked_off(stream, [1], texts)
    assert sum(map(len, wanted)) > 50 and worked_off(stream, [1, 2, 6], texts) == wanted


def test_state_of_a_query_that_is_gone_is_refused_by_its_name():
    schema = pa.schema([("ts", TIME), ("k", pa.int64())])
    texts = [
        f"SELECT k, COUNT(*) AS n FROM ticks [RANGE {reach} SECONDS SLIDE 1 SECOND] GROUP BY k" for reach in (2, 5)
    ]
    texts.append("SELECT COUNT(*) AS n FROM ticks [RANGE 3 SECONDS SLIDE 1 SECOND] WHERE k > 3")
    core = Core(plan_of(texts, schema))
    core.step(events_of([1, 2], k=pa.array([1, 2])))
    core.plan = plan_of(texts[:2], schema)
    with pytest.raises(StateError, match=r"cannot be split: .*k.* > 3.*\(asked for by no query\)"):
        split(core, 2)
