"""Answers as events: windows over the answers of other windows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from windrow.expressions.evaluate_text import evaluate_text
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import DUE
from windrow.plan.nodes.stage import AnyQuery, Feed
from windrow.runtime.answers.finish import finish_part
from windrow.runtime.contracts import Joins
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import Payload
from windrow.runtime.reject import TIME
from windrow.runtime.slice.events import Slicer
from windrow.runtime.slice.expression_column import expression_column


def fed(feed: Feed, outcome: Outcome, task: int, shards: Sequence[int], joins: Joins | None = None) -> list[Payload]:
    """The answers of a batch as the events of a stream, for `shards`; `task` is who sends them.

    They are joined with the tables of `joins`, or else with those that the plan has brought along.
    """
    batches = [batch for name, batch in outcome.results if name == feed.query.name]
    if not batches:
        return []
    rows = finish_part(pa.Table.from_batches(batches).cast(feed.query.emitted), feed.query)
    columns = {TIME: event_times(rows, feed.query)}
    for number, text in enumerate(feed.stream.expressions):
        columns[expression_column(number)] = evaluate_text(text, rows)
    joined = joins(feed.stream) if joins is not None and feed.stream.joined else None
    slicer = Slicer(feed.stream, task, shards, joined)
    for batch in pa.table(columns).combine_chunks().to_batches():
        slicer.add(batch)
    return slicer.payloads()


def event_times(rows: pa.Table, query: AnyQuery) -> pa.ChunkedArray:
    """When answers happen, in microseconds: just before their window ends, as Spark's `window_time` has it.

    So the minute from 0 to 60 holds the seconds that end at 1 to 60. Where rows are counted, a window ends with its
    last row, and is answered when the clock has passed it. Rows that only come have times of their own. A window that
    still fills is told as of an instant that the clock has reached, and not passed: its answer is of what was before.
    """
    ends = pc.cast(rows[query.told_at], pa.int64())
    if isinstance(query, ChangePlan) and query.emit != SNAPSHOT:
        return ends
    if not query.ends_with_row or query.told_at == DUE:
        return pc.subtract(ends, 1)
    if isinstance(query, ChangePlan) or query.window.every_us is None:
        return ends
    return pc.if_else(rows["final"], ends, pc.subtract(ends, 1))
