"""What tasks send over a shuffle, as digests: `python sent_bytes.py held|fresh` prints one for each query.

It runs in a process of its own, whose hashes, fresh memory and held shards differ from another's.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import sqlglot

from windrow.compile.compile import plan_query
from windrow.compile.plan_stages import StageNeeds, plan_stages
from windrow.compile.plan_stream import plan_stream
from windrow.expressions.evaluate import evaluate
from windrow.language import Windrow, parse_query
from windrow.local.local_catalog import local_catalog
from windrow.plan.bind.changes import bind_changes
from windrow.plan.bind.query import bind_folded
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.changes.send_on import passed_on, regrouped
from windrow.runtime.payload import Payload
from windrow.runtime.premerge import Premerge
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import TIME, Slicer, expression_column
from windrow.storage.blocks import MemoryBlocks

SHARDS, BATCHES, ROWS = [0, 1], 3, 200
AGGREGATES = """
    COUNT(*); COUNT(s); SUM(i); SUM(x); SUM(d); AVG(x); MIN(i); MAX(x); MIN(s); MAX(d); MIN(b); VAR_SAMP(x); FIRST(s);
    LAST(x); FIRST(x) IGNORE NULLS; BOOL_AND(b); MEDIAN(x); QUANTILE(i, 0.3); MODE(s); COUNT(DISTINCT x);
    COUNT(DISTINCT s); REGR_SLOPE(x, i); CORR(x, y); FILLED_SLOPE(x, ts, '1 second'); COLLECT_LIST(s); COLLECT_LIST(x);
    APPROX_COUNT_DISTINCT(s); APPROX_QUANTILE(x, 0.9); SUM(x) FILTER (WHERE b); names(w); seen(w)"""
WINDOWS = ("[RANGE 9 SECONDS SLIDE 3 SECONDS]", "[PARTITION BY s ROWS 9 SLIDE 3]")
KEYS = ("s", "d", "x", "b", "l", "s, i, at")
METHODS = ("C_BIRCH(5)", "K_MEANS(2)", "DENSITY_GRID(10, 1)", "DBSCAN(6, 1)", "EXTRA_N(6, 1)")
CHANGES = {
    "two stages": """SELECT t.n, COUNT(*) AS m, MAX(t.k) AS most FROM (SELECT s AS k, COUNT(*) AS n, SUM(x) AS u
                     FROM ev [RANGE 5 SECONDS] GROUP BY s) AS t GROUP BY t.n""",
    "a join": """SELECT e.s, COUNT(*) AS n, SUM(o.x) AS total FROM ev [RANGE 4 SECONDS] AS e
                 LEFT JOIN other [RANGE 3 SECONDS] AS o ON e.i = o.i GROUP BY e.s""",
    "a set": "SELECT s, d FROM ev [RANGE 4 SECONDS] MINUS SELECT s, d FROM other [RANGE 3 SECONDS]",
    "distinct": "SELECT COUNT(DISTINCT s) AS n, MAX(x) AS most FROM ev [RANGE 4 SECONDS]",
}


class Names:
    """A user's aggregate whose state is in some order of insertion."""

    returns = "STRING"

    def init(self) -> dict[str | None, int]:
        return {}

    def add(self, state: dict[str | None, int], value: str | None) -> None:
        state[value] = state.get(value, 0) + 1

    def merge(self, state: dict[str | None, int], other: dict[str | None, int]) -> None:
        for value, count in other.items():
            state[value] = state.get(value, 0) + count

    def finish(self, state: dict[str | None, int]) -> str:
        return repr(state)


class Seen(Names):
    """One whose rows are kept."""

    merge = None  # type: ignore[assignment]


USER = {"names": Names, "seen": Seen}


def events(seed: int) -> pa.Table:
    """Events of every kind of column, with NULLs in all but their times."""
    random = np.random.default_rng(seed)
    rows = BATCHES * ROWS

    def some(values: Sequence[object], type: pa.DataType) -> pa.Array:
        drawn = random.integers(0, len(values), rows).tolist()
        return pa.array([None if random.random() < 0.2 else values[i] for i in drawn], type)

    times = np.sort(random.integers(0, 20_000_000, rows))
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
            "s": some(["one", "two", "three", "", "five"], pa.string()),
            "w": some(["red", "green", "blue", "white"], pa.string()),
            "i": some(range(7), pa.int64()),
            "x": some([*random.normal(0, 30, 40).tolist(), float("nan"), -0.0], pa.float64()),
            "y": pa.array(random.normal(0, 30, rows)),
            "b": some([True, False], pa.bool_()),
            "d": some([Decimal("1.25"), Decimal("-7.50")], pa.decimal128(21, 2)),
            "l": some([[1, None], [], [2]], pa.list_(pa.int64())),
            "at": pa.array(times // 1_000_000 * 1_000_000, pa.timestamp("us", tz="UTC")),
        }
    )


def columns(texts: Sequence[str], table: pa.Table) -> list[pa.RecordBatch]:
    made = {TIME: table["ts"].cast(pa.int64())}
    for i, text in enumerate(texts):
        made[expression_column(i)] = evaluate(sqlglot.parse_one(text, dialect=Windrow), table)
    return pa.table(made).combine_chunks().to_batches()


def batches(streams: Mapping[str, pa.Table]) -> Iterator[dict[str, pa.Table]]:
    for number in range(BATCHES):
        yield {name: table.slice(number * ROWS, ROWS) for name, table in streams.items()}


def sliced(text: str, streams: Mapping[str, pa.Table], fresh: bool) -> list[Payload]:
    """What two map tasks, and those that merge on the way, send; and what the shards then answer."""
    catalog = local_catalog(
        {"ev": streams["ev"]}, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates=USER, clusterings={}
    )
    bound = bind_folded(parse_query(text), catalog)
    plan = plan_stream(catalog.streams[bound.stream], [plan_query("query", bound)], catalog.code)
    homes = [MemoryBlocks() for _ in SHARDS]
    shards = [Shard(StagePlan.of(plan), home) for home in homes]
    sent: list[Payload] = []
    for batch in batches(streams):
        payloads: list[Payload] = []
        for task, begin in enumerate((0, ROWS // 2)):
            slicer = Slicer(plan, task, SHARDS)
            for part in columns(plan.expressions, batch["ev"].slice(begin, ROWS // 2)):
                slicer.add(part)
            payloads += slicer.payloads()
        payloads += Premerge(StagePlan.of(plan)).merged(payloads)
        sent += payloads
        for number, (home, shard) in enumerate(zip(homes, shards)):
            outcome = shard.process([payload for payload in payloads if payload.shard == SHARDS[number]])
            sent += [Payload(number, 0, 0, None, name, pickled(rows)) for name, rows in outcome.results]
            snapshot = shard.save()
            shards[number] = Shard(StagePlan.of(plan), home, snapshot) if fresh else shard
    return sent


def staged(text: str, streams: Mapping[str, pa.Table], fresh: bool) -> list[Payload]:
    """What the first stages of a query over changes send to the last."""
    catalog = local_catalog(
        streams, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates=USER, clusterings={}
    )
    query = plan_query("query", bind_changes(parse_query(text), catalog))
    plan = plan_stages([query], StageNeeds(catalog.streams, {}, catalog.code))
    homes = [[MemoryBlocks() for _ in SHARDS] for _ in plan.stages]
    shards = [[Shard(stage, home) for home in own] for stage, own in zip(plan.stages, homes)]
    sent: list[Payload] = []
    for batch in batches(streams):
        payloads: list[Payload] = []
        for task, own_plan in enumerate(plan.stages[0].streams):
            slicer = Slicer(own_plan, task, SHARDS)
            for part in columns(own_plan.expressions, batch[own_plan.stream]):
                slicer.add(part)
            payloads += slicer.payloads()
        for number, stage in enumerate(plan.stages):
            sent += payloads
            following: list[Payload] = []
            for shard in SHARDS:
                own = [payload for payload in payloads if payload.shard == shard]
                outcome = shards[number][shard].process(own)
                snapshot = shards[number][shard].save()
                if fresh:
                    shards[number][shard] = Shard(stage, homes[number][shard], snapshot)
                following += [
                    *passed_on(own, outcome, shard, stage.tells),
                    *regrouped(outcome.parts, stage.sends, shard, SHARDS),
                ]
                sent += [Payload(shard, 0, 0, None, name, pickled(rows)) for name, rows in outcome.results]
            payloads = following
    return sent


def pickled(rows: pa.RecordBatch) -> bytes:
    """Answers row by row, as a shuffle of rows would have them."""
    return repr(rows.to_pylist()).encode()


def texts() -> dict[str, str]:
    asked = ", ".join(f"{part} AS a{number}" for number, part in enumerate(AGGREGATES.split(";")))
    found = {f"over {window}": f"SELECT s, {asked} FROM ev {window} GROUP BY s" for window in WINDOWS}
    found |= {f"by {key}": f"SELECT {key}, SUM(x) AS t FROM ev {WINDOWS[0]} GROUP BY {key}" for key in KEYS}
    for method in METHODS:
        found[method] = (
            f"SELECT cid, COUNT(*) AS n, MAX(s) AS m FROM ev {WINDOWS[0]} CLUSTER BY x, y AS cid USING {method}"
        )
    return found | {"rows": "SELECT SUM(x) AS t, MAX(s) AS m FROM ev [ROWS 20 SLIDE 3]"}


def digest(payloads: Sequence[Payload]) -> str:
    return hashlib.sha256(repr(payloads).encode()).hexdigest()


if __name__ == "__main__":
    streams, fresh = {"ev": events(1), "other": events(2)}, sys.argv[1] == "fresh"
    told = {name: digest(sliced(text, streams, fresh)) for name, text in texts().items()}
    told |= {name: digest(staged(text, streams, fresh)) for name, text in CHANGES.items()}
    print(json.dumps(told))
