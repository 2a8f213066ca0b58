"""A query over rows that are there: one answer, of one window that holds them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from windrow.compile.compile import Wishes, compile_queries
from windrow.language import Query, error_at, identifier_sql, parse_query
from windrow.language.nodes import EMIT, STREAM_WINDOW, emit_of
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.plan.bind.calls import ALIASES

Rows = Mapping[str, pa.Table]

_WINDOW = ("window_start", "window_end")
_ALL = 1 << 40
"""More rows than there are: an order is of the first ones, and here all are meant."""


def answer_once(query: Query, rows: Rows) -> pa.Table:
    """The answer of a query over tables, by name, which are in order of time.

    Queries in WITH, FROM and UNION are answered before it and by themselves, so that each is what it would be alone:
    an aggregate of no row is a row.
    """
    tree, known = query.tree.copy(), dict(rows)
    for node in tree.walk():
        if emit_of(node) is not None:
            raise error_at(node.args[EMIT], "what is there now is answered once", query.text, "leave EMIT out")
    for named in _names(tree):
        known[named.alias] = answer_once(replace(query, tree=named.this), known)
    tree.set("with_", None)
    if isinstance(tree, exp.SetOperation):
        for side in ("this", "expression"):
            name = _store(known, answer_once(replace(query, tree=tree.args[side].unnest()), known))
            tree.set(side, parse_query(f"SELECT * FROM {name}").tree)
    for source in _sources(tree):
        if isinstance(source, exp.Subquery) and source.alias:
            name = _store(known, answer_once(replace(query, tree=source.this), known))
            told = parse_query(f"SELECT 1 FROM {name} AS {identifier_sql(source.alias)}").tree.args["from_"].this
            source.replace(told)
    begin, count = _rows_meant(tree)
    if tree.args.get("order") is not None and tree.args.get("limit") is None:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(_ALL)))
    found = _answer(replace(query, tree=tree), known)
    return found.slice(begin, count)


def _answer(query: Query, known: Rows) -> pa.Table:
    found = _replayed(query, known, "[RANGE 1 SECOND SLIDE 1 SECOND]").drop_columns(list(_WINDOW))
    if found.num_rows or not is_aggregate(query.tree):
        return found
    if query.tree.args.get("having") is not None:
        bare = query.tree.copy()
        bare.set("having", None)
        if _replayed(replace(query, tree=bare), known, "[RANGE 1 SECOND SLIDE 1 SECOND]").num_rows:
            return found
    return _of_nothing(query, known)


def is_aggregate(tree: exp.Expr) -> bool:
    """Whether a query has one row, of all rows: an aggregate, and no groups.

    >>> [is_aggregate(parse_query(f"SELECT {what} FROM i").tree) for what in ("1 + MAX(x)", "HEX(x)")]
    [True, False]
    """
    if not isinstance(tree, exp.Select) or tree.args.get("group") is not None:
        return False
    calls = [node for item in tree.expressions for node in item.find_all(exp.AggFunc, exp.Anonymous)]
    own = any(isinstance(call, exp.AggFunc) or call.name.upper() in ALIASES for call in calls if _is_of_all(call, tree))
    return own or tree.args.get("having") is not None


def _is_of_all(call: exp.Expr, tree: exp.Expr) -> bool:
    """Whether an aggregate is of the query itself: neither of one within, nor one for each row."""
    above = call.parent
    while above is not None and above is not tree:
        if isinstance(above, exp.Window | exp.Query):
            return False
        above = above.parent
    return True


def _of_nothing(query: Query, known: Rows) -> pa.Table:
    """What aggregates are of no row: the answer when the only row of a window has gone."""
    tree = query.tree.copy()
    for clause in ("where", "order", "limit", "distinct"):
        tree.set(clause, None)
    one = {
        name: pa.table([pa.nulls(1, kind) for kind in rows.schema.types], rows.schema) for name, rows in known.items()
    }
    tree.set(EMIT, parse_query("SELECT 1 FROM x [RANGE 1 SECOND] EMIT CHANGES WITH EMPTY").tree.args[EMIT])
    changes = _replayed(replace(query, tree=tree), one, "[RANGE 1 SECOND]")
    return changes.drop_columns(["op", "time"])[-1:]


def _replayed(query: Query, known: Rows, bracket: str) -> pa.Table:
    tree = query.tree.copy()
    window = parse_query(f"SELECT 1 FROM x {bracket}").tree.args["from_"].this.args[STREAM_WINDOW]
    for table in tree.find_all(exp.Table):
        if table.args.get(STREAM_WINDOW) is not None:
            message = f"{table.name!r} has its window already"
            raise error_at(table, message, query.text, "leave the window out")
        table.set(STREAM_WINDOW, window.copy())
    given = {table.name: known[table.name] for table in tree.find_all(exp.Table)}
    for column in tree.find_all(exp.Column):
        if column.name.lower() in _WINDOW and not any(column.name in rows.schema.names for rows in given.values()):
            message = f"what is there now has no {column.name}"
            raise error_at(column, message, query.text, "time is that of each event")
    settings: dict[str, Any] = {"time": None, "lateness": "0 seconds", "idle_clock": False}
    catalog = local_catalog(given, {}, **settings, aggregates={}, clusterings={})
    asked = {"query": replace(query, tree=tree)}
    (plan,) = compile_queries(asked, catalog, dict[str, pa.Table]().__getitem__, Wishes()).values()
    return StageReplay(plan, catalog.streams, given).run(flush=True, arrivals=[0])


def _names(tree: exp.Expr) -> list[exp.CTE]:
    """The queries of WITH."""
    clause = tree.args.get("with_")
    return [] if clause is None else list(clause.expressions)


def _sources(tree: exp.Expr) -> Iterator[exp.Expr]:
    """What stands in FROM."""
    read = tree.args.get("from_")
    yield from [] if read is None else [read.this]
    yield from [join.this for join in tree.args.get("joins") or ()]


def _store(known: dict[str, pa.Table], rows: pa.Table) -> str:
    name = f"#{len(known)}"
    known[name] = rows
    return identifier_sql(name)


def _rows_meant(tree: exp.Expr) -> tuple[int, int | None]:
    """Which rows of an answer LIMIT and OFFSET mean, where they are numbers; these are left out of the query then."""
    found: dict[str, int | None] = {"offset": 0, "limit": None}
    for clause in found:
        node = tree.args.get(clause)
        if node is not None and isinstance(node.expression, exp.Literal) and node.expression.is_int:
            found[clause] = int(node.expression.name)
            tree.set(clause, None)
    return found["offset"] or 0, found["limit"]
