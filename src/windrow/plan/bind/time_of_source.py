"""Which columns of what FROM names hold the time of its events: a window in others' words must be over one of them."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import error_at, expression_sql, parse_expression
from windrow.language.nodes import STREAM_WINDOW
from windrow.plan.bind.names import is_star, output_name
from windrow.plan.bind.others_edges import last_instant
from windrow.plan.catalog import Catalog

_OF_ANSWERS = ("window_end", "window_time")
"""An answer happens as its window ends."""


def check_time(source: exp.Expr, timed_by: exp.Expr, catalog: Catalog, text: str) -> None:
    """A window is over the time of its stream; that of another column would be another window."""
    name = source.alias_or_name
    if isinstance(source, exp.Table) and source.name in catalog.tables:
        return  # which is said elsewhere
    times = _times(source, catalog)
    if times is None:
        hint = f"FROM {name} [RANGE 10 MINUTES SLIDE 1 MINUTE]"
        raise error_at(source, f"{name!r} is no stream, whose time such a window could be over", text, hint)
    written = expression_sql(timed_by)
    asked = timed_by.name if isinstance(timed_by, exp.Column | exp.Anonymous) else written
    if asked.strip("`").lower() not in times:
        stream = catalog.streams.get(source.name) if isinstance(source, exp.Table) else None
        timed = ", ".join(times) or ("which it lacks" if stream is None else "when they arrive")
        what = f"of {name!r} are over the time of its events" if name else "are over the time of what FROM has"
        message = f"the windows {what}, {timed}, and this is {written}"
        way_out = f"TIMESTAMP BY {asked} in CREATE STREAM {source.name}" if stream is not None else None
        raise error_at(timed_by, message, text, way_out or "that time, under a name in the select list within")


def is_windowed(source: exp.Expr) -> bool:
    """Whether what FROM names are the answers of windows, in a sub-query or under a name of WITH."""
    named = _named_by_with(source) if isinstance(source, exp.Table) else None
    body = source.this if isinstance(source, exp.Subquery) else named
    return body is not None and any(node.args.get(STREAM_WINDOW) is not None for node in body.walk())


def _times(source: exp.Expr, catalog: Catalog) -> list[str] | None:
    """The names of the columns that hold the time, in small letters; None where that cannot be said."""
    if isinstance(source, exp.Subquery):
        return _times_of_query(source.this.unnest(), catalog)
    if not isinstance(source, exp.Table):
        return None
    named = _named_by_with(source)
    if named is not None:
        return _times_of_query(named.this.unnest(), catalog)
    stream = catalog.streams.get(source.name)
    if stream is None:
        return None
    own = [] if stream.time is None else [expression_sql(parse_expression(stream.time)).strip("`").lower()]
    return [*own, *_OF_ANSWERS] if stream.made_of is not None else own


def _times_of_query(body: exp.Expr, catalog: Catalog) -> list[str] | None:
    if isinstance(body, exp.Union):  # its columns have the names of the first, and are the time where both say so
        mine, theirs = (_times_of_query(side.unnest(), catalog) for side in (body.this, body.expression))
        names = [[output_name(item).lower() for item in side.selects] for side in (body.this, body.expression)]
        both = [(name, other) for name, other in zip(*names) if name in (mine or []) and other in (theirs or [])]
        return [name for name, _ in both] or [name for name in mine or [] if name in (theirs or []) and not both]
    if not isinstance(body, exp.Select) or body.args.get("from_") is None:
        return None
    below = body.args["from_"].this
    windowed = any(node.args.get(STREAM_WINDOW) is not None for node in body.walk())
    times = list(_OF_ANSWERS) if windowed else _times(below, catalog)
    if times is None:
        return None
    found = list(_OF_ANSWERS) if windowed else []
    for item in body.selects:
        if is_star(item):
            found += times
        elif (inner := item.unalias()) and _is_one_of(inner, times):
            found.append(output_name(item).lower())
    return list(dict.fromkeys(found))


def _is_one_of(item: exp.Expr, times: list[str]) -> bool:
    """Whether an item of a select list is a time; the last instant of a window is one, whose answer happens then."""
    if isinstance(item, exp.Column):
        return item.name.lower() in times
    return set(_OF_ANSWERS) <= set(times) and item == last_instant()


def _named_by_with(table: exp.Table) -> exp.Expr | None:
    """What WITH says of a name, in the queries around it."""
    around: exp.Expr | None = table
    while around is not None:
        clause = around.args.get("with_")
        for common in [] if clause is None else clause.expressions:
            if common.alias.lower() == table.name.lower() and table.find_ancestor(exp.CTE) is not common:
                return common  # type: ignore[no-any-return]
        around = around.parent
    return None
