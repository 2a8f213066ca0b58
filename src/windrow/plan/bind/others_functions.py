"""Functions that other engines have and Spark has not: refused by name, with what to write instead; and COLLECT_SET."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import Query, as_written, error_at, window_of
from windrow.plan.bind.names import placed_as
from windrow.plan.catalog import Catalog

_WINDOW = "GROUP BY window(ts, '5 minutes'), or [RANGE 5 MINUTES SLIDE 5 MINUTES] behind the stream's name"
_INSTEAD = {
    "latest_by_offset": "LAST(x) IGNORE NULLS, which goes by the time of the events",
    "earliest_by_offset": "FIRST(x) IGNORE NULLS, which goes by the time of the events",
    "group_concat": "STRING_AGG(x, ',')",
    "count_distinct": "COUNT(DISTINCT x)",
    "topkdistinct": "TOPK(x, 3), which has equal values as often as they come",
    "stddev_sample": "STDDEV(x)",
    "histogram": "MAP_AGG(x, n) around a query that counts: SELECT x, COUNT(*) AS n ... GROUP BY x",
    "timestamptostring": "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')",
    "format_timestamp": "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')",
    "stringtotimestamp": "TO_TIMESTAMP(x, 'yyyy-MM-dd HH:mm:ss')",
    "parse_timestamp": "TO_TIMESTAMP(x, 'yyyy-MM-dd HH:mm:ss')",
    "prev": "LAG(x) OVER (PARTITION BY k ORDER BY ts)",
    "maxby": "MAX_BY(x, y)",
    "minby": "MIN_BY(x, y)",
    "maxever": "MAX(x) over [RANGE UNBOUNDED]",
    "minever": "MIN(x) over [RANGE UNBOUNDED]",
    "rate": "COUNT(*) / 5 over [RANGE 5 SECONDS]",
    "nth_value": "GET(COLLECT_LIST(x), 1), which counts from 0, or NTH_VALUE(x, 2) OVER in [... SLIDE ...]",
    "ntile": "NTILE(4) OVER (ORDER BY x) FROM s [RANGE 1 HOUR SLIDE 1 HOUR]",
    "percent_rank": "PERCENT_RANK() OVER (ORDER BY x) FROM s [RANGE 1 HOUR SLIDE 1 HOUR]",
    "cume_dist": "CUME_DIST() OVER (ORDER BY x) FROM s [RANGE 1 HOUR SLIDE 1 HOUR]",
    "time_bucket": _WINDOW,
    "date_bin": _WINDOW,
    "tumblingwindow": _WINDOW,
    "hoppingwindow": "[RANGE 10 MINUTES SLIDE 5 MINUTES] behind the stream's name",
    "slidingwindow": "[RANGE 10 MINUTES] behind the stream's name",
    "sessionwindow": "[PARTITION BY k SESSION 5 MINUTES] behind the stream's name",
    "mz_now": "what is recent is a window: [RANGE 5 MINUTES] behind the stream's name",
    "tumble_proctime": "TUMBLE_START, TUMBLE_END, or a stream that is timed by arrival",
    "proctime": "a stream without TIMESTAMP BY is timed by arrival",
}
"""What to write in the place of a function."""
_DRAWN = (exp.NthValue, exp.Ntile, exp.PercentRank, exp.CumeDist)
"""What the others of its window tell of a row, with OVER."""
_PARSED = (exp.DateBin, *_DRAWN)
"""Those of them that the grammar knows."""


_LISTS = (exp.ArrayUniqueAgg, exp.ArrayAgg)


def _distinct_of(call: exp.Expr) -> exp.Expr | None:
    """Of what COLLECT_SET(x), or COLLECT_LIST(DISTINCT x), has each value once; None for another call."""
    if isinstance(call, exp.ArrayUniqueAgg):
        found: exp.Expr = call.this
        return found
    values = call.this.expressions if isinstance(call.this, exp.Distinct) else []
    return values[0] if len(values) == 1 else None


def read_others_functions(query: Query, catalog: Catalog) -> Query:
    """The query with COLLECT_SET as the distinct ones of COLLECT_LIST; raises for what only other engines have."""
    own = {name.lower() for name in (*catalog.aggregates, *catalog.functions)}
    windows = any(window_of(source) for source in query.tree.find_all(exp.Table, exp.Subquery))
    for call in query.tree.find_all(exp.Anonymous, *_PARSED):
        name = (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
        drawn = windows and isinstance(call, _DRAWN) and call.find_ancestor(exp.Window) is not None
        if name in _INSTEAD and name not in own and not drawn:
            raise error_at(call, f"{name.upper()} is not part of the language", query.text, _INSTEAD[name])
    if not any(_distinct_of(call) for call in query.tree.find_all(*_LISTS)) or "collect_set" in own:
        return query
    tree = query.tree.copy()
    for listing in [listing for listing in tree.find_all(*_LISTS) if _distinct_of(listing)]:
        value = _distinct_of(listing)
        assert value is not None
        whole = listing.parent if isinstance(listing.parent, exp.Filter) else listing
        if isinstance(whole.parent, exp.Window):
            continue
        listed: exp.Expr = placed_as(exp.ArrayAgg(this=value.copy()), listing)
        if isinstance(whole, exp.Filter):
            listed = placed_as(exp.Filter(this=listed, expression=whole.expression.copy()), whole)
        made: exp.Expr = placed_as(exp.Anonymous(this="ARRAY_DISTINCT", expressions=[listed]), whole)
        if isinstance(whole.parent, exp.Select) and whole.arg_key == "expressions":
            made = placed_as(exp.alias_(made, as_written(whole, query.text) or "COLLECT_SET", quoted=True), whole)
        whole.replace(made)
    return replace(query, tree=tree)
