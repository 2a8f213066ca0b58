"""SQL over what an index holds now: `SELECT AVG(speed) FROM speeds WHERE xway = 1 AND dir = 0`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pyarrow as pa
from sqlglot import exp

from windrow.compile.compile import Wishes, compile_queries
from windrow.errors import QueryError, SettingsError
from windrow.indexes.asking import key_range
from windrow.indexes.facts import TIME, IndexFacts
from windrow.language import Query, duration_sql, error_at, parse_query, to_sql
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay


class AskedIndex(Protocol):
    """Whatever holds the rows of a window by their keys."""

    def scan(self, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given."""
        ...

    def window(self) -> tuple[int, int] | None:
        """From when to when events are found."""
        ...


Named = Callable[[str], tuple[IndexFacts, AskedIndex]]
"""Finds an index by its name; raises SettingsError if there is none."""


def ask(text: str, named: Named) -> pa.Table:
    """The answer of a query over what an index holds now; what WHERE says of the key is what is read of it."""
    query = parse_query(text)
    source = _source(query)
    try:
        facts, index = named(source.name)
    except SettingsError as error:
        message, _, way_out = str(error).partition("\nhint: ")
        raise error_at(source, message, query.text, way_out or None) from None
    return answer(query, facts, index.scan(**bounds_of(query, facts)), index.window())


def aggregate(expression: str, facts: IndexFacts, index: AskedIndex, key: dict[str, Any]) -> Any:
    """One aggregate, such as AVG(speed), of the events whose keys begin with `key`; of none it is as SQL has it."""
    query = parse_query(f"SELECT {expression} AS answer FROM `{facts.name.replace('`', '``')}`")
    found = index.scan(**key)
    rows = answer(query, facts, found, index.window()) if any(_aggregates(query.tree)) else found
    if rows.num_columns != 1 or rows.num_rows != 1:
        raise SettingsError(f"{expression!r} is no aggregate\nhint: such as 'AVG({facts.schema.names[-1]})'")
    return rows.column(0)[0].as_py()


def answer(query: Query, facts: IndexFacts, rows: pa.Table, window: tuple[int, int] | None) -> pa.Table:
    """A query over some rows, as the engine answers it for a window that holds them."""
    grouped = bool(query.tree.args.get("group")) or not any(_aggregates(query.tree))
    end, range_us = 0 if window is None else window[1], facts.range_us
    bracket = f"[RANGE {duration_sql(range_us)} SLIDE {duration_sql(range_us)}"
    bracket += f" OFFSET {duration_sql(end % range_us)}]" if end % range_us else "]"
    found = _replayed(query, bracket, "", rows).drop_columns(["window_start", "window_end"])
    return found if grouped or found.num_rows else _of_nothing(query, facts)


def _of_nothing(query: Query, facts: IndexFacts) -> pa.Table:
    """What aggregates are of no row: the answer when the only row of a window has gone."""
    tree = query.tree.copy()
    tree.set("where", None)
    columns = [pa.array([0], facts.rows.field(0).type), *(pa.nulls(1, kind.type) for kind in facts.schema)]
    row = pa.table(columns, schema=facts.rows)
    changes = _replayed(Query(tree, query.text, query.span), "[RANGE 1 SECOND]", " EMIT CHANGES WITH EMPTY", row)
    return changes.drop_columns(["op", "time"])[-1:]


def bounds_of(query: Query, facts: IndexFacts) -> dict[str, Any]:
    """What WHERE says of the key that an index can be asked for: first columns that are equal, then perhaps a range."""
    equal: dict[str, Any] = {}
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    where = query.tree.args.get("where")
    for term in _terms(where.this) if where is not None else ():
        for name, value, into in _bound(term, equal, least, most):
            if name in facts.keys:
                into.setdefault(name, value)
    found: dict[str, Any] = {}
    for name in facts.keys:
        if name in equal and _fits(facts, {**found, name: equal[name]}):
            found[name] = equal[name]
            continue
        ends = (least.get(name), most.get(name))
        if ends != (None, None) and _fits(facts, {**found, name: ends}):
            found[name] = ends
        break
    return found


def _replayed(query: Query, bracket: str, emit: str, rows: pa.Table) -> pa.Table:
    tree, source = query.tree.copy(), _source(query)
    table = next(tree.find_all(exp.Table))
    windowed = parse_query(f"SELECT 1 FROM x {bracket}").tree.find(exp.Table)
    assert windowed is not None
    table.set("stream_window", windowed.args["stream_window"].copy())
    text = to_sql(Query(tree)) + emit
    given = {source.name: rows}
    times = {"time": None, "times": {source.name: TIME}, "lateness": "0 seconds", "idle_clock": False, "ahead": None}
    catalog = local_catalog(given, {}, **times, aggregates={}, clusterings={}, states=None)  # type: ignore[arg-type]
    (plan,) = compile_queries({"query": text}, catalog, dict[str, pa.Table]().__getitem__, Wishes()).values()
    return StageReplay(plan, catalog.streams, given).run(flush=True)


def _source(query: Query) -> exp.Table:
    tables = list(query.tree.find_all(exp.Table))
    if not isinstance(query.tree, exp.Select) or len(tables) != 1 or query.tree.args.get("joins"):
        at, end = query.span
        raise QueryError(
            "an index is asked by a SELECT from it alone", text=query.text, at=at, end=end, hint="SELECT ... FROM index"
        )
    if tables[0].args.get("stream_window") is not None:
        hint = "leave the window out: it is that of the index"
        raise error_at(tables[0], "an index has its window already", query.text, hint)
    return tables[0]


def _aggregates(tree: exp.Expr) -> Iterator[exp.Expr]:
    yield from (node for node in tree.find_all(exp.AggFunc, exp.Anonymous))


def _terms(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And):
        yield from _terms(condition.left)
        yield from _terms(condition.right)
    elif isinstance(condition, exp.Paren):
        yield from _terms(condition.this)
    else:
        yield condition


def _bound(
    term: exp.Expr, equal: dict[str, Any], least: dict[str, Any], most: dict[str, Any]
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Which column a condition bounds, by which value, and in which direction."""
    if isinstance(term, exp.Between) and isinstance(term.this, exp.Column):
        for end, into in (("low", least), ("high", most)):
            known, value = _value(term.args[end])
            if known:
                yield term.this.name, value, into
        return
    ways = {exp.EQ: (equal, equal), exp.GTE: (least, most), exp.GT: (least, most)}
    ways |= {exp.LTE: (most, least), exp.LT: (most, least)}
    if not isinstance(term, exp.Binary) or type(term) not in ways:
        return
    forth, back = ways[type(term)]
    for column, other, into in ((term.left, term.right, forth), (term.right, term.left, back)):
        known, value = _value(other)
        if isinstance(column, exp.Column) and known:
            yield column.name, value, into


def _value(node: exp.Expr) -> tuple[bool, Any]:
    if isinstance(node, exp.Neg):
        known, value = _value(node.this)
        return (known, -value) if known and isinstance(value, int | float) else (False, None)
    if isinstance(node, exp.Boolean):
        return True, bool(node.this)
    if not isinstance(node, exp.Literal):
        return False, None
    if node.is_string:
        return True, node.this
    return True, int(node.this) if node.this.isdigit() else float(node.this)


def _fits(facts: IndexFacts, given: dict[str, Any]) -> bool:
    """Whether keys can be compared with these values as they are; the query compares the rest by itself."""
    try:
        key_range(facts, given)
    except SettingsError:
        return False
    return True
