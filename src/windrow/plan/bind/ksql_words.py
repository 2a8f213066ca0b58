"""What ksqlDB writes: `WINDOW TUMBLING (SIZE 1 MINUTE)` is the window of the stream, `WITHIN 1 HOUR` a condition."""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import emit_of, error_at, parse_expression
from windrow.language.durations import duration_sql
from windrow.language.nodes import EMIT, OTHERS_WINDOW, WITHIN, OthersWindow, Within
from windrow.language.parsing.table_functions import session_window, window_by_starts
from windrow.language.spans import span_of
from windrow.plan.bind.names import both, placed_as
from windrow.plan.catalog import Catalog

_IN_ON = "ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL 1 HOUR AND a.ts + INTERVAL 1 HOUR"
_EDGES = {"windowstart": "window_start", "windowend": "window_end"}


def window_of_clause(select: exp.Select, text: str) -> exp.Expr | None:
    """The window that a query has in ksqlDB's words, which it has no more then; None if it has none."""
    written = select.args.pop(OTHERS_WINDOW, None)
    if written is None:
        return None
    _refuse_changes(select, written, text)
    span = span_of(written) or (0, 0)
    size_us = written.args["size"].us
    window: exp.Expr
    if written.name == "SESSION":
        group = select.args.get("group")
        aliases = {node.alias.lower(): node.this for node in select.selects if isinstance(node, exp.Alias)}
        keys = [] if group is None else group.expressions
        meant = [aliases.get(key.name.lower(), key) if isinstance(key, exp.Column) else key for key in keys]
        window = session_window(size_us, [key.copy() for key in meant], None, *span)
    else:
        step = written.args.get("step")
        window = window_by_starts(size_us, step.us if step else size_us, 0, None, *span)
    _name_edges(select, size_us if written.name == "SESSION" else 0)
    return window


def _refuse_changes(select: exp.Select, written: OthersWindow, text: str) -> None:
    """In ksqlDB, EMIT CHANGES tells of a window whenever a row comes into it; ours compares each with the next."""
    if emit_of(select) != "CHANGES":
        return
    size = duration_sql(written.args["size"].us)
    step = written.args.get("step")
    slide = duration_sql(step.us) if step else size
    early = f"[RANGE {size} SLIDE {slide} EMIT EVERY 1 SECOND]"
    if written.name == "SESSION":
        early = f"[PARTITION BY k SESSION {size} EMIT EVERY 1 SECOND]"
    way_out = (
        f"EMIT FINAL for each window once, when it has ended; {early} behind the stream for answers while it fills"
    )
    message = "EMIT CHANGES of ksqlDB tells of a window whenever a row comes into it, and here it compares windows"
    raise error_at(select.args[EMIT], message, text, way_out)


def _name_edges(select: exp.Select, gap_us: int) -> None:
    """WINDOWSTART and WINDOWEND; a session ends in ksqlDB with its last event, and here a gap later."""
    for column in list(select.find_all(exp.Column)):
        edge = None if column.table else _EDGES.get(column.name.lower())
        if edge is None:
            continue
        plain = gap_us == 0 or edge == "window_start"
        meant = exp.column(edge) if plain else parse_expression(f"window_end - INTERVAL {gap_us} MICROSECONDS")
        if column.parent is select and column.arg_key == "expressions":
            meant = exp.alias_(meant, column.name, quoted=True)
        column.replace(placed_as(meant, column))


def read_within(select: exp.Select, catalog: Catalog, text: str) -> None:
    """Let each join WITHIN a time say so in its ON."""
    clause = select.args.get("from_")
    sources = [] if clause is None else [clause.this]
    for join in select.args.get("joins") or []:
        within = join.args.pop(WITHIN, None)
        if within is not None:
            streams = [one for one in sources if not isinstance(one, exp.Table) or one.name not in catalog.tables]
            if len(streams) > 1:
                message = "WITHIN is of two streams, and here several stand on the left"
                raise error_at(within, message, text, _IN_ON)
            apart = _apart(streams[0] if streams else sources[0], join.this, within, catalog, text)
            join.set("on", both(join.args["on"], placed_as(apart, within)))
        sources.append(join.this)


def _apart(left: exp.Expr, right: exp.Expr, within: Within, catalog: Catalog, text: str) -> exp.Expr:
    mine, theirs = (_time_of(side, within, catalog, text) for side in (left, right))
    before, after = (f"INTERVAL {within.args[side].us} MICROSECONDS" for side in ("this", "expression"))
    return parse_expression(f"{theirs} BETWEEN {mine} - {before} AND {mine} + {after}")


def _time_of(source: exp.Expr, within: Within, catalog: Catalog, text: str) -> str:
    """The column with the time of a stream, under the name that the query has for the stream."""
    stream = catalog.streams.get(source.name) if isinstance(source, exp.Table) else None
    if stream is None or stream.time is None or not isinstance(parse_expression(stream.time), exp.Column):
        raise _no_time(source, within, text)
    return f"`{source.alias_or_name}`.{stream.time}"


def _no_time(source: exp.Expr, within: Within, text: str) -> QueryError:
    message = f"WITHIN is of the times of two streams, and of {source.alias_or_name!r} none is a column"
    return error_at(within, message, text, _IN_ON)
