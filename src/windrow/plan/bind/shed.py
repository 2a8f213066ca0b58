"""SHED ABOVE: which queries can be answered from a share of the rows, how, and why others cannot."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import Query, error_at
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.aggregates import ROWS, SCALED, Aggregate
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import Output, QueryPlan
from windrow.plan.nodes.shed import SAMPLED
from windrow.plan.windows.row_window import CountWindow

_SCALED_ANSWERS = ("COUNT", "SUM")
_WAY_OUT = "SELECT k, SUM(x) AS total FROM s [RANGE 1 MINUTE SLIDE 10 SECONDS] GROUP BY k, or leave out SHED ABOVE"


def shedding_in(tree: exp.Expr, catalog: Catalog) -> Stream | None:
    """The first stream in a query whose rows may be left out."""
    found = (catalog.streams.get(table.name) for table in tree.find_all(exp.Table))
    return next((stream for stream in found if stream is not None and stream.shed_us is not None), None)


def refuse_shed_changes(query: Query, catalog: Catalog) -> None:
    """Refuse rows that come and go over a stream that may be shed."""
    stream = shedding_in(query.tree, catalog)
    if stream is None:
        return
    select = query.tree.find(exp.Select)
    if select is not None and select.args.get("joins"):
        raise _refused(query, stream, "joins are not: of two rows that belong together one would be missing")
    what = "joins, set operators, DISTINCT, OVER, rows of windows, EMIT CHANGES and windows without SLIDE are not"
    raise _refused(query, stream, f"{what}: a row that is left out stands for none of the others")


def shed_answers(query: Query, bound: QueryPlan, catalog: Catalog) -> QueryPlan:
    """The query over a stream that may be shed: COUNT and SUM stand for all rows, and `sampled` says how many came.

    Each row that was taken counts as often in them as rows were left out for it (Horvitz and Thompson, 1952), by the
    share of its own batch, so that a window may hold rows of several shares. Other aggregates are of the rows taken.
    """
    stream = shedding_in(query.tree, catalog)
    if stream is None:
        return bound
    reason = _reason(bound)
    if reason is not None:
        raise _refused(query, stream, reason)
    if any(output.name.lower() == SAMPLED for output in bound.outputs):
        message = f"{stream.name!r} has SHED ABOVE, and its results have a column {SAMPLED!r} already"
        raise error_at(query.tree, message, query.text, "give the column another name: AS my_share")
    aggregates = [_scaled(one) if one.answer in _SCALED_ANSWERS else one for one in bound.aggregates]
    places = []
    for wanted in (ROWS, _scaled(ROWS)):
        if wanted not in aggregates:
            aggregates.append(wanted)
        places.append(aggregates.index(wanted))
    sampled = Output(SAMPLED, "agg_{} / agg_{}".format(*places))
    return replace(bound, aggregates=tuple(aggregates), outputs=(*bound.outputs, sampled))


def _scaled(aggregate: Aggregate) -> Aggregate:
    partial = aggregate.partial
    return replace(aggregate, partial=replace(partial, kind=SCALED[partial.kind]))


def _reason(bound: QueryPlan) -> str | None:
    if bound.rows is not None:
        return "joins are not, nor those with tables"
    if isinstance(bound.window, CountWindow):
        what = "ROWS windows, sessions and windows from condition to condition are not"
        return f"{what}: the rows that are left out decide with the others what such a window holds"
    if bound.emit != SNAPSHOT:
        return "EMIT CHANGES is not: an answer that differs only by another share would be told as a change"
    if bound.clusters is not None:
        return "CLUSTER BY is not: clusters of a share of the rows are other clusters"
    if bound.rankings:
        return "DISTINCT and OVER are not: a row that is left out stands for none of the others"
    if bound.items:
        return "the rows of windows are not: aggregates of them are"
    return None


def _refused(query: Query, stream: Stream, reason: str) -> QueryError:
    place = next(table for table in query.tree.find_all(exp.Table) if table.name == stream.name)
    message = f"{stream.name!r} has SHED ABOVE, and only aggregates of windows over time can be answered; {reason}"
    return error_at(place, message, query.text, _WAY_OUT)
