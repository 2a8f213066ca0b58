"""Plans as text: what runs, what is kept, and why it was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.language import duration_sql
from windrow.optimize.choose_maintenance import Alternative, alternatives
from windrow.optimize.choose_row_maintenance import row_alternatives
from windrow.optimize.explain_rows import row_space_lines, row_state_line
from windrow.plan.aggregates import Partial
from windrow.plan.pipeline import QueryPlan, RowSpace, Space, StreamPlan
from windrow.plan.typing import type_name
from windrow.plan.window import TimeWindow


def explain_plans(plans: Sequence[StreamPlan], shards: int) -> str:
    """The text of all that runs: for each stream its scan, for each space its panes, for each query its results."""
    return "\n\n".join(_stream(plan, shards) for plan in plans)


def _stream(plan: StreamPlan, shards: int) -> str:
    lines = [
        f"stream {plan.stream}: one scan, lateness {duration_sql(plan.lateness_us) if plan.lateness_us else 'none'}"
    ]
    lines += [f"  evaluates {text}" for text in plan.expressions]
    for space in plan.spaces:
        queries = [query for query in plan.queries if query.space == space]
        lines += _space(space, queries, shards)
    return "\n".join(lines)


def _space(space: Space | RowSpace, queries: Sequence[QueryPlan], shards: int) -> list[str]:
    shared = f", shared by {len(queries)} queries" if len(queries) > 1 else ""
    lines = [f"  space {space.name}{shared}"]
    if isinstance(space, RowSpace):
        lines += row_space_lines(space, shards)
    else:
        lines += [f"    window {window_text(space.window)}", f"      panes: {_panes(space.window)}"]
    if space.where is not None:
        lines.append(f"    where {space.where}")
    keys = ", ".join(f"{key.sql} {type_name(key.type)}" for key in space.keys)
    spread = f"spread over {shards} shards by hash" if shards > 1 else "in one shard"
    lines.append(f"    group by {keys}: {spread}" if keys else "    one group, in one shard")
    lines.append(f"    each {'row' if isinstance(space, RowSpace) else 'pane'} keeps, for each group:")
    for partial, chosen in zip(space.partials, space.maintenance):
        ways = _ways(partial, space)
        best = next(way for way in ways if way.name == chosen)
        others = ", ".join(f"{way.name} {way.merges:g}" for way in ways if way.name != chosen)
        lines.append(f"      {partial}")
        lines.append(
            f"        {chosen}: {best.why}; {best.merges:g} merges a slide" + (f" ({others})" if others else "")
        )
    state = "panes in blocks of RocksDB; a batch touches the newest, the leaving, and O(log) of a tree"
    lines.append(f"    state: {row_state_line(space) if isinstance(space, RowSpace) else state}")
    for query in queries:
        lines += _query(query)
    return lines


def _ways(partial: Partial, space: Space | RowSpace) -> list[Alternative]:
    if isinstance(space, RowSpace):
        return row_alternatives(partial, space.window)
    return alternatives(partial, space.window)


def _query(query: QueryPlan) -> list[str]:
    drawn = {f"key_{i}": key.sql for i, key in enumerate(query.space.keys)}
    drawn |= {f"agg_{i}": f"{agg.answer} of {agg.partial}" for i, agg in enumerate(query.aggregates)}
    lines = [f"    query {query.name}: at each slide, a row for each group in the window"]
    lines += [f"      {name} = {meaning}" for name, meaning in drawn.items()]
    if query.having is not None:
        lines.append(f"      having {query.having}")
    lines += [f"      {output.name} = {output.sql}" for output in query.outputs]
    if query.order:
        terms = ", ".join(term.sql + (" DESC" if term.descending else "") for term in query.order)
        limit = f", of each window the first {query.limit}" if query.limit is not None else ""
        lines.append(f"      order by {terms}{limit}")
    return lines


def window_text(window: TimeWindow) -> str:
    """A window as it is written.

    >>> window_text(TimeWindow(range_us=None, slide_us=60_000_000))
    '[RANGE UNBOUNDED SLIDE 1 MINUTE]'
    """
    reach = "UNBOUNDED" if window.range_us is None else duration_sql(window.range_us)
    offset = f" OFFSET {duration_sql(window.offset_us)}" if window.offset_us else ""
    return f"[RANGE {reach} SLIDE {duration_sql(window.slide_us)}{offset}]"


def _panes(window: TimeWindow) -> str:
    if window.panes is None:
        return f"{duration_sql(window.slide_us)} each, folded once and let go"
    if window.steps == 1:
        return f"{window.panes} a window, {duration_sql(window.slide_us)} each"
    first = window.pane_end(0) - window.pane_start(0)
    second = window.slide_us - first
    gap = "; events in the first of the two lie in no window" if window.has_gaps else ""
    return f"{window.panes} a window, by turns {duration_sql(first)} and {duration_sql(second)}{gap}"
