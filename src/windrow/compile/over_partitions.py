"""`SUM(x) OVER (PARTITION BY k)` of the rows of a window: a sub-query that has the value for the key of each row."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.compile.joined_answers import named_around
from windrow.language import Query, TimeWindow, emit_of, window_of
from windrow.plan.bind.calls import unwrapped
from windrow.plan.bind.joins import all_of, conjuncts_of
from windrow.plan.bind.names import both, placed_as
from windrow.plan.bind.over_calls import RANKINGS, is_of_frames, name_of
from windrow.plan.catalog import Catalog

_MORE = ("joins", "group", "having", "distinct", "cluster", "distribute", "query_window")
_INNER = "__of_partition"


def over_partitions(query: Query, catalog: Catalog) -> Query:
    """The query with aggregates over partitions, without an order, as sub-queries over the same window.

    >>> from windrow.language import expression_sql, parse_query
    >>> text = "SELECT x / SUM(x) OVER (PARTITION BY k) AS share FROM s [RANGE 1 HOUR]"
    >>> print(expression_sql(over_partitions(parse_query(text), Catalog({}, {})).tree))
    SELECT x / (SELECT SUM(x) FROM s [RANGE 1 HOUR] AS __of_partition WHERE __of_partition.k IS NOT DISTINCT FROM s.k) AS share FROM s [RANGE 1 HOUR]
    """  # noqa: E501 (one query)
    if not any(_is_of_partition(over) for over in query.tree.find_all(exp.Window)):
        return query
    if _is_answered_at_the_end(query.tree):
        return query
    tree = query.tree.copy()
    for select in list(tree.find_all(exp.Select)):
        if _can_ask(select):
            _ask(select, catalog)
    return replace(query, tree=tree)


def _is_answered_at_the_end(tree: exp.Expr) -> bool:
    """Whether every row of every window is told, so that its partition is asked when the window ends.

    A sub-query would tell each row of a partition anew at each event that comes into it: their product, not their sum.
    It is what QUALIFY and LIMIT are better off with, of whose rows few are told.
    """
    if not isinstance(tree, exp.Select) or not _can_ask(tree) or emit_of(tree) not in (None, "SNAPSHOT"):
        return False
    source, overs = tree.args["from_"].this, _overs_of(tree)
    window = window_of(source) if isinstance(source, exp.Table) else None
    if (
        not isinstance(window, TimeWindow)
        or window.slide_us is None
        or len(overs) < len(list(tree.find_all(exp.Window)))
    ):
        return False
    few = any(map(tree.args.get, ("qualify", "limit", "with_")))
    return not few and all(is_of_frames(over) for over in overs if _is_of_partition(over))


def _is_of_partition(over: exp.Window) -> bool:
    plain = over.args.get("order") is None and over.args.get("spec") is None and over.args.get("alias") is None
    return (
        plain and isinstance(unwrapped(over.this), exp.AggFunc) and name_of(over.this) not in (*RANKINGS, "lag", "lead")
    )


def _overs_of(select: exp.Select) -> list[exp.Window]:
    parts = [part for part in (*select.selects, select.args.get("qualify")) if part is not None]
    return [over for part in parts for over in part.find_all(exp.Window) if over.parent_select is select]


def _draws_more(over: exp.Window) -> bool:
    """Whether OVER takes the whole answer of a window, in order: what else is asked is drawn from that as well."""
    return not _is_of_partition(over) and name_of(over.this) not in RANKINGS


def _can_ask(select: exp.Select) -> bool:
    """Whether a SELECT is of rows, or answers, of windows over time, of which a sub-query can ask the same."""
    clause = select.args.get("from_")
    if clause is None or any(map(select.args.get, _MORE)) or not isinstance(clause.this, exp.Table | exp.Subquery):
        return False
    where = select.args.get("where")
    if clause.this.alias_or_name == "" or (where is not None and where.find(exp.Query) is not None):
        return False
    named = named_around(clause.this).get(clause.this.name.lower()) if isinstance(clause.this, exp.Table) else None
    read = [clause.this, *([] if named is None else [named])]
    windows = [window_of(table) for one in read for table in one.find_all(exp.Table, exp.Subquery)]
    found = [window for window in windows if window is not None]
    if not all(isinstance(one, TimeWindow) and one.emit_every_us is None for one in found):
        return False
    slides = all(isinstance(one, TimeWindow) and one.slide_us is not None for one in found)
    return bool(found) and not (slides and any(map(_draws_more, _overs_of(select))))


def _ask(select: exp.Select, catalog: Catalog) -> None:
    source, where = select.args["from_"].this, select.args.get("where")
    qualify, stream = select.args.get("qualify"), catalog.streams.get(source.name)
    if qualify is not None:
        columns = {name.lower() for name in stream.schema.names} if stream is not None else set()
        qualify.set("this", _with_names(qualify.this, select, columns))
    asked = [*select.selects, *([qualify] if qualify is not None else [])]
    for part in asked:
        for over in list(part.find_all(exp.Window)):
            if _is_of_partition(over) and over.parent_select is select:
                over.replace(placed_as(_value(over, source, where), over))
    if qualify is not None and qualify.find(exp.Window) is None:
        select.set("where", exp.Where(this=both(None if where is None else where.this, qualify.this)))
        select.set("qualify", None)


def _with_names(node: exp.Expr, select: exp.Select, columns: set[str]) -> exp.Expr:
    """What QUALIFY says, with what names of the select list stand for, if they are no columns of the stream."""
    named = {item.alias.lower(): item.this for item in select.selects if isinstance(item, exp.Alias)}

    def meant(part: exp.Expr) -> exp.Expr:
        known = named.get(part.name.lower()) if isinstance(part, exp.Column) and not part.table else None
        if known is None or (part.name.lower() in columns and known.find(exp.Window) is None):
            return part
        return placed_as(exp.paren(known.copy(), copy=False), part)

    return node.transform(meant)


def _value(over: exp.Window, source: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    """The aggregate of the rows of the window that have the key of the row."""
    inner = source.copy()
    alias = inner.args.get("alias")
    columns = alias.args.get("columns") if alias is not None else None
    inner.set("alias", exp.TableAlias(this=exp.to_identifier(_INNER), columns=columns))
    name = source.alias_or_name

    def within(node: exp.Expr) -> exp.Expr:
        return _of(node, {name.lower(): _INNER})

    same = [
        exp.NullSafeEQ(this=_of(within(key), {"": _INNER}), expression=_of(key, {"": name}))
        for key in over.args.get("partition_by") or []
    ]
    conditions = [*([within(each) for each in conjuncts_of(where.this)] if where is not None else []), *same]
    made = exp.Select(expressions=[within(over.this)])
    made.set("from_", exp.From(this=inner))
    if conditions:
        made.set("where", exp.Where(this=all_of(conditions) if len(conditions) > 1 else conditions[0]))
    return exp.Subquery(this=made)


def _of(node: exp.Expr, tables: dict[str, str]) -> exp.Expr:
    """A copy of an expression whose columns of a source are those of another one."""
    made = exp.paren(node.copy(), copy=False)
    for column in list(made.find_all(exp.Column)):
        if column.table.lower() in tables:
            named = exp.column(column.this.copy(), table=exp.to_identifier(tables[column.table.lower()], quoted=False))
            column.replace(placed_as(named, column))
    found: exp.Expr = made.this
    return found
