"""What a stage does with one stream: the spaces that answer its queries, and what was asked for of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.compile.agree import agreed, with_index
from windrow.compile.figures import Figures
from windrow.compile.keep_rows import PARTIALS_FIRST, Keeping
from windrow.compile.rules import RULES
from windrow.compile.shed_rows import shed_of
from windrow.plan.catalog import Stream
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import Space
from windrow.plan.nodes.stream_plan import SpreadScan, StreamPlan
from windrow.plan.nodes.wanted import NOTHING, Wanted


def plan_stream(
    stream: Stream,
    queries: Sequence[QueryPlan],
    user_code: Mapping[str, type] | None = None,
    memory_bytes: int = DEFAULT_BYTES,
    keeping: Keeping = PARTIALS_FIRST,
    wanted: Wanted = NOTHING,
    *,
    scans: Sequence[SpreadScan] = (),
    keeps_rejected: bool = False,
    live: bool = False,
    figures: Figures | None = None,
) -> StreamPlan:
    """What runs over one scan of `stream`, which all `queries` and pipelines with `scans` read.

    `live` is a job that goes on as events arrive; `figures` are what is known of its streams.
    """
    wanted = agreed(queries).over(wanted)
    queries = [with_index(query, wanted) for query in queries]
    known = user_code or {}
    used = sorted({name for query in queries for partial in query.partials for name in partial.users})
    user = tuple((name, known[name]) for name in used)
    spaces = [space for rule in RULES.spaces for space in rule(queries, wanted)]
    return StreamPlan(
        stream.name,
        stream.lateness_us,
        tuple(queries),
        tuple(
            keeping.decided(space, figures, [query for query in queries if space.answers(query)])
            if isinstance(space, Space)
            else space
            for space in spaces
        ),
        keeps_rejected,
        user,
        stream.timing,
        memory_bytes,
        stream.limit_ahead(live),
        scans=tuple(scans),
        wanted=wanted,
        correct_us=stream.correct_us,
        shed=shed_of(stream),
        clock=stream.clock,
    )
